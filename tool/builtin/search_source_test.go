package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// library is a shelf whose rows have addresses and types of their own.
type library struct {
	shelf
	rows map[string]store.Match
}

func (l *library) Lookup(_ context.Context, key string) ([]store.Match, error) {
	if m, ok := l.rows[key]; ok {
		return []store.Match{m}, nil
	}
	return nil, nil
}

// TestSearchNamesItsSources: knowledge with its title and address, each document once, and
// nothing else.
func TestSearchNamesItsSources(t *testing.T) {
	l := &library{rows: map[string]store.Match{}}
	add := func(key, kind, name, uri string) {
		data, err := json.Marshal(map[string]string{"name": name, "uri": uri, "content": "x"})
		if err != nil {
			t.Fatal(err)
		}
		l.rows[key] = store.Match{Key: key, Type: kind, Score: 1, Data: data}
	}
	add("guide", store.TypeResource, "The  guide", "https://user:secret@example.com/guide?x=1")
	add("guide-2", store.TypeResource, "The guide, 2", "https://example.com/guide?x=1")
	add("plan", store.TypeResource, "plan", "file:///home/alice/notes/plan.md")
	add("plan-2", store.TypeResource, "plan-2", "file:///home/alice/notes/plan.md")
	add("term", store.TypeOntology, "", "")
	add("odd", store.TypeResource, "odd", "javascript:alert(1)")
	add("day", store.TypeMoment, "a day", "https://example.com/day")
	got := func(query string) []event.Source {
		t.Helper()
		res, err := search(t, l, fmt.Sprintf(`{"query":%q}`, query))
		if err != nil {
			t.Fatal(err)
		}
		return res.Sources
	}
	want := []event.Source{
		{ID: "guide", URL: "https://example.com/guide?x=1", Title: "The guide"},
		{ID: "plan", Title: "plan", Name: "plan.md"},
		{ID: "term", Title: "term"},
		{ID: "odd", Title: "odd", Name: "javascript:alert(1)"},
	}
	if diff := cmp.Diff(want, got("LOOKUP [guide, guide-2, plan, plan-2, term, odd, day]")); diff != "" {
		t.Error(diff)
	}
	if list := got("FUZZY plan"); len(list) != 0 {
		t.Errorf("a similar name is a source: %v", list)
	}
}
