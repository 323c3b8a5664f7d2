package sqlite

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		crashWriter(dir)
		return
	}
	if dir := os.Getenv(fullDisk); dir != "" {
		fullDiskChild(dir, os.Stdout)
		return
	}
	goleak.VerifyTestMain(m)
}

func openStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func caller(ctx context.Context) context.Context {
	return identity.With(ctx, identity.Identity{UserID: "u", Name: "Ute"})
}

func message(session, text string) *store.Message {
	return &store.Message{SessionID: session, Type: store.MessageUser, Content: &text}
}

func TestStore(t *testing.T) {
	empty := template(t, func(*store.Store) {})
	storetest.Run(t, func(t *testing.T) *store.Store { return openCopy(t, empty) },
		func(t *testing.T, fill func(*store.Store)) func() *store.Store {
			full, before := template(t, fill), io.Closer(io.NopCloser(nil))
			return func() *store.Store {
				if err := before.Close(); err != nil {
					t.Error(err)
				}
				s := openCopy(t, full)
				before = s
				return s
			}
		})
}

// template is the database file of a store that fill has filled.
func template(t *testing.T, fill func(*store.Store)) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p8.db")
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	fill(s)
	// Closing moves the log into the database, so that its file is all.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func openCopy(t *testing.T, file []byte) *store.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p8.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestOpenCreatesAPrivateFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%20?#", "ü")
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.BeginTurn(caller(t.Context()), store.Session{ID: "s"}, message("s", "x")); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 3 {
		t.Errorf("files %q, %v", files, err)
	}
	wantPrivate(t, dir)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "p8.db-wal")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("closing left the log behind: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(t.Context(), Options{}); err == nil {
		t.Error("no place: opened")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "text.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Path: path}); err == nil || !strings.Contains(err.Error(), "not a database") {
		t.Errorf("a text file: %v", err)
	}
	s, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Dir: dir}); !errors.Is(err, ErrInUse) {
		t.Errorf("opened twice: %v, want %v", err, ErrInUse)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), Options{Dir: dir}); err != nil {
		t.Fatalf("after closing: %v", err)
	}
	s.Close()
}

func TestClosed(t *testing.T) {
	s := openStore(t)
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	var failure *store.Failure
	if err := s.Append(caller(t.Context())); !errors.As(err, &failure) {
		t.Errorf("writing to a closed store: %v", err)
	}
	if _, err := s.Users().Get(caller(t.Context())); !errors.As(err, &failure) {
		t.Errorf("reading from a closed store: %v", err)
	}
}

// A damaged table must show as a failure without details.
func TestFailure(t *testing.T) {
	dir := t.TempDir()
	e, err := open(t.Context(), Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(e)
	defer s.Close()
	err = e.WriteSystem(t.Context(), func(c store.Conn) error {
		_, err := c.Exec(t.Context(), `DROP TABLE messages`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.BeginTurn(caller(t.Context()), store.Session{ID: "s"}, message("s", "x"))
	var failure *store.Failure
	if !errors.As(err, &failure) || err.Error() != "begin turn: storage failed" {
		t.Errorf("got %v", err)
	}
	// Nothing of the failed transaction stays, and the writer still works.
	same := func(was store.Session) (store.Session, error) { return was, nil }
	if err := s.ChangeSession(caller(t.Context()), "s", same); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("session of a failed turn: %v", err)
	}
	if err := s.Users().Put(caller(t.Context()), &store.User{Name: "x"}); err != nil {
		t.Error(err)
	}
}

// A write gives up when its context ends while another one holds the writer.
func TestWriterWaitsNoLongerThanItsContext(t *testing.T) {
	e, err := open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err = e.WriteSystem(t.Context(), func(store.Conn) error {
		cancel()
		return e.WriteSystem(ctx, func(store.Conn) error { return errors.New("ran") })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// wantPrivate is for a folder whose files only their owner may use.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 4 { // the database, its log, the shared memory, the lock
		t.Errorf("files %q, %v", files, err)
	}
	for _, path := range append(files, dir) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got&0o077 != 0 {
			t.Errorf("%s has mode %o", path, got)
		}
	}
}

// Files that an older p8, or somebody else, left open to everybody are tightened.
func TestOpenTightens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, readOnly := range []bool{false, true} {
		w, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.BeginTurn(caller(t.Context()), store.Session{ID: "s"}, message("s", "x")); err != nil {
			t.Fatal(err)
		}
		if !readOnly {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		files, err := filepath.Glob(filepath.Join(dir, "p8.db*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if err := os.Chmod(path, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(t.Context(), Options{Dir: dir, ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Messages(caller(t.Context()), "s", store.MessageFilter{}); err != nil {
			t.Fatal(err)
		}
		wantPrivate(t, dir)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if readOnly {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
