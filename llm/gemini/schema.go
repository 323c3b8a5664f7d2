package gemini

import (
	"encoding/json"
	"slices"
	"strings"
)

// appendSchema writes a JSON Schema with the keywords that the API supports. Its form of
// JSON Schema has much of the standard; the older form, a subset of OpenAPI, refuses
// unknown keywords. Answers and arguments are validated against the whole schema.
func appendSchema(b, raw []byte, openAPI bool) []byte {
	root, err := parse(raw)
	if err != nil {
		root = nil
	}
	c := cleaner{root: root, openAPI: openAPI, left: maxSchemas, room: maxUnfolded}
	out := c.clean(root, 0)
	if len(out) == 0 {
		out = object{{"type", "object"}}
	}
	return appendValue(b, out)
}

// Bounds of a written schema, whose references may be unfolded.
const (
	maxSchemas     = 2000
	maxSchemaDepth = 30
	maxUnfolded    = 1 << 20 // bytes that references stand for
)

// cleaner rewrites one schema.
type cleaner struct {
	root    any
	openAPI bool
	left    int      // schemas that may still be written
	open    []string // the references that are being unfolded
	room    int      // bytes that references may still stand for
	sizes   map[string]int
}

// clean rewrites a schema; booleans and invalid schemas become one that accepts
// anything.
func (c *cleaner) clean(v any, depth int) object {
	in, ok := v.(object)
	if c.left--; !ok || c.left < 0 || depth > maxSchemaDepth {
		return object{}
	}
	if ref, ok := in.get("$ref").(string); ok {
		return c.reference(in, ref, depth)
	}
	out := object{}
	if text, ok := in.get("description").(string); ok {
		out = describe(out, text) // first, as others may add to it
	}
	for _, m := range in {
		switch m.key {
		case "title", "minItems", "maxItems", "minimum", "maximum", "minLength", "maxLength",
			"pattern", "minProperties", "maxProperties", "default", "propertyOrdering":
			out = out.set(m.key, m.value)
		case "type":
			out = c.types(out, m.value)
		case "format":
			out = c.format(out, m.value)
		case "enum":
			if list, ok := m.value.([]any); ok {
				out = c.enum(out, list)
			}
		case "const":
			out = c.enum(out, []any{m.value})
		case "exclusiveMinimum":
			out = bound(out, "minimum", m.value)
		case "exclusiveMaximum":
			out = bound(out, "maximum", m.value)
		case "required":
			out = out.set(m.key, c.required(in, m.value))
		case "properties":
			out = out.set(m.key, c.all(m.value, depth))
		case "$defs", "definitions":
			if !c.openAPI {
				out = out.set("$defs", c.all(m.value, depth))
			}
		case "items":
			out = c.items(out, m.value, depth)
		case "prefixItems":
			if !c.openAPI {
				out = out.set(m.key, c.list(m.value, depth))
			}
		case "additionalProperties":
			out = c.additional(out, m.value, depth)
		case "anyOf", "oneOf":
			out = c.anyOf(out, m.key, m.value, depth)
		case "allOf":
			for _, s := range c.list(m.value, depth) {
				out = merge(out, s.(object))
			}
		}
	}
	if c.openAPI && out.get("type") == "array" && out.get("items") == nil {
		out = out.set("items", object{{"type", "string"}})
	}
	return out
}

// all rewrites the schemas of an object.
func (c *cleaner) all(v any, depth int) object {
	in, _ := v.(object)
	out := make(object, 0, len(in))
	for _, m := range in {
		out = append(out, member{m.key, c.clean(m.value, depth+1)})
	}
	return out
}

// list rewrites the schemas of a list.
func (c *cleaner) list(v any, depth int) []any {
	in, _ := v.([]any)
	out := make([]any, 0, len(in))
	for _, s := range in {
		out = append(out, c.clean(s, depth+1))
	}
	return out
}

