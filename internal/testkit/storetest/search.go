package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// words are the dimensions of the tests' vectors: a text's vector counts them.
var words = strings.Fields("tea coffee water river boat engine wood paper")

func vectorOf(text string) []float32 {
	v := make([]float32, len(words))
	for word := range strings.FieldsSeq(text) {
		for i, w := range words {
			if w == word {
				v[i]++
			}
		}
	}
	return v
}

// embed gives every waiting text its vector.
func embed(t *testing.T, s *store.Store, model string) {
	t.Helper()
	m := s.Maintenance()
	tasks := get[[]store.EmbeddingTask](t)(m.EmbeddingTasks(t.Context(), 1000))
	var done []store.Embedding
	for _, task := range tasks {
		done = append(done, store.Embedding{Task: task, Vector: vectorOf(task.Text)})
	}
	if n := get[int](t)(m.PutEmbeddings(t.Context(), model, len(words), done...)); n != len(tasks) {
		t.Fatalf("%d vectors stored, want %d", n, len(tasks))
	}
}

// resource is a text of the caller, or a shared one.
func resource(name, content string, shared bool) *store.Resource {
	return &store.Resource{Base: store.Base{Shared: shared}, Name: name, Content: content}
}

// ask is a question by its vector.
func ask(text string) store.SearchQuery {
	return store.SearchQuery{Model: "m", Vector: vectorOf(text), Text: text}
}

// found returns what a search finds, as "name own|shared".
func found(t *testing.T, s *store.Store, tenant, user string, q store.SearchQuery) []string {
	t.Helper()
	var list []string
	for _, m := range get[[]store.Match](t)(s.Search(as(tenant, user), q)) {
		var row struct{ ID, Name string }
		must(t, json.Unmarshal(m.Data, &row))
		if row.ID != m.ID || m.Key != store.NormalizeKey(row.Name) {
			t.Errorf("%+v is not the row %+v", m, row)
		}
		list = append(list, row.Name+" "+map[bool]string{true: "own", false: "shared"}[m.Own])
	}
	return list
}

func search(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	full := resource("both", "tea coffee", false)
	full.Category, full.URI = "drinks", "file:///a"
	must(t, s.Resources().Put(ctx, full, resource("tea", "tea", true), resource("much tea", "tea tea tea coffee", false),
		resource("boat", "boat river", false), resource("no vector yet", "", false)))
	embed(t, s, "m")

	wantEqual(t, "nearest first", found(t, s, "t", "u", ask("tea coffee"))[:3], []string{"both own", "much tea own", "tea shared"})
	list := get[[]store.Match](t)(s.Search(ctx, ask("tea coffee")))
	for i, want := range []float64{1, 4 / math.Sqrt(20), 1 / math.Sqrt2} {
		if math.Abs(list[i].Score-want) > 1e-5 {
			t.Errorf("score %d is %v, want %v", i, list[i].Score, want)
		}
	}
	var row store.Resource
	must(t, json.Unmarshal(list[0].Data, &row))
	wantEqual(t, "whole row", [3]string{row.Category, row.URI, row.Content}, [3]string{"drinks", "file:///a", "tea coffee"})
	wantEqual(t, "type", list[0].Type, store.TypeResource)

	q := ask("tea coffee")
	q.Limit = 1
	wantEqual(t, "limit", found(t, s, "t", "u", q), []string{"both own"})
	q = ask("tea coffee")
	q.MinSimilarity = 0.8
	wantEqual(t, "least similarity", found(t, s, "t", "u", q), []string{"both own", "much tea own"})
	q = ask("tea coffee")
	q.Model = "other"
	wantEqual(t, "no vectors of the model", found(t, s, "t", "u", q), none)

	for what, change := range map[string]func(*store.SearchQuery){
		"table":            func(q *store.SearchQuery) { q.Table = "users" },
		"unknown table":    func(q *store.SearchQuery) { q.Table = "resources; --" },
		"field":            func(q *store.SearchQuery) { q.Field = "name" },
		"category":         func(q *store.SearchQuery) { q.Table, q.Category = "schemas", "c" },
		"no vector":        func(q *store.SearchQuery) { q.Vector = nil },
		"no model":         func(q *store.SearchQuery) { q.Model = "" },
		"other dimensions": func(q *store.SearchQuery) { q.Vector = []float32{1, 2} },
		"zeros":            func(q *store.SearchQuery) { q.Vector = make([]float32, len(words)) },
		"not a number":     func(q *store.SearchQuery) { q.Vector[0] = float32(math.NaN()) },
		"similarity":       func(q *store.SearchQuery) { q.MinSimilarity = math.NaN() },
	} {
		q := ask("tea")
		change(&q)
		_, err := s.Search(ctx, q)
		wantErr(t, what, err, store.ErrInvalid)
	}
	_, err := s.Search(t.Context(), ask("tea"))
	wantErr(t, "nobody", err, identity.ErrMissing)
}

