package rem_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// node is a row with edges "target relation weight".
func node(key string, edges ...string) store.Node {
	n := store.Node{Key: key, Type: "resource", ID: "id-" + key, Summary: "About " + key}
	for _, text := range edges {
		var e store.Edge
		fmt.Sscan(text, &e.Target, &e.Relation, &e.Weight)
		n.Edges = append(n.Edges, e)
	}
	return n
}

func graph(nodes ...store.Node) *knowledge {
	k := &knowledge{graph: make(map[string][]store.Node)}
	for _, n := range nodes {
		k.graph[n.Key] = append(k.graph[n.Key], n)
	}
	return k
}

// company is Sally, whom she manages, and what they work on.
func company() *knowledge {
	k := graph(
		node("sally", "Bob manages 0.9", "ann manages 0.9", "alpha works_on 0.5", "nobody knows 1", "sally knows 1", "bob likes 0.3"),
		node("bob", "alpha works-on 0.8", "beta works_on", "sally reports_to 1"),
		node("ann", "beta works_on 0.7"),
		node("alpha", "beta depends_on 0.2"),
		node("beta"),
		node("lone"),
	)
	// A shared row of the same key and kind, and one of another kind.
	k.graph["bob"] = append(k.graph["bob"], store.Node{Key: "bob", Type: "resource", ID: "shared"}, store.Node{Key: "bob", Type: "user", ID: "u"})
	k.graph["ann"] = slices.Insert(k.graph["ann"], 0, store.Node{Key: "ann", Type: "file", ID: "f"})
	return k
}

// walked is the rows as "key/type depth relation weight path".
func walked(rows []rem.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, fmt.Sprintf("%s/%s %d %s %v %s", r.Key, r.EntityType, r.Depth, r.Relation, r.Weight, strings.Join(r.Path, ">")))
	}
	return out
}

func TestTraverse(t *testing.T) {
	start := "sally/resource 0  1 sally"
	near := []string{start, "ann/resource 1 manages 0.9 sally>ann", "ann/file 1 manages 0.9 sally>ann", "bob/resource 1 manages 0.9 sally>bob", "bob/user 1 manages 0.9 sally>bob"}
	one := append(slices.Clone(near), "alpha/resource 1 works_on 0.5 sally>alpha")
	for query, want := range map[string][]string{
		"TRAVERSE Sally":                                 one,
		"TRAVERSE sally DEPTH 2":                         append(slices.Clone(one), "beta/resource 2 works_on 1 sally>bob>beta"),
		"TRAVERSE sally DEPTH 5":                         append(slices.Clone(one), "beta/resource 2 works_on 1 sally>bob>beta"),
		"TRAVERSE sally TYPE manages":                    near,
		"TRAVERSE sally TYPE Works-On":                   {start, "alpha/resource 1 works_on 0.5 sally>alpha"},
		"TRAVERSE sally TYPE nothing":                    {start},
		"TRAVERSE sally LIMIT 2":                         near[:2],
		"TRAVERSE lone":                                  {"lone/resource 0  1 lone"},
		"TRAVERSE sally TYPE x DEPTH 0":                  {start},
		"TRAVERSE ann, alpha DEPTH 3":                    {"ann/resource 0  1 ann", "ann/file 0  1 ann", "alpha/resource 0  1 alpha", "beta/resource 1 works_on 0.7 ann>beta"},
		"TRAVERSE sally ORDER BY key LIMIT 3":            {near[1], near[2], start},
		"TRAVERSE knows":                                 nil,
		"TRAVERSE beta DIRECTION in":                     {"beta/resource 0  1 beta", "ann/resource 1 works_on 0.7 beta>ann", "alpha/resource 1 depends_on 0.2 beta>alpha", "bob/resource 1 works_on 0.01 beta>bob"},
		"TRAVERSE ann TYPE manages DIRECTION in DEPTH 3": {"ann/resource 0  1 ann", "ann/file 0  1 ann", "sally/resource 1 manages 0.9 ann>sally"},
		"TRAVERSE alpha DIRECTION both": {"alpha/resource 0  1 alpha", "bob/resource 1 works-on 0.8 alpha>bob", "sally/resource 1 works_on 0.5 alpha>sally",
			"beta/resource 1 depends_on 0.2 alpha>beta"},
	} {
		got, err := engine(company()).Run(t.Context(), query)
		if err != nil || !slices.Equal(walked(got.Results), want) || got.Count != len(want) {
			t.Errorf("%s: %v\n%s\nwant\n%s", query, err, strings.Join(walked(got.Results), "\n"), strings.Join(want, "\n"))
		}
		if got.Truncated != strings.Contains(query, "LIMIT") {
			t.Errorf("%s: truncated is %v, %q", query, got.Truncated, got.Notes)
		}
	}
}

