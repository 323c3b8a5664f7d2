package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// data reads a row as scan does and returns it as JSON, as the record would be
// written but for the order: lists and objects as they are stored, without
// decoding them, which is most of what a LOOKUP would cost.
func (f *fields) data(r Row, rec record) (json.RawMessage, error) {
	if err := f.columns(r, rec); err != nil {
		return nil, err
	}
	size := 64
	for _, x := range f.list {
		size += len(x.name) + 32 + len(x.raw)
		switch v := x.value.(type) {
		case *string:
			size += len(*v) + len(*v)/16
		case *json.RawMessage:
			size += len(*v)
		}
	}
	b := append(make([]byte, 0, size), '{')
	// A user's row does not know its tenant.
	if tenant := *rec.place().tenant; tenant != "" {
		b = appendText(append(b, `"tenant_id":`...), tenant)
	}
	for _, x := range f.list {
		if x.json == "" || x.zero() && !x.required || string(x.raw) == "[]" {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, x.json...)
		b = append(b, '"', ':')
		b = x.appendJSON(b)
	}
	return slices.Clip(append(b, '}')), nil
}

// readJSON calls each for every record that the query selects, with its tenant
// and the row as JSON. The query begins with t.selects; the record's lists are
// not read.
func (t *table) readJSON(ctx context.Context, c Conn, q *query, each func(tenant string, rec record, data json.RawMessage)) error {
	f := newFields(len(t.columns))
	return c.Query(ctx, q.String(), func(r Row) error {
		rec := t.new()
		data, err := f.data(r, rec)
		if err == nil {
			each(f.tenant, rec, data)
		}
		return err
	}, q.args...)
}

func (x field) appendJSON(b []byte) []byte {
	switch v := x.value.(type) {
	case *string:
		return appendText(b, *v)
	case *int:
		return strconv.AppendInt(b, int64(*v), 10)
	case *int64:
		return strconv.AppendInt(b, *v, 10)
	case *float64:
		return strconv.AppendFloat(b, *v, 'g', -1, 64)
	case *time.Time:
		b = v.AppendFormat(append(b, '"'), time.RFC3339Nano)
		return append(b, '"')
	case *json.RawMessage:
		if len(*v) == 0 {
			return append(b, "null"...)
		}
		return append(b, *v...)
	}
	return append(b, x.raw...)
}

// appendText returns a text as JSON; it is valid UTF-8, as everything stored is.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
