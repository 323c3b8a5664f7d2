package postgres

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/p8-org/p8/store"
)

// conn implements store.Conn, for a Read or a Write. A query must end before the
// next one of the same connection begins.
type conn struct {
	c *pgx.Conn
	// writes is true in a Write: its transaction begins with the first statement that is sent.
	// careful is true if the statements of Later are sent at once.
	writes, careful bool
	// scope is the caller of a transaction that begins with the statement enter, nil for p8
	// itself.
	scope *store.Scope
	enter string
	// gave is true if a row was read, broke if the connection was closed at the end.
	gave, broke bool
	// waiting are the statements of Later that have not been sent.
	waiting []store.Statement
}

// Exec implements store.Conn.
func (c *conn) Exec(ctx context.Context, sql string, args ...any) (int64, error) {
	tag, err := c.run(ctx, store.Statement{SQL: sql, Args: args})
	return tag.RowsAffected(), err
}

// Query implements store.Conn.
func (c *conn) Query(ctx context.Context, sql string, each func(store.Row) error, args ...any) error {
	_, err := c.run(ctx, store.Statement{SQL: sql, Args: args, Each: each})
	return err
}

// Later implements store.Conn.
func (c *conn) Later(ctx context.Context, s store.Statement) error {
	if c.careful {
		return s.Run(ctx, c)
	}
	c.waiting = append(c.waiting, s)
	return nil
}

// eachRow reads the rows to their end and counts them.
func (c *conn) eachRow(rows pgx.Rows, each func(store.Row) error) (n int, err error) {
	defer rows.Close()
	r := row{rows}
	for rows.Next() {
		n++
		c.gave = true
		if each == nil {
			continue
		}
		if err := each(r); err != nil {
			return n, err
		}
	}
	rows.Close()
	return n, rows.Err()
}

// convert checks the arguments and makes them pgx's, in place.
func convert(args []any) error {
	for i, a := range args {
		switch v := a.(type) {
		case nil, string, int, int64, float64, bool, []float32, []string:
		case json.RawMessage:
			if len(v) == 0 {
				args[i] = nil
			}
		case time.Time:
			args[i] = v.UTC().Truncate(time.Microsecond)
		default:
			return fmt.Errorf("postgres: a parameter cannot be a %T", a)
		}
	}
	return nil
}

// row implements store.Row on the current row.
type row struct{ rows pgx.Rows }

// Column returns the name of a column.
func (r row) Column(i int) string { return r.rows.FieldDescriptions()[i].Name }

// Scan implements store.Row. It reads the values from the wire itself: pgx's Scan fails
// for NULL, which must become the zero value.
func (r row) Scan(dest ...any) error {
	values, fields := r.rows.RawValues(), r.rows.FieldDescriptions()
	if len(values) != len(dest) {
		return fmt.Errorf("postgres: %d targets for %d columns", len(dest), len(values))
	}
	for i, d := range dest {
		if err := r.scan(values[i], fields[i].DataTypeOID, fields[i].Format, d); err != nil {
			return fmt.Errorf("postgres: column %d: %w", i, err)
		}
	}
	return nil
}

// epoch is where PostgreSQL's times begin: 2000-01-01, in microseconds.
const epoch = 946684800 * 1_000_000

func (r row) scan(raw []byte, oid uint32, format int16, dest any) error {
	isBinary := format == pgtype.BinaryFormatCode
	switch d := dest.(type) {
	case *string:
		*d = ""
		if raw != nil && (!isBinary || textual(oid)) {
			*d = string(raw)
			return nil
		}
	case **string:
		*d = nil
		if raw == nil {
			return nil
		}
		*d = new(string)
		return r.scan(raw, oid, format, *d)
	case *json.RawMessage:
		*d = nil
		if raw != nil && (!isBinary || textual(oid)) {
			*d = append(json.RawMessage{}, raw...)
			return nil
		}
	case *int64:
		*d = 0
		if isBinary && oid == pgtype.Int8OID && len(raw) == 8 {
			*d = int64(binary.BigEndian.Uint64(raw))
			return nil
		}
	case *int:
		*d = 0
		if isBinary && oid == pgtype.Int8OID && len(raw) == 8 {
			*d = int(binary.BigEndian.Uint64(raw))
			return nil
		}
	case *float64:
		*d = 0
		if isBinary && oid == pgtype.Float8OID && len(raw) == 8 {
			*d = math.Float64frombits(binary.BigEndian.Uint64(raw))
			return nil
		}
	case *bool:
		*d = false
	case *[]float32:
		if raw == nil {
			*d = nil
		}
	case *time.Time:
		*d = time.Time{}
		if isBinary && oid == pgtype.TimestamptzOID && len(raw) == 8 {
			if n := int64(binary.BigEndian.Uint64(raw)); n != math.MaxInt64 && n != math.MinInt64 {
				*d = time.UnixMicro(n + epoch).UTC()
				return nil
			}
			return errors.New("an infinite time")
		}
	default:
		return fmt.Errorf("it cannot be read into a %T", dest)
	}
	if raw == nil {
		return nil
	}
	if err := r.rows.Conn().TypeMap().Scan(oid, format, raw, dest); err != nil {
		return err
	}
	if t, ok := dest.(*time.Time); ok {
		*t = t.UTC()
	}
	return nil
}

// textual reports whether a type's binary form is its text.
func textual(oid uint32) bool {
	switch oid {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.NameOID, pgtype.BPCharOID, pgtype.UnknownOID, pgtype.JSONOID:
		return true
	}
	return false
}
