package storetest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/p8-org/p8/store"
)

// patchSession: a user changes an own session, and no other one.
func patchSession(t *testing.T, open Open) {
	s := open(t)
	for _, user := range []string{"u", ""} {
		ctx := as("t", user)
		answer := func(id, name string) {
			t.Helper()
			must(t, s.FinishTurn(ctx, &store.Message{SessionID: id, Type: store.MessageAssistant, Content: text("hi")}, name))
		}
		name := func(id string) string { return get[store.Session](t)(s.Session(ctx, id)).Name }
		must(t, s.BeginTurn(ctx, store.Session{ID: "a", Metadata: json.RawMessage(`{"a":1,"b":2}`)}, userMessage("x")))
		begin(t, s, ctx, "b", "y")
		answer("a", "the agent's")
		before := get[store.Session](t)(s.Session(ctx, "a"))

		got := get[store.Session](t)(s.PatchSession(ctx, "a", store.SessionPatch{
			Name: new("mine"), Mode: "support", Metadata: json.RawMessage(`{"b":3,"c":null}`), Archived: new(true),
		}))
		want := before
		want.Name, want.Title, want.Named, want.Mode, want.Archived = "mine", "mine", true, "support", true
		wantEqual(t, "metadata", got.Metadata, json.RawMessage(`{"a":1,"b":3,"c":null}`))
		want.Metadata = got.Metadata
		wantEqual(t, "changed", got, want)
		stored := get[store.Session](t)(s.Session(ctx, "a"))
		wantEqual(t, "stored metadata", stored.Metadata, got.Metadata)
		stored.Metadata = want.Metadata
		wantEqual(t, "stored", stored, want)

		// Archived sessions are listed separately.
		ids := func(f store.SessionFilter) []string {
			list, _, err := s.Sessions(ctx, f)
			must(t, err)
			return each(list, func(x store.Session) string { return x.ID })
		}
		wantEqual(t, "the list", ids(store.SessionFilter{}), []string{"b"})
		wantEqual(t, "the archive", ids(store.SessionFilter{Archived: true}), []string{"a"})
		got = get[store.Session](t)(s.PatchSession(ctx, "a", store.SessionPatch{Archived: new(false)}))
		wantEqual(t, "what is not given", []any{got.Name, got.Mode, got.Archived}, []any{"mine", "support", false})
		wantEqual(t, "in its place", ids(store.SessionFilter{}), ids(store.SessionFilter{Background: true}))

		// The user's title wins over the agent's until the user removes it.
		answer("a", "the agent's")
		wantEqual(t, "after another turn", name("a"), "mine")
		must(t, s.PutSession(ctx, store.Session{ID: "a", Name: "p8's"}))
		wantEqual(t, "after p8's own name", name("a"), "mine")
		must(t, s.BeginTurn(ctx, store.Session{ID: "a", Name: "the client's", Named: true}, userMessage("x")))
		wantEqual(t, "after the client's", name("a"), "the client's")
		get[store.Session](t)(s.PatchSession(ctx, "a", store.SessionPatch{Name: new("")}))
		wantEqual(t, "without a name", name("a"), "")
		answer("a", "the agent's")
		wantEqual(t, "named again", name("a"), "the agent's")

		title := func(id, said string) string {
			begin(t, s, ctx, id, said)
			list, _, err := s.Sessions(ctx, store.SessionFilter{Limit: 1})
			must(t, err)
			one := get[store.Session](t)(s.Session(ctx, id))
			wantEqual(t, "listed as it is shown", list[0].Title, one.Title)
			return one.Title
		}
		wantEqual(t, "first words", title("w", " Plan\n a\ttrip\x1b. "), "Plan a trip.")
		wantEqual(t, "the second message", title("w", "And then?"), "Plan a trip.")
		wantEqual(t, "many words", title("m", repeat("seven s ", 1000)), repeat("seven s ", 7)[:55]+"…")
		wantEqual(t, "a long word", title("l", repeat("語", 1000)), repeat("語", 60)+"…")
		wantEqual(t, "an empty message", title("e", ""), "e")

		for _, bad := range []string{`[]`, `{`, `1`} {
			_, err := s.PatchSession(ctx, "a", store.SessionPatch{Metadata: json.RawMessage(bad)})
			wantErr(t, "metadata "+bad, err, store.ErrInvalid)
		}
		for _, who := range []context.Context{as("t", "v"), as("v", "u"), as("v", "")} {
			_, err := s.PatchSession(who, "a", store.SessionPatch{Name: new("stolen")})
			wantErr(t, "by somebody else", err, store.ErrNotFound)
		}
		for _, id := range []string{"none", "a\x00", ""} {
			_, err := s.PatchSession(ctx, id, store.SessionPatch{Name: new("x")})
			wantErr(t, "no such session", err, store.ErrNotFound)
		}

		// p8 finds its background work again by its mode and metadata.
		must(t, s.PutSession(ctx, store.Session{ID: "d", Mode: store.ModeDreaming}))
		for _, p := range []store.SessionPatch{{Mode: "chat"}, {Metadata: json.RawMessage(`{}`)}, {Archived: new(true)}} {
			_, err := s.PatchSession(ctx, "d", p)
			wantErr(t, "of a dream", err, store.ErrInvalid)
		}
		wantEqual(t, "a dream's name", get[store.Session](t)(s.PatchSession(ctx, "d", store.SessionPatch{Name: new("x")})).Name, "x")
	}
	_, err := s.PatchSession(as("t", "w"), "b", store.SessionPatch{Name: new("stolen")})
	wantErr(t, "a session without a user", err, store.ErrNotFound)
	must(t, s.DeleteSession(as("t", "u"), "b"))
	_, err = s.PatchSession(as("t", "u"), "b", store.SessionPatch{Name: new("x")})
	wantErr(t, "deleted", err, store.ErrNotFound)
}
