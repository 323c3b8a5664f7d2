package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// The bounds of a page of an export.
const (
	exportRows  = 500
	exportBytes = 1 << 20
)

// Export calls each for every row of the caller, in the order of [Holdings]: a table and
// an object with the row's columns, without those that are empty. Deleted rows that are
// still stored are among them. The rows are read in pages, between which no connection is
// held: a row that changes meanwhile may come twice, or with its new values only.
func (s *Store) Export(ctx context.Context, each func(table string, row json.RawMessage) error) error {
	by, err := person(ctx)
	if err != nil {
		return err
	}
	x := exporting{store: s, by: by, each: each}
	for _, h := range personal() {
		if err := x.table(ctx, &h, nil); err != nil {
			return err
		}
	}
	return nil
}

// person returns the caller, who must be a user.
func person(ctx context.Context) (caller, error) {
	by, err := callerOf(ctx)
	if err == nil && by.Anonymous() {
		err = forbiddenf("an anonymous caller has no data of their own: name a user, or sign in")
	}
	return by, err
}

type exporting struct {
	store *Store
	by    caller
	each  func(table string, row json.RawMessage) error
}

// exported is a row: its object, the values of the columns by which it is ordered, and its
// id.
type exported struct {
	row   json.RawMessage
	order []any
	id    string
}

// table exports the rows of a table: those of a user, or those of a parent.
func (x *exporting) table(ctx context.Context, h *Holding, parent any) error {
	var after []any
	for {
		page, more, err := x.page(ctx, h, parent, after)
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := x.each(h.Table, r.row); err != nil {
				return err
			}
			for _, b := range h.below {
				if err := x.table(ctx, &b, r.id); err != nil {
					return err
				}
			}
		}
		if !more {
			return nil
		}
		after = page[len(page)-1].order
	}
}

// page reads rows after the one with these values.
func (x *exporting) page(ctx context.Context, h *Holding, parent any, after []any) (page []exported, more bool, err error) {
	err = x.store.read(ctx, "export "+h.Table, func(c Conn, by caller) error {
		page, more = nil, false
		names := make([]string, len(h.Exported))
		for i, column := range h.Exported {
			names[i] = column.Name
		}
		q := newQuery(`SELECT ` + strings.Join(names, ", ") + ` FROM ` + h.Table + ` WHERE ` + h.owner(x.store.dialect))
		q.args = h.args(by)
		if h.parent != "" {
			q.add(` AND ` + h.parent + ` = `).arg(parent)
		}
		if len(after) > 0 {
			q.add(` AND (` + strings.Join(h.order, ", ") + `) > (`)
			for i, v := range after {
				q.add([]string{``, `, `}[min(i, 1)]).arg(v)
			}
			q.add(`)`)
		}
		q.add(` ORDER BY ` + strings.Join(h.order, ", ") + ` LIMIT `).arg(exportRows)
		size := 0
		err := c.Query(ctx, q.String(), func(r Row) error {
			if size >= exportBytes {
				return errEnough
			}
			row, err := h.scan(r)
			size, page = size+len(row.row), append(page, row)
			return err
		}, q.args...)
		more = errors.Is(err, errEnough) || len(page) == exportRows
		if errors.Is(err, errEnough) {
			err = nil
		}
		return err
	})
	return page, more, err
}

// scan reads a row as an object.
func (h *Holding) scan(r Row) (x exported, err error) {
	dest := make([]any, len(h.Exported))
	for i, column := range h.Exported {
		dest[i] = map[string]func() any{
			"text": func() any { return new(*string) }, "integer": func() any { return new(int64) }, "number": func() any { return new(float64) },
			"boolean": func() any { return new(bool) }, "timestamp": func() any { return new(time.Time) }, "json": func() any { return new(json.RawMessage) },
		}[column.Type]()
	}
	if err := r.Scan(dest...); err != nil {
		return x, err
	}
	x.order = make([]any, len(h.order))
	var b bytes.Buffer
	b.WriteByte('{')
	for i, column := range h.Exported {
		value := plainValue(dest[i])
		if at := slices.Index(h.order, column.Name); at >= 0 {
			x.order[at] = value
		}
		if column.Name == "id" {
			x.id, _ = value.(string)
		}
		if raw, ok := value.(json.RawMessage); value == nil || ok && len(raw) == 0 {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(encode(column.Name))
		b.WriteByte(':')
		b.Write(encode(value))
	}
	b.WriteByte('}')
	x.row = b.Bytes()
	return x, nil
}

// plainValue returns the value of a target of Scan, nil for a text or a time that is NULL.
func plainValue(target any) any {
	switch v := target.(type) {
	case **string:
		if *v == nil {
			return nil
		}
		return **v
	case *time.Time:
		if v.IsZero() {
			return nil
		}
		return *v
	case *int64:
		return *v
	case *float64:
		return *v
	case *bool:
		return *v
	case *json.RawMessage:
		return *v
	}
	return nil
}
