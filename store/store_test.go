package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store/internal/trgm"
)

// broken is an engine whose every call fails.
type broken struct{ err error }

func (b broken) Read(context.Context, Scope, func(Conn) error) error  { return b.err }
func (b broken) Write(context.Context, Scope, func(Conn) error) error { return b.err }
func (b broken) ReadSystem(context.Context, func(Conn) error) error   { return b.err }
func (b broken) WriteSystem(context.Context, func(Conn) error) error  { return b.err }
func (b broken) Close() error                                         { return b.err }
func (broken) Dialect() Dialect                                       { return DialectSQLite }
func (b broken) Select(context.Context, Scope, string, SelectBounds) (Selection, error) {
	return Selection{}, b.err
}

func TestFailureHidesTheCause(t *testing.T) {
	cause := errors.New("/home/me/p8.db: disk full: INSERT INTO messages")
	s := New(broken{cause})
	ctx := identity.With(t.Context(), identity.Identity{})
	err := s.Append(ctx)
	var failure *Failure
	if !errors.As(err, &failure) || !errors.Is(err, cause) {
		t.Fatalf("got %v, want a Failure of the cause", err)
	}
	if want := "append messages: storage failed"; err.Error() != want {
		t.Errorf("a client sees %q, want %q", err, want)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Error("x", "err", err)
	if !strings.Contains(log.String(), "disk full") {
		t.Errorf("the log does not tell the cause: %s", &log)
	}
	for _, c := range []struct{ cause, want error }{
		{fmt.Errorf("%w: SQL text", ErrConflict), ErrConflict},
		{fmt.Errorf("SQL text: %w", context.DeadlineExceeded), context.DeadlineExceeded},
		{fmt.Errorf("SQL text: %w", context.Canceled), context.Canceled},
	} {
		err := New(broken{c.cause}).Append(ctx)
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), "SQL") {
			t.Errorf("of %v a client sees %v", c.cause, err)
		}
	}
}

func TestMergeObjects(t *testing.T) {
	for _, c := range []struct {
		old, add, want string
		changed        bool
	}{
		{``, `{"a": 1}`, `{"a": 1}`, true},
		{`{"a": 1}`, ``, `{"a": 1}`, false},
		{`{}`, `{"a": 1}`, `{"a": 1}`, true},
		{`{"a":1}`, `{"a":1}`, `{"a":1}`, false},
		{`{"a":1,"b":{"x":1}}`, `{"b":{"y":2},"c":null}`, `{"a":1,"b":{"y":2},"c":null}`, true},
		{`{ "a" : 1 }`, `{}`, `{ "a" : 1 }`, false},
	} {
		got, changed, err := MergeObjects(json.RawMessage(c.old), json.RawMessage(c.add))
		if err != nil || string(got) != c.want || changed != c.changed {
			t.Errorf("MergeObjects(%s, %s) = %s, %v, %v", c.old, c.add, got, changed, err)
		}
	}
}

func TestClip(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("x", 500), strings.Repeat("ü", 500), strings.Repeat("日本", 400), strings.Repeat("x", 501)} {
		want := []rune(s)
		want = want[:min(500, len(want))]
		if got := clip(s, 500); got != string(want) {
			t.Errorf("clip keeps %d characters of %d", len([]rune(got)), len([]rune(s)))
		}
	}
}

// noRows is a connection to an empty database.
type noRows struct{}

func (noRows) Exec(context.Context, string, ...any) (int64, error)          { return 0, nil }
func (noRows) Query(context.Context, string, func(Row) error, ...any) error { return nil }

func (c noRows) Later(ctx context.Context, s Statement) error { return s.Run(ctx, c) }

// manyRows is a connection to a key index of many rows.
type manyRows struct {
	noRows
	rows, read, paged int
}

func (c *manyRows) Query(_ context.Context, sql string, each func(Row) error, args ...any) error {
	row := func(id string) error {
		c.read++
		return each(jsonRow{encode(TypeResource), encode(id), encode(id), encode(strings.Repeat(id+" ", 20))})
	}
	if len(args) == 4 {
		return row(args[3].(string))
	}
	for range min(c.rows-c.paged, args[4].(int)) { // a page
		if err := row(fmt.Sprint("id", c.paged)); err != nil {
			return err
		}
		c.paged++
	}
	return nil
}

// TestFuzzyIndexIsBounded: an owner's index takes no more than its bound, at its first
// build and later.
func TestFuzzyIndexIsBounded(t *testing.T) {
	const most = 50_000
	all, owner := newFuzzyIndexes(), ownerKeys{"t", ""}
	from := &keyRows{&manyRows{rows: 100_000}, owner, most}
	open := func() *trgm.Index {
		t.Helper()
		ix, release, err := all.Open(t.Context(), owner, from)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		return ix
	}
	first := open().Size()
	if read := from.c.(*manyRows).read; first > most+1000 || read > 1000 || !open().Has(docID(TypeResource, "id0")) {
		t.Errorf("%d bytes of %d rows", first, read)
	}
	for i := range 100 {
		all.Changed(owner, change{"t", "", TypeResource, fmt.Sprint("new", i)}, change{"t", "", TypeResource, "id0"})
	}
	if ix := open(); ix.Size() > first+1000 || ix.Has(docID(TypeResource, "new1")) {
		t.Errorf("%d bytes became %d", first, ix.Size())
	}
}
