package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/store"
)

// sample has a file of every kind, colliding names, and files that are skipped.
func sample(t testing.TB) string {
	t.Helper()
	dir := folder(t, map[string]string{
		"README.md":         "# Harbor\n\nSee [the plan](plan.md), [Ada](people/ada.md) and [the web](https://example.org/x.md).\n",
		"plan.md":           "---\nname: Harbor Plan\ndescription: Where the ferries go\ncategory: plan\ntags: [ferry, north]\nbudget: 12\nedges:\n  - {target: ada, relation: owned_by, weight: 0.5}\n---\n# Plan\n\nAsk [[Ada]] or [notes](notes/2026.md#top), [again](./notes/2026.md).\n\n`[code](code.md)`\n",
		"people/ada.md":     "# Ada\n\nShe runs the [pier](../plan.md).\n",
		"notes/2026.md":     "Notes of the year.\n",
		"notes/old/2026.md": "Older notes, of the same name.\n",
		"rates.csv":         "boat,price\nnorth,4\nsouth,5\n",
		"moments.yaml":      "moments:\n  - name: kickoff\n    moment_type: meeting\n    summary: The plan was begun.\n    starts_timestamp: 2026-11-02 09:30\n    topic_tags: [plan]\n    edges: [ada]\n",
		"pilot.yaml":        "type: object\nname: pilot\ndescription: You steer boats.\ntools: [{name: search}]\n",
		"compose.yaml":      "name: p8\nservices:\n  db: {image: postgres}\n",
		"logo.png":          "\x89PNG\r\n\x1a\n\x00",
		".hidden.md":        "secret",
		".git/config":       "[core]",
		"node_modules/a.md": "no",
		"broken.md":         "caf\xe9 in Latin-1",
		"bad.yaml":          "moments:\n  - name: x\n    colour: red\n",
		"agent.yaml":        "type: object\nname: broken\ndescription: d\nstructured_output: true\n",
		"damaged.pdf":       "%PDF-1.4 nothing else",
		"broken-front.md":   "---\ntags: [a\n---\nbody\n",
	})
	if err := os.Symlink(filepath.Join(dir, "plan.md"), filepath.Join(dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestFolder(t *testing.T) {
	s := open(t)
	ctx := as(t.Context(), "ada")
	dir := sample(t)
	r := take(t, ctx, newIngester(t, ingest.Over(s)), ingest.PathsOptions{Paths: []string{dir}, Category: "harbor", Tags: []string{"x"}})
	golden.Compare(t, "testdata/folder.golden", strings.ReplaceAll(dump(t, ctx, s, r), dir, "DIR"))
}

// dump returns the report and every row, as JSON without times.
func dump(t *testing.T, ctx context.Context, s *store.Store, r *ingest.Report) string {
	t.Helper()
	var b strings.Builder
	show := func(what string, v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var x map[string]any
		if err := json.Unmarshal(raw, &x); err != nil {
			t.Fatal(err)
		}
		for _, k := range []string{"created_at", "updated_at", "tenant_id", "id", "file_id", "content_hash", "resource_ids"} {
			delete(x, k)
		}
		if m, ok := x["metadata"].(map[string]any); ok {
			delete(m, "fingerprint")
			delete(m, "file_id")
		}
		raw, err = json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", what, raw)
	}
	if r != nil {
		for _, x := range r.Results {
			show("result", x)
		}
		r.Results = nil
		r.Bytes = 0
		show("report", r)
	}
	all(t, ctx, s.Files(), func(x store.File) string { return x.URI }, func(x store.File) { show("file", x) })
	all(t, ctx, s.Ontologies(), func(x store.Ontology) string { return x.Name }, func(x store.Ontology) { show("ontology", x) })
	all(t, ctx, s.Resources(), func(x store.Resource) string { return x.Name }, func(x store.Resource) { show("resource", x) })
	all(t, ctx, s.Moments(), func(x store.Moment) string { return x.Name }, func(x store.Moment) { show("moment", x) })
	schemas, _, err := s.Schemas(ctx, store.SchemaFilter{Kind: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range schemas {
		show("schema", x)
	}
	return b.String()
}

func all[T any](t *testing.T, ctx context.Context, repo store.Repository[T], key func(T) string, use func(T)) {
	t.Helper()
	rows, _, err := repo.Find(ctx, store.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	for _, x := range rows {
		use(x)
	}
}

// counting counts the writes of documents and fails after some.
type counting struct {
	ingest.Documents
	writes, failAfter int
}

var errCrash = errors.New("the power failed")

func (c *counting) PutDocuments(ctx context.Context, docs ...*store.Document) error {
	if c.failAfter > 0 && c.writes >= c.failAfter {
		return errCrash
	}
	c.writes++
	return c.Documents.PutDocuments(ctx, docs...)
}

func (c *counting) PutSchema(ctx context.Context, d *store.Schema) error {
	c.writes++
	return c.Documents.PutSchema(ctx, d)
}

func TestUnchangedFilesWriteNothing(t *testing.T) {
	s := open(t)
	ctx := as(t.Context(), "ada")
	over := ingest.Over(s)
	count := &counting{Documents: s}
	over.Documents = count
	in, dir := newIngester(t, over), sample(t)
	first := take(t, ctx, in, ingest.PathsOptions{Paths: []string{dir}})
	before := dump(t, ctx, s, nil)
	count.writes = 0
	second := take(t, ctx, in, ingest.PathsOptions{Paths: []string{dir}})
	if got, want := countsOf(second), (counts{0, first.Written, first.Skipped, first.Failed, 0}); got != want || count.writes != 0 {
		t.Errorf("%+v with %d writes, want %+v with none", got, count.writes, want)
	}
	if diff := cmp.Diff(before, dump(t, ctx, s, nil)); diff != "" {
		t.Error(diff)
	}
	// A file that is stored alone is the same file as in its folder, unless its name would
	// differ.
	if r := take(t, ctx, in, ingest.PathsOptions{Paths: []string{filepath.Join(dir, "rates.csv")}}); r.Unchanged != 1 {
		t.Errorf("alone: %+v", countsOf(r))
	}
}

func TestChangedFileLosesStaleChunks(t *testing.T) {
	s := open(t)
	ctx := as(t.Context(), "ada")
	in := newIngester(t, ingest.Over(s))
	long := "# Title\n\n" + strings.Repeat("A sentence of some words that fills a line. ", 300)
	dir := folder(t, map[string]string{"long.md": long, "other.md": "Other."})
	o := ingest.PathsOptions{Paths: []string{dir}}
	if r := take(t, ctx, in, o); r.Chunks < 6 {
		t.Fatalf("%d chunks", r.Chunks)
	}
	write(t, dir, map[string]string{"long.md": "# Title\n\nShort now."})
	if got := countsOf(take(t, ctx, in, o)); got != (counts{written: 1, unchanged: 1}) {
		t.Errorf("%+v", got)
	}
	var names []string
	all(t, ctx, s.Resources(), func(x store.Resource) string { return x.Name }, func(x store.Resource) { names = append(names, x.Name+": "+x.Content) })
	if diff := cmp.Diff([]string{"long-chunk-0000: # Title\n\nShort now.", "other-chunk-0000: Other."}, names); diff != "" {
		t.Error(diff)
	}
}

// TestInterruptedRun: an interrupted run, repeated, leaves the same rows as one whole run.
func TestInterruptedRun(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/page-%03d.md", i%7, i)] = fmt.Sprintf("# Page %d\n\nSee [next](../d%d/page-%03d.md).\n", i, (i+1)%7, i+1)
	}
	dir := folder(t, files)
	ctx := as(t.Context(), "ada")
	o := ingest.PathsOptions{Paths: []string{dir}}
	whole := open(t)
	take(t, ctx, newIngester(t, ingest.Over(whole)), o)
	s := open(t)
	over := ingest.Over(s)
	for n := 1; n < 3; n++ {
		over.Documents = &counting{Documents: s, failAfter: n}
		if _, err := newIngester(t, over).Paths(ctx, o); !errors.Is(err, errCrash) {
			t.Fatalf("%v", err)
		}
	}
	over.Documents = s
	r := take(t, ctx, newIngester(t, over), o)
	if r.Unchanged == 0 || r.Written == 0 || r.Unchanged+r.Written != 300 {
		t.Errorf("%+v", countsOf(r))
	}
	if diff := cmp.Diff(dump(t, ctx, whole, nil), dump(t, ctx, s, nil)); diff != "" {
		t.Error(diff)
	}
}

func TestOptions(t *testing.T) {
	ctx := as(t.Context(), "ada")
	files := map[string]string{"a.md": "# A\n\nText.", "sub/b.md": "# B", "c.txt": "plain"}
	for _, c := range []struct {
		name                  string
		o                     ingest.PathsOptions
		files, pages, chunks_ int
	}{
		{"all", ingest.PathsOptions{}, 3, 2, 3},
		{"ontologies", ingest.PathsOptions{Table: "ontologies"}, 3, 3, 0},
		{"resources", ingest.PathsOptions{Table: "resources"}, 3, 0, 3},
		{"pattern", ingest.PathsOptions{Pattern: "**/*.md"}, 2, 2, 2},
		{"pattern of the root", ingest.PathsOptions{Pattern: "*.md"}, 1, 1, 1},
		{"dry run", ingest.PathsOptions{DryRun: true}, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t)
			c.o.Paths = []string{folder(t, files)}
			var last ingest.Progress
			c.o.Progress = func(p ingest.Progress) { last = p }
			r := take(t, ctx, newIngester(t, ingest.Over(s)), c.o)
			if r.Written == 0 || last.Done != last.Files || last.DoneBytes != last.Bytes || last.Files == 0 {
				t.Errorf("%+v, %+v", countsOf(r), last)
			}
			var got [3]int64
			for i, count := range []func(context.Context, store.Filter) (int64, error){s.Files().Count, s.Ontologies().Count, s.Resources().Count} {
				n, err := count(ctx, store.Filter{})
				if err != nil {
					t.Fatal(err)
				}
				got[i] = n
			}
			if want := [3]int64{int64(c.files), int64(c.pages), int64(c.chunks_)}; got != want {
				t.Errorf("files, ontologies, resources %v, want %v", got, want)
			}
		})
	}
}

func TestSharedAndOwn(t *testing.T) {
	s := open(t)
	in := newIngester(t, ingest.Over(s))
	dir := folder(t, map[string]string{"a.md": "# A"})
	ada, ben := as(t.Context(), "ada"), as(t.Context(), "ben")
	for _, x := range []struct {
		ctx context.Context
		o   ingest.PathsOptions
	}{{ada, ingest.PathsOptions{Paths: []string{dir}}}, {ada, ingest.PathsOptions{Paths: []string{dir}, Shared: true}}, {ben, ingest.PathsOptions{Paths: []string{dir}}}} {
		if got := countsOf(take(t, x.ctx, in, x.o)); got.written != 1 {
			t.Errorf("%+v", got)
		}
	}
	rows, _, err := s.Ontologies().Find(ben, store.Filter{})
	if err != nil || len(rows) != 2 {
		t.Errorf("ben sees %d, %v: his own and the shared one", len(rows), err)
	}
}

func TestPrune(t *testing.T) {
	s := open(t)
	ctx := as(t.Context(), "ada")
	in := newIngester(t, ingest.Over(s))
	dir := folder(t, map[string]string{"a.md": "# A", "b.md": "# B", "c.txt": "c"})
	elsewhere := folder(t, map[string]string{"x.md": "# X"})
	take(t, ctx, in, ingest.PathsOptions{Paths: []string{dir, elsewhere}})
	for _, gone := range []string{filepath.Join(dir, "b.md"), filepath.Join(elsewhere, "x.md")} {
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
	}
	o := ingest.PathsOptions{Paths: []string{dir}, Pattern: "**/*.md"}
	if got := countsOf(take(t, ctx, in, o)); got != (counts{unchanged: 1}) {
		t.Errorf("without Prune: %+v", got)
	}
	o.Prune = true
	one := ingest.PathsOptions{Paths: []string{filepath.Join(dir, "a.md")}, Prune: true}
	if got := countsOf(take(t, ctx, in, one)); got != (counts{unchanged: 1}) {
		t.Errorf("with Prune and one file: %+v", got)
	}
	if got := countsOf(take(t, ctx, in, o)); got != (counts{unchanged: 1, pruned: 1}) {
		t.Errorf("with Prune: %+v", got)
	}
	var left []string
	all(t, ctx, s.Resources(), func(x store.Resource) string { return x.Name }, func(x store.Resource) { left = append(left, x.Name) })
	if diff := cmp.Diff([]string{"a-chunk-0000", "c-chunk-0000", "x-chunk-0000"}, left); diff != "" {
		t.Error(diff)
	}
}

// TestMovedFolder: the files of a moved folder keep their rows; those of a copied folder
// are new.
func TestMovedFolder(t *testing.T) {
	s := open(t)
	ctx := as(t.Context(), "ada")
	in := newIngester(t, ingest.Over(s))
	dir := folder(t, map[string]string{"a.md": "# A", "sub/b.md": "# B", "sub/c d.md": "# C"})
	take(t, ctx, in, ingest.PathsOptions{Paths: []string{dir}})
	copied := folder(t, map[string]string{"a.md": "# Another A"})
	r := take(t, ctx, in, ingest.PathsOptions{Paths: []string{copied}})
	if len(r.Results) != 1 || r.Results[0].Key == "a" {
		t.Errorf("a copy took the name of the first: %+v", r.Results)
	}
	to := filepath.Join(t.TempDir(), "docs")
	if err := os.Rename(dir, to); err != nil {
		t.Fatal(err)
	}
	take(t, ctx, in, ingest.PathsOptions{Paths: []string{to}})
	var names []string
	all(t, ctx, s.Files(), func(x store.File) string { return x.Name }, func(x store.File) { names = append(names, x.Name) })
	if len(names) != 4 {
		t.Errorf("files %v", names)
	}
}

func TestCallersMistakes(t *testing.T) {
	in := newIngester(t, ingest.Over(open(t)))
	ctx := as(t.Context(), "ada")
	for _, o := range []ingest.PathsOptions{
		{}, {Paths: []string{"testdata/none"}}, {Paths: []string{"testdata"}, Table: "sessions"}, {Paths: []string{"testdata"}, Pattern: "[a"},
	} {
		if _, err := in.Paths(ctx, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	if _, err := in.Paths(t.Context(), ingest.PathsOptions{Paths: []string{"testdata"}}); err == nil {
		t.Error("a run without an identity")
	}
	if _, err := ingest.New(ingest.Options{}); err == nil {
		t.Error("an ingester without a store")
	}
}
