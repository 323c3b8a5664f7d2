package store

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/seal"
)

// A sealed value is a text: sealMark, the column, a colon, and what the data key sealed, in
// base64. In a JSON column it is a JSON string of that. Tenant and column are authenticated: a
// value that was moved to the row of another tenant, or to another column, does not open.
//
// sealMark is no character of any script; no other text that the store writes begins with it.
const (
	sealRune = '\uf5ea'
	sealMark = string(sealRune)
)

// sealQuoted begins a sealed value in a JSON column.
const sealQuoted = `"` + sealMark

// SealedColumns lists the columns by table that are sealed in the rows of encrypted tenants.
// What identifies, orders or selects rows stays readable: ids, names and keys, types, times,
// tags, counts, and which key points to which.
func SealedColumns() map[string][]string {
	return map[string][]string{
		"messages":           {"content", "parts", "tool_calls", "metadata"},
		"moments":            {"summary", "metadata", "graph_edges"},
		"resources":          {"content", "comment", "metadata", "graph_edges"},
		"ontologies":         {"content", "extracted_data", "metadata", "graph_edges"},
		"files":              {"parsed_content", "parsed_output", "metadata", "graph_edges"},
		"feedback":           {"comment", "metadata", "graph_edges"},
		"users":              {"content", "interests", "preferred_topics", "metadata"},
		"sessions":           {"name", "description", "metadata"},
		"run_events":         {"data"},
		"run_journal":        {"data"},
		"run_requests":       {"arguments", "message", "response_schema", "content", "comment"},
		"evaluations":        {"plan", "summary"},
		"evaluation_results": {"data"},
		"kv_store":           {"content_summary", "metadata", "graph_edges"},
	}
}

// sealedColumns is SealedColumns, made once for every record that is written.
var sealedColumns = SealedColumns()

// seals reports whether what is written is sealed.
func (k *tenantSeal) seals() bool { return k != nil && k.on }

// value returns the parameter of a column: a text or JSON that says something, sealed.
func (k *tenantSeal) value(column string, v any) any {
	if !k.seals() {
		return v
	}
	switch x := v.(type) {
	case string:
		if x != "" {
			return k.text(column, []byte(x))
		}
	case json.RawMessage:
		if says(x) {
			return json.RawMessage(`"` + k.text(column, x) + `"`)
		}
	}
	return v
}

// object is value for a JSON object that statements merge key by key: its keys stay readable.
func (k *tenantSeal) object(column string, raw json.RawMessage) json.RawMessage {
	var all map[string]json.RawMessage
	if !k.seals() || !says(raw) || json.Unmarshal(raw, &all) != nil {
		return raw
	}
	for name, v := range all {
		all[name] = k.value(column, v).(json.RawMessage)
	}
	return encode(all)
}

// says reports whether JSON says more than that there is nothing.
func says(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "[]", "{}", "true", "false":
		return false
	}
	return true
}

// text returns a sealed value.
func (k *tenantSeal) text(column string, plain []byte) string {
	sealed := k.key.Seal(plain, k.tenant+"\n"+column)
	b := make([]byte, 0, len(sealMark)+len(column)+1+base64.RawURLEncoding.EncodedLen(len(sealed)))
	b = append(append(append(b, sealMark...), column...), ':')
	return string(base64.RawURLEncoding.AppendEncode(b, sealed))
}

// field returns the parameter of a record's column.
func (k *tenantSeal) field(t *table, x field) any {
	v := x.arg()
	if k.seals() && slices.Contains(sealedColumns[t.Name], x.name) {
		return k.value(x.name, v)
	}
	return v
}

// opener opens the sealed values of a caller's tenant, or with tenant "" those of all tenants.
type opener struct {
	seals  *sealing
	tenant string
}

