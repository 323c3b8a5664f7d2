package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/llm/internal/wire"
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

// maxJSONDepth bounds how deep a schema may be nested.
const maxJSONDepth = 100

var errTooDeep = errors.New("gemini: the schema is nested too deep")

// parse reads one JSON value.
func parse(raw []byte) (any, error) {
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
		return nil, fmt.Errorf("gemini: reading a schema: %w", err)
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, fmt.Errorf("gemini: reading a schema: %w", err)
			}
			value, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			o = o.set(fmt.Sprint(key), value)
		}
		_, err = d.Token()
		return o, err
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

// appendValue writes what parse read.
func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(wire.AppendString(b, m.key), ':')
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
		return wire.AppendString(b, v)
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
