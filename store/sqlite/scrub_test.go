package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// TestErasedFromTheFile: of an erased user no text is in any file of the database: not in
// free pages, not in the index of words, not in the log, and not what an earlier change had
// replaced.
func TestErasedFromTheFile(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ann := identity.With(t.Context(), identity.Identity{TenantID: "t", UserID: "ann"})
	bob := identity.With(t.Context(), identity.Identity{TenantID: "t", UserID: "bob"})
	for i := range 60 {
		must(s.BeginTurn(ann, store.Session{ID: fmt.Sprint("s", i%3)}, message(fmt.Sprint("s", i%3), fmt.Sprintf("xylocanary%d %s", i, strings.Repeat("filler ", 100)))))
		must(s.BeginTurn(bob, store.Session{ID: "b"}, message("b", fmt.Sprintf("kept%d words", i))))
	}
	must(s.Resources().Put(ann, &store.Resource{Name: "note", Content: "xylocanary " + strings.Repeat("long ", 5000)}))
	must(s.Resources().Put(ann, &store.Resource{Name: "note", Content: "something else"}))
	holds := func(word string) (found []string) {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		must(err)
		for _, file := range files {
			raw, err := os.ReadFile(file)
			must(err)
			if bytes.Contains(bytes.ToLower(raw), []byte(word)) {
				found = append(found, filepath.Base(file))
			}
		}
		return found
	}
	if len(holds("xylocanary")) == 0 {
		t.Fatal("the files do not hold the text: the test proves nothing")
	}
	_, err = s.Erasures().Begin(ann)
	must(err)
	for n := int64(1); n > 0; {
		n, err = s.Erasures().Step(ann)
		must(err)
	}
	must(s.Erasures().Finish(ann))
	if found := holds("xylocanary"); len(found) > 0 {
		t.Errorf("the text is still in %v", found)
	}
	list, _, err := s.Sessions(bob, store.SessionFilter{Words: "kept7"})
	if err != nil || len(list) != 1 {
		t.Errorf("another user's session is not found by its words: %v, %v", list, err)
	}
	must(s.BeginTurn(ann, store.Session{ID: "new"}, message("new", "a new beginning")))
}

// TestScrubBesideACheckpoint: the removal of deleted rows waits for a checkpoint that runs.
func TestScrubBesideACheckpoint(t *testing.T) {
	e := testEngine(t)
	if err := e.WriteSystem(t.Context(), func(c store.Conn) error {
		_, err := c.Exec(t.Context(), `CREATE TABLE pages AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i, randomblob(1000) AS bytes FROM n`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	// Another connection than the checkpointer's own, which works beside this test.
	c, err := connect(t.Context(), e.path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	checkpoint := func() error {
		e.log.copying.Lock()
		defer e.log.copying.Unlock()
		_, _, err := c.db.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
		return err
	}
	done := make(chan struct{})
	var checkpoints sync.WaitGroup
	checkpoints.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if err := checkpoint(); err != nil && !errors.Is(err, sqlite3.BUSY) {
				t.Error(err)
			}
		}
	})
	defer checkpoints.Wait()
	defer close(done)
	for range 20 {
		if err := e.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
