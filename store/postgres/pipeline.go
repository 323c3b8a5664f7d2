package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/p8-org/p8/store"
)

// A round trip costs more than most statements. So the statements of Later are kept until
// the next statement whose result is needed, or the end, and sent with it; so are BEGIN
// and COMMIT, and the statement that makes a transaction the caller's (see caller.go). A Write
// that needs no result is one batch, which PostgreSQL runs as one transaction.
//
// A statement with Missing fails in the server if it has no row: the server skips the rest
// of the batch and rolls back. Then the transaction runs again, one statement at a time,
// so that Missing can find the reason.

// The ends of transactions. A reader's has one snapshot for all its statements.
const (
	begin         = `BEGIN`
	beginSnapshot = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`
	commit        = `COMMIT`
)

// errMissing: a statement that must have a row had none.
var errMissing = errors.New("postgres: a row is missing")

// required returns a statement that fails without a row: one is divided by their number.
func required(sql string) string {
	return `WITH must AS (` + sql + `) SELECT must.* FROM (SELECT 1 / count(*) AS one FROM must) AS found LEFT JOIN must ON found.one >= 0`
}

// open reports whether a transaction has begun and not ended.
func (c *conn) open() bool { return !c.c.IsClosed() && c.c.PgConn().TxStatus() != 'I' }

// run sends the kept statements and another one, and returns the result of that one.
func (c *conn) run(ctx context.Context, s store.Statement) (pgconn.CommandTag, error) {
	list := append(c.waiting, s)
	c.waiting = nil
	switch {
	case c.writes && !c.open():
		return c.send(ctx, begin, list, "")
	case !c.writes && len(list) > 1:
		return c.send(ctx, beginSnapshot, list, commit)
	}
	return c.send(ctx, "", list, "")
}

// finish sends the kept statements and ends the transaction.
func (c *conn) finish(ctx context.Context) error {
	list := c.waiting
	c.waiting = nil
	var tag pgconn.CommandTag
	var err error
	switch {
	case c.writes && c.open():
		tag, err = c.send(ctx, "", list, commit)
	case len(list) == 0:
	case c.writes || len(list) == 1:
		_, err = c.send(ctx, "", list, "")
	default:
		_, err = c.send(ctx, beginSnapshot, list, commit)
	}
	if err == nil && tag.String() == `ROLLBACK` {
		err = pgx.ErrTxCommitRollback // fn ignored an error
	}
	if err == nil && len(c.waiting) > 0 {
		return c.finish(ctx) // of what a row that was missing asked for
	}
	return err
}

// send sends the statements in one round trip, between those that begin and end a
// transaction, unless they are "". It returns the result of the last one.
func (c *conn) send(ctx context.Context, before string, list []store.Statement, after string) (tag pgconn.CommandTag, err error) {
	for _, s := range list {
		if err := convert(s.Args); err != nil {
			return tag, err
		}
	}
	enters := c.scope != nil && !c.open()
	if before == "" && after == "" && len(list) == 1 && !enters {
		return c.sendOne(ctx, list[0])
	}
	b := &pgx.Batch{}
	if before != "" {
		b.Queue(before)
	}
	if enters {
		b.Queue(c.enter, entering(*c.scope)...)
	}
	for _, s := range list {
		b.Queue(c.text(s), s.Args...)
	}
	if after != "" {
		b.Queue(after)
	}
	results := c.c.SendBatch(ctx, b)
	if before != "" {
		_, err = results.Exec()
	}
	if enters && err == nil {
		_, err = results.Exec()
	}
	var missing []func() error
	for i := 0; i < len(list) && err == nil; i++ {
		var rows pgx.Rows
		if rows, err = results.Query(); err == nil {
			tag, err = c.read(rows, list[i], &missing)
		}
		err = c.missed(list[i], err)
	}
	if after != "" && err == nil {
		tag, err = results.Exec()
	}
	if e := results.Close(); err == nil {
		err = e
	}
	return tag, callAll(missing, err)
}

// sendOne is send for a single statement.
func (c *conn) sendOne(ctx context.Context, s store.Statement) (tag pgconn.CommandTag, err error) {
	var missing []func() error
	rows, err := c.c.Query(ctx, c.text(s), s.Args...)
	if err == nil {
		tag, err = c.read(rows, s, &missing)
	}
	return tag, callAll(missing, c.missed(s, err))
}

// text returns the SQL of a statement. A reader needs no rollback, so its statements do not fail
// without a row.
func (c *conn) text(s store.Statement) string {
	if c.writes && s.Missing != nil {
		return required(s.SQL)
	}
	return s.SQL
}

// read passes the rows to the statement's Each, and records a statement without rows.
func (c *conn) read(rows pgx.Rows, s store.Statement, missing *[]func() error) (pgconn.CommandTag, error) {
	n, err := c.eachRow(rows, s.Each)
	if n == 0 && s.Missing != nil {
		*missing = append(*missing, s.Missing)
	}
	return rows.CommandTag(), err
}

// missed returns errMissing for the error of required.
func (c *conn) missed(s store.Statement, err error) error {
	if c.writes && s.Missing != nil && code(err) == codeDivisionByZero {
		return errMissing
	}
	return err
}

// callAll calls the Missing functions, when all results are read.
func callAll(missing []func() error, err error) error {
	for i := 0; i < len(missing) && err == nil; i++ {
		err = missing[i]()
	}
	return err
}
