package fit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// object is a JSON object that keeps the order of its members: a model fills the
// properties of a schema in the order in which it reads them.
type object []member

type member struct {
	key   string
	value any // object, []any, string, json.Number, bool or nil
}

// get returns the value of a key, nil if the object lacks it.
func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (o object) has(key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.key == key })
}

// set sets the value of a key; a new key comes last.
func (o object) set(key string, value any) object {
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, member{key, value})
}

// without returns a copy that lacks the keys.
func (o object) without(keys ...string) object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return slices.Contains(keys, m.key) })
}

// maxJSONDepth bounds how deep the text of a schema may be nested.
const maxJSONDepth = 100

var (
	errTooDeep = errors.New("fit: the schema is nested too deep")
	errNoJSON  = errors.New("fit: the schema is not JSON")
)

// parse reads one JSON value.
func parse(raw []byte) (any, error) {
	if !json.Valid(raw) { // a decoder stops at the end of the first value
		return nil, errNoJSON
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return parseValue(d, 0)
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxJSONDepth {
		return nil, errTooDeep
	}
	token, err := d.Token()
	if err != nil {
		return nil, fmt.Errorf("fit: reading a schema: %w", err)
	}
	switch token {
	case json.Delim('{'):
		return parseObject(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			value, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = d.Token()
		return list, err
	}
	return token, nil
}

// parseObject reads the members of an object. Of two with the same key the last one
// counts; the index keeps a huge object linear.
func parseObject(d *json.Decoder, depth int) (any, error) {
	o, index := object{}, map[string]int{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("fit: reading a schema: %w", err)
		}
		value, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		key := fmt.Sprint(token)
		if i, seen := index[key]; seen {
			o[i].value = value
			continue
		}
		index[key] = len(o)
		o = append(o, member{key, value})
	}
	_, err := d.Token()
	return o, err
}

// appendValue writes what parse read.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, m.key), ':')
			b = appendValue(b, m.value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendValue(b, v[i])
		}
		return append(b, ']')
	case string:
		return appendString(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		if v {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	}
	return append(b, "null"...)
}

// appendString writes a JSON string. <, > and & stay as they are, because a model reads
// them better.
func appendString(b []byte, s string) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil { // a string can always be encoded
		return append(b, `""`...)
	}
	return append(b, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}
