package store

import (
	"context"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/identity"
)

// query builds a statement and its parameters.
type query struct {
	strings.Builder
	args []any
}

func newQuery(sql string) *query {
	q := &query{}
	q.Grow(len(sql) + 256)
	q.WriteString(sql)
	return q
}

func (q *query) add(sql string) *query {
	q.WriteString(sql)
	return q
}

// arg writes the next parameter and remembers its value.
func (q *query) arg(v any) {
	q.args = append(q.args, v)
	q.WriteByte('$')
	q.WriteString(strconv.Itoa(len(q.args)))
}

// timeCursor returns the cursor of a list that is ordered by a time and the id.
func timeCursor(at time.Time, id string) string {
	return newCursor(strconv.FormatInt(at.UnixMicro(), 10), id)
}

// pageOf cuts a list that may have one row more than limit, and returns the cursor of the
// next page, "" after the last. at returns the time and the id of a row.
func pageOf[T any](list []T, limit int, at func(*T) (time.Time, string)) (page []T, next string) {
	if len(list) <= limit {
		return list, ""
	}
	return list[:limit], timeCursor(at(&list[limit-1]))
}

// beyond adds the condition that rows come after a timeCursor; "" is the beginning of the
// list. op is < for lists with the newest first, and > for those with the oldest first.
func (q *query) beyond(cursor, column, op string) error {
	return q.beyondIn(cursor, column, "id", op)
}

// beyondIn is beyond for rows with another column for the id.
func (q *query) beyondIn(cursor, column, id, op string) error {
	if cursor == "" {
		return nil
	}
	parts, err := openCursor(cursor, 2)
	if err != nil {
		return err
	}
	micros, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return invalidf("the cursor is not one that this list returned")
	}
	q.add(` AND (` + column + `, ` + id + `) ` + op + ` (`).arg(time.UnixMicro(micros).UTC())
	q.add(`, `).arg(parts[1])
	q.add(`)`)
	return nil
}

// storable returns a search value, or "" if no row can hold it.
func storable(s string) string {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return ""
	}
	return s
}

// missingFirst returns identity.ErrMissing, if there is no caller, instead of err. So an
// answer without a caller never depends on the arguments.
func missingFirst(ctx context.Context, err error) error {
	if _, e := identity.From(ctx); e != nil {
		return e
	}
	return err
}

// one reads a row of a query into dest and reports whether there was one.
func one(ctx context.Context, c Conn, sql string, dest []any, args ...any) (bool, error) {
	found := false
	err := c.Query(ctx, sql, func(r Row) error {
		found = true
		return r.Scan(dest...)
	}, args...)
	return found, err
}