func searchIsolation(t *testing.T, open Open) {
	s := open(t)
	put := func(tenant, user string, shared bool) {
		t.Helper()
		label := fmt.Sprintf("%s/%s/%v", tenant, user, shared)
		ctx := as(tenant, user)
		must(t, s.Resources().Put(ctx, resource(label, "tea "+tenant, shared), resource("same "+map[bool]string{true: "shared", false: "own"}[shared], "coffee", shared)))
		if !shared {
			must(t, s.Moments().Put(ctx, &store.Moment{Name: label, Summary: "tea " + tenant}))
		}
	}
	put("t1", "u1", false)
	put("t1", "u2", false)
	put("t1", "u1", true)
	put("t1", "", false)
	put("t2", "u1", false)
	put(identity.SystemTenant, "", true)
	embed(t, s, "m")
	for _, test := range []struct {
		tenant, user       string
		resources, moments []string
	}{
		{"t1", "u1", []string{"_//true", "t1//false", "t1/u1/false", "t1/u1/true"}, []string{"t1/u1/false"}},
		{"t1", "u2", []string{"_//true", "t1//false", "t1/u1/true", "t1/u2/false"}, []string{"t1/u2/false"}},
		{"t1", "", []string{"_//true", "t1//false", "t1/u1/true"}, []string{"t1//false"}},
		{"t2", "u1", []string{"_//true", "t2/u1/false"}, []string{"t2/u1/false"}},
		{"t2", "u2", []string{"_//true"}, none},
		{"t3", "", []string{"_//true"}, none},
	} {
		for table, want := range map[string][]string{"resources": test.resources, "moments": test.moments} {
			q := ask("tea")
			q.Table, q.MinSimilarity = table, 0.5
			who := test.tenant + "/" + test.user + " " + table
			wantEqual(t, who, sorted(names(found(t, s, test.tenant, test.user, q))), want)
			q.Vector, q.Hybrid = nil, true
			wantEqual(t, who+" by words", sorted(names(found(t, s, test.tenant, test.user, q))), want)
		}
	}
	// Rows with one name, and some with one id, are distinguished.
	q := ask("coffee")
	q.MinSimilarity = 0.5
	wantEqual(t, "same names", sorted(found(t, s, "t1", "u1", q)), []string{"same own own", "same own shared", "same shared shared", "same shared shared"})
}

func searchModels(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	must(t, s.Resources().Put(ctx, resource("a", "tea", false)))
	embed(t, s, "m")
	must(t, s.Resources().Put(ctx, resource("b", "tea", false)))
	embed(t, s, "n")
	q := ask("tea")
	wantEqual(t, "of m", found(t, s, "t", "u", q), []string{"a own"})
	q.Model = "n"
	wantEqual(t, "of n", found(t, s, "t", "u", q), []string{"b own"})
	if n := get[int64](t)(s.Maintenance().QueueMissing(t.Context(), "n", 100)); n != 1 {
		t.Fatalf("%d texts queued for the other model, want 1", n)
	}
	embed(t, s, "n")
	wantEqual(t, "of n, all", sorted(found(t, s, "t", "u", q)), []string{"a own", "b own"})
}

func searchFilters(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	var rows []*store.Resource
	for i := range 300 {
		x := resource(fmt.Sprintf("near %03d", i), "tea tea tea coffee", false)
		if i%100 == 7 {
			x.Name, x.Content, x.Category, x.Ordinal = fmt.Sprintf("far %03d", i), "tea boat river water", "rare", i
		}
		rows = append(rows, x)
	}
	must(t, s.Resources().Put(ctx, rows...))
	// A row of the system has the id of a row of the tenant.
	twin := func(content string) *store.Resource {
		return &store.Resource{Base: store.Base{Shared: true}, Name: "twin", Content: content}
	}
	must(t, s.Resources().Put(as(identity.SystemTenant, ""), twin("tea")))
	must(t, s.Resources().Put(ctx, twin("tea wood wood wood wood")))
	embed(t, s, "m")
	want := []string{"far 007 own", "far 107 own", "far 207 own"}
	for _, hybrid := range []bool{false, true} {
		q := ask("tea")
		q.Hybrid = hybrid
		q.Category = "rare"
		wantEqual(t, "category", sorted(found(t, s, "t", "u", q)), want)
		q.Category = "none"
		wantEqual(t, "empty category", found(t, s, "t", "u", q), none)
		q.Category = ""
		q.Where = "ordinal > 100 AND name LIKE 'far%' -- and no more"
		wantEqual(t, "where", sorted(found(t, s, "t", "u", q)), want[1:])
		q.Where = "tenant_id = 't' AND name = 'twin'"
		wantEqual(t, "where of two tenants", get[[]store.Match](t)(s.Search(ctx, q))[0].Summary, "tea wood wood wood wood")
		wantEqual(t, "only one", found(t, s, "t", "u", q), []string{"twin shared"})
		q.Where = "1 = 0"
		wantEqual(t, "where nothing", found(t, s, "t", "u", q), none)
		q.Where = "no_such_column = 1"
		_, err := s.Search(ctx, q)
		if _, ok := err.(*store.SelectError); !ok {
			t.Errorf("a wrong condition: %v", err)
		}
	}
}

