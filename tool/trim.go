package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"p8/rem"
)

// The bounds of a search result, in bytes of its rows.
const (
	// maxRows is for the rows of several keys together.
	maxRows = 24 << 10
	// maxWhole is for the rows of one key: a LOOKUP of one key is how to read
	// everything of it.
	maxWhole = 256 << 10
	// minRow is what a row may take however many there are.
	minRow = 300
	// maxSummary is the longest summary, in characters.
	maxSummary = 400
)

// trim shortens rows that are longer together than a result may be, and says
// in each what is missing and how to get it.
func trim(rows []rem.Row, whole bool) {
	limit := maxRows
	if whole {
		limit = maxWhole
	}
	var size int
	for i := range rows {
		size += len(rows[i].Data) + len(rows[i].Summary)
	}
	if size <= limit {
		return
	}
	each := max(limit/len(rows), minRow)
	for i := range rows {
		row := &rows[i]
		row.Summary = cut(row.Summary, min(maxSummary, each))
		hint := "LOOKUP " + rem.Quote(row.Key) + " alone gives all of it"
		if whole {
			hint = "the row is longer than a result can be"
		}
		row.Data = trimData(row.Data, each, hint)
	}
}

// trimData shortens the longest fields of a JSON object until it fits: texts
// keep their beginning, anything else is left out. A field "trimmed" tells.
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

// prefix is the beginning of s whose JSON form has at most n bytes.
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
