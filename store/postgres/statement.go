package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

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
func (s *statement) run(ctx context.Context, c *conn, each func(store.Row) error) error {
	rows, err := c.c.Query(ctx, s.sql.String(), s.args...)
	if err == nil {
		_, err = c.eachRow(rows, each)
	}
	return err
}

// batch runs a query under settings that end with it: both travel together, as
// one implicit transaction.
func (e *engine) batch(ctx context.Context, settings string, values []any, sql string, args []any, each func(store.Row) error) error {
	p, release, err := e.readers.take(ctx)
	if err != nil {
		return translate(ctx, err)
	}
	defer release()
	b := &pgx.Batch{}
	b.Queue(settings, values...)
	b.Queue(sql, args...)
	results := p.SendBatch(ctx, b)
	_, err = results.Exec()
	if err == nil {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			_, err = new(conn).eachRow(rows, each)
		}
	}
	if e := results.Close(); err == nil {
		err = e
	}
	return translate(ctx, err)
}
