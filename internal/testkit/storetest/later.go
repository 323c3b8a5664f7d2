package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/p8-org/p8/store"
)

// inT is the scope of the statements of these tests.
var inT = store.Scope{Tenant: "t"}

// engineLater checks the promises of Conn.Later.
func engineLater(t *testing.T, e store.Engine) {
	ctx, at := t.Context(), time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC)
	insert := func(id string, rating int) store.Statement {
		return store.Statement{
			SQL:  `INSERT INTO feedback (tenant_id, id, rating, created_at, updated_at) VALUES ('t', $1, $2, $3, $3)`,
			Args: []any{id, rating, at},
		}
	}
	ratings := func() (list []string) {
		must(t, e.Read(ctx, inT, func(c store.Conn) error {
			return c.Query(ctx, `SELECT id, rating FROM feedback ORDER BY id`, func(r store.Row) error {
				var id string
				var rating int
				err := r.Scan(&id, &rating)
				list = append(list, fmt.Sprint(id, rating))
				return err
			})
		}))
		return list
	}
	raise := func(id string, to *int, missing func(store.Conn) error) func(c store.Conn) error {
		return func(c store.Conn) error {
			s := store.Statement{SQL: `UPDATE feedback SET rating = rating + 1 WHERE tenant_id = 't' AND id = $1 RETURNING rating`, Args: []any{id}}
			if to != nil {
				s.Each = func(r store.Row) error { return r.Scan(to) }
			}
			if missing != nil {
				s.Missing = func() error { return missing(c) }
			}
			return c.Later(ctx, s)
		}
	}
	stop := errors.New("stop")
	stops := func(store.Conn) error { return stop }
	all := func(steps ...func(store.Conn) error) func(store.Conn) error {
		return func(c store.Conn) error {
			for _, step := range steps {
				if err := step(c); err != nil {
					return err
				}
			}
			return nil
		}
	}
	later := func(s store.Statement) func(store.Conn) error {
		return func(c store.Conn) error {
			s := s
			s.Args = slices.Clone(s.Args)
			return c.Later(ctx, s)
		}
	}
	now := func(id string) func(store.Conn) error {
		return func(c store.Conn) error {
			s := insert(id, 7)
			n, err := c.Exec(ctx, s.SQL, s.Args...)
			if err == nil && n != 1 {
				err = fmt.Errorf("%d rows", n)
			}
			return err
		}
	}

	var got int
	must(t, e.Write(ctx, inT, all(later(insert("a", 1)), raise("a", &got, stops), raise("a", &got, nil), raise("none", nil, nil))))
	wantEqual(t, "what the last statement saw", got, 3)
	wantEqual(t, "rows", ratings(), []string{"a3"})

	// Before, between and after others, in order.
	must(t, e.Write(ctx, inT, all(later(insert("b", 1)), now("c"), raise("c", &got, stops), raise("b", nil, stops), now("d"), later(insert("e", 0)))))
	wantEqual(t, "a later row", got, 8)
	wantEqual(t, "rows", ratings(), []string{"a3", "b2", "c8", "d7", "e0"})
	must(t, e.Write(ctx, inT, all()))

	// After a missing row, a wrong statement or a duplicate key, nothing is written.
	for what, c := range map[string]struct {
		fn   func(store.Conn) error
		want error
	}{
		"missing at the end":      {all(later(insert("x", 1)), raise("none", nil, stops)), stop},
		"missing in the middle":   {all(later(insert("x", 1)), raise("none", nil, stops), later(insert("y", 1))), stop},
		"missing before an Exec":  {all(later(insert("x", 1)), raise("none", nil, stops), now("y")), stop},
		"missing after an Exec":   {all(now("x"), raise("none", nil, stops)), stop},
		"an error of the caller":  {all(later(insert("x", 1)), stops), stop},
		"a key twice":             {all(later(insert("x", 1)), later(insert("x", 2))), store.ErrConflict},
		"a key twice, then more":  {all(now("x"), later(insert("x", 2)), later(insert("y", 2))), store.ErrConflict},
		"a key twice, then a row": {all(later(insert("x", 1)), later(insert("x", 2)), raise("none", nil, stops)), store.ErrConflict},
	} {
		wantErr(t, what, e.Write(ctx, inT, c.fn), c.want)
		wantEqual(t, what, ratings(), []string{"a3", "b2", "c8", "d7", "e0"})
	}

	// Missing explains the failure through the connection, and may repair it.
	count := 0
	must(t, e.Write(ctx, inT, all(raise("f", &got, func(c store.Conn) error {
		if err := c.Query(ctx, `SELECT count(*) FROM feedback`, func(r store.Row) error { return r.Scan(&count) }); err != nil {
			return err
		}
		return c.Later(ctx, insert("f", count))
	}), raise("f", &got, stops))))
	wantEqual(t, "mended", []int{count, got}, []int{5, 6})

	// Of a Read.
	read := func(id string, to *int, missing func(store.Conn) error) func(store.Conn) error {
		return func(c store.Conn) error {
			s := store.Statement{SQL: `SELECT rating FROM feedback WHERE tenant_id = 't' AND id = $1`, Args: []any{id}, Each: func(r store.Row) error { return r.Scan(to) }}
			if missing != nil {
				s.Missing = func() error { return missing(c) }
			}
			return c.Later(ctx, s)
		}
	}
	var a, b, c, d int
	must(t, e.Read(ctx, inT, all(read("a", &a, stops), read("none", &d, read("b", &b, stops)), read("c", &c, nil), read("none", &d, nil))))
	wantEqual(t, "read", []int{a, b, c, d}, []int{3, 2, 8, 0})
	wantErr(t, "a missing row", e.Read(ctx, inT, all(read("a", &a, nil), read("none", &d, stops), read("a", &a, nil))), stop)
	wantErr(t, "a missing row alone", e.Read(ctx, inT, read("none", &d, stops)), stop)
	if err := e.Read(ctx, inT, all(read("a", &a, nil), later(insert("x", 1)), read("a", &a, nil))); err == nil {
		t.Error("a write inside of a read: no error")
	}

	// All statements of a Read see one state.
	must(t, e.Read(ctx, inT, func(conn store.Conn) error {
		const twice = `SELECT count(*) FROM feedback`
		look := func(to *int) store.Statement {
			return store.Statement{SQL: twice, Each: func(r store.Row) error { return r.Scan(to) }}
		}
		if err := conn.Later(ctx, look(&a)); err != nil {
			return err
		}
		if err := e.Write(ctx, inT, later(insert("z", 1))); err != nil {
			return err
		}
		return conn.Later(ctx, look(&b))
	}))
	wantEqual(t, "one state", a, b)
}
