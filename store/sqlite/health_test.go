package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store"
)

func openHealth(t testing.TB, dir string) (*engine, *store.Store) {
	t.Helper()
	e, err := open(t.Context(), Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(e)
	t.Cleanup(func() { s.Close() })
	if err := turnOf(t, s); err != nil {
		t.Fatal(err)
	}
	if err := e.Check(t.Context()); err != nil {
		t.Fatalf("a new database: %v", err)
	}
	return e, s
}

func turnOf(t testing.TB, s *store.Store) error {
	return s.BeginTurn(caller(t.Context()), store.Session{ID: "s"}, message("s", strings.Repeat("x", 10_000)))
}

// wantReason is for an error that says why, and neither where nor how.
func wantReason(t testing.TB, what string, err error, reason string) {
	t.Helper()
	u := (*store.UnavailableError)(nil)
	if !errors.As(err, &u) || u.Reason != reason {
		t.Errorf("%s: got %v, want %q", what, err, reason)
	}
}

// A file that is not where a later process would look for it takes nothing more,
// and the server takes up its work when it is back.
func TestFileGone(t *testing.T) {
	for name, c := range map[string]struct {
		file, reason string
		replace      bool
	}{
		"deleted":     {"p8.db", reasonGone, false},
		"replaced":    {"p8.db", reasonReplaced, true},
		"log deleted": {"p8.db-wal", reasonLogGone, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			e, s := openHealth(t, dir)
			path, away := filepath.Join(dir, c.file), filepath.Join(dir, "away")
			if err := os.Rename(path, away); err != nil {
				t.Fatal(err)
			}
			if c.replace {
				whole, err := os.ReadFile(away)
				if err == nil {
					err = os.WriteFile(path, whole, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			wantReason(t, "check", e.Check(t.Context()), c.reason)
			wantReason(t, "turn", turnOf(t, s), c.reason)
			_, err := s.Messages(caller(t.Context()), "s", store.MessageFilter{})
			wantReason(t, "read", err, c.reason)
			_, err = s.Select(caller(t.Context()), `SELECT 1`, store.SelectBounds{})
			wantReason(t, "select", err, c.reason)
			if err := os.Rename(away, path); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(turnOf(t, s), e.Check(t.Context())); err != nil {
				t.Errorf("when it is back: %v", err)
			}
		})
	}
}

// Damage is seen although the connections have the pages in their caches.
func TestFileDamaged(t *testing.T) {
	for name, from := range map[string]int64{"header": 0, "first page of every table": 4096} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			e, s := openHealth(t, dir)
			if err := e.log.checkpoint(sqlite3.CHECKPOINT_TRUNCATE); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(e.path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			info, err := f.Stat()
			if err == nil {
				_, err = f.WriteAt(bytes.Repeat([]byte("garbage "), int(info.Size()-from)/8), from)
			}
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			wantReason(t, "check", e.Check(t.Context()), reasonDamaged)
			if from == 0 {
				wantReason(t, "turn", turnOf(t, s), reasonDamaged)
			}
		})
	}
}

// A page that a request could not read is remembered.
func TestDamageIsRemembered(t *testing.T) {
	e, _ := openHealth(t, t.TempDir())
	wantReason(t, "read", e.ReadSystem(t.Context(), func(store.Conn) error { return sqlite3.CORRUPT_INDEX }), reasonDamaged)
	wantReason(t, "check", e.Check(t.Context()), reasonDamaged)
}

// fullDisk is the folder of the child process whose disk is full.
const fullDisk = "P8_TEST_FULL_DISK"

// A full disk is simulated by the largest file that a process may write, which
// needs no privileges, and where it may be mounted by a small tmpfs.
func TestDiskFull(t *testing.T) {
	t.Run("file size", func(t *testing.T) {
		c := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 3000 && exec "$0" -test.run=^$`, os.Args[0])
		c.Env = append(os.Environ(), fullDisk+"="+t.TempDir())
		if out, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "fails, then fails" {
			t.Errorf("the child: %v %s", err, out)
		}
	})
	dir := t.TempDir()
	if err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", dir).Run(); err != nil {
		t.Logf("a tmpfs cannot be mounted here: %v", err)
		return
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	t.Run("tmpfs", func(t *testing.T) {
		e, s := openHealth(t, dir)
		filler := filepath.Join(dir, "filler")
		f, err := os.Create(filler)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = f.Write(make([]byte, 64<<10))
		}
		_ = f.Close()
		wantReason(t, "check", e.Check(t.Context()), reasonFull)
		for err = nil; err == nil; {
			err = turnOf(t, s)
		}
		wantReason(t, "turn", err, reasonFull)
		wantReason(t, "check", e.Check(t.Context()), reasonFull)
		if _, err := s.Messages(caller(t.Context()), "s", store.MessageFilter{}); err != nil {
			t.Errorf("reading from a full disk: %v", err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.Check(t.Context()), turnOf(t, s), e.Check(t.Context())); err != nil {
			t.Errorf("when there is room again: %v", err)
		}
	})
}

// The kernel refuses to make a file system read-only that has a file open for
// writing; a disk with errors is made so nevertheless. Then SQLite says this.
func TestReadOnlyDisk(t *testing.T) {
	e, s := openHealth(t, t.TempDir())
	wantReason(t, "write", e.WriteSystem(t.Context(), func(store.Conn) error { return sqlite3.READONLY_DIRECTORY }), reasonReadOnly)
	if err := errors.Join(e.Check(t.Context()), turnOf(t, s)); err != nil {
		t.Errorf("when it can be written again: %v", err)
	}
}

// fullDiskChild writes until there is no room, and prints what Check says.
func fullDiskChild(dir string, w io.Writer) {
	ctx := caller(context.Background())
	e, err := open(ctx, Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Fprint(w, err)
		return
	}
	s := store.New(e)
	u := (*store.UnavailableError)(nil)
	for err == nil {
		err = s.BeginTurn(ctx, store.Session{ID: "s"}, message("s", strings.Repeat("x", 100_000)))
	}
	if !errors.As(err, &u) || u.Reason != reasonIO {
		fmt.Fprint(w, "turn: ", err)
		return
	}
	fmt.Fprint(w, "fails, then ")
	if err = e.Check(ctx); !errors.As(err, &u) || u.Reason != reasonIO {
		fmt.Fprint(w, err)
		return
	}
	fmt.Fprintln(w, "fails")
	os.Exit(0)
}
