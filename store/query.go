package store

import (
	"context"
	"strconv"
	"strings"

	"p8/identity"
)

// query is a statement whose conditions depend on what is asked.
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

// missingFirst lets a missing identity win over a bad argument, so that the
// answer never depends on data without a caller.
func missingFirst(ctx context.Context, err error) error {
	if _, e := identity.From(ctx); e != nil {
		return e
	}
	return err
}
