package sqlite

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store"
)

// timeFormat has a fixed width, so that times sort as texts, and compares with SQLite's
// datetime('now').
const timeFormat = "2006-01-02 15:04:05.000000"

// maxStatements bounds the prepared statements of a connection. The store's
// texts are a few dozen; filters make some more.
const maxStatements = 200

// conn is a connection with its prepared statements, keyed by the store's text.
type conn struct {
	db    *sqlite3.Conn
	stmts map[string]*sqlite3.Stmt
	// pin ends a statement that keeps the write-ahead log for too long.
	pin pin
	// snapshot is true if Later began a transaction, which pins the log until Read ends.
	snapshot bool
}

// uri returns the file as SQLite's URI, which is the one form in which a path may
// hold any character. The log gets the permissions of the database.
func uri(path, query string) string {
	if inMemory(path) {
		return "file:/" + memoryName(path) + "?vfs=mvcc" + query
	}
	slashed := strings.ReplaceAll(path, `\`, "/")
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	// SQLite does not read "+" as a space.
	modeof := "modeof=" + strings.ReplaceAll(url.QueryEscape(path), "+", "%20")
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: modeof + query}).String()
}

func connect(ctx context.Context, path string, readOnly bool) (*conn, error) {
	// The timeout is for a checkpoint at closing, and for a reader beside it.
	mode, pragmas := "", `PRAGMA busy_timeout = 10000; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;`
	if readOnly {
		mode = "&mode=ro"
	} else {
		// No page is written outside the log, and nothing waits: the one writer
		// has no rival, and durable waits for the disk.
		pragmas += `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;`
	}
	db, err := sqlite3.OpenContext(ctx, uri(path, mode))
	if err != nil {
		return nil, err
	}
	if err := registerWords(db); err != nil {
		db.Close()
		return nil, err
	}
	if err := registerMerge(db); err != nil {
		db.Close()
		return nil, err
	}
	if err := db.Exec(pragmas); err != nil {
		db.Close()
		return nil, err
	}
	// Plans do not depend on the bound values: else every new LIMIT would compile
	// its statement again.
	if _, err := db.Config(sqlite3.DBCONFIG_ENABLE_QPSG, true); err != nil {
		db.Close()
		return nil, err
	}
	return &conn{db: db, stmts: make(map[string]*sqlite3.Stmt)}, nil
}

func (c *conn) close() error {
	if c == nil {
		return nil
	}
	for _, s := range c.stmts {
		s.Close()
	}
	return c.db.Close()
}

func (c *conn) begin() error  { return c.control(`BEGIN IMMEDIATE`) }
func (c *conn) commit() error { return c.control(`COMMIT`) }
func (c *conn) rollback() error {
	// SQLite ends a transaction by itself after some errors.
	if c.db.GetAutocommit() {
		return nil
	}
	return c.control(`ROLLBACK`)
}

// control runs a transaction's statement, which no context may interrupt.
func (c *conn) control(sql string) error {
	c.db.SetInterrupt(context.Background())
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	return s.Exec()
}

// prepare returns the statement of a text, compiled once.
func (c *conn) prepare(sql string) (*sqlite3.Stmt, error) {
	if s, ok := c.stmts[sql]; ok {
		return s, nil
	}
	if len(c.stmts) >= maxStatements {
		for text, s := range c.stmts {
			if s.Busy() {
				continue
			}
			s.Close()
			delete(c.stmts, text)
			break
		}
	}
	s, tail, err := c.db.PrepareFlags(numbered(sql), sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(tail) != "" {
		s.Close()
		return nil, fmt.Errorf("sqlite: more than one statement: %q", sql)
	}
	c.stmts[sql] = s
	return s, nil
}

// numbered turns $n into ?n. SQLite reads $n as a name and numbers names by
// first appearance, so that "$2, $1" would swap silently. Literals, quoted names
// and comments stay.
func numbered(sql string) string {
	if !strings.Contains(sql, "$") {
		return sql
	}
	out := []byte(sql)
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\'' || c == '"' || c == '`':
			// A doubled quote is two quoted parts in a row, which is the same here.
			for i++; i < len(sql) && sql[i] != c; i++ {
			}
		case c == '-' && i+1 < len(sql) && sql[i+1] == '-':
			for ; i < len(sql) && sql[i] != '\n'; i++ {
			}
		case c == '/' && i+1 < len(sql) && sql[i+1] == '*':
			end := strings.Index(sql[i+2:], "*/")
			if end < 0 {
				return string(out)
			}
			i += end + 3
		case c == '$' && i+1 < len(sql) && sql[i+1] >= '1' && sql[i+1] <= '9':
			out[i] = '?'
		}
	}
	return string(out)
}

