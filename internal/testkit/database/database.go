// Package database gives tests a store of their own, fast: each is a copy of one
// migrated SQLite database, which is made once for a package's tests.
//
//	s := database.Open(t)
package database

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

const file = "p8.db"

// migrated returns the bytes of a new database. To migrate takes 130 ms with the race
// detector, to open a copy 5.
var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "p8-migrated-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	s, err := sqlite.Open(context.Background(), sqlite.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, file))
})

// Copy puts the file of an empty database at a path.
func Copy(t testing.TB, path string) {
	t.Helper()
	content, err := migrated()
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Open returns an empty store, which is closed when the test ends.
func Open(t testing.TB) *store.Store {
	t.Helper()
	return OpenAt(t, filepath.Join(t.TempDir(), file))
}

// OpenAt is Open with the path of the file.
func OpenAt(t testing.TB, path string) *store.Store {
	t.Helper()
	Copy(t, path)
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
