package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/corpus"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/store"
)

// mostKills bounds how often an upsert is killed.
const mostKills = 8

// TestKilledUpsert kills `p8 upsert` at random moments, runs it again, and counts
// every row: nothing is lost and nothing is there twice.
func TestKilledUpsert(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed of the moments: %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	n := size(t, "P8_TEST_FILES", harness.Count(t, 300, 900))
	dir := t.TempDir()
	want := map[string]string{}
	for i := range n {
		name, text := note(i)
		write(t, dir, name, text)
		sum := sha256.Sum256([]byte(text))
		want[name] = hex.EncodeToString(sum[:])
	}
	onBoth(t, func(t *testing.T, p *place) {
		p.dir = harness.Disk(t)
		p.run(t, "migrate") // so that the kills meet the upsert
		kills, longest := 0, 300+n/8
		for range mostKills {
			run := harness.Start(t, p.env(), "", "upsert", dir)
			select {
			case <-time.After(time.Duration(50+random.IntN(longest)) * time.Millisecond):
				run.Kill()
			case <-run.Exited():
			}
			if code, _, stderr := run.Wait(); code == 0 && kills == 0 && longest > 1 {
				p.empty(t) // the machine is fast: kill sooner
				longest /= 2
				continue
			} else if code == 0 {
				break
			} else if code > 0 {
				t.Fatalf("p8 upsert ended with %d: %s", code, stderr)
			}
			kills++
		}
		p.run(t, "upsert", dir)
		t.Logf("%d kills", kills)
		if kills == 0 {
			t.Error("p8 upsert was never killed: nothing is proven")
		}
		if got := p.run(t, "upsert", dir); !strings.HasPrefix(got, "0 files written") || !strings.Contains(got, fmt.Sprintf("%d unchanged", n)) {
			t.Errorf("a last run says %q", got)
		}
		p.count(t, want)
	})
}

// empty gives the place a new database.
func (p *place) empty(t *testing.T) {
	t.Helper()
	p.dir = harness.Disk(t)
	if p.url != "" {
		p.url = harness.Postgres(t, "")
	}
	p.run(t, "migrate")
}

// note is file i of the folder: two of three are pages of Markdown.
func note(i int) (name, text string) {
	if i%3 == 0 {
		return fmt.Sprintf("%02d/plain-%04d.txt", i%20, i), corpus.Text(i)
	}
	return fmt.Sprintf("%02d/note-%04d.md", i%20, i),
		fmt.Sprintf("---\ntitle: Note %d\ntags: [t%d]\n---\n# Note %d\n\n%s\n\nSee [another](note-%04d.md).\n", i, i%7, i, corpus.Text(i), i)
}

// count compares the stored rows with the files.
func (p *place) count(t *testing.T, want map[string]string) {
	t.Helper()
	s := p.open(t)
	defer s.Close()
	texts := int64(0)
	files := map[string]*store.File{}
	for f := range all(t, s.Files()) {
		name := f.URI[strings.LastIndexByte(f.URI[:strings.LastIndexByte(f.URI, '/')], '/')+1:]
		if files[name] != nil {
			t.Errorf("the file %s is there twice", name)
		}
		if want[name] != f.Hash {
			t.Errorf("the file %s has the hash %q, want %q", name, f.Hash, want[name])
		}
		if f.Status != store.FileCompleted {
			t.Errorf("the file %s is %s", name, f.Status)
		}
		files[name] = f
	}
	if len(files) != len(want) {
		t.Errorf("%d files are stored, want %d", len(files), len(want))
	}
	ids := map[string]string{}
	for name, f := range files {
		ids[f.ID] = name
	}
	chunks, pages := map[string]int{}, map[string]int{}
	for r := range all(t, s.Resources()) {
		texts++
		if r.FileID != "" {
			chunks[ids[r.FileID]]++
		}
	}
	for o := range all(t, s.Ontologies()) {
		texts++
		pages[ids[o.FileID]]++
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		page := 0
		if strings.HasSuffix(name, ".md") {
			page = 1
		}
		if chunks[name] != 1 || pages[name] != page {
			t.Errorf("%s has %d chunks and %d pages, want 1 and %d", name, chunks[name], pages[name], page)
		}
	}
	if chunks[""] != 0 || pages[""] != 0 {
		t.Errorf("%d chunks and %d pages are of no file", chunks[""], pages[""])
	}
	// p8's own tables are described by schemas, and its manual has pages.
	described, err := s.Select(as(t, "", ""), `SELECT (SELECT count(*) FROM schemas WHERE description <> '') + (SELECT count(*) FROM manual)`, store.SelectBounds{Rows: 1, Bytes: 100, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	texts += described.Rows[0][0].(int64)
	status, err := s.Maintenance().EmbeddingStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for model, vectors := range status.Models {
		if vectors != texts {
			t.Errorf("%s made %d vectors of %d texts", model, vectors, texts)
		}
	}
	if len(status.Models) != 1 || status.Waiting != 0 || status.Failed != 0 {
		t.Errorf("the state of embedding is %+v, want one model and nothing that waits", status)
	}
	before, err := s.Maintenance().RebuildKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.Maintenance().RebuildKeys(t.Context()); err != nil || again != before {
		t.Errorf("the key index has %d keys, rebuilt again %d (%v)", before, again, err)
	}
}

// all are the rows of a table, page by page.
func all[T any](t *testing.T, r store.Repository[T]) func(func(*T) bool) {
	t.Helper()
	return func(yield func(*T) bool) {
		for after := ""; ; {
			rows, next, err := r.Find(as(t, "", ""), store.Filter{Limit: 1000, After: after})
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				if !yield(&rows[i]) {
					return
				}
			}
			if after = next; after == "" {
				return
			}
		}
	}
}
