package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/sqlgate"
)

// Select implements store.Engine. Package sqlgate checks the statement. It runs on a
// read-only connection, whose authorizer allows only views of the caller's rows.
func (e *engine) Select(ctx context.Context, sc store.Scope, sql string, b store.SelectBounds) (store.Selection, error) {
	q, err := sqlgate.Check(sql, selectTables())
	if err != nil {
		return store.Selection{}, mistake(err)
	}
	if gone := e.health.gone.Load(); gone != nil {
		return store.Selection{}, gone
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.Timeout, errTooLong)
	defer cancel()
	s, err := e.takeSelector(ctx)
	if err != nil {
		return store.Selection{}, late(ctx, err, b)
	}
	sel, err := e.read(ctx, s, sc, q, b)
	if err != nil && !errors.As(err, new(*store.SelectError)) {
		// The connection may be in any state, so no later caller may get it.
		s.close()
		s = nil
		err = late(ctx, e.judge(ctx, err), b)
	}
	e.selectors <- s
	return sel, err
}

// read runs the SELECT, and runs it again if the checkpointer cut it.
func (e *engine) read(ctx context.Context, s *selector, sc store.Scope, q *sqlgate.Query, b store.SelectBounds) (sel store.Selection, err error) {
	for again := true; again; {
		var p pin
		s.db.SetInterrupt(e.log.begin(&p, interrupt(ctx, b)))
		sel, err = s.guard(ctx, sc, q, b)
		again = err != nil && p.wasCut() && ctx.Err() == nil
		e.log.end(&p)
	}
	return sel, err
}

var errTooLong = errors.New("the SELECT took too long")

// late distinguishes the timeout of the SELECT from the end of the caller's context.
func late(ctx context.Context, err error, b store.SelectBounds) error {
	if context.Cause(ctx) == errTooLong {
		return &store.SelectError{Problem: fmt.Sprintf("the query took longer than %s and was stopped; "+
			"select fewer rows with WHERE, or join on equal columns", b.Timeout)}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// mistake converts sqlgate's errors to the store's.
func mistake(err error) error {
	var e *sqlgate.Error
	if errors.As(err, &e) {
		return &store.SelectError{Position: e.Position, Problem: e.Problem}
	}
	return err
}

// selectTables returns the tables of the store in sqlgate's form.
func selectTables() []sqlgate.Table {
	var out []sqlgate.Table
	for _, t := range store.Tables() {
		g := sqlgate.Table{Name: t.Name}
		for _, c := range t.Columns {
			g.Columns = append(g.Columns, sqlgate.Column{Name: c.Name, Type: sqlgate.TypeOf(c.Type)})
		}
		out = append(out, g)
	}
	return out
}

func (e *engine) takeSelector(ctx context.Context) (*selector, error) {
	select {
	case <-e.closed:
		return nil, errClosed
	default:
	}
	select {
	case s := <-e.selectors:
		if s != nil {
			return s, nil
		}
		err := e.present()
		if err == nil {
			s, err = openSelector(ctx, e.path)
		}
		if err != nil {
			e.selectors <- nil
		}
		return s, err
	case <-e.closed:
		return nil, errClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// guard turns a panic of the driver, which panics when it runs out of memory, into an error
// of this SELECT.
func (s *selector) guard(ctx context.Context, sc store.Scope, q *sqlgate.Query, b store.SelectBounds) (sel store.Selection, err error) {
	defer func() {
		if v := recover(); v != nil {
			sel, err = store.Selection{}, fmt.Errorf("sqlite: a SELECT broke its connection: %v", v)
		}
	}()
	return s.run(ctx, sc, q, b)
}

// run prints the statement for this connection and reads its rows.
func (s *selector) run(ctx context.Context, sc store.Scope, q *sqlgate.Query, b store.SelectBounds) (sel store.Selection, err error) {
	s.ctx, s.tenant, s.user, s.query = ctx, sc.Tenant, sc.User, q
	defer func() { s.ctx, s.tenant, s.user, s.query = nil, "", "", nil }()
	text, err := q.SQLite(sqlgate.Lite{
		Relation: func(table string) string { return s.view(table, q.Plain()) },
		Now:      time.Now(),
	})
	if err != nil {
		return sel, mistake(err)
	}
	prefix, columns := "", q.Columns()
	if b.Explain {
		prefix, columns = "EXPLAIN QUERY PLAN ", []sqlgate.Column{{Name: "QUERY PLAN", Type: sqlgate.Text}}
	}
	stmt, tail, err := s.db.Prepare(prefix + text.SQL)
	if err != nil {
		return sel, s.problem(err, text, prefix)
	}
	defer func() {
		if e := stmt.Close(); err == nil && e != nil {
			err = s.problem(e, text, prefix)
		}
	}()
	if strings.TrimSpace(tail) != "" || !stmt.ReadOnly() {
		return sel, &store.SelectError{Problem: "only one statement is run, and only reading is allowed"}
	}
	for _, c := range columns {
		sel.Columns = append(sel.Columns, c.Name)
	}
	r := sqlgate.Result{Limit: b.Rows, Bytes: b.Bytes, Rows: [][]any{}}
	for stmt.Step() {
		row := []any{nil}
		if b.Explain {
			row[0] = s.hide(stmt.ColumnText(stmt.ColumnCount() - 1))
		} else {
			row = readRow(stmt, columns)
		}
		if !r.Add(row) {
			break
		}
	}
	if err := stmt.Err(); err != nil && !r.Truncated {
		return store.Selection{}, s.problem(err, text, prefix)
	}
	sel.Rows, sel.Truncated = r.Rows, r.Truncated
	return sel, nil
}

// readRow reads the current row, each value as its column's type says.
func readRow(stmt *sqlite3.Stmt, columns []sqlgate.Column) []any {
	row := make([]any, len(columns))
	for i, c := range columns {
		switch stmt.ColumnType(i) {
		case sqlite3.INTEGER:
			row[i] = sqlgate.Value(c.Type, stmt.ColumnInt64(i))
		case sqlite3.FLOAT:
			row[i] = sqlgate.Value(c.Type, stmt.ColumnFloat(i))
		case sqlite3.TEXT, sqlite3.BLOB:
			text := stmt.ColumnText(i)
			switch c.Type {
			case sqlgate.JSON:
				row[i] = sqlgate.JSONValue([]byte(text))
				continue
			case sqlgate.Timestamp:
				if t, err := time.Parse(timeFormat, text); err == nil {
					text = sqlgate.TimeText(t)
				}
			}
			row[i] = text
		}
	}
	return row
}

// problem distinguishes a mistake of the caller from a failure of the database.
func (s *selector) problem(err error, text *sqlgate.Statement, prefix string) error {
	var e *sqlite3.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case sqlite3.ERROR, sqlite3.TOOBIG, sqlite3.AUTH, sqlite3.MISMATCH, sqlite3.RANGE, sqlite3.NOMEM:
	default:
		return err
	}
	words := s.hide(strings.TrimPrefix(err.Error(), "sqlite3: "))
	for _, p := range []string{"SQL logic error: ", "sqlite3: "} {
		words = strings.TrimPrefix(words, p)
	}
	position := 0
	if at := e.SQL(); at != "" && len(at) <= len(prefix)+len(text.SQL) {
		position = text.Position(len(text.SQL) - len(at))
	}
	return &store.SelectError{Position: position, Problem: "the database does not run this: " + words}
}
