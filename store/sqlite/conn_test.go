package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

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

// Arguments go to their numbers, not to the order in which they appear.
func TestArgumentOrder(t *testing.T) {
	ctx := t.Context()
	var a, b, c string
	err := testEngine(t).Read(ctx, func(conn store.Conn) error {
		return conn.Query(ctx, `SELECT $2, $1, $2`, func(r store.Row) error { return r.Scan(&a, &b, &c) }, "one", "two")
	})
	if err != nil || a+" "+b+" "+c != "two one two" {
		t.Errorf("got %q %q %q, %v", a, b, c, err)
	}
}

func TestValues(t *testing.T) {
	ctx := t.Context()
	at := time.Date(2026, 11, 20, 18, 18, 5, 123456789, time.FixedZone("", 7200))
	ptr := func(s string) *string { return &s }
	e := testEngine(t)
	for _, c := range []struct {
		arg       any
		got, want any
	}{
		{"a\x00ü", new(string), ptr("a\x00ü")},
		{nil, new(string), ptr("")},
		{nil, new(*string), new(*string)},
		{"", ptrTo(ptr("x")), ptrTo(ptr(""))},
		{json.RawMessage(`{"a": 1}`), new(json.RawMessage), ptrTo(json.RawMessage(`{"a": 1}`))},
		{json.RawMessage(nil), new(json.RawMessage), new(json.RawMessage)},
		{-7, new(int), ptrTo(-7)},
		{int64(1 << 60), new(int64), ptrTo(int64(1 << 60))},
		{0.1, new(float64), ptrTo(0.1)},
		{true, new(bool), ptrTo(true)},
		{at, new(time.Time), ptrTo(at.UTC().Truncate(time.Microsecond))},
		{at, new(string), ptr("2026-11-20 16:18:05.123456")},
		{nil, new(time.Time), new(time.Time)},
	} {
		err := e.Read(ctx, func(conn store.Conn) error {
			return conn.Query(ctx, `SELECT $1`, func(r store.Row) error { return r.Scan(c.got) }, c.arg)
		})
		if err != nil || !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%T %v: got %v, want %v (%v)", c.arg, c.arg, c.got, c.want, err)
		}
	}
}

func ptrTo[T any](v T) *T { return &v }

func TestMisuse(t *testing.T) {
	ctx := t.Context()
	e := testEngine(t)
	for sql, args := range map[string][]any{
		`SELECT $1`:           {},
		`SELECT $1, $2`:       {1},
		`SELECT $1 `:          {struct{}{}},
		`SELECT 1; SELECT $1`: {1},
		`SELECT x`:            {},
	} {
		if err := e.Read(ctx, func(c store.Conn) error {
			_, err := c.Exec(ctx, sql, args...)
			return err
		}); err == nil {
			t.Errorf("%s with %v succeeds", sql, args)
		}
	}
	if err := e.Read(ctx, func(c store.Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM users`)
		return err
	}); err == nil {
		t.Error("a reader writes")
	}
}

// Every statement can be prepared again after it was dropped, and a query that
// runs is never dropped.
func TestStatementsAreBounded(t *testing.T) {
	ctx := t.Context()
	e := testEngine(t)
	err := e.Write(ctx, func(c store.Conn) error {
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
	err := e.Read(ctx, func(c store.Conn) error {
		return c.Query(ctx, endless, func(store.Row) error { return nil })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestLater(t *testing.T) { storetest.Later(t, testEngine(t)) }
