package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/store"
)

// userMetadata: metadata are merged, also by concurrent writers, and the row is made if it
// is missing.
func userMetadata(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	update := func(set string, remove ...string) string {
		t.Helper()
		u := get[store.User](t)(s.Users().Update(ctx, store.UserChange{Set: json.RawMessage(set), Remove: remove}))
		wantEqual(t, "returned row", get[store.User](t)(s.Users().Get(ctx)), u)
		return string(u.Metadata)
	}
	same := func(what, got, want string) {
		t.Helper()
		wantEqual(t, what, json.RawMessage(got), json.RawMessage(want))
	}
	same("a new row", update(`{"likes":["tea"],"city":"Bonn"}`), `{"likes":["tea"],"city":"Bonn"}`)
	wantEqual(t, "key", keys(t, s, "t", "u", "u"), []string{"user u own"})
	same("lists are added to", update(`{"likes":["rum"," TEA "],"facts":{"a":1}}`), `{"likes":["tea","rum"],"city":"Bonn","facts":{"a":1}}`)
	same("objects are merged", update(`{"facts":{"b":2}}`), `{"likes":["tea","rum"],"city":"Bonn","facts":{"a":1,"b":2}}`)
	same("removed, then set", update(`{"city":"Kiel"}`, "city", "likes", "none"), `{"city":"Kiel","facts":{"a":1,"b":2}}`)
	same("nothing", update(``), `{"city":"Kiel","facts":{"a":1,"b":2}}`)
	same("emptied", update(`{}`, "city", "facts"), `{}`)

	must(t, s.Users().Put(ctx, &store.User{Name: "Ute", Content: "likes tea"}))
	update(`{"x":1}`)
	u := get[store.User](t)(s.Users().Get(ctx))
	wantEqual(t, "the rest of the row", []string{u.Name, u.Content}, []string{"Ute", "likes tea"})

	for _, set := range []string{`[1]`, `"x"`, `{`, `{"x":"` + strings.Repeat("x", 300<<10) + `"}`} {
		_, err := s.Users().Update(ctx, store.UserChange{Set: json.RawMessage(set)})
		wantErr(t, fmt.Sprintf("metadata %.10s", set), err, store.ErrInvalid)
	}
	_, err := s.Users().Update(as("t", ""), store.UserChange{Set: json.RawMessage(`{"x":1}`)})
	wantErr(t, "anonymous", err, store.ErrInvalid)

	const writers = 8
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			if _, err := s.Users().Update(ctx, store.UserChange{
				Set: json.RawMessage(fmt.Sprintf(`{"w%d":1,"all":[%d]}`, i, i)), Remove: []string{"x"},
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var all struct{ All []int }
	must(t, json.Unmarshal([]byte(update(``, "x")), &all))
	slices.Sort(all.All)
	wantEqual(t, "all writers", all.All, []int{0, 1, 2, 3, 4, 5, 6, 7})

	must(t, s.Users().Delete(ctx))
	_, err = s.Users().Update(ctx, store.UserChange{Set: json.RawMessage(`{"x":1}`)})
	wantErr(t, "a deleted row", err, store.ErrNotFound)
}

// userLists: elements are added to lists and removed; two of the lists are columns, too.
func userLists(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	var seq int
	change := func(c store.UserChange, metadata string, interests, topics []string) {
		t.Helper()
		seq++
		u := get[store.User](t)(s.Users().Update(ctx, c))
		wantEqual(t, fmt.Sprint("metadata ", seq), u.Metadata, json.RawMessage(metadata))
		wantEqual(t, fmt.Sprint("interests ", seq), u.Interests, interests)
		wantEqual(t, fmt.Sprint("topics ", seq), u.Topics, topics)
		wantEqual(t, fmt.Sprint("stored row ", seq), get[store.User](t)(s.Users().Get(ctx)), u)
	}
	set := func(set string) store.UserChange { return store.UserChange{Set: json.RawMessage(set)} }
	out := func(items string) store.UserChange { return store.UserChange{RemoveItems: json.RawMessage(items)} }
	must(t, s.Users().Put(ctx, &store.User{Name: "u", Interests: []string{"Go"}}))
	change(set(`{"interests":["chess","GO"],"preferred_topics":"tea","a":[1,{"x":1}],"n":12345678901234567890}`),
		`{"interests":["chess","GO"],"preferred_topics":"tea","a":[1,{"x":1}],"n":12345678901234567890}`, []string{"Go", "chess"}, []string{"tea"})
	change(set(`{"a":[{"x":1},2,1],"interests":"Rum","n":null}`),
		`{"interests":["chess","GO","Rum"],"preferred_topics":"tea","a":[1,{"x":1},2]}`, []string{"Go", "chess", "Rum"}, []string{"tea"})
	change(set(`{"p":{"colours":["red"],"deep":{"a":1}}}`),
		`{"interests":["chess","GO","Rum"],"preferred_topics":"tea","a":[1,{"x":1},2],"p":{"colours":["red"],"deep":{"a":1}}}`, []string{"Go", "chess", "Rum"}, []string{"tea"})
	change(set(`{"p":{"colours":["blue"],"deep":{"b":1}}}`),
		`{"interests":["chess","GO","Rum"],"preferred_topics":"tea","a":[1,{"x":1},2],"p":{"colours":["red","blue"],"deep":{"b":1}}}`, []string{"Go", "chess", "Rum"}, []string{"tea"})
	change(out(`{"interests":["go"," RUM"],"a":{"x":1},"p":{"colours":"red"},"none":[1]}`),
		`{"interests":["chess"],"preferred_topics":"tea","a":[1,2],"p":{"colours":["blue"],"deep":{"b":1}}}`, []string{"chess"}, []string{"tea"})
	change(store.UserChange{Remove: []string{"interests", "preferred_topics", "a", "p"}}, `{}`, nil, nil)

	change(store.UserChange{Content: "Plays.", Interests: []string{"chess", " Chess", ""}, Topics: []string{"openings"}}, `{}`, []string{"chess"}, []string{"openings"})
	wantEqual(t, "content", get[store.User](t)(s.Users().Get(ctx)).Content, "Plays.")
	// Of more than 20 elements, the oldest that were not repeated are dropped.
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprint("i", i))
	}
	change(store.UserChange{Interests: many}, `{}`, many, []string{"openings"})
	change(store.UserChange{Interests: []string{"I0", "new", "newer"}}, `{}`, append(append([]string{"i0"}, many[3:]...), "new", "newer"), []string{"openings"})

	// A list has a bound, and a change beyond it changes nothing.
	var list []string
	for i := range 201 {
		list = append(list, fmt.Sprint(i))
	}
	_, err := s.Users().Update(ctx, set(`{"a":1,"list":[`+strings.Join(list, ",")+`]}`))
	wantErr(t, "201 items", err, store.ErrInvalid)
	_, err = s.Users().Update(ctx, out(`[1]`))
	wantErr(t, "items", err, store.ErrInvalid)
	wantEqual(t, "nothing changed", get[store.User](t)(s.Users().Get(ctx)).Metadata, json.RawMessage(`{}`))
}
