package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/show"
)

// field is a field of an answer.
type field struct {
	name     string
	required bool

	Type        types           `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []any           `json:"enum"`
}

// fieldsOf returns the fields of an answer, in the order of the schema.
func fieldsOf(schema json.RawMessage) (fields []field) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var raw json.RawMessage
		if err != nil || d.Decode(&raw) != nil {
			return fields
		}
		var f field
		_ = json.Unmarshal(raw, &f) // a keyword of an odd type counts as absent
		f.name, _ = name.(string)
		f.required = slices.Contains(s.Required, f.name)
		fields = append(fields, f)
	}
	return fields
}

// prompt is the field on one line.
func (f field) prompt() string {
	text := show.OneLine(f.name)
	if about := show.OneLine(f.Description + f.Title); about != "" {
		text += " (" + about + ")"
	}
	if len(f.Enum) > 0 {
		var values []string
		for _, v := range f.Enum {
			values = append(values, show.OneLine(show.Cell(v)))
		}
		text += ", " + strings.Join(values, " | ")
	}
	switch {
	case f.Default != nil:
		text += " [" + show.OneLine(show.Cell(f.Default)) + "]"
	case !f.required:
		text += " (optional)"
	}
	return text + ": "
}

// value is what a person means by a text.
func (f field) value(text string) any {
	switch {
	case slices.Contains(f.Type, "boolean") && isYes(text):
		return true
	case slices.Contains(f.Type, "boolean") && slices.Contains([]string{"n", "no"}, strings.ToLower(text)):
		return false
	case slices.Contains(f.Type, "array") && !strings.HasPrefix(text, "["):
		items := strings.Split(text, ",")
		for i := range items {
			items[i] = strings.TrimSpace(items[i])
		}
		return items
	}
	return valueOf(text, f.Type)
}

// complete adds the defaults of the fields that have no value.
func complete(content map[string]json.RawMessage, fields []field) (json.RawMessage, error) {
	for _, f := range fields {
		if content[f.name] == nil && f.Default != nil {
			content[f.name] = f.Default
		}
	}
	return json.Marshal(content)
}
