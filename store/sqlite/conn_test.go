package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/vfs/mvcc"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

func TestNumbered(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT $2, $1, $2`:                  `SELECT ?2, ?1, ?2`,
		`SELECT $10`:                         `SELECT ?10`,
		`SELECT '$1', "$2", $3`:              `SELECT '$1', "$2", ?3`,
		`SELECT 'it''s $1', $1`:              `SELECT 'it''s $1', ?1`,
		"SELECT `$1` -- $2\n, $3 /* $4 */$5": "SELECT `$1` -- $2\n, ?3 /* $4 */?5",
		`SELECT $name, $0, $`:                `SELECT $name, $0, $`,
		`SELECT '$1`:                         `SELECT '$1`,
		`SELECT 1 /* $1`:                     `SELECT 1 /* $1`,
		`SELECT 1`:                           `SELECT 1`,
	} {
		if got := numbered(sql); got != want {
			t.Errorf("numbered(%q) = %q, want %q", sql, got, want)
		}
	}
}

func FuzzNumbered(f *testing.F) {
	f.Add("SELECT $1, '$2' /* $3 */ -- $4\n\"")
	f.Fuzz(func(t *testing.T, sql string) {
		got := numbered(sql)
		if len(got) != len(sql) || strings.ReplaceAll(got, "?", "$") != strings.ReplaceAll(sql, "?", "$") {
			t.Errorf("numbered(%q) = %q changes more than a sign", sql, got)
		}
	})
}

func testEngine(t *testing.T) *engine {
	t.Helper()
	e, err := open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// TestStoredTexts: how the texts of a database look that other programs may read.
func TestStoredTexts(t *testing.T) {
	ctx := t.Context()
	at := time.Date(2026, 11, 20, 18, 18, 5, 123456789, time.FixedZone("", 7200))
	e := testEngine(t)
	for _, c := range []struct {
		arg  any
		want string
	}{
		{"a\x00ü", "a\x00ü"},
		{at, "2026-11-20 16:18:05.123456"},
	} {
		var got string
		err := e.ReadSystem(ctx, func(conn store.Conn) error {
			return conn.Query(ctx, `SELECT $1`, func(r store.Row) error { return r.Scan(&got) }, c.arg)
		})
		if err != nil || got != c.want {
			t.Errorf("%T %v is stored as %q, want %q (%v)", c.arg, c.arg, got, c.want, err)
		}
	}
}

// Every statement can be prepared again after it was dropped, and a query that
// runs is never dropped.
func TestStatementsAreBounded(t *testing.T) {
	ctx := t.Context()
	e := testEngine(t)
	err := e.WriteSystem(ctx, func(c store.Conn) error {
		for i := range 3 * maxStatements {
			err := c.Query(ctx, fmt.Sprintf(`SELECT %d`, i%(2*maxStatements)), func(r store.Row) error {
				_, err := c.Exec(ctx, fmt.Sprintf(`UPDATE users SET name = 'x%d'`, i))
				return err
			})
			if err != nil {
				return err
			}
		}
		if n := len(c.(*conn).stmts); n > maxStatements {
			return fmt.Errorf("%d statements are kept", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestInterrupt(t *testing.T) {
	e := testEngine(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	endless := `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`
	err := e.ReadSystem(ctx, func(c store.Conn) error {
		return c.Query(ctx, endless, func(store.Row) error { return nil })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestEngine(t *testing.T) {
	storetest.Engine(t, func(t *testing.T) store.Engine { return testEngine(t) })
}

func TestErasures(t *testing.T) {
	storetest.Erasures(t, func(t *testing.T) store.Engine { return testEngine(t) })
}

func TestEncryption(t *testing.T) {
	empty := mvcc.TakeSnapshot(memoryName(memoryEngine(t, mvcc.Snapshot{}).path))
	storetest.Encryption(t, func(t *testing.T) store.Engine { return memoryEngine(t, empty) })
}

// TestPanicInARead: the connection forgets the snapshot and the statement in whose middle
// the reader panicked, so that the next reader sees later commits.
func TestPanicInARead(t *testing.T) {
	e, ctx := testEngine(t), t.Context()
	exec := func(sql string) {
		t.Helper()
		if err := e.WriteSystem(ctx, func(c store.Conn) error { _, err := c.Exec(ctx, sql); return err }); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE panics (n)`)
	exec(`INSERT INTO panics VALUES (1)`)
	var sum int
	read := func(each func(store.Row) error) error {
		return e.ReadSystem(ctx, func(c store.Conn) error {
			return c.Later(ctx, store.Statement{SQL: `SELECT n FROM panics`, Each: each})
		})
	}
	for range cap(e.readers) {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			_ = read(func(store.Row) error { panic("boom") })
		}()
	}
	exec(`INSERT INTO panics VALUES (2)`)
	for range cap(e.readers) {
		sum = 0
		if err := read(func(r store.Row) error {
			var n int
			err := r.Scan(&n)
			sum += n
			return err
		}); err != nil || sum != 3 {
			t.Errorf("%d, %v", sum, err)
		}
	}
}
