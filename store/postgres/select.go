package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/sqlgate"
)

// Select implements store.Engine. Package sqlgate checks the statement. It runs in a
// read-only transaction, as a role that may read the listed tables; the policies of the
// database select the rows by a signed setting. The transaction is always rolled back, so
// that no setting remains.
func (e *engine) Select(ctx context.Context, sc store.Scope, sql string, b store.SelectBounds) (store.Selection, error) {
	q, err := sqlgate.Check(sql, selectTables())
	if err != nil {
		return store.Selection{}, mistake(err)
	}
	text, err := q.Postgres()
	if err != nil {
		return store.Selection{}, mistake(err)
	}
	return e.selectAs(ctx, sc, &selection{text: text, columns: q.Columns(), bounds: b})
}

// selection is a SELECT that runs.
type selection struct {
	text    *sqlgate.Statement
	columns []sqlgate.Column
	bounds  store.SelectBounds
}

const (
	// grace is the time that the server has, beyond the bound, to end a statement
	// by itself.
	grace = 500 * time.Millisecond
	// firstFetch and nextFetch are the rows of a round trip.
	firstFetch, nextFetch = 100, 500
	// maxMessage bounds a row on the wire, in bytes: a little more than two of the
	// longest texts that the store keeps.
	maxMessage = 80 << 20
)

// selectAs runs a selection for a caller.
func (e *engine) selectAs(ctx context.Context, sc store.Scope, s *selection) (sel store.Selection, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.bounds.Timeout+grace, errTooLong)
	defer cancel()
	p, release, err := e.readers.take(ctx)
	if err != nil {
		return sel, s.late(ctx, translate(ctx, err))
	}
	defer release()
	c := p.Conn().PgConn()
	c.Frontend().SetMaxBodyLen(maxMessage)
	defer func() {
		c.Frontend().SetMaxBodyLen(0)
		// Advisory locks survive a rollback: a statement that passed the gate by mistake may
		// have taken some.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		if e := c.Exec(end, `ROLLBACK; SELECT pg_advisory_unlock_all()`).Close(); e != nil {
			c.Close(end)
		}
	}()
	sel, err = s.run(ctx, c, sc)
	if err != nil {
		return store.Selection{}, s.late(ctx, s.problem(err))
	}
	return sel, nil
}

var errTooLong = errors.New("the SELECT took too long")