// open opens a sealed value. column is that of the result, "" if it is not known.
func (o *opener) open(text []byte, column string) ([]byte, error) {
	head, code, ok := bytes.Cut(text[len(sealMark):], []byte(":"))
	raw, err := base64.RawURLEncoding.AppendDecode(nil, code)
	id := seal.DataKeyID(raw)
	if !ok || err != nil || id == "" {
		return nil, errCut
	}
	o.seals.mu.RLock()
	k := o.seals.ids[id]
	o.seals.mu.RUnlock()
	switch {
	case k == nil:
		o.seals.stale.Store(true)
		return nil, fmt.Errorf("%w: a value of the column %s has a data key that this process does not know yet", ErrSealed, head)
	case o.tenant != "" && k.tenant != o.tenant, column != "" && column != string(head):
		return nil, fmt.Errorf("%w: a value of the column %s is not where it was written", ErrSealed, head)
	}
	plain, err := k.key.Open(raw, k.tenant+"\n"+string(head))
	if err != nil {
		return nil, fmt.Errorf("%w: a value of the column %s: %w", ErrSealed, head, err)
	}
	return plain, nil
}

// errCut: a sealed value is not whole.
var errCut = fmt.Errorf("%w: a value is not whole", ErrSealed)

// json opens JSON that is sealed as a whole, or an object whose values are.
func (o *opener) json(raw json.RawMessage, column string) (json.RawMessage, error) {
	switch {
	case bytes.HasPrefix(raw, []byte(sealMark)): // a text column, read as bytes
		return o.open(raw, column)
	case bytes.HasPrefix(raw, []byte(sealQuoted)):
		return o.open(bytes.TrimSuffix(raw[1:], []byte(`"`)), column)
	case len(raw) == 0 || raw[0] != '{' || !bytes.Contains(raw, []byte(sealQuoted)):
		return raw, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	for name, v := range all {
		if bytes.HasPrefix(v, []byte(sealQuoted)) {
			plain, err := o.json(v, column)
			if err != nil {
				return nil, err
			}
			all[name] = plain
		}
	}
	return encode(all), nil
}

// conn returns a connection whose rows are opened.
func (o *opener) conn(c Conn) Conn {
	if o == nil {
		return c
	}
	return openingConn{c, o}
}

// row returns a row whose values are opened.
func (o *opener) row(r Row) Row {
	if o == nil {
		return r
	}
	return &openingRow{r, o}
}

type openingConn struct {
	Conn
	o *opener
}

// Query implements Conn.
func (c openingConn) Query(ctx context.Context, sql string, each func(Row) error, args ...any) error {
	return c.Conn.Query(ctx, sql, c.each(each), args...)
}

// Later implements Conn.
func (c openingConn) Later(ctx context.Context, s Statement) error {
	s.Each = c.each(s.Each)
	return c.Conn.Later(ctx, s)
}

func (c openingConn) each(each func(Row) error) func(Row) error {
	if each == nil {
		return nil
	}
	row := openingRow{o: c.o}
	return func(r Row) error {
		row.Row = r
		return each(&row)
	}
}

// openingRow opens what it scans.
type openingRow struct {
	Row
	o *opener
}

// Scan implements Row.
func (r *openingRow) Scan(dest ...any) error {
	if err := r.Row.Scan(dest...); err != nil {
		return err
	}
	for i, d := range dest {
		var err error
		switch v := d.(type) {
		case *string:
			err = r.text(v, i)
		case **string:
			if *v != nil {
				err = r.text(*v, i)
			}
		case *json.RawMessage:
			if bytes.HasPrefix(*v, []byte(sealMark)) || bytes.Contains(*v, []byte(sealQuoted)) {
				*v, err = r.o.json(*v, r.column(i))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *openingRow) text(v *string, i int) error {
	if !strings.HasPrefix(*v, sealMark) {
		return nil
	}
	plain, err := r.o.open([]byte(*v), r.column(i))
	*v = string(plain)
	return err
}

// column returns the name of a column of the table, "" for the result of an expression.
func (r *openingRow) column(i int) string {
	named, ok := r.Row.(interface{ Column(i int) string })
	if !ok {
		return ""
	}
	name := named.Column(i)
	for _, columns := range sealedColumns {
		if slices.Contains(columns, name) {
			return name
		}
	}
	return ""
}

// beginning returns the SQL of the first n characters of a text column, or of more if the value
// is sealed: it opens as a whole only.
func beginning(column string, n int) string {
	return fmt.Sprintf(`CASE WHEN substr(%s, 1, 1) = '%s' THEN %[1]s ELSE substr(%[1]s, 1, %[3]d) END`, column, sealMark, n)
}
