package storetest

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// Engine checks the promises of store.Engine's connections. open returns an engine with the
// store's tables, which the test's cleanup closes.
func Engine(t *testing.T, open func(*testing.T) store.Engine) {
	for name, test := range map[string]func(*testing.T, store.Engine){
		"values":   engineValues,
		"misuse":   engineMisuse,
		"rollback": engineRollback,
		"later":    engineLater,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// engineValues: a value of each type survives a round trip through its column.
func engineValues(t *testing.T, e store.Engine) {
	ctx, at := t.Context(), time.Date(2026, 11, 20, 18, 18, 5, 123456789, time.FixedZone("", 7200))
	must(t, e.Write(ctx, inT, func(c store.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO feedback (tenant_id, id, created_at, updated_at) VALUES ($2, $3, $1, $1)`, at, "t", "x")
		if err == nil {
			_, err = c.Exec(ctx, `INSERT INTO runs (tenant_id, id, session_id, status, owner, created_at, updated_at)
				VALUES ($3, $2, $2, $2, $2, $1, $1)`, at, "x", "t")
		}
		return err
	}))
	for _, x := range []struct {
		table, column  string
		arg, got, want any
	}{
		{"feedback", "comment", "aü", new(string), ptr("aü")},
		{"feedback", "comment", nil, ptr("x"), ptr("")},
		{"feedback", "comment", nil, ptr(ptr("x")), new(*string)},
		{"feedback", "comment", "", new(*string), ptr(ptr(""))},
		{"feedback", "rating", 7, new(int), ptr(7)},
		{"feedback", "rating", nil, ptr(3), new(int)},
		{"feedback", "metadata", json.RawMessage(`{"a": 1}`), new(json.RawMessage), ptr(json.RawMessage(`{"a": 1}`))},
		{"feedback", "metadata", json.RawMessage(nil), ptr(json.RawMessage("1")), new(json.RawMessage)},
		{"runs", "log_bytes", int64(1 << 60), new(int64), ptr(int64(1 << 60))},
		{"runs", "log_bytes", -7, new(int), ptr(-7)},
		{"runs", "stop_requested", true, new(bool), ptr(true)},
		{"runs", "stop_requested", false, ptr(true), new(bool)},
		{"runs", "ended_at", at, new(time.Time), ptr(at.UTC().Truncate(time.Microsecond))},
		{"runs", "ended_at", nil, ptr(at), new(time.Time)},
	} {
		err := e.Write(ctx, inT, func(c store.Conn) error {
			return c.Query(ctx, `UPDATE `+x.table+` SET `+x.column+` = $2 WHERE tenant_id = 't' AND id = $1 RETURNING `+x.column,
				func(r store.Row) error { return r.Scan(x.got) }, "x", x.arg)
		})
		if err != nil || !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("%s.%s of %v: got %v, want %v (%v)", x.table, x.column, x.arg, reflect.ValueOf(x.got).Elem(), reflect.ValueOf(x.want).Elem(), err)
		}
	}
}

// engineMisuse: a wrong statement is an error, and the connection stays usable.
func engineMisuse(t *testing.T, e store.Engine) {
	ctx, none := t.Context(), func(store.Row) error { return nil }
	for what, fn := range map[string]func(store.Conn) error{
		"too few arguments":      func(c store.Conn) error { return c.Query(ctx, `SELECT id FROM users WHERE id = $1`, none) },
		"an argument of no type": func(c store.Conn) error { return c.Query(ctx, `SELECT id FROM users WHERE id = $1`, none, struct{}{}) },
		"two statements":         func(c store.Conn) error { return c.Query(ctx, `SELECT 1; SELECT 2`, none) },
		"an unknown column":      func(c store.Conn) error { return c.Query(ctx, `SELECT x FROM users`, none) },
		"a write on a read":      func(c store.Conn) error { _, err := c.Exec(ctx, `DELETE FROM users`); return err },
		"a write inside a read":  func(c store.Conn) error { return c.Query(ctx, `DELETE FROM messages RETURNING id`, none) },
		"a target of no type": func(c store.Conn) error {
			return c.Query(ctx, `SELECT 1`, func(r store.Row) error { return r.Scan(new(uint8)) })
		},
		"fewer targets than read": func(c store.Conn) error {
			return c.Query(ctx, `SELECT 1, 2`, func(r store.Row) error { return r.Scan(new(int)) })
		},
	} {
		if err := e.Read(ctx, inT, fn); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	must(t, e.Read(ctx, inT, func(c store.Conn) error { return c.Query(ctx, `SELECT 1`, none) }))
}

// engineRollback: a failed transaction leaves no trace, and the error of its function is
// returned unchanged.
func engineRollback(t *testing.T, e store.Engine) {
	ctx, at, stop := t.Context(), time.Now().UTC(), errors.New("stop")
	insert := func(c store.Conn) error {
		_, err := c.Exec(ctx, `INSERT INTO feedback (tenant_id, id, created_at, updated_at) VALUES ('t', 'a', $1, $1)`, at)
		return err
	}
	wantErr(t, "the function's error", e.Write(ctx, inT, func(c store.Conn) error { return errors.Join(insert(c), stop) }), stop)
	must(t, e.Write(ctx, inT, insert))
	wantErr(t, "a key twice", e.Write(ctx, inT, insert), store.ErrConflict)
}

func ptr[T any](v T) *T { return &v }
