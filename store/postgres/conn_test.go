package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

func ptrTo[T any](v T) *T { return &v }

// TestValues: values of the types that only this engine has.
func TestValues(t *testing.T) {
	ctx := t.Context()
	at := time.Date(2026, 11, 20, 18, 18, 5, 123456789, time.FixedZone("", 7200))
	e := openEngine(t)
	for _, c := range []struct {
		sql       string
		arg       any
		got, want any
	}{
		{`SELECT $1::json`, json.RawMessage(`{ "b": 1,"a":2}`), new(json.RawMessage), ptrTo(json.RawMessage(`{ "b": 1,"a":2}`))},
		{`SELECT $1::jsonb`, json.RawMessage(`{"b":1,"a":2}`), new(json.RawMessage), ptrTo(json.RawMessage(`{"a": 2, "b": 1}`))},
		{`SELECT $1::jsonb`, json.RawMessage(`["a"]`), new(string), ptrTo(`["a"]`)},
		{`SELECT $1::json IS NULL`, json.RawMessage{}, new(bool), ptrTo(true)},
		{`SELECT $1::int`, 7, new(int64), ptrTo(int64(7))},
		{`SELECT sum($1::bigint)`, 7, new(int64), ptrTo(int64(7))},
		{`SELECT $1::float4`, 0.5, new(float64), ptrTo(0.5)},
		{`SELECT $1::timestamptz`, time.Time{}, ptrTo(at), new(time.Time)},
	} {
		err := e.ReadSystem(ctx, func(conn store.Conn) error {
			return conn.Query(ctx, c.sql, func(r store.Row) error { return r.Scan(c.got) }, c.arg)
		})
		if err != nil || !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s of %v: got %v, want %v (%v)", c.sql, c.arg, reflect.ValueOf(c.got).Elem(), reflect.ValueOf(c.want).Elem(), err)
		}
	}
}

func TestMisuse(t *testing.T) {
	ctx := t.Context()
	e := openEngine(t)
	none := func(store.Row) error { return nil }
	for what, fn := range map[string]func(store.Conn) error{
		"a parameter of another type": func(c store.Conn) error { return c.Query(ctx, `SELECT $1::text`, none, []byte("x")) },
		"a text as a number": func(c store.Conn) error {
			return c.Query(ctx, `SELECT 'x'::text`, func(r store.Row) error { return r.Scan(new(int)) })
		},
	} {
		if err := e.ReadSystem(ctx, fn); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// Two transactions that wait for each other both succeed.
func TestDeadlock(t *testing.T) {
	ctx := t.Context()
	e := openEngine(t)
	for _, id := range []string{"a", "b"} {
		if err := e.WriteSystem(ctx, func(c store.Conn) error {
			_, err := c.Exec(ctx, `INSERT INTO feedback (tenant_id, id, rating, created_at, updated_at) VALUES ('t', $1, 0, now(), now())`, id)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	// Both hold their first row before either asks for the second, once.
	first, second := make(chan bool), make(chan bool)
	done := make(chan error)
	runs := make(chan bool, 2*attempts)
	for _, w := range []struct {
		ids       [2]string
		here, has chan bool
	}{{[2]string{"a", "b"}, first, second}, {[2]string{"b", "a"}, second, first}} {
		go func() {
			met := false
			done <- e.WriteSystem(ctx, func(c store.Conn) error {
				runs <- true
				for i, id := range w.ids {
					if _, err := c.Exec(ctx, `UPDATE feedback SET rating = rating + 1 WHERE tenant_id = 't' AND id = $1`, id); err != nil {
						return err
					}
					if i == 0 && !met {
						met = true
						close(w.here)
						<-w.has
					}
				}
				return nil
			})
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(runs) < 3 {
		t.Errorf("%d runs: there was no deadlock", len(runs))
	}
	var sum int64
	if err := e.ReadSystem(ctx, func(c store.Conn) error {
		return c.Query(ctx, `SELECT sum(rating) FROM feedback`, func(r store.Row) error { return r.Scan(&sum) })
	}); err != nil || sum != 4 {
		t.Errorf("%d changes are there, want 4 (%v)", sum, err)
	}
}

// A statement ends with its context, on the server too.
func TestContextEndsAStatement(t *testing.T) {
	e := openEngine(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := e.ReadSystem(ctx, func(c store.Conn) error {
		return c.Query(ctx, `SELECT count(*) FROM generate_series(1, 100000000000)`, func(store.Row) error { return nil })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	const running = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE '%generate\_series(1, 1000%'`
	for n := int64(1); n > 0; {
		if err := e.ReadSystem(t.Context(), func(c store.Conn) error {
			return c.Query(t.Context(), running+` AND pid <> pg_backend_pid()`, func(r store.Row) error { return r.Scan(&n) })
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWriteWaitsNoLongerThanItsContext(t *testing.T) {
	o := quiet(emptyDatabase(t))
	o.MaxConns = 2
	e, err := open(t.Context(), o)
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

// What cannot be stored is the caller's mistake, in words of our own.
func TestValuesThatCannotBeStored(t *testing.T) {
	ctx := t.Context()
	e := openEngine(t)
	for _, raw := range []string{`{"a": 1e400000}`, `{"a": "\u0000"}`, `{"a": "\ud800"}`} {
		err := e.WriteSystem(ctx, func(c store.Conn) error {
			_, err := c.Exec(ctx, `INSERT INTO feedback (tenant_id, id, metadata, created_at, updated_at) VALUES ('t', 'x', $1, now(), now())`, json.RawMessage(raw))
			return err
		})
		var server *pgconn.PgError
		if !errors.Is(err, store.ErrInvalid) || errors.As(err, &server) || strings.Contains(err.Error(), "SQLSTATE") {
			t.Errorf("%s: %v, want %v", raw, err, store.ErrInvalid)
		}
	}
}

func TestEngine(t *testing.T) {
	storetest.Engine(t, func(t *testing.T) store.Engine { return openEngine(t) })
}

func TestErasures(t *testing.T) {
	storetest.Erasures(t, func(t *testing.T) store.Engine { return openEngine(t) })
}

func TestEncryption(t *testing.T) {
	storetest.Encryption(t, func(t *testing.T) store.Engine { return openEngine(t) })
}
