package builtin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/tool"
)

// The bounds of a search result, in bytes of its rows as JSON; a token is about four
// bytes.
const (
	// maxRows bounds all rows together.
	maxRows = 16_000
	// maxWhole bounds the rows of one key: LOOKUP of one key is the way to read a
	// whole row.
	maxWhole = 256 << 10
	// minRow is the least size that a row is cut to; rows that do not fit are left
	// out.
	minRow = 300
	// maxSummary is the longest summary, in characters.
	maxSummary = 400
)

// trim shortens rows that exceed the bounds of a result, and notes in each what is
// missing and how to get it. If that is not enough, it drops the last rows; the note
// says how many.
func trim(rows []rem.Row, whole bool, hint func(rem.Row) string) (kept []rem.Row, note string) {
	limit := maxRows
	if whole {
		limit = maxWhole
		hint = func(rem.Row) string { return "the row is longer than a result can be" }
	}
	var size int
	for i := range rows {
		size += rowSize(&rows[i])
	}
	if size <= limit {
		return rows, ""
	}
	each := max(limit/len(rows), minRow)
	for i := range rows {
		row := &rows[i]
		row.Summary = tool.Cut(row.Summary, min(maxSummary, each))
		row.Data = trimData(row.Data, each-min(len(row.Summary), each/2), hint(*row))
	}
	size = 0
	for i := range rows {
		if size += rowSize(&rows[i]); size > limit && i > 0 {
			return rows[:i], fmt.Sprintf("The last %d of %d rows are left out: together they are longer than a result can be. Ask for fewer.", len(rows)-i, len(rows))
		}
	}
	return rows, ""
}

// rowSize estimates the size of a row as JSON.
func rowSize(row *rem.Row) int {
	const names = 80
	size := names + len(row.Key) + len(row.Summary) + len(row.Data)
	if row.Hop != nil {
		size += names
		for _, key := range row.Path {
			size += len(key) + 3
		}
	}
	return size
}

// hintFor says how to read all of a shortened row.
func hintFor(verb rem.Verb) func(rem.Row) string {
	return func(row rem.Row) string {
		if verb == rem.SQL {
			return "SELECT fewer columns or rows, or LEFT(column, 500)"
		}
		return "LOOKUP " + rem.Quote(row.Key) + " alone gives all of it"
	}
}

// trimData shortens the longest fields of a JSON object until it fits: texts keep
// their beginning, other fields are dropped. A field "trimmed" names them.
func trimData(data json.RawMessage, limit int, hint string) json.RawMessage {
	if len(data) <= limit {
		return data
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return mustJSON("left out: " + hint)
	}
	size := len(data)
	var notes []string
	for range len(fields) {
		if size <= limit {
			break
		}
		name := longest(fields)
		value := fields[name]
		var text string
		if json.Unmarshal(value, &text) == nil {
			short := prefix(text, max(len(value)-(size-limit), minRow/2))
			if len(short) == len(text) {
				break
			}
			notes = append(notes, fmt.Sprintf("%s: the first %d of %d characters",
				name, utf8.RuneCountInString(short), utf8.RuneCountInString(text)))
			fields[name] = mustJSON(short)
		} else {
			notes = append(notes, name+": left out")
			delete(fields, name)
		}
		size += len(fields[name]) - len(value)
	}
	if len(notes) == 0 {
		return data
	}
	fields["trimmed"] = mustJSON(append(notes, hint))
	out, err := json.Marshal(fields)
	if err != nil {
		return mustJSON("left out: " + hint)
	}
	return out
}

func longest(fields map[string]json.RawMessage) string {
	return slices.MaxFunc(slices.Sorted(maps.Keys(fields)), func(a, b string) int {
		return len(fields[a]) - len(fields[b])
	})
}

// prefix returns the longest beginning of s whose JSON form has at most n bytes.
func prefix(s string, n int) string {
	size := len(`""`)
	for i, r := range s {
		size += len(mustJSON(string(r))) - len(`""`)
		if size > n {
			return s[:i]
		}
	}
	return s
}

// mustJSON encodes texts and lists of them, which cannot fail.
func mustJSON(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return out
}
