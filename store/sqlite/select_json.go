package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/store/internal/sqlgate"
)

var errNoJSON = errors.New("invalid input syntax for type json")

// decode reads JSON; numbers keep their digits.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil, errNoJSON
	}
	return v, nil
}

var jsonFunctions = map[string]scalar{
	"p8_json": func(c sqlite3.Context, a args) error {
		raw, ok := sqlgate.JSONValue(a[0].RawText()).(json.RawMessage)
		if !ok {
			return errNoJSON
		}
		return c1(c, string(raw))
	},
	// Applies ->> to a value that -> found.
	"p8_json_text": func(c sqlite3.Context, a args) error {
		v, err := decode(a[0].RawText())
		if err != nil {
			return err
		}
		if s, ok := v.(string); ok {
			return c1(c, s)
		}
		if v != nil {
			return c1(c, jsonbText(v))
		}
		return nil
	},
	"p8_json_string": func(c sqlite3.Context, a args) error {
		v, err := decode(a[0].RawText())
		if err != nil {
			return err
		}
		return c1(c, jsonbText(v))
	},
	"p8_json_typeof": func(c sqlite3.Context, a args) error {
		v, err := decode(a[0].RawText())
		if err != nil {
			return err
		}
		switch v.(type) {
		case nil:
			return c1(c, "null")
		case bool:
			return c1(c, "boolean")
		case json.Number:
			return c1(c, "number")
		case string:
			return c1(c, "string")
		case []any:
			return c1(c, "array")
		}
		return c1(c, "object")
	},
	"p8_json_has": func(c sqlite3.Context, a args) error {
		v, err := decode(a[0].RawText())
		if err == nil {
			c.ResultBool(has(v, a[1].Text()))
		}
		return err
	},
	"p8_json_any": hasKeys(func(v any, keys []string) bool {
		return slices.ContainsFunc(keys, func(k string) bool { return has(v, k) })
	}),
	"p8_json_all": hasKeys(func(v any, keys []string) bool {
		return !slices.ContainsFunc(keys, func(k string) bool { return !has(v, k) })
	}),
	"p8_json_contains": func(c sqlite3.Context, a args) error {
		v, err := decode(a[0].RawText())
		if err != nil {
			return err
		}
		part, err := decode(a[1].RawText())
		if err != nil {
			return err
		}
		// At the top level only, a list also contains a bare element.
		list, isList := v.([]any)
		_, partList := part.([]any)
		_, partObject := part.(map[string]any)
		if isList && !partList && !partObject {
			c.ResultBool(slices.ContainsFunc(list, func(e any) bool { return same(e, part) }))
			return nil
		}
		c.ResultBool(contains(v, part))
		return nil
	},
	"p8_join": func(c sqlite3.Context, a args) error {
		var list []*string
		if json.Unmarshal(a[0].RawText(), &list) != nil {
			return errNoJSON
		}
		var texts []string
		for _, s := range list {
			if s != nil {
				texts = append(texts, *s)
			}
		}
		if texts == nil {
			return nil
		}
		// PostgreSQL finds duplicates by sorting, so its result is sorted.
		slices.Sort(texts)
		return c1(c, left(strings.Join(texts, a[1].Text()), maxText))
	},
	"p8_element":      element(false),
	"p8_element_text": element(true),
}

// element returns a function that converts a value of json_each to PostgreSQL's form.
func element(text bool) scalar {
	return func(c sqlite3.Context, a args) error {
		kind, v := a[0].Text(), a[1]
		switch kind {
		case "":
			return nil
		case "null":
			if !text {
				return c1(c, "null")
			}
			return nil
		case "true", "false":
			return c1(c, kind)
		case "text":
			if text {
				return c1(c, v.Text())
			}
			b, _ := json.Marshal(v.Text())
			return c1(c, string(b))
		case "object", "array":
			if !text {
				return c1(c, v.Text())
			}
			d, err := decode(v.RawText())
			if err != nil {
				return err
			}
			return c1(c, jsonbText(d))
		}
		return c1(c, jsonbText(json.Number(v.Text())))
	}
}

// has is jsonb ? key: a key of an object, or a text of a list.
func has(v any, key string) bool {
	switch v := v.(type) {
	case map[string]any:
		_, ok := v[key]
		return ok
	case []any:
		return slices.Contains(v, any(key))
	case string:
		return v == key
	}
	return false
}

func hasKeys(fn func(any, []string) bool) scalar {
	return func(c sqlite3.Context, a args) error {
		v, err := decode(a[0].RawText())
		if err != nil {
			return err
		}
		var keys []string
		if json.Unmarshal(a[1].RawText(), &keys) != nil {
			return errNoJSON
		}
		c.ResultBool(fn(v, keys))
		return nil
	}
}

// contains is jsonb @> jsonb below the top.
func contains(v, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		object, ok := v.(map[string]any)
		if !ok {
			return false
		}
		for k, p := range part {
			if x, there := object[k]; !there || !contains(x, p) {
				return false
			}
		}
		return true
	case []any:
		list, ok := v.([]any)
		if !ok {
			return false
		}
		for _, p := range part {
			if !slices.ContainsFunc(list, func(x any) bool { return contains(x, p) }) {
				return false
			}
		}
		return true
	}
	return same(v, part)
}

// same compares two scalars; 1 is 1.0.
func same(a, b any) bool {
	x, ok := a.(json.Number)
	y, also := b.(json.Number)
	if !ok || !also {
		return reflect.DeepEqual(a, b)
	}
	p, ok := new(big.Float).SetString(x.String())
	q, also := new(big.Float).SetString(y.String())
	return ok && also && p.Cmp(q) == 0
}

// jsonbText returns a value as PostgreSQL prints jsonb: a space after each colon and
// comma, shorter keys first.
func jsonbText(v any) string {
	var b strings.Builder
	writeJSONB(&b, v)
	return b.String()
}

func writeJSONB(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.SortFunc(keys, func(x, y string) int {
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			return strings.Compare(x, y)
		})
		b.WriteByte('{')
		for i, k := range keys {
			if i > 0 {
				b.WriteString(", ")
			}
			writeJSONB(b, k)
			b.WriteString(": ")
			writeJSONB(b, v[k])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				b.WriteString(", ")
			}
			writeJSONB(b, x)
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(plainNumber(v.String()))
	case string:
		var quoted strings.Builder
		e := json.NewEncoder(&quoted)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)
		b.WriteString(strings.TrimSuffix(quoted.String(), "\n"))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
}

// plainNumber returns a number without an exponent, as numeric prints it.
func plainNumber(s string) string {
	if !strings.ContainsAny(s, "eE") || len(s) > 40 {
		return s
	}
	f, _, err := big.ParseFloat(s, 10, 200, big.ToNearestEven)
	if err != nil || f.MantExp(nil) > 1000 || f.MantExp(nil) < -1000 {
		return s
	}
	return f.Text('f', -1)
}
