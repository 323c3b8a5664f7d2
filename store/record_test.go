package store

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// filled is a record whose every column says something that is hard to write.
func filled(t *table) record {
	rec := t.new()
	*rec.place().tenant = "tenant"
	for _, x := range new(fields).of(rec) {
		switch v := x.value.(type) {
		case *string:
			*v = x.name + " \"\\/\b\f\n\r\t\x00\x1f\x7f<&>\u2028 ü 日本 🙂"
		case *int:
			*v = -7
		case *int64:
			*v = 1 << 60
		case *float64:
			*v = 0.1
		case *time.Time:
			*v = time.Date(2026, 2, 3, 4, 5, 6, 70, time.UTC)
		case *json.RawMessage:
			*v = json.RawMessage(`{"a":[1.5,"\u00e9"]}`)
		case *[]string:
			*v = []string{"a", `"`}
		case *[]Edge:
			*v = []Edge{{Target: "x", Relation: "r", Weight: 0.5, Reason: "\n"}}
		}
	}
	return rec
}

// rowOf is a record as a row of its columns.
func rowOf(rec record) jsonRow {
	row := jsonRow{encode(*rec.place().tenant)}
	for _, x := range new(fields).of(rec) {
		row = append(row, encode(x.value))
	}
	return row
}

func TestRecordAsJSON(t *testing.T) {
	for _, table := range tables {
		if table.new == nil {
			continue
		}
		for what, rec := range map[string]record{"filled": filled(table), "empty": table.new()} {
			data, err := new(fields).data(rowOf(rec), table.new())
			if err != nil {
				t.Fatal(err)
			}
			got, want := table.new(), table.new()
			if err := json.Unmarshal(data, got); err != nil {
				t.Fatalf("%s, %s: %v\n%s", table.Name, what, err, data)
			}
			if err := json.Unmarshal(encode(rec), want); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, %s (-as encoding/json +as data):\n%s", table.Name, what, d)
			}
			// Every name is one that the record has.
			var names, known map[string]json.RawMessage
			if err := json.Unmarshal(data, &names); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(encode(filled(table)), &known); err != nil {
				t.Fatal(err)
			}
			for name := range names {
				if known[name] == nil {
					t.Errorf("%s, %s: the name %s is not the record's", table.Name, what, name)
				}
			}
		}
	}
}

func TestRecordReadsBack(t *testing.T) {
	for _, table := range tables {
		if table.new == nil {
			continue
		}
		want, got := filled(table), table.new()
		if err := new(fields).scan(rowOf(want), got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", table.Name, d)
		}
		if !sameRow(want, got) {
			t.Errorf("%s: a row is not the same as itself", table.Name)
		}
	}
}

// A row is another one when any column differs, but for what the store sets.
func TestSameRow(t *testing.T) {
	for _, table := range tables {
		if table.new == nil {
			continue
		}
		for i, x := range new(fields).of(table.new()) {
			other := filled(table)
			v := reflect.ValueOf(new(fields).of(other)[i].value).Elem()
			v.Set(reflect.Zero(v.Type()))
			set := x.name == "id" || x.name == "user_id" || x.name == "created_at" || x.name == "updated_at"
			if sameRow(filled(table), other) != set {
				t.Errorf("%s: without %s the row is the same: %v", table.Name, x.name, !set)
			}
			if merge(other, filled(table), nil); !sameRow(filled(table), other) {
				t.Errorf("%s: merging did not bring %s back", table.Name, x.name)
			}
		}
	}
}
