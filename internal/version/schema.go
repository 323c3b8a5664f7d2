package version

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// schema compares two JSON Schemas; nil is none.
func (d *differ) schema(path string, was, is map[string]any) {
	for _, key := range allKeys(was, is) {
		before, after := was[key], is[key]
		if same(before, after) {
			continue
		}
		at := path + "." + key
		switch key {
		case "properties", "required":
			if key == "properties" || same(was["properties"], is["properties"]) { // once
				d.properties(path, was, is)
			}
		case "type", "enum":
			d.allowed(at, before, after)
		case "$defs", "definitions", "patternProperties":
			a, b := object(before), object(after)
			for _, name := range allKeys(a, b) {
				switch {
				case b[name] == nil:
					d.add(Major, at+"."+name, "removed")
				case a[name] == nil:
					d.add(Minor, at+"."+name, "added")
				default:
					d.schema(at+"."+name, object(a[name]), object(b[name]))
				}
			}
		case "items", "additionalProperties":
			d.part(at, before, after)
		case "anyOf", "oneOf", "allOf":
			d.choices(at, before, after)
		case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
			d.bound(at, before, after, -1)
		case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
			d.bound(at, before, after, 1)
		case "title", "description", "$comment", "examples", "default":
			d.value(Patch, at, before, after)
		default:
			d.value(Major, at, before, after)
		}
	}
}

// properties compares the fields of an object, and which of them are required.
func (d *differ) properties(path string, was, is map[string]any) {
	before, after := object(was["properties"]), object(is["properties"])
	for _, name := range allKeys(before, after) {
		at := strings.TrimSuffix(path, ".properties") + "." + name
		if path != "properties" && path != "state" {
			at = path + ".properties." + name
		}
		needed, needs := lists(was["required"], name), lists(is["required"], name)
		switch {
		case after[name] == nil && needed:
			d.add(Major, at, "the required field is gone")
		case after[name] == nil:
			d.add(Minor, at, "the optional field is gone")
		case before[name] == nil && needs:
			d.add(Major, at, "a required field is new")
		case before[name] == nil:
			d.add(Minor, at, "an optional field is new")
		default:
			if needed && !needs {
				d.add(Major, at, "the field is not required any more")
			} else if needs && !needed {
				d.add(Major, at, "the field is required now")
			}
			d.part(at, before[name], after[name])
		}
	}
}

// part compares what may be a schema, or true or false.
func (d *differ) part(at string, before, after any) {
	a, isA := before.(map[string]any)
	b, isB := after.(map[string]any)
	if isA && isB {
		d.schema(at, a, b)
		return
	}
	level := Major
	if after == true || after == nil && before == false {
		level = Minor
	}
	d.value(level, at, before, after)
}

// allowed compares the types, or the values, that are allowed: more of them are Minor.
func (d *differ) allowed(at string, before, after any) {
	a, b := values(before), values(after)
	level := Major
	if after == nil || before != nil && !slices.ContainsFunc(a, func(v string) bool {
		return !slices.Contains(b, v) && (v != `"integer"` || !slices.Contains(b, `"number"`))
	}) {
		level = Minor
	}
	d.value(level, at, before, after)
}

// choices compares lists of schemas by their places.
func (d *differ) choices(at string, before, after any) {
	a, _ := before.([]any)
	b, _ := after.([]any)
	if len(a) != len(b) {
		d.value(Major, at, before, after)
		return
	}
	for i := range a {
		d.part(at+"["+strconv.Itoa(i)+"]", a[i], b[i])
	}
}

// bound compares a lower bound (-1) or an upper one (1): a wider one is Minor.
func (d *differ) bound(at string, before, after any, side float64) {
	a, okA := float(before)
	b, okB := float(after)
	level := Major
	if after == nil || okA && okB && (b-a)*side > 0 {
		level = Minor
	}
	d.value(level, at, before, after)
}

func float(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// lists reports whether a list of texts has one.
func lists(v any, text string) bool {
	list, _ := v.([]any)
	return slices.ContainsFunc(list, func(x any) bool { return fmt.Sprint(x) == text })
}

// values are the members of a list, or the one value, as JSON.
func values(v any) (list []string) {
	many, isList := v.([]any)
	if !isList {
		many = []any{v}
	}
	for _, x := range many {
		list = append(list, fullJSON(x))
	}
	return list
}
