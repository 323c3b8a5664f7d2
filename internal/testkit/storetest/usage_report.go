package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// usageReport: what models consumed, by each dimension; an admin sees the tenant's, others their
// own, and the rows of deleted sessions count.
func usageReport(t *testing.T, open Open) {
	s := open(t)
	first := time.Date(2026, 3, 1, 23, 59, 59, 0, time.UTC)
	spend := func(tenant, user, session, agent, model string, day, in, out int, usd float64) {
		t.Helper()
		m := &store.Message{
			SessionID: session, Type: store.MessageAssistant, AgentName: agent, Model: model, InputTokens: in, OutputTokens: out,
			CachedTokens: in / 2, ReasoningTokens: out / 2, CostUSD: usd, LatencyMS: int64(in), CreatedAt: first.AddDate(0, 0, day),
		}
		must(t, s.BeginTurn(as(tenant, user), store.Session{ID: session}, m))
	}
	spend("acme", "ann", "s1", "general", "m:large", 0, 100, 10, 0.1)
	spend("acme", "ann", "s1", "general", "m:large", 1, 200, 20, 0.2)
	spend("acme", "ann", "s2", "reader", "m:free", 1, 40, 4, 0)
	spend("acme", "bob", "s1", "general", "m:large", 1, 1000, 0, 1)
	spend("acme", "", "s", "general", "m:large", 2, 2, 2, 0.01)
	spend("other", "ann", "s1", "general", "m:large", 1, 5, 5, 5)
	spend("acme", "ann", "s1", "general", "m:large", 1, 0, 0, 0) // no model was asked
	must(t, s.BeginTurn(as("acme", "ann"), store.Session{ID: "s1"}, userMessage("x")))

	member := func(user string) identity.Identity {
		return identity.Identity{TenantID: "acme", UserID: user, KeyID: "k-" + user, Role: identity.RoleMember}
	}
	admin := identity.Identity{TenantID: "acme", UserID: "root", KeyID: "k", Role: identity.RoleAdmin}
	report := func(who identity.Identity, f store.UsageFilter) []string {
		t.Helper()
		u := get[store.Usage](t)(s.Usage(identity.With(t.Context(), who), f))
		var lines []string
		for _, r := range u.Rows {
			lines = append(lines, fmt.Sprintf("%s%s%s%s%s: %d", r.Agent, r.Model, r.User, r.Day, r.Session, r.Turns)+sums(r.UsageSum))
		}
		return append(lines, fmt.Sprintf("total: %d", u.Total.Turns)+sums(u.Total))
	}
	by := func(dimensions ...string) store.UsageFilter { return store.UsageFilter{By: dimensions} }
	day2 := first.AddDate(0, 0, 1).Truncate(24 * time.Hour)
	for _, c := range []struct {
		name string
		who  identity.Identity
		f    store.UsageFilter
		want []string
	}{
		{"an admin by default", admin, store.UsageFilter{}, []string{
			"generalm:large: 4 1302/651+32/16 $1.31 unpriced 0 326ms", "readerm:free: 1 40/20+4/2 $0 unpriced 44 40ms",
			"total: 5 1342/671+36/18 $1.31 unpriced 44 268ms",
		}},
		{"by user", admin, by(store.UsageUser), []string{
			"bob: 1 1000/500+0/0 $1 unpriced 0 1000ms", "ann: 3 340/170+34/17 $0.3 unpriced 44 113ms", ": 1 2/1+2/1 $0.01 unpriced 0 2ms",
			"total: 5 1342/671+36/18 $1.31 unpriced 44 268ms",
		}},
		{"by day", admin, by(store.UsageDay), []string{
			"2026-03-03: 1 2/1+2/1 $0.01 unpriced 0 2ms", "2026-03-02: 3 1240/620+24/12 $1.2 unpriced 44 413ms",
			"2026-03-01: 1 100/50+10/5 $0.1 unpriced 0 100ms", "total: 5 1342/671+36/18 $1.31 unpriced 44 268ms",
		}},
		{"a member by session", member("ann"), by(store.UsageSession), []string{
			"s1: 2 300/150+30/15 $0.3 unpriced 0 150ms", "s2: 1 40/20+4/2 $0 unpriced 44 40ms", "total: 3 340/170+34/17 $0.3 unpriced 44 113ms",
		}},
		{"a member who asks for another's", member("ann"), store.UsageFilter{By: []string{store.UsageUser}, User: "bob"}, []string{"total: 0 0/0+0/0 $0 unpriced 0 0ms"}},
		{"of a time", admin, store.UsageFilter{By: []string{store.UsageDay, store.UsageUser}, Since: day2, Until: day2.AddDate(0, 0, 1)}, []string{
			"bob2026-03-02: 1 1000/500+0/0 $1 unpriced 0 1000ms", "ann2026-03-02: 2 240/120+24/12 $0.2 unpriced 44 120ms",
			"total: 3 1240/620+24/12 $1.2 unpriced 44 413ms",
		}},
		{"of a model and an agent", admin, store.UsageFilter{By: []string{store.UsageModel}, Agent: "reader", Model: "m:free", Session: "s2"}, []string{
			"m:free: 1 40/20+4/2 $0 unpriced 44 40ms", "total: 1 40/20+4/2 $0 unpriced 44 40ms",
		}},
		{"cut", admin, store.UsageFilter{By: []string{store.UsageUser}, Limit: 1}, []string{
			"bob: 1 1000/500+0/0 $1 unpriced 0 1000ms", "total: 5 1342/671+36/18 $1.31 unpriced 44 268ms",
		}},
		{"hostile", admin, store.UsageFilter{Agent: "x' OR '1'='1\x00"}, []string{"total: 0 0/0+0/0 $0 unpriced 0 0ms"}},
	} {
		if got := report(c.who, c.f); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
	wantEqual(t, "truncated", get[store.Usage](t)(s.Usage(identity.With(t.Context(), admin), store.UsageFilter{By: []string{store.UsageUser}, Limit: 2})).Truncated, true)

	must(t, s.DeleteSession(as("acme", "ann"), "s1"))
	wantEqual(t, "after a session was deleted", report(member("ann"), by(store.UsageSession))[0], "s1: 2 300/150+30/15 $0.3 unpriced 0 150ms")
	for name, f := range map[string]store.UsageFilter{
		"an unknown dimension": by("mood"), "one twice": by("day", "day"), "a time that ends first": {Since: day2, Until: day2},
	} {
		_, err := s.Usage(identity.With(t.Context(), admin), f)
		wantErr(t, name, err, store.ErrInvalid)
	}
}

func sums(u store.UsageSum) string {
	return fmt.Sprintf(" %d/%d+%d/%d $%g unpriced %d %dms", u.InputTokens, u.CachedTokens, u.OutputTokens, u.ReasoningTokens, u.CostUSD, u.UnpricedTokens, u.AvgLatencyMS)
}
