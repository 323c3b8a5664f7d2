package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// rowSealer seals the rows of a tenant in a table, in the order of their keys.
type rowSealer struct {
	s     *Store
	k     *tenantSeal
	table string
	keys  []string
	// after is the key of the last row of the batch before.
	after []any
	// knows is the table if its texts are in the index of words, nil for none.
	knows *table
}

func newRowSealer(s *Store, k *tenantSeal, name string) *rowSealer {
	x := &rowSealer{s: s, k: k, table: name, keys: sealKeys[name]}
	switch {
	case name == sessions.Name:
		x.keys = []string{"id", s.dialect.ownerOf(``)}
	case x.keys == nil:
		x.keys = []string{"id"}
	}
	if t := tableNamed(name); t != nil && (t.text >= 0 || t == messages) {
		x.knows = t
	}
	return x
}

// sealedRow is a row: its keys, and its columns as they are stored.
type sealedRow struct{ keys, values []any }

// batch seals the next rows. It returns the key of the last one, and whether there are more.
func (x *rowSealer) batch(ctx context.Context, c Conn) (n int64, last []any, more bool, err error) {
	columns := sealedColumns[x.table]
	q := newQuery(`SELECT ` + strings.Join(append(slices.Clone(x.keys), columns...), ", ") + ` FROM ` + x.table + ` WHERE tenant_id = `)
	q.arg(x.k.tenant)
	if x.after != nil {
		q.add(` AND (` + strings.Join(x.keys, ", ") + `) > (`)
		for i, v := range x.after {
			q.add([]string{``, `, `}[min(i, 1)]).arg(v)
		}
		q.add(`)`)
	}
	q.add(` ORDER BY ` + strings.Join(x.keys, ", ") + ` LIMIT `).arg(sealRows)
	q.add(x.s.dialect.lock())
	var rows []sealedRow
	size := 0
	err = c.Query(ctx, q.String(), func(r Row) error {
		if size > sealBytes {
			return errEnough
		}
		row, err := x.scan(r, columns)
		for _, v := range row.values {
			switch v := v.(type) {
			case string:
				size += len(v)
			case json.RawMessage:
				size += len(v)
			}
		}
		rows = append(rows, row)
		return err
	}, q.args...)
	more = errors.Is(err, errEnough) || len(rows) == sealRows
	if err != nil && !errors.Is(err, errEnough) || len(rows) == 0 {
		return 0, x.after, false, err
	}
	for _, row := range rows {
		done, err := x.seal(ctx, c, columns, row)
		if err != nil {
			return 0, nil, false, err
		}
		if done {
			n++
		}
	}
	return n, rows[len(rows)-1].keys, more, nil
}

func (x *rowSealer) scan(r Row, columns []string) (row sealedRow, err error) {
	dest := make([]any, 0, len(x.keys)+len(columns))
	for _, key := range x.keys {
		if strings.HasSuffix(key, "seq") {
			dest = append(dest, new(int64))
		} else {
			dest = append(dest, new(string))
		}
	}
	for _, column := range columns {
		if isJSON(x.table, column) {
			dest = append(dest, new(json.RawMessage))
		} else {
			dest = append(dest, new(*string))
		}
	}
	if err := r.Scan(dest...); err != nil {
		return row, err
	}
	for i, d := range dest {
		var v any
		switch d := d.(type) {
		case *int64:
			v = *d
		case *string:
			v = *d
		case **string:
			if *d != nil {
				v = **d
			}
		case *json.RawMessage:
			v = *d
		}
		if i < len(x.keys) {
			row.keys = append(row.keys, v)
		} else {
			row.values = append(row.values, v)
		}
	}
	return row, nil
}

// isJSON reports whether a sealed column holds JSON.
func isJSON(table, column string) bool {
	if table == "kv_store" {
		return column != "content_summary"
	}
	for _, h := range Holdings() {
		if h.Table == table {
			return slices.Contains(h.Exported, ColumnInfo{column, "json"})
		}
	}
	return false
}

// seal writes the sealed values of a row; done is false if there were none to seal.
func (x *rowSealer) seal(ctx context.Context, c Conn, columns []string, row sealedRow) (done bool, err error) {
	q := newQuery(`UPDATE ` + x.table + ` SET `)
	for i, column := range columns {
		v := x.value(column, row.values[i])
		if v == nil {
			continue
		}
		if done {
			q.add(`, `)
		}
		q.add(column + ` = `).arg(v)
		done = true
	}
	if !done {
		return false, nil
	}
	q.add(` WHERE tenant_id = `).arg(x.k.tenant)
	for i, key := range x.keys {
		q.add(` AND ` + key + ` = `).arg(row.keys[i])
	}
	n, err := c.Exec(ctx, q.String(), q.args...)
	if err == nil && n != 1 {
		err = fmt.Errorf("%d rows of %s have one key", n, x.table)
	}
	if err != nil || x.knows == nil {
		return true, err
	}
	id, _ := row.keys[0].(string)
	return true, x.index(ctx, (&opener{x.s.seals, x.k.tenant}).conn(c), id)
}

// value returns the sealed form of a stored value, nil if it is sealed or says nothing.
func (x *rowSealer) value(column string, stored any) any {
	switch v := stored.(type) {
	case string:
		if v == "" || strings.HasPrefix(v, sealMark) {
			return nil
		}
		return x.k.value(column, v)
	case json.RawMessage:
		if !says(v) || strings.Contains(string(v), sealQuoted) {
			return nil
		}
		if x.table == sessions.Name {
			return x.k.object(column, v)
		}
		return x.k.value(column, v)
	}
	return nil
}

// index replaces the words of a row in the index by tokens, and the hash of its text.
func (x *rowSealer) index(ctx context.Context, c Conn, id string) error {
	it := IndexedText{TenantID: x.k.tenant, Table: x.table, ID: id}
	if x.knows == messages {
		var kind, content string
		found, err := one(ctx, c, `SELECT `+x.s.dialect.ownerOf(``)+`, message_type, content FROM messages
			WHERE tenant_id = $1 AND id = $2 AND (deleted_at IS NULL OR cut)`, []any{&it.Owner, &kind, &content}, x.k.tenant, id)
		if err != nil || !found || content == "" || kind != MessageUser && kind != MessageAssistant {
			return err
		}
		it.Text = clip(content, saidText)
		return x.s.putWords(ctx, c, it)
	}
	q := newQuery(x.knows.byID)
	q.args = []any{x.k.tenant, id}
	rec, err := x.knows.first(ctx, c, q)
	if err != nil || rec == nil {
		return err
	}
	it.Owner = *rec.place().user
	text := x.knows.embedded(rec)
	if _, err := c.Exec(ctx, `UPDATE embeddings SET content_hash = $4 WHERE tenant_id = $1 AND table_name = $2 AND entity_id = $3`,
		x.k.tenant, x.table, id, x.s.hash(x.k.tenant, text)); err != nil {
		return err
	}
	return x.s.putText(ctx, c, it, rec.entry(), text)
}
