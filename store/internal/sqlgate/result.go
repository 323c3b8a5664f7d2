package sqlgate

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// Result collects rows within bounds.
type Result struct {
	// Limit and Bytes are the most rows, and the most bytes of their values.
	Limit, Bytes int
	Rows         [][]any
	// Truncated is true if a row did not fit; no later row is added then.
	Truncated bool

	used int
}

// Add adds a row and reports whether more may be added. It shortens a first row that is
// too large.
func (r *Result) Add(row []any) bool {
	size := 0
	for _, v := range row {
		size += sizeOf(v)
	}
	switch {
	case len(r.Rows) >= r.Limit:
		r.Truncated = true
		return false
	case r.used+size <= r.Bytes:
		r.Rows, r.used = append(r.Rows, row), r.used+size
		return true
	}
	r.Truncated = true
	if len(r.Rows) == 0 {
		shorten(row, r.Bytes)
		r.Rows = append(r.Rows, row)
	}
	return false
}

func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case json.RawMessage:
		return len(v)
	}
	return 8
}

// shorten cuts the long values of a row so that all fit.
func shorten(row []any, room int) {
	share := room / max(1, len(row))
	for i, v := range row {
		if sizeOf(v) <= share {
			continue
		}
		switch v := v.(type) {
		case string:
			for share > 0 && !utf8.RuneStart(v[share]) {
				share--
			}
			row[i] = v[:share]
		case json.RawMessage:
			// A cut JSON document could not be read: leave it out.
			row[i] = nil
		}
	}
}

// TimeText returns a time as results show it: RFC 3339 in UTC.
func TimeText(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// JSONValue returns JSON without the space between its tokens. A text that is not JSON stays a
// text.
func JSONValue(text []byte) any {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return string(text)
	}
	return json.RawMessage(b.Bytes())
}

// Value converts a value to the type of its column, the same on both engines.
func Value(t Type, v any) any {
	switch x := v.(type) {
	case int64:
		switch t {
		case Boolean:
			return x != 0
		case Number:
			return float64(x)
		case Text:
			return strconv.FormatInt(x, 10)
		}
	case float64:
		if (t == Integer || t == Whole) && x == math.Trunc(x) && math.Abs(x) < 1<<63 {
			return int64(x)
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			// JSON has neither NaN nor infinity.
			return strconv.FormatFloat(x, 'g', -1, 64)
		}
	}
	return v
}
