package storetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/p8-org/p8/store"
)

// titleSession: a title is given to a session of the caller's that nobody has named.
func titleSession(t *testing.T, open Open) {
	s := open(t)
	for _, user := range []string{"u", ""} {
		ctx := as("t", user)
		name := func(id string) string { return get[store.Session](t)(s.Session(ctx, id)).Name }
		title := func(id, title string) bool { return get[bool](t)(s.TitleSession(ctx, id, title)) }
		begin(t, s, ctx, "a", "Plan a trip.")
		must(t, s.BeginTurn(ctx, store.Session{ID: "newest", Name: "the client's", Named: true, Metadata: json.RawMessage(`{"a":1}`)}, userMessage("x")))
		before := get[store.Session](t)(s.Session(ctx, "a"))

		wantEqual(t, "titled", title("a", " A\ttrip\x1b \n"), true)
		want := before
		want.Name, want.Title = "A trip", "A trip"
		wantEqual(t, "the session", get[store.Session](t)(s.Session(ctx, "a")), want) // in its place in the list
		wantEqual(t, "again", title("a", "Another"), false)
		wantEqual(t, "the first one stays", name("a"), "A trip")

		// The agent and the client come first, whenever they come.
		must(t, s.FinishTurn(ctx, &store.Message{SessionID: "a", Type: store.MessageAssistant, Content: text("hi")}, "the agent's"))
		wantEqual(t, "after the agent's", name("a"), "the agent's")
		wantEqual(t, "a session that the agent named", title("a", "Another"), false)
		wantEqual(t, "a session that the client named", title("newest", "Another"), false)
		wantEqual(t, "they stay", []string{name("a"), name("newest")}, []string{"the agent's", "the client's"})

		for _, bad := range []string{"", " \n\x00", repeat("é", store.MaxTitle+1)} {
			_, err := s.TitleSession(ctx, "a", bad)
			wantErr(t, "no title", err, store.ErrInvalid)
		}
		for _, id := range []string{"none", "a\x00", ""} {
			_, err := s.TitleSession(ctx, id, "x")
			wantErr(t, "no such session", err, store.ErrNotFound)
		}
		begin(t, s, ctx, "gone", "x")
		must(t, s.DeleteSession(ctx, "gone"))
		_, err := s.TitleSession(ctx, "gone", "x")
		wantErr(t, "deleted", err, store.ErrNotFound)
	}
	begin(t, s, as("t", ""), "open", "x")
	_, err := s.TitleSession(as("t", "w"), "open", "stolen")
	wantErr(t, "a session without a user", err, store.ErrNotFound)

	titleAtOnce(t, s)
}

// titleAtOnce: of several titles at once one is stored, and a client's name wins over them.
func titleAtOnce(t *testing.T, s *store.Store) {
	ctx := as("t", "many")
	for _, named := range []bool{false, true} {
		id := fmt.Sprintf("named %v", named)
		begin(t, s, ctx, id, "x")
		var wait sync.WaitGroup
		titled := make([]bool, 4)
		for i := range titled {
			wait.Go(func() {
				var err error
				if titled[i], err = s.TitleSession(ctx, id, fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			})
		}
		if named {
			wait.Go(func() {
				if _, err := s.PatchSession(ctx, id, store.SessionPatch{Name: new("the client's")}); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		count, last := 0, ""
		for i, yes := range titled {
			if yes {
				count, last = count+1, fmt.Sprint(i)
			}
		}
		if got := get[store.Session](t)(s.Session(ctx, id)).Name; named {
			wantEqual(t, "the client's name", got, "the client's")
		} else {
			wantEqual(t, "the one title", got, last)
		}
		if count > 1 || count == 0 && !named {
			t.Errorf("%s: %d of them were stored", id, count)
		}
	}
}
