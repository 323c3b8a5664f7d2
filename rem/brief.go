package rem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// The bounds of a row in a search result.
const (
	// maxShown bounds a text, in characters.
	maxShown = 1000
	// maxValue bounds any other value, in bytes of JSON.
	maxValue = 2000
)

// hidden columns are long and of no use to the reader of a search result.
var hidden = []string{"embedding", "parsed_content", "parsed_output", "source", "json_schema"}

// brief shortens a row for a model's context: it keeps the beginning of texts, leaves out
// other long values and hidden columns, and lists them in "trimmed". The columns keep
// their order.
func brief(data json.RawMessage, key string) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(data))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return data
	}
	out := bytes.NewBuffer(make([]byte, 0, min(len(data), 4*maxShown)))
	out.WriteByte('{')
	var notes []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return data
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return data
		}
		column, _ := name.(string)
		short, note := shorten(column, value)
		if note != "" {
			notes = append(notes, note)
		}
		if short != nil {
			field(out, column, short)
		}
	}
	if len(notes) == 0 {
		return data
	}
	list, err := marshal(append(notes, "LOOKUP "+Quote(key)+" or LOAD gives all of it"))
	if err != nil {
		return data
	}
	field(out, "trimmed", list)
	out.WriteByte('}')
	return out.Bytes()
}

func field(out *bytes.Buffer, name string, value []byte) {
	if out.Len() > 1 {
		out.WriteByte(',')
	}
	if quoted, err := marshal(name); err == nil {
		out.Write(quoted)
		out.WriteByte(':')
		out.Write(value)
	}
}

// shorten returns the shown form of a value, nil for none, and its note in "trimmed".
func shorten(column string, value json.RawMessage) (json.RawMessage, string) {
	if slices.Contains(hidden, column) {
		return nil, column + ": left out"
	}
	if len(value) <= maxShown {
		return value, ""
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		if len(value) <= maxValue {
			return value, ""
		}
		return nil, column + ": left out"
	}
	all := utf8.RuneCountInString(text)
	if all <= maxShown {
		return value, ""
	}
	end := 0
	for range maxShown {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	short, err := marshal(text[:end])
	if err != nil {
		return nil, column + ": left out"
	}
	return short, fmt.Sprintf("%s: the first %d of %d characters", column, maxShown, all)
}