// late distinguishes the timeout of the SELECT from the end of the caller's context.
func (s *selection) late(ctx context.Context, err error) error {
	if context.Cause(ctx) == errTooLong || code(err) == codeQueryCanceled && ctx.Err() == nil {
		return &store.SelectError{Problem: fmt.Sprintf("the query took longer than %s and was stopped; "+
			"select fewer rows with WHERE, or join on equal columns", s.bounds.Timeout)}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// sign returns the signed caller with its expiry, and the bounds of the transaction.
const sign = `SELECT
	set_config('p8.caller', encode(sha256(secret || sha256(secret || convert_to(claims, 'UTF8'))), 'hex') || claims, true),
	set_config('statement_timeout', $3, true), set_config('lock_timeout', '1000', true), set_config('work_mem', '16MB', true),
	set_config('max_parallel_workers_per_gather', '0', true), set_config('client_min_messages', 'error', true),
	set_config('standard_conforming_strings', 'on', true), set_config('datestyle', 'ISO', true), set_config('timezone', 'UTC', true)
	FROM (SELECT jsonb_build_array($1::text, nullif($2::text, ''), extract(epoch FROM clock_timestamp()) + $4::double precision)::text AS claims) AS caller,
		reader_key`

// The statements around the caller's; a cursor takes exactly one SELECT.
const (
	explainJSON = "EXPLAIN (VERBOSE, FORMAT JSON) "
	explainText = "EXPLAIN "
	declare     = "DECLARE p8_select NO SCROLL CURSOR FOR "
)

// run sends everything at once: the transaction, the signature, the role, the
// plan, which is checked before a row is believed, and the first rows.
func (s *selection) run(ctx context.Context, c *pgconn.PgConn, sc store.Scope) (store.Selection, error) {
	explain := explainJSON
	if s.bounds.Explain {
		explain = explainText
	}
	seconds := (s.bounds.Timeout + 2*grace + 5*time.Second).Seconds()
	p := c.StartPipeline(ctx)
	p.SendQueryParams("BEGIN READ ONLY", nil, nil, nil, nil)
	p.SendQueryParams(sign, [][]byte{[]byte(sc.Tenant), []byte(sc.User), []byte(strconv.FormatInt(s.bounds.Timeout.Milliseconds(), 10)),
		[]byte(strconv.FormatFloat(seconds, 'f', 3, 64))}, nil, nil, nil)
	p.SendQueryParams("SET LOCAL ROLE "+readerRole, nil, nil, nil, nil)
	p.SendQueryParams(explain+s.text.SQL, nil, nil, nil, nil)
	if !s.bounds.Explain {
		p.SendQueryParams(declare+s.text.SQL, nil, nil, nil, nil)
		p.SendQueryParams(fmt.Sprintf("FETCH FORWARD %d FROM p8_select", firstFetch), nil, nil, nil, nil)
	}
	sel, more, err := s.results(p)
	if e := p.Close(); err == nil {
		err = e
	}
	if err != nil || more == nil {
		return sel, err
	}
	for n := firstFetch; n > 0; {
		reader := c.ExecParams(ctx, fmt.Sprintf("FETCH FORWARD %d FROM p8_select", nextFetch), nil, nil, nil, nil)
		if n, err = s.rows(reader, more); err != nil {
			return sel, err
		}
		if n < nextFetch {
			break
		}
	}
	sel.Rows, sel.Truncated = more.Rows, more.Truncated
	return sel, nil
}

// results reads the results of the pipeline; more collects further rows, nil if there are
// none.
func (s *selection) results(p *pgconn.Pipeline) (sel store.Selection, more *sqlgate.Result, err error) {
	if err := p.Sync(); err != nil {
		return sel, nil, err
	}
	next := func() (*pgconn.ResultReader, error) {
		r, err := p.GetResults()
		if err != nil {
			return nil, err
		}
		reader, ok := r.(*pgconn.ResultReader)
		if !ok {
			return nil, errors.New("postgres: a statement of the SELECT gave no result")
		}
		return reader, nil
	}
	for range 3 {
		r, err := next()
		if err != nil {
			return sel, nil, err
		}
		if _, err := r.Close(); err != nil {
			return sel, nil, err
		}
	}
	plan, err := next()
	if err != nil {
		return sel, nil, err
	}
	r := &sqlgate.Result{Limit: s.bounds.Rows, Bytes: s.bounds.Bytes, Rows: [][]any{}}
	if s.bounds.Explain {
		sel.Columns = []string{"QUERY PLAN"}
		s.columns = []sqlgate.Column{{Name: "QUERY PLAN", Type: sqlgate.Text}}
		_, err := s.rows(plan, r)
		sel.Rows, sel.Truncated = r.Rows, r.Truncated
		return sel, nil, err
	}
	read := plan.Read()
	if read.Err != nil {
		return sel, nil, read.Err
	}
	if err := checkPlan(read.Rows); err != nil {
		return sel, nil, err
	}
	for _, col := range s.columns {
		sel.Columns = append(sel.Columns, col.Name)
	}
	declared, err := next()
	if err != nil {
		return sel, nil, err
	}
	if _, err := declared.Close(); err != nil {
		return sel, nil, err
	}
	fetched, err := next()
	if err != nil {
		return sel, nil, err
	}
	n, err := s.rows(fetched, r)
	sel.Rows, sel.Truncated = r.Rows, r.Truncated
	if err != nil || n < firstFetch {
		return sel, nil, err
	}
	return sel, r, nil
}

// rows collects the rows of a reader and counts them, 0 when no more fit.
func (s *selection) rows(reader *pgconn.ResultReader, r *sqlgate.Result) (n int, err error) {
	fields := reader.FieldDescriptions()
	for reader.NextRow() {
		n++
		if r.Truncated {
			continue
		}
		row := make([]any, len(fields))
		for i, raw := range reader.Values() {
			if row[i], err = value(s.columns[i].Type, fields[i].DataTypeOID, raw); err != nil {
				_, _ = reader.Close()
				return 0, err
			}
		}
		r.Add(row)
	}
	_, err = reader.Close()
	if r.Truncated {
		n = 0
	}
	return n, err
}

// selectTables returns the tables of the store, as the gate reads them.
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