func searchHybrid(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	must(t, s.Resources().Put(ctx, resource("vector", "tea tea", false), resource("words", "zebra crossing boat", false),
		resource("neither", "engine", false), resource("zebra herd", "paper", false)))
	embed(t, s, "m")
	q := ask("tea")
	q.Text, q.Hybrid, q.MinSimilarity = "Zebra crossing?", true, 0.5
	list := get[[]store.Match](t)(s.Search(ctx, q))
	wantEqual(t, "hybrid", sorted(found(t, s, "t", "u", q)), []string{"vector own", "words own", "zebra herd own"})
	for i, want := range []float64{1. / 61, 1. / 61, 1. / 62} {
		if math.Abs(list[i].Score-want) > 1e-9 {
			t.Errorf("score %d is %v, want %v", i, list[i].Score, want)
		}
	}
	q.Vector, q.Model = nil, ""
	wantEqual(t, "by words alone", found(t, s, "t", "u", q), []string{"words own", "zebra herd own"})
	q.Limit = 1
	wantEqual(t, "limit", found(t, s, "t", "u", q), []string{"words own"})
	// Text is never syntax.
	for _, text := range []string{`"`, `zebra" OR "boat`, `NEAR(a b)`, `text: ^ * - AND NOT (`, `'; DROP TABLE resources; --`, "\x00", `& | ! <-> :*`, "zebra*"} {
		q.Text = text
		if _, err := s.Search(ctx, q); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	q.Text = "ze*"
	wantEqual(t, "no prefix", found(t, s, "t", "u", q), none)
	q.Text = "what is the"
	wantEqual(t, "only common words", found(t, s, "t", "u", q), none)
}

func searchFollows(t *testing.T, open Open) {
	s := open(t)
	ctx := as("t", "u")
	byWords := func(text string) []string {
		t.Helper()
		return found(t, s, "t", "u", store.SearchQuery{Text: text, Hybrid: true})
	}
	nearest := func(text string) []string {
		t.Helper()
		q := ask(text)
		q.MinSimilarity = 0.9
		return found(t, s, "t", "u", q)
	}
	wantEqual(t, "empty", nearest("tea"), none)
	x := resource("x", "tea", false)
	must(t, s.Resources().Put(ctx, x, resource("y", "boat", false)))
	wantEqual(t, "words at once", byWords("tea"), []string{"x own"})
	embed(t, s, "m")
	wantEqual(t, "vector", nearest("tea"), []string{"x own"})

	x.Content = "river"
	must(t, s.Resources().Put(ctx, x))
	wantEqual(t, "old words", byWords("tea"), none)
	wantEqual(t, "new words", byWords("river"), []string{"x own"})
	embed(t, s, "m")
	wantEqual(t, "old vector", nearest("tea"), none)
	wantEqual(t, "new vector", nearest("river"), []string{"x own"})

	x.Name, x.Category = "renamed", "c"
	must(t, s.Resources().Put(ctx, x))
	q := ask("river")
	q.Category = "c"
	q.MinSimilarity = 0.9
	wantEqual(t, "new category", found(t, s, "t", "u", q), []string{"renamed own"})
	wantEqual(t, "new name", byWords("renamed"), []string{"renamed own"})

	must(t, s.Resources().Delete(ctx, "renamed"))
	wantEqual(t, "words of a deleted row", byWords("river"), none)
	wantEqual(t, "vector of a deleted row", nearest("river"), none)
	must(t, s.Resources().Put(ctx, resource("renamed", "river", false)))
	embed(t, s, "m")
	wantEqual(t, "restored", nearest("river"), []string{"renamed own"})
	wantEqual(t, "words of a restored row", byWords("river"), []string{"renamed own"})
}

func sorted(list []string) []string {
	slices.Sort(list)
	return list
}

// names returns the list without own and shared.
func names(list []string) []string {
	for i, s := range list {
		list[i] = s[:strings.LastIndex(s, " ")]
	}
	return list
}
