package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/store"
)

func openReading(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A reader beside the writer sees what is committed, and cannot write.
func TestReadOnlyBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx := caller(t.Context())
	r := openReading(t, dir)
	for i := range 3 {
		id := fmt.Sprint("s", i)
		if err := w.BeginTurn(ctx, store.Session{ID: id}, message(id, "x")); err != nil {
			t.Fatal(err)
		}
		if list, err := r.Messages(ctx, id, store.MessageFilter{Limit: 9}); len(list) != 1 || err != nil {
			t.Errorf("session %s beside the writer: %d messages, %v", id, len(list), err)
		}
	}
	if err := r.BeginTurn(ctx, store.Session{ID: "r"}, message("r", "x")); !errors.Is(err, ErrReadOnly) {
		t.Errorf("writing: %v, want %v", err, ErrReadOnly)
	}
	// The reader may outlive the writer, and keeps nobody from being the next.
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Session(ctx, "s2"); err != nil {
		t.Errorf("after the writer: %v", err)
	}
	if w, err = Open(t.Context(), Options{Dir: dir}); err != nil {
		t.Fatalf("a writer beside the reader: %v", err)
	}
	if err := errors.Join(r.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}

// The connection itself refuses what the engine would let through.
func TestReadOnlyConnection(t *testing.T) {
	dir := t.TempDir()
	w, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	e, err := open(t.Context(), Options{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	err = e.ReadSystem(t.Context(), func(c store.Conn) error {
		_, err := c.Exec(t.Context(), `DELETE FROM messages`)
		return err
	})
	if !errors.Is(err, sqlite3.READONLY) {
		t.Errorf("got %v", err)
	}
}

func TestReadOnlyRefuses(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	if _, err := Open(t.Context(), Options{Dir: missing, ReadOnly: true}); !errors.Is(err, ErrMissing) {
		t.Errorf("no folder: %v, want %v", err, ErrMissing)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "p8.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, want error, text string) {
		t.Helper()
		_, err := Open(t.Context(), Options{Dir: dir, ReadOnly: true})
		if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("an empty file", ErrOutdated, "older version")

	version := func(sql string) {
		t.Helper()
		e, err := open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if err := e.WriteSystem(t.Context(), func(c store.Conn) error {
			_, err := c.Exec(t.Context(), sql)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	version(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (900, true)`)
	refused("a newer database", nil, "use a newer program")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	version(`DELETE FROM goose_db_version WHERE version_id > 0`)
	refused("an older database", ErrOutdated, "older version")

	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("a text file", nil, "not a database")
}

// Whatever a killed writer has left is there for a reader.
func TestReadOnlyAfterACrash(t *testing.T) {
	dir, copied := harness.Disk(t), harness.Disk(t)
	w, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx := caller(context.Background())
	if err := w.BeginTurn(ctx, store.Session{ID: "s"}, message("s", "x")); err != nil {
		t.Fatal(err)
	}
	// The files of a moment, without the shared memory.
	for _, name := range []string{"p8.db", "p8.db-wal"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := openReading(t, copied).Session(ctx, "s"); err != nil {
		t.Error(err)
	}
}
