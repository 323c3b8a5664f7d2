package storetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// listFeedback: own feedback, the tenant's for an admin, in pages; and the answer of a trace.
func listFeedback(t *testing.T, open Open) {
	s := open(t)
	add := func(tenant, user, session string, rating int) {
		t.Helper()
		must(t, s.Feedback().Put(as(tenant, user), &store.Feedback{SessionID: session, Rating: rating, Categories: []string{"x", user}, Comment: user + "-" + session}))
	}
	add("acme", "ann", "s1", -1)
	add("acme", "ann", "s2", 5)
	add("acme", "bob", "s1", 3)
	add("acme", "", "s", 1)
	add("other", "ann", "s1", 2)
	role := func(user string, r identity.Role) identity.Identity {
		return identity.Identity{TenantID: "acme", UserID: user, KeyID: "k", Role: r}
	}
	list := func(who identity.Identity, f store.FeedbackFilter) (out []string) {
		t.Helper()
		for {
			rows, next, err := s.ListFeedback(identity.With(t.Context(), who), f)
			must(t, err)
			for _, x := range rows {
				if !slices.Equal(x.Categories, []string{"x", x.UserID}) {
					t.Errorf("the categories are %q", x.Categories)
				}
				out = append(out, x.Comment)
			}
			if f.Cursor = next; next == "" {
				return out
			}
		}
	}
	admin := role("root", identity.RoleAdmin)
	wantEqual(t, "a member's", list(role("ann", identity.RoleMember), store.FeedbackFilter{}), []string{"ann-s2", "ann-s1"})
	wantEqual(t, "of nobody", list(role("", identity.RoleMember), store.FeedbackFilter{}), []string{"-s"})
	wantEqual(t, "an admin's", list(admin, store.FeedbackFilter{Limit: 1}), []string{"-s", "bob-s1", "ann-s2", "ann-s1"})
	wantEqual(t, "of a user", list(admin, store.FeedbackFilter{UserID: "ann", SessionID: "s1"}), []string{"ann-s1"})
	wantEqual(t, "of another user", list(role("ann", identity.RoleMember), store.FeedbackFilter{UserID: "bob"}), []string(nil))
	wantEqual(t, "bad ones", list(admin, store.FeedbackFilter{Most: 2}), []string{"-s", "ann-s1"})
	wantEqual(t, "good ones", list(admin, store.FeedbackFilter{Least: 2}), []string{"bob-s1", "ann-s2"})

	trace := strings.Repeat("a", 32)
	answer := &store.Message{Type: store.MessageAssistant, Content: text("x"), TraceID: trace, SpanID: "b"}
	share := &store.Message{Type: store.MessageAssistant, AgentPath: "general/reader", TraceID: trace}
	must(t, s.BeginTurn(as("acme", "ann"), store.Session{ID: "s1"}, answer, share))
	wantEqual(t, "the answer of a trace", get[string](t)(s.TracedMessage(as("acme", "ann"), trace)), answer.ID)
	for _, c := range []struct{ tenant, user, trace string }{{"acme", "bob", trace}, {"other", "ann", trace}, {"acme", "", trace}, {"acme", "ann", "a"}} {
		_, err := s.TracedMessage(as(c.tenant, c.user), c.trace)
		wantErr(t, "another's trace", err, store.ErrNotFound)
	}
}
