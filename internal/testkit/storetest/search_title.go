package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// searchTables asks several tables at once.
func searchTables(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	must(t, s.Resources().Put(ctx, resource("first", "tea tea coffee", false), resource("far", "engine", false)))
	must(t, s.Moments().Put(ctx, &store.Moment{Name: "second", Summary: "tea coffee"}, &store.Moment{Name: "third", Summary: "tea boat"}))
	must(t, s.Moments().Put(as("t", "other"), &store.Moment{Name: "of another", Summary: "tea tea coffee"}))
	must(t, s.Resources().Put(as("other", "u"), resource("of another tenant", "tea tea coffee", true)))
	must(t, s.Resources().Put(as(identity.ManualTenant, ""), resource("page", "tea tea coffee river", true)))
	embed(t, s, "m")
	in := func(text string, tables ...string) (asks []store.SearchQuery) {
		for _, table := range tables {
			q := ask(text)
			q.Table, q.MinSimilarity = table, 0.5
			asks = append(asks, q)
		}
		return asks
	}
	search := func(asks []store.SearchQuery) (list []string) {
		t.Helper()
		last := math.Inf(1)
		for _, m := range get[[]store.Match](t)(s.Search(ctx, asks...)) {
			if m.Score > last {
				t.Errorf("%s has the score %v, after a row with %v", m.Key, m.Score, last)
			}
			last = m.Score
			list = append(list, m.Table+" "+m.Type+" "+m.Key)
		}
		return list
	}
	both := in("tea tea coffee", "resources", "moments")
	want := []string{"resources resource first", "moments moment second", "moments moment third"}
	wantEqual(t, "merged by score", search(both), want)
	both[0].Limit = 2
	wantEqual(t, "one limit for all", search(both), want[:2])
	wantEqual(t, "with the manual", search(in("tea tea coffee", "moments", store.ManualTable)),
		[]string{"moments moment second", "manual resource page", "moments moment third"})
	for i := range both {
		both[i].Hybrid, both[i].Limit = true, 0
	}
	wantEqual(t, "hybrid", search(both), want)
	for i := range both {
		both[i].Vector, both[i].Model, both[i].Text = nil, "", "boat"
	}
	wantEqual(t, "by words alone", search(both), []string{"moments moment third"})

	both = in("tea tea coffee", "resources", "moments")
	both[1].Where = "name = 'third'"
	wantEqual(t, "a condition of one table", search(both), []string{want[0], want[2]})
	both[1].Where = "ordinal = 1"
	_, err := s.Search(ctx, both...)
	if wrong, ok := err.(*store.SelectError); !ok || !strings.HasPrefix(wrong.Problem, "in moments, there is no column") {
		t.Errorf("a condition that one table cannot have: %v", err)
	}
	_, err = s.Search(ctx, in("tea", "resources", "users")...)
	wantErr(t, "a table without vectors", err, store.ErrInvalid)
	_, err = s.Search(ctx)
	wantErr(t, "no table", err, store.ErrInvalid)
}

// searchTitles finds the page whose title a question names before all others.
func searchTitles(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	page := func(name, content, metadata string) *store.Resource {
		x := resource(name, content, false)
		x.Metadata = json.RawMessage(metadata)
		return x
	}
	rows := []*store.Resource{
		page("tea plan", "water", `{}`),
		page("harvest-chunk-0000", "river", `{}`),
		page("green harvest-chunk-0000", "river", `{}`),
		page("green harvest-chunk-0001", "river wood", `{}`),
		page("x1", "# Wooden boats\n\nwood", `{}`),
		page("x2", "engine", `{"title": "Engine care"}`),
		page("x3-chunk-0002", "paper", `{"heading_path": ["Paper mills", "Water"]}`),
		page("what is the", "coffee", `{}`),
		page("tea", "engine paper", `{"category": "c"}`),
	}
	for i := range 60 {
		rows = append(rows, page(fmt.Sprintf("other %d", i), "tea tea plan coffee coffee harvest water river wood paper boats", `{}`))
	}
	must(t, s.Resources().Put(ctx, rows...))
	must(t, s.Resources().Put(as("t", "v"), resource("river plan", "tea", false)))
	must(t, s.Moments().Put(ctx, &store.Moment{Name: "tea plan", Summary: "boat"}))
	embed(t, s, "m")
	first := func(text string, hybrid bool, change func(*store.SearchQuery)) string {
		t.Helper()
		q := ask("coffee")
		q.Text, q.Hybrid = text, hybrid
		if change != nil {
			change(&q)
		}
		list := get[[]store.Match](t)(s.Search(ctx, q))
		if len(list) == 0 {
			return ""
		}
		var row struct{ Name string }
		must(t, json.Unmarshal(list[0].Data, &row))
		if list[0].Score == 1 && hybrid {
			return row.Name + " named"
		}
		return row.Name
	}
	for question, want := range map[string]string{
		"What does the Tea Plan say about coffee?": "tea plan",
		"tea plan coffee":                          "tea plan",
		"is there a green harvest of coffee":       "green harvest-chunk-0000",
		"why are there wooden boats":               "x1",
		"engine care without coffee":               "x2",
		"coffee for paper mills":                   "x3-chunk-0002",
		"tea":                                      "tea",
	} {
		wantEqual(t, question, first(question, true, nil), want+" named")
		if want[0] != 'x' { // these have other keys, and are not near
			wantEqual(t, question+" (vectors)", first(question, false, func(q *store.SearchQuery) { q.MinSimilarity = 0.9 }), want)
		}
	}
	for _, question := range []string{"coffee harvest", "what is the coffee", "the river plan", "steal plan", "tea planning", "tea and harvest"} {
		if got := first(question, true, nil); strings.HasSuffix(got, " named") {
			t.Errorf("%q names %s", question, got)
		}
	}
	wantEqual(t, "another category", first("tea plan", true, func(q *store.SearchQuery) { q.Category = "c" }), "")
	wantEqual(t, "a condition", first("tea plan", true, func(q *store.SearchQuery) { q.Where = "name LIKE 'other%'" })[:5], "other")

	// Half of the answer is for others, however many pieces of one page there are.
	rows = nil
	for i := range 20 {
		rows = append(rows, page(fmt.Sprintf("long report-chunk-%04d", i), "tea wood", `{"heading_path": ["Long report"]}`))
	}
	must(t, s.Resources().Put(ctx, rows...))
	embed(t, s, "m")
	q := ask("long report tea coffee")
	q.Hybrid, q.Limit = true, 6
	named := 0
	for _, m := range get[[]store.Match](t)(s.Search(ctx, q)) {
		if m.Score == 1 {
			named++
		}
	}
	wantEqual(t, "pieces that come first", named, 3)

	must(t, s.Resources().Delete(ctx, "tea plan"))
	if got := first("tea plan", true, nil); got == "tea plan named" {
		t.Error("a deleted page is named")
	}
}