func TestTraverseResult(t *testing.T) {
	got, err := engine(company()).Run(t.Context(), "TRAVERSE lone LOAD")
	b, _ := json.Marshal(got)
	if want := `{"query_type":"TRAVERSE","keys":["lone"],"depth":1,"results":[{"key":"lone","entity_type":"resource","depth":0,"weight":1,"path":["lone"],` +
		`"summary":"About lone","data":{"id":"id-lone"}}],"count":1}`; err != nil || string(b) != want {
		t.Errorf("%s, %v\nwant %s", b, err, want)
	}
	got, err = engine(company()).Run(t.Context(), "TRAVERSE sali")
	b, _ = json.Marshal(got)
	if want := `{"query_type":"TRAVERSE","missing":["sali"],"suggestions":["salis"],"depth":1,"results":[],"count":0}`; err != nil || string(b) != want {
		t.Errorf("%s, %v\nwant %s", b, err, want)
	}
	got, err = engine(company()).Run(t.Context(), "TRAVERSE sally ORDER BY edge.created_at DESC")
	if err != nil || len(got.Notes) != 1 || got.Results[0].Key != "sally" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTraversePlanMode(t *testing.T) {
	k := company()
	got, err := engine(k).Run(t.Context(), "TRAVERSE sally DEPTH 0")
	want := []rem.EdgeSummary{
		{Relation: "knows", Count: 2, Targets: []string{"nobody", "sally"}},
		{Relation: "manages", Count: 2, Targets: []string{"ann", "bob"}},
		{Relation: "likes", Count: 1, Targets: []string{"bob"}},
		{Relation: "works_on", Count: 1, Targets: []string{"alpha"}},
	}
	if diff := cmp.Diff(want, got.EdgeSummary); err != nil || diff != "" || got.Count != 1 || *got.Depth != 0 || len(k.levels) != 1 {
		t.Errorf("%v, %+v, %v\n%s", err, got, k.levels, diff)
	}
}

func TestTraverseWith(t *testing.T) {
	k := company()
	k.graph["plan"] = []store.Node{node("plan", "alpha about 1")}
	k.found = []store.Match{{Key: "ann", Type: "resource"}, {Key: "bob", Type: "user"}}
	k.selection = store.Selection{Columns: []string{"id", "name"}, Rows: [][]any{{"1", "Ann"}, {"2", nil}, {"3", "alpha"}}}
	for query, want := range map[string]string{
		"TRAVERSE WITH LOOKUP plan, none":                      "plan alpha",
		"TRAVERSE WITH FUZZY plam DEPTH 2":                     "plan alpha beta",
		"TRAVERSE [works_on] WITH SEARCH people":               "ann ann bob bob beta alpha",
		"TRAVERSE WITH SQL SELECT id, name FROM users DEPTH 2": "ann ann alpha beta",
		"TRAVERSE WITH TRAVERSE ann":                           "ann ann beta",
	} {
		got, err := engine(k).Run(t.Context(), query)
		var keys []string
		for _, r := range got.Results {
			keys = append(keys, r.Key)
		}
		if err != nil || strings.Join(keys, " ") != want {
			t.Errorf("%s: %v, %v; want %s", query, keys, err, want)
		}
	}
	k.selection.Columns = []string{"id", "title"}
	if _, err := engine(k).Run(t.Context(), "TRAVERSE WITH SQL SELECT id, title FROM users"); err == nil || !strings.Contains(err.Error(), "must have a column entity_key, key or name") {
		t.Error(err)
	}
}

// web is a graph in which every row of a layer points to all of the next, so
// that there are more paths than anybody could walk.
func web(layers, width int) *knowledge {
	k := graph()
	for layer := range layers {
		for i := range width {
			n := node(fmt.Sprintf("n%d-%d", layer, i))
			for j := range width {
				n.Edges = append(n.Edges, store.Edge{Target: fmt.Sprintf("n%d-%d", (layer+1)%layers, j), Relation: "to", Weight: float64(j+1) / float64(width)})
			}
			k.graph[n.Key] = []store.Node{n}
		}
	}
	return k
}

func TestTraverseDoesNotExplode(t *testing.T) {
	k := web(2, 1500)
	got, err := engine(k).Run(t.Context(), "TRAVERSE n0-0 DEPTH 5 LIMIT 100")
	if err != nil || got.Count != 100 || !got.Truncated || len(got.Notes) != 2 {
		t.Fatalf("%d rows, %v, %q, %v", got.Count, got.Truncated, got.Notes, err)
	}
	// The heaviest 256 of the first 1000 edges, of which 99 fit.
	if len(k.levels) != 2 || len(k.levels[1]) != 256 || got.Results[1].Key != "n1-999" || got.Results[99].Key != "n1-901" {
		t.Errorf("%d levels, the last of %d keys; %v", len(k.levels), len(k.levels[len(k.levels)-1]), got.Results[1])
	}
	k = web(6, 15)
	got, err = engine(k).Run(t.Context(), "TRAVERSE n0-0 DEPTH 5 LIMIT 100")
	seen := map[string]bool{}
	for _, r := range got.Results {
		if seen[r.Key] {
			t.Errorf("%s comes twice", r.Key)
		}
		seen[r.Key] = true
	}
	if err != nil || got.Count != 76 || len(k.levels) != 6 || got.Truncated {
		t.Errorf("%d rows by %d queries, %v", got.Count, len(k.levels), err)
	}
}

func BenchmarkTraverse(b *testing.B) {
	for _, width := range []int{3, 100} {
		b.Run(fmt.Sprint(width, " edges"), func(b *testing.B) {
			k := web(6, width)
			e := engine(k)
			q := rem.Traverse{Keys: []string{"n0-0"}, Depth: 3, Limit: 100}
			b.ReportAllocs()
			for b.Loop() {
				k.levels = nil
				if _, err := e.Execute(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
