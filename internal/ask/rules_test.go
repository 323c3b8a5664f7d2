package ask

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// index is an engine that only knows keys.
type index struct{ keys []string }

func (index) Parse(text string) (rem.Query, error) { return rem.Parse(text) }

func (x index) Execute(_ context.Context, q rem.Query) (rem.Result, error) {
	var res rem.Result
	switch q := q.(type) {
	case rem.Lookup:
		for _, key := range q.Keys {
			if slices.Contains(x.keys, key) {
				res.Results = append(res.Results, rem.Row{Key: key})
			}
		}
	case rem.Fuzzy:
		// Find more than any index would.
		for _, key := range x.keys {
			res.Results = append(res.Results, rem.Row{Key: key})
		}
	case rem.Traverse:
		for _, key := range q.Keys {
			if !slices.Contains(x.keys, key) {
				res.Missing = append(res.Missing, key)
			}
		}
		// No row has the edges authored and works_for; all have every other one.
		if !slices.ContainsFunc(q.Types, func(t string) bool { return t == "authored" || t == "works_for" }) {
			res.EdgeSummary = []rem.EdgeSummary{{Relation: "x", Count: 1}}
		}
	}
	return res, nil
}

func (index) Tables() []store.TableInfo {
	table := func(name, description, embedded string, columns ...string) store.TableInfo {
		t := store.TableInfo{Name: name, Description: description, EmbeddingField: embedded}
		for _, c := range columns {
			kind := "text"
			if strings.HasSuffix(c, "_timestamp") || strings.HasSuffix(c, "_at") {
				kind = "timestamp"
			}
			t.Columns = append(t.Columns, store.ColumnInfo{Name: c, Type: kind})
		}
		return t
	}
	return []store.TableInfo{
		table("resources", "Pieces of text.", "content", "name", "created_at"),
		table("moments", "What happened.", "summary", "name", "summary", "starts_timestamp"),
		table("files", "Files.", "", "name", "created_at"),
		table("messages", "Messages.", "", "content", "created_at"),
	}
}

func TestSentences(t *testing.T) {
	if right := understood(t, sentences()); right < 36 {
		t.Errorf("%d of 40 are right, want 36", right)
	}
}

func TestFurtherSentences(t *testing.T) {
	if right := understood(t, further()); right < 21 {
		t.Errorf("%d of 23 are right, want 21", right)
	}
}

// understood counts the sentences that become the expected query and logs the others. A
// query for a sentence without one is an error, and so is a missing reason.
func understood(t *testing.T, list []sentence) (right int) {
	t.Helper()
	x := index{[]string{"sarah-chen", "project-alpha", "tidb-migration", "q4-report", "conor-obrien", "mike-ross", "getting-started", "hello-world", "search-notes"}}
	r := rules{engine: x, when: newCalendar(time.Date(2026, 11, 20, 15, 30, 0, 0, time.UTC))}
	for _, s := range list {
		p, err := r.propose(t.Context(), s.text)
		if err != nil {
			t.Fatal(err)
		}
		got, want := canonical(t, p.Query), canonical(t, s.want)
		switch {
		case p.Confidence < MinConfidence && (got != "" || p.Reasoning == ""):
			t.Errorf("%s: unsure, but %q (%s)", s.text, got, p.Reasoning)
		case want == "" && got != "":
			t.Errorf("%s: nobody can tell, but %s", s.text, got)
		}
		if got == want {
			right++
			continue
		}
		t.Logf("%s\n got %s (%s)\nwant %s", s.text, got, p.Reasoning, want)
	}
	return right
}

func canonical(t *testing.T, query string) string {
	t.Helper()
	if query == "" {
		return ""
	}
	q, err := rem.Parse(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return q.String()
}

// A rule that finds no edge of the relation reports that, and runs nothing.
func TestUnsureRelation(t *testing.T) {
	r := rules{engine: index{[]string{"sarah-chen"}}, when: newCalendar(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))}
	p, err := r.propose(t.Context(), "who works for Sarah Chen?")
	if err != nil || p.Confidence >= MinConfidence || p.Query != "TRAVERSE sarah-chen TYPE works_for DIRECTION in" || !strings.Contains(p.Reasoning, "works_for leads to it") {
		t.Errorf("%+v, %v", p, err)
	}
}
