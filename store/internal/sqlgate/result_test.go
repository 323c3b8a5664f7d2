package sqlgate

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestResult: a result ends at its bounds, and its first row is cut rather than left out.
func TestResult(t *testing.T) {
	long := "äöüäöüäöü"
	for _, test := range []struct {
		name      string
		bounds    Result
		rows      [][]any
		want      [][]any
		truncated bool
	}{
		{"within", Result{Limit: 2, Bytes: 100}, [][]any{{"a"}, {int64(1)}}, [][]any{{"a"}, {int64(1)}}, false},
		{"rows", Result{Limit: 1, Bytes: 100}, [][]any{{"a"}, {"b"}}, [][]any{{"a"}}, true},
		{"bytes", Result{Limit: 9, Bytes: 10}, [][]any{{"abcdefgh"}, {"abcdefgh"}}, [][]any{{"abcdefgh"}}, true},
		{"one long text", Result{Limit: 9, Bytes: 10}, [][]any{{long, "b"}}, [][]any{{"äö", "b"}}, true},
		{"one long document", Result{Limit: 9, Bytes: 10}, [][]any{{json.RawMessage(`{"a":"bcdefgh"}`)}}, [][]any{{nil}}, true},
	} {
		r := test.bounds
		for _, row := range test.rows {
			if !r.Add(row) {
				break
			}
		}
		if diff := cmp.Diff(test.want, r.Rows); diff != "" || r.Truncated != test.truncated {
			t.Errorf("%s: truncated %v, want %v\n%s", test.name, r.Truncated, test.truncated, diff)
		}
	}
}

// TestValue: a value of SQLite has the type that PostgreSQL gives it.
func TestValue(t *testing.T) {
	for _, test := range []struct {
		typ       Type
		got, want any
	}{
		{Boolean, int64(1), true}, {Number, int64(2), 2.0}, {Text, int64(3), "3"}, {Integer, int64(4), int64(4)},
		{Integer, 5.0, int64(5)}, {Whole, 6.0, int64(6)}, {Number, 6.5, 6.5}, {Number, math.Inf(1), "+Inf"}, {Text, "x", "x"}, {Any, nil, nil},
	} {
		if got := Value(test.typ, test.got); got != test.want {
			t.Errorf("%v as %s is %v, want %v", test.got, test.typ, got, test.want)
		}
	}
	if got := JSONValue([]byte(`{ "a" : 1 }`)); string(got.(json.RawMessage)) != `{"a":1}` {
		t.Errorf("JSON is %s", got)
	}
	if got := JSONValue([]byte(`{`)); got != "{" {
		t.Errorf("what is no JSON is %v", got)
	}
}

// TestPlain: the conditions that a database may evaluate before it filters the rows of
// other callers.
func TestPlain(t *testing.T) {
	for sql, want := range map[string]bool{
		`SELECT name FROM resources WHERE ordinal > 1 AND name IN ('a', 'b') OR name IS NULL`: true,
		`SELECT name FROM resources WHERE created_at BETWEEN '2026-01-01' AND '2026-02-01'`:   true,
		`SELECT name FROM resources WHERE created_at > now() - INTERVAL '7 days'`:             true,
		`SELECT r.name FROM resources r JOIN messages m ON r.id = m.id WHERE r.ordinal = -1`:  true,
		`SELECT name FROM resources WHERE 1 / ordinal = 1`:                                    false,
		`SELECT name FROM resources WHERE lower(name) = 'a'`:                                  false,
		`SELECT name FROM resources WHERE name LIKE 'a%'`:                                     false,
		`SELECT name FROM resources WHERE content::int = 1`:                                   false,
		`SELECT name FROM resources WHERE id IN (SELECT id FROM messages)`:                    false,
		`SELECT name FROM (SELECT name FROM resources) AS r`:                                  false,
		`WITH r AS (SELECT name FROM resources) SELECT name FROM r`:                           false,
	} {
		q, err := Check(sql, testTables)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if got := q.Plain(); got != want {
			t.Errorf("%s\n\tis plain: %v, want %v", sql, got, want)
		}
	}
}
