package ingest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/store"
)

const corpus = "../../examples/data"

// TestCorpus: the sample corpus is stored without a failure, every edge leads to a row, and
// the queries of its README have answers.
func TestCorpus(t *testing.T) {
	s := open(t)
	ctx := as(t.Context(), "")
	r := take(t, ctx, newIngester(t, ingest.Over(s)), ingest.PathsOptions{Paths: []string{corpus}})
	if got, want := countsOf(r), (counts{written: 22}); got != want || r.Rows != 6 {
		t.Errorf("%+v and %d rows, want %+v: %+v", got, r.Rows, want, r.Results)
	}
	seen := 0
	edges := func(name string, list []store.Edge) {
		for _, e := range list {
			seen++
			if nodes, err := s.Nodes(ctx, []string{e.Target}); err != nil || len(nodes) == 0 {
				t.Errorf("%s -%s-> %s leads nowhere (%v)", name, e.Relation, e.Target, err)
			}
		}
	}
	all(t, ctx, s.Ontologies(), func(x store.Ontology) string { return x.Name }, func(x store.Ontology) { edges(x.Name, x.GraphEdges) })
	all(t, ctx, s.Moments(), func(x store.Moment) string { return x.Name }, func(x store.Moment) { edges(x.Name, x.GraphEdges) })
	if seen < 60 {
		t.Errorf("%d edges", seen)
	}

	found, err := s.Lookup(ctx, "sarah-chen")
	if err != nil || len(found) == 0 {
		t.Fatalf("LOOKUP: %v, %v", found, err)
	}
	fuzzy, err := s.Fuzzy(ctx, "sara chen", 0.3, 10)
	if err != nil || len(fuzzy) == 0 || fuzzy[0].Key != "sarah-chen" {
		t.Errorf("FUZZY: %.200v, %v", fuzzy, err)
	}
	var managed []string
	for _, key := range []string{"sarah-chen", "tomas-lindqvist"} {
		nodes, err := s.Nodes(ctx, []string{key})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			for _, e := range n.Edges {
				if e.Relation == "manages" {
					managed = append(managed, e.Target)
				}
			}
		}
	}
	if diff := cmp.Diff([]string{"tomas-lindqvist", "priya-raman", "omar-haddad", "diego-alvarez", "mei-tanaka"}, managed); diff != "" {
		t.Error(diff)
	}
	if n, err := s.Moments().Count(ctx, store.Filter{}); err != nil || n != 6 {
		t.Errorf("%d moments, %v", n, err)
	}
}

func TestCorpusLinks(t *testing.T) {
	v, err := ingest.VerifyLinks(t.Context(), corpus, ingest.VerifyOptions{})
	if err != nil || len(v.Broken) > 0 || v.Links < 30 {
		t.Errorf("%+v, %v", v, err)
	}
}
