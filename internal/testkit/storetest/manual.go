package storetest

import (
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// manual: the pages of p8's manual are only in answers to queries that name it.
func manual(t *testing.T, open Open) {
	s := open(t)
	ann := as("acme", "ann")
	must(t, s.Resources().Put(as(identity.ManualTenant, ""), resource("tea-page", "tea coffee", true)))
	must(t, s.Resources().Put(ann, resource("my-tea", "tea", false)))
	embed(t, s, "m")

	wantEqual(t, "search", found(t, s, "acme", "ann", ask("tea")), []string{"my-tea own"})
	words := store.SearchQuery{Text: "tea", Hybrid: true}
	wantEqual(t, "words", found(t, s, "acme", "ann", words), []string{"my-tea own"})
	wantEqual(t, "lookup", keys(t, s, "acme", "ann", "tea-page"), none)
	names := func(list []store.Match) []string { return each(list, func(m store.Match) string { return m.Key }) }
	wantEqual(t, "fuzzy", names(get[[]store.Match](t)(s.Fuzzy(ann, "tea-page", 0.1, 0))), []string{"my-tea"})
	wantEqual(t, "count", get[store.Selection](t)(s.Select(ann, "SELECT name FROM resources", store.SelectBounds{})).Rows, [][]any{{"my-tea"}})
	rows, _, err := s.Resources().Find(ann, store.Filter{})
	must(t, err)
	wantEqual(t, "list", each(rows, func(r store.Resource) string { return r.Name }), []string{"my-tea"})

	// A query that names the manual finds only its pages.
	for _, q := range []store.SearchQuery{ask("tea"), words} {
		q.Table = store.ManualTable
		wantEqual(t, "search of the manual", found(t, s, "acme", "ann", q), []string{"tea-page shared"})
		q.Where = "name LIKE 'my%'"
		wantEqual(t, "no own row in the manual", found(t, s, "acme", "ann", q), none)
	}
	in := store.InManual(ann)
	wantEqual(t, "fuzzy in the manual", names(get[[]store.Match](t)(s.Fuzzy(in, "tea page", 0.3, 0))), []string{"tea-page"})
	wantEqual(t, "lookup in the manual", names(get[[]store.Match](t)(s.Lookup(in, "tea-page"))), []string{"tea-page"})
	wantEqual(t, "SQL", get[store.Selection](t)(s.Select(ann, "SELECT name, content FROM manual ORDER BY name", store.SelectBounds{})).Rows,
		[][]any{{"tea-page", "tea coffee"}})
	wantEqual(t, "SQL with other tables", get[store.Selection](t)(s.Select(ann,
		"SELECT m.name, r.name FROM manual m, resources r", store.SelectBounds{})).Rows, [][]any{{"tea-page", "my-tea"}})
	wantErr(t, "nobody writes there", s.Resources().Put(in, resource("x", "x", true)), store.ErrForbidden)
}