// types rewrites one type or several. OpenAPI has one, and nullable for null.
func (c *cleaner) types(out object, v any) object {
	list, several := v.([]any)
	if !c.openAPI {
		return out.set("type", v)
	}
	if !several {
		list = []any{v}
	}
	var kept []any
	for _, t := range list {
		if t == "null" {
			out = out.set("nullable", true)
		} else {
			kept = append(kept, t)
		}
	}
	switch len(kept) {
	case 0:
		return out.set("type", "string")
	case 1:
		return out.set("type", kept[0])
	}
	for i, t := range kept {
		one := object{{"type", t}}
		if t == "array" {
			one = one.set("items", object{{"type", "string"}})
		}
		kept[i] = one
	}
	return out.set("anyOf", kept)
}

// format keeps the formats that the API supports, and adds others to the description.
func (c *cleaner) format(out object, v any) object {
	switch v {
	case "date-time", "float", "double", "int32", "int64":
		return out.set("format", v)
	case "date", "time":
		if !c.openAPI {
			return out.set("format", v)
		}
	}
	if name, ok := v.(string); ok {
		return describe(out, "Format: "+name)
	}
	return out
}

// enum keeps the values that the API supports: texts, and numbers in JSON Schema. Others
// are added to the description.
func (c *cleaner) enum(out object, values []any) object {
	var kept []any
	strange := false
	for _, v := range values {
		switch v.(type) {
		case string:
			kept = append(kept, v)
		case json.Number:
			kept = append(kept, v)
			strange = strange || c.openAPI
		case nil:
			if c.openAPI {
				out = out.set("nullable", true)
			}
		default:
			strange = true
		}
	}
	if !strange && len(kept) > 0 {
		if out.get("type") == nil && !slices.ContainsFunc(kept, func(v any) bool { _, ok := v.(string); return !ok }) {
			out = out.set("type", "string")
		}
		return out.set("enum", kept)
	}
	return describe(out, "One of: "+strings.Trim(string(appendValue(nil, values)), "[]"))
}

// bound widens an exclusive bound to one that the API has.
func bound(out object, key string, v any) object {
	if _, ok := v.(json.Number); ok && out.get(key) == nil {
		return out.set(key, v)
	}
	return out
}

// required rewrites the required properties; OpenAPI refuses one that is not
// described.
func (c *cleaner) required(in object, v any) []any {
	list, _ := v.([]any)
	if !c.openAPI {
		return list
	}
	properties, _ := in.get("properties").(object)
	kept := []any{}
	for _, name := range list {
		if slices.ContainsFunc(properties, func(m member) bool { return m.key == name }) {
			kept = append(kept, name)
		}
	}
	return kept
}

func (c *cleaner) items(out object, v any, depth int) object {
	if _, tuple := v.([]any); !tuple {
		return out.set("items", c.clean(v, depth+1))
	}
	if c.openAPI {
		return out
	}
	return out.set("prefixItems", c.list(v, depth))
}

func (c *cleaner) additional(out object, v any, depth int) object {
	if c.openAPI {
		return out
	}
	if allowed, ok := v.(bool); ok {
		return out.set("additionalProperties", allowed)
	}
	return out.set("additionalProperties", c.clean(v, depth+1))
}

// anyOf rewrites alternatives; OpenAPI has no null among them.
func (c *cleaner) anyOf(out object, key string, v any, depth int) object {
	if !c.openAPI {
		return out.set(key, c.list(v, depth))
	}
	alternatives, _ := v.([]any)
	var kept []any
	for _, a := range alternatives {
		if o, ok := a.(object); ok && o.get("type") == "null" {
			out = out.set("nullable", true)
			continue
		}
		kept = append(kept, c.clean(a, depth+1))
	}
	switch len(kept) {
	case 0:
		return out
	case 1:
		return merge(out, kept[0].(object))
	}
	return out.set("anyOf", kept)
}

// merge adds the keywords of more that out does not have.
func merge(out, more object) object {
	for _, m := range more {
		switch have := out.get(m.key).(type) {
		case nil:
			out = out.set(m.key, m.value)
		case object:
			if o, ok := m.value.(object); ok {
				out = out.set(m.key, merge(have, o))
			}
		case []any:
			if list, ok := m.value.([]any); ok && m.key == "required" {
				out = out.set(m.key, append(slices.Clone(have), list...))
			}
		}
	}
	return out
}

// describe adds a sentence to the description.
func describe(out object, text string) object {
	if have, ok := out.get("description").(string); ok && have != "" {
		text = have + " (" + text + ")"
	}
	return out.set("description", text)
}
