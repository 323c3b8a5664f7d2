package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"p8/store"
)

// userMetadata: keys are replaced and removed one by one, also by several
// writers at once, and the row is made where there is none.
func userMetadata(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	update := func(set string, remove ...string) string {
		t.Helper()
		u := get[store.User](t)(s.UpdateUserMetadata(ctx, json.RawMessage(set), remove))
		wantEqual(t, "returned row", get[store.User](t)(s.User(ctx)), u)
		return string(u.Metadata)
	}
	same := func(what, got, want string) {
		t.Helper()
		wantEqual(t, what, json.RawMessage(got), json.RawMessage(want))
	}
	same("a new row", update(`{"likes":["tea"],"city":"Bonn"}`), `{"likes":["tea"],"city":"Bonn"}`)
	wantEqual(t, "key", keys(t, s, "t", "u", "u"), []string{"user u own"})
	same("lists are replaced", update(`{"likes":["rum"],"facts":{"a":1}}`), `{"likes":["rum"],"city":"Bonn","facts":{"a":1}}`)
	same("shallow", update(`{"facts":{"b":2}}`), `{"likes":["rum"],"city":"Bonn","facts":{"b":2}}`)
	same("removed, then set", update(`{"city":"Kiel"}`, "city", "likes", "none"), `{"city":"Kiel","facts":{"b":2}}`)
	same("nothing", update(``), `{"city":"Kiel","facts":{"b":2}}`)
	same("emptied", update(`{}`, "city", "facts"), `{}`)

	must(t, s.PutUser(ctx, &store.User{Name: "Ute", Summary: "likes tea"}))
	update(`{"x":1}`)
	u := get[store.User](t)(s.User(ctx))
	wantEqual(t, "the rest of the row", []string{u.Name, u.Summary}, []string{"Ute", "likes tea"})

	for _, set := range []string{`[1]`, `"x"`, `{`, `{"x":"` + strings.Repeat("x", 300<<10) + `"}`} {
		_, err := s.UpdateUserMetadata(ctx, json.RawMessage(set), nil)
		wantErr(t, fmt.Sprintf("metadata %.10s", set), err, store.ErrInvalid)
	}
	_, err := s.UpdateUserMetadata(as("t", ""), json.RawMessage(`{"x":1}`), nil)
	wantErr(t, "anonymous", err, store.ErrInvalid)

	const writers = 8
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			if _, err := s.UpdateUserMetadata(ctx, json.RawMessage(fmt.Sprintf(`{"w%d":1}`, i)), []string{"x"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	same("all writers", update(``), `{"w0":1,"w1":1,"w2":1,"w3":1,"w4":1,"w5":1,"w6":1,"w7":1}`)

	must(t, s.DeleteUser(ctx))
	_, err = s.UpdateUserMetadata(ctx, json.RawMessage(`{"x":1}`), nil)
	wantErr(t, "a deleted row", err, store.ErrNotFound)
}
