package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"time"
)

// record is a row of a table of knowledge. Each type lists its columns once, in fields;
// reading, writing, merging, comparing and describing rows derive from that list.
type record interface {
	// fields names the columns and points at their values, in a fixed order.
	fields(*fields)
	// place points at the values that the store sets.
	place() place
	// identity is the column that identifies a row of an owner, and its value. A write with
	// the same value replaces the row; without a column every write makes a new row.
	identity() (column, value string)
	// entry is the row's entry in the key index.
	entry() entry
	// check returns ErrInvalid for values that cannot be stored, and cleans the others.
	check() error
}

// place points at the owner, the id and the times of a row. A User has no field for its
// tenant.
type place struct {
	tenant, id, user *string
	shared           *bool
	created, updated *time.Time
	metadata         *json.RawMessage
}

// owner returns the user_id column of the row.
func (p place) owner() any { return null(*p.user) }

// field is a column and its value in a record.
type field struct {
	name string
	// json is its name in JSON, "" for none.
	json string
	// value is a *string, *int, *int64, *float64, *time.Time, *json.RawMessage,
	// *[]string or *[]Edge.
	value any
	// required values are stored when they are zero, others are NULL then.
	required bool
	// raw is the JSON from which a list is read.
	raw json.RawMessage
}

// fields is a record's columns.
type fields struct {
	list []field
	// tenant is that of the row that was read last.
	tenant string
	dest   []any
}

func (f *fields) add(name string, value any) {
	f.list = append(f.list, field{name: name, json: name, value: value})
}

func (f *fields) require(name string, value any) {
	f.list = append(f.list, field{name: name, json: name, value: value, required: true})
}

func newFields(n int) *fields { return &fields{list: make([]field, 0, n), dest: make([]any, 0, n+2)} }

// as names the last column in JSON, where that is another name than its own.
func (f *fields) as(json string) { f.list[len(f.list)-1].json = json }

// of fills them with the fields of a record, and reuses their memory.
func (f *fields) of(rec record) []field {
	f.list = f.list[:0]
	rec.fields(f)
	return f.list
}

// columns reads the tenant and the columns of a row, then the targets in more. Lists stay
// in raw.
func (f *fields) columns(r Row, rec record, more ...any) error {
	p := rec.place()
	f.dest = append(f.dest[:0], &f.tenant)
	f.of(rec)
	for i := range f.list {
		switch x := &f.list[i]; x.value.(type) {
		case *[]string, *[]Edge:
			f.dest = append(f.dest, &x.raw)
		default:
			f.dest = append(f.dest, x.value)
		}
	}
	if err := r.Scan(append(f.dest, more...)...); err != nil {
		return err
	}
	*p.tenant, *p.shared = f.tenant, *p.user == ""
	return nil
}

// scan reads a row as columns does, and its lists.
func (f *fields) scan(r Row, rec record, more ...any) error {
	if err := f.columns(r, rec, more...); err != nil {
		return err
	}
	for _, x := range f.list {
		var err error
		switch v := x.value.(type) {
		case *[]string:
			err = decode(x.raw, v)
		case *[]Edge:
			err = decode(x.raw, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// arg returns the value as a statement's parameter.
func (x field) arg() any {
	switch v := x.value.(type) {
	case *string:
		if *v != "" || x.required {
			return *v
		}
	case *int:
		if *v != 0 || x.required {
			return *v
		}
	case *int64:
		if *v != 0 || x.required {
			return *v
		}
	case *float64:
		if *v != 0 || x.required {
			return *v
		}
	case *time.Time:
		if !v.IsZero() || x.required {
			return *v
		}
	case *json.RawMessage:
		return *v
	case *[]string:
		return encodeList(*v)
	case *[]Edge:
		return encodeList(*v)
	}
	return nil
}

// zero reports whether the value is empty.
func (x field) zero() bool {
	switch v := x.value.(type) {
	case *json.RawMessage:
		return len(*v) == 0
	case *[]string:
		return len(*v) == 0 && len(x.raw) == 0
	case *[]Edge:
		return len(*v) == 0 && len(x.raw) == 0
	case *string:
		return *v == ""
	case *int:
		return *v == 0
	case *int64:
		return *v == 0
	case *float64:
		return *v == 0
	case *time.Time:
		return v.IsZero()
	}
	return true
}

// take sets the value to that of the same column of another record.
func (x field) take(from field) {
	reflect.ValueOf(x.value).Elem().Set(reflect.ValueOf(from.value).Elem())
}

// equal compares the values of one column, JSON by its meaning.
func (x field) equal(y field) bool {
	switch v := x.value.(type) {
	case *json.RawMessage:
		return equalJSON(*v, *y.value.(*json.RawMessage))
	case *[]string:
		return slices.Equal(*v, *y.value.(*[]string))
	case *[]Edge:
		return slices.Equal(*v, *y.value.(*[]Edge))
	case *time.Time:
		return v.Equal(*y.value.(*time.Time))
	}
	return reflect.ValueOf(x.value).Elem().Equal(reflect.ValueOf(y.value).Elem())
}

func equalJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// sameRow reports whether two records of a type are equal except for owner and times.
func sameRow(a, b record) bool {
	var f, g fields
	x, y := f.of(a), g.of(b)
	for i := range x {
		switch x[i].name {
		case "id", "user_id", "created_at", "updated_at":
		default:
			if !x[i].equal(y[i]) {
				return false
			}
		}
	}
	return true
}

// merge gives rec the old value of each column that is empty in it and not in
// clear.
func merge(rec, old record, clear []string) {
	var f, g fields
	x, y := f.of(rec), g.of(old)
	for i := range x {
		if x[i].zero() && !slices.Contains(clear, x[i].name) {
			x[i].take(y[i])
		}
	}
}

// fields visits the columns that every table has.
func (b *Base) fields(f *fields) {
	f.require("id", &b.ID)
	f.add("user_id", &b.UserID)
	f.add("graph_edges", &b.GraphEdges)
	f.add("tags", &b.Tags)
	f.add("metadata", &b.Metadata)
	f.require("created_at", &b.CreatedAt)
	f.require("updated_at", &b.UpdatedAt)
}

func (b *Base) place() place {
	return place{&b.TenantID, &b.ID, &b.UserID, &b.Shared, &b.CreatedAt, &b.UpdatedAt, &b.Metadata}
}

func (b *Base) keyed(name, summary string) entry {
	return entry{name: name, summary: summary, metadata: b.Metadata, edges: b.GraphEdges}
}

// check cleans the columns that every row has.
func (b *Base) check() error {
	if err := checkEdges(b.GraphEdges); err != nil {
		return err
	}
	if err := cleanList("tags", b.Tags); err != nil {
		return err
	}
	return checkObject("metadata", &b.Metadata)
}

// entry is a row of the key index.
type entry struct {
	name, summary string
	metadata      json.RawMessage
	edges         []Edge
}