// start binds the arguments and leaves the statement ready to step.
func (c *conn) start(ctx context.Context, sql string, args []any) (*sqlite3.Stmt, error) {
	c.db.SetInterrupt(c.pin.begin(ctx))
	s, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	if s.Busy() {
		return nil, fmt.Errorf("sqlite: a query runs inside itself: %q", sql)
	}
	if n := s.BindCount(); n != len(args) {
		return nil, fmt.Errorf("sqlite: %d arguments for %d parameters: %q", len(args), n, sql)
	}
	for i, a := range args {
		if err := bind(s, i+1, a); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Exec implements store.Conn.
func (c *conn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	s, err := c.start(ctx, sql, args)
	if err != nil {
		return 0, err
	}
	before := c.db.TotalChanges()
	if err := s.Exec(); err != nil {
		return 0, err
	}
	return c.db.TotalChanges() - before, nil
}

// Query implements store.Conn.
func (c *conn) Query(ctx context.Context, sql string, each func(store.Row) error, args ...any) error {
	_, err := c.rows(ctx, sql, each, args)
	return err
}

// rows is Query; it reports whether there were rows. each may be nil.
func (c *conn) rows(ctx context.Context, sql string, each func(store.Row) error, args []any) (found bool, err error) {
	found, err = c.step(ctx, sql, each, args)
	if err != nil {
		err = c.pin.explain(err)
	}
	if !c.snapshot {
		c.pin.end()
	}
	return found, err
}

func (c *conn) step(ctx context.Context, sql string, each func(store.Row) error, args []any) (found bool, err error) {
	s, err := c.start(ctx, sql, args)
	if err != nil {
		return false, err
	}
	defer func() {
		if e := s.Reset(); err == nil {
			err = e
		}
	}()
	for s.Step() {
		found = true
		if each == nil {
			continue
		}
		if err := each(row{s}); err != nil {
			return true, err
		}
	}
	return found, s.Err()
}

// read calls fn, and ends the snapshot that fn read, even if fn panics.
func (c *conn) read(fn func(store.Conn) error) (err error) {
	defer func() {
		err = errors.Join(err, c.rollback())
		c.snapshot = false
		c.pin.end()
	}()
	return fn(c)
}

// Later implements store.Conn. It runs the statement at once: there is no round trip to save.
// A reader's statements see the state that the first of them saw, until Read ends.
func (c *conn) Later(ctx context.Context, s store.Statement) error {
	if c.db.GetAutocommit() {
		if err := c.control(`BEGIN`); err != nil {
			return err
		}
		c.snapshot = true
	}
	found, err := c.rows(ctx, s.SQL, s.Each, s.Args)
	if err == nil && !found && s.Missing != nil {
		err = s.Missing()
	}
	return err
}

func bind(s *sqlite3.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		return s.BindNull(i)
	case string:
		return s.BindText(i, v)
	case json.RawMessage:
		if len(v) == 0 {
			return s.BindNull(i)
		}
		return s.BindRawText(i, v)
	case int:
		return s.BindInt(i, v)
	case int64:
		return s.BindInt64(i, v)
	case float64:
		return s.BindFloat(i, v)
	case bool:
		return s.BindBool(i, v)
	case time.Time:
		var buf [len(timeFormat)]byte
		return s.BindRawText(i, v.UTC().AppendFormat(buf[:0], timeFormat))
	case []float32:
		b := make([]byte, 0, 4*len(v))
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return s.BindBlob(i, b)
	}
	return fmt.Errorf("sqlite: a parameter cannot be a %T", arg)
}

// row implements store.Row on the statement's current row.
type row struct{ s *sqlite3.Stmt }

// Column returns the name of a column.
func (r row) Column(i int) string { return r.s.ColumnName(i) }

// Scan implements store.Row.
func (r row) Scan(dest ...any) error {
	if n := r.s.ColumnCount(); n != len(dest) {
		return fmt.Errorf("sqlite: %d targets for %d columns", len(dest), n)
	}
	for i, d := range dest {
		switch v := d.(type) {
		case *string:
			*v = string(r.s.ColumnRawText(i))
		case **string:
			*v = nil
			if r.s.ColumnType(i) != sqlite3.NULL {
				text := string(r.s.ColumnRawText(i))
				*v = &text
			}
		case *json.RawMessage:
			*v = nil
			if text := r.s.ColumnRawText(i); text != nil {
				*v = append(json.RawMessage{}, text...)
			}
		case *int:
			*v = r.s.ColumnInt(i)
		case *int64:
			*v = r.s.ColumnInt64(i)
		case *float64:
			*v = r.s.ColumnFloat(i)
		case *bool:
			*v = r.s.ColumnBool(i)
		case *[]float32:
			*v = (*v)[:0]
			for b := r.s.ColumnRawBlob(i); len(b) >= 4; b = b[4:] {
				*v = append(*v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
			}
		case *time.Time:
			*v = time.Time{}
			if text := r.s.ColumnRawText(i); text != nil {
				t, err := time.Parse(timeFormat, string(text))
				if err != nil {
					return fmt.Errorf("sqlite: column %d: %w", i, err)
				}
				*v = t
			}
		default:
			return fmt.Errorf("sqlite: a column cannot be read into a %T", d)
		}
	}
	return nil
}
