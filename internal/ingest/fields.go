package ingest

import (
	"encoding/json"
	"fmt"
)

// Field is a key of a YAML mapping with its place, and its value as JSON.
type Field struct {
	Key          string
	Line, Column int
	Value        json.RawMessage
}

// Fields reads a YAML text that is one mapping, within the bounds of knowledge files. line is
// the line of file at which the text begins. The error is a [*Problem].
func Fields(file, src string, line int) ([]Field, error) {
	root, err := parseYAML(file, src, line)
	if err != nil {
		return nil, err
	}
	list, ok := members(root)
	if !ok {
		return nil, &Problem{file, line, 1, "this is no mapping: write keys with values"}
	}
	fields := make([]Field, len(list))
	for i, m := range list {
		if m.value == nil {
			return nil, at(file, m.token, line, fmt.Sprintf("%s has no value", m.key))
		}
		value, err := toJSON(file, m.value, line)
		if err != nil {
			return nil, err
		}
		place := at(file, m.token, line, "")
		fields[i] = Field{m.key, place.Line, place.Column, value}
	}
	return fields, nil
}
