package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/p8-org/p8/store"
)

// statement is SQL with its arguments.
type statement struct {
	sql  strings.Builder
	args []any
}

func (s *statement) add(format string, a ...any) { fmt.Fprintf(&s.sql, format, a...) }

// arg returns the parameter of a value.
func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args))
}

// run runs the statement on a connection.
func (s *statement) run(ctx context.Context, c store.Conn, each func(store.Row) error) error {
	return c.Query(ctx, s.sql.String(), each, s.args...)
}

// under runs the statement for a caller, under settings that end with it: both travel
// together, as one transaction. each must not mind a second run.
func (s *statement) under(ctx context.Context, e *engine, sc store.Scope, settings store.Statement, each func(store.Row) error) error {
	return e.Read(ctx, sc, func(c store.Conn) error {
		if err := c.Later(ctx, settings); err != nil {
			return err
		}
		return s.run(ctx, c, each)
	})
}
