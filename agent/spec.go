package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

//go:generate go test -run TestSpec -update .

// Spec returns the JSON Schema (2020-12) of documents in both dialects, indented, for
// completion and checks in editors. It is generated from [Fields] into
// document.schema.json. Unlike [Parse], it does not report unknown keys, nor a missing name,
// which may be that of the file.
func Spec() []byte {
	l := layouts()
	config := l[reflect.TypeFor[Fields]()]
	structured := js("properties", js("structured_output", js("const", true)), "required", []any{"structured_output"})
	nested := func(s *node) *node {
		return js("properties", js(extraKey, s), "required", []any{extraKey})
	}

	defs := js("config", js("type", []any{"object", "null"}, "properties", config.properties(func(f *field) bool { return !f.schema })))
	for _, d := range refs {
		defs.Members = append(defs.Members, member{Key: d.name, Value: l[d.typ].object()})
	}
	defs.Members = append(defs.Members, member{Key: "field", Value: fieldSpec()})

	root := js("type", js("const", "object", "description", "A document is a JSON Schema of an object."))
	root.Members = append(root.Members, config.properties(func(f *field) bool { return f.schema }).Members...)
	root.Members = append(root.Members, fieldMaps(
		"The fields of the answer (structured_output: true), or a structure for the thinking, in the order in which they are shown.",
		"Types that the fields refer to as #/$defs/Name.")...)
	root.Members = append(root.Members, member{Key: extraKey, Value: js("$ref", "#/$defs/config",
		"description", "The configuration of a nested document; a flat one has it beside description.")})

	b := js(
		"$schema", "https://json-schema.org/draft/2020-12/schema",
		"title", "p8 agent document",
		"description", "An agent as a document: description is its system prompt, properties its answer or its thinking, tools what it may call.",
		"type", "object",
		"properties", root,
		"required", []any{"description"},
		"allOf", []any{
			js("$ref", "#/$defs/config"),
			js("if", js("anyOf", []any{structured, nested(structured)}),
				"then", js("properties", js("properties", js("minProperties", 1)), "required", []any{"properties"})),
		},
		"$defs", defs,
	).AppendJSON(nil)
	var out bytes.Buffer
	if json.Indent(&out, b, "", "  ") != nil {
		return b
	}
	return append(out.Bytes(), '\n')
}

// refs lists the structs below $defs.
var refs = []struct {
	name string
	typ  reflect.Type
}{
	{"tool", reflect.TypeFor[ToolRef]()}, {"resource", reflect.TypeFor[Resource]()}, {"agent", reflect.TypeFor[AgentRef]()},
	{"provider_config", reflect.TypeFor[ProviderConfig]()}, {"limits", reflect.TypeFor[Limits]()}, {"history", reflect.TypeFor[History]()},
	{"approval_rule", reflect.TypeFor[ApprovalRule]()}, {"routing", reflect.TypeFor[Routing]()}, {"prediction", reflect.TypeFor[Prediction]()},
}

func refTo(t reflect.Type) *node {
	for _, r := range refs {
		if r.typ == t {
			return js("$ref", "#/$defs/"+r.name)
		}
	}
	return js()
}

func (l *layout) object() *node {
	out := js("type", "object", "properties", l.properties(func(*field) bool { return true }))
	var required []any
	for _, f := range l.fields {
		if f.required {
			required = append(required, f.key)
		}
	}
	if required != nil {
		out.Members = append(out.Members, member{Key: "required", Value: of(required)})
	}
	return out
}

func (l *layout) properties(take func(*field) bool) *node {
	out := js()
	for i := range l.fields {
		f := &l.fields[i]
		if !take(f) {
			continue
		}
		out.Members = append(out.Members, member{Key: f.key, Value: f.spec(f.doc)})
		if f.alias != "" {
			out.Members = append(out.Members, member{Key: f.alias, Value: f.spec("The same as " + f.key + ".")})
		}
	}
	return out
}

// spec returns the schema of one field; null counts as left out.
func (f *field) spec(doc string) *node {
	t := f.typ
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	out := js("description", doc)
	add := func(pairs ...any) { out.Members = append(out.Members, js(pairs...).Members...) }
	orNull := func(name string) {
		if f.required {
			add("type", name)
			return
		}
		add("type", []any{name, "null"})
	}
	switch {
	case f.like != "":
		add("anyOf", []any{js("$ref", "#/$defs/"+f.like), js("type", "null")})
	case t == reflect.TypeFor[json.RawMessage]():
	case t == reflect.TypeFor[Approval]():
		add("anyOf", []any{
			js("enum", []any{approvalAlways, approvalNever, nil}),
			js("type", "array", "minItems", 1, "items", js("$ref", "#/$defs/approval_rule", "minProperties", 1)),
		})
	case t.Kind() == reflect.Map:
		add("type", []any{"object", "null"}, "minProperties", 1, "additionalProperties", js("type", "string", "format", "regex"))
	case len(f.enum) > 0 && f.open:
		orNull("string")
		add("examples", anys(f.enum))
	case len(f.enum) > 0:
		add("enum", append(anys(f.enum), nil))
	case t.Kind() == reflect.String && f.required:
		add("type", "string", "minLength", 1)
	case t.Kind() == reflect.String:
		orNull("string")
	case t.Kind() == reflect.Bool:
		orNull("boolean")
	case t.Kind() == reflect.Int:
		orNull("integer")
	case t.Kind() == reflect.Float64:
		orNull("number")
	case t.Kind() == reflect.Slice:
		orNull("array")
		item := js("type", "string")
		if t.Elem().Kind() == reflect.Struct {
			if item = refTo(t.Elem()); f.bare != "" {
				item = js("anyOf", []any{js("type", "string", "minLength", 1), item})
			}
		}
		add("items", item)
	default:
		add("anyOf", []any{refTo(t), js("type", "null")})
	}
	for _, bound := range [][2]string{{"minimum", f.min}, {"maximum", f.max}} {
		if bound[1] != "" {
			add(bound[0], json.Number(bound[1]))
		}
	}
	return out
}

// fieldMaps returns the keywords that the root and every object share.
func fieldMaps(properties, defs string) []member {
	field := js("$ref", "#/$defs/field")
	return js(
		"properties", js("description", properties, "type", []any{"object", "null"}, "additionalProperties", field),
		"required", js("description", "The fields that must be there.", "type", []any{"array", "null"}, "items", js("type", "string"), "uniqueItems", true),
		"additionalProperties", js("description", "Whether other fields may be there; false forbids them.", "anyOf", []any{js("type", "null"), field}),
		"$defs", js("description", defs, "type", []any{"object", "null"}, "additionalProperties", field),
		"definitions", js("description", "The older name of $defs.", "type", []any{"object", "null"}, "additionalProperties", field),
	).Members
}

// fieldSpec returns the schema of one property of an agent: the keywords of JSON
// Schema that an editor should complete.
func fieldSpec() *node {
	field := js("$ref", "#/$defs/field")
	list := js("type", "array", "items", field, "minItems", 1)
	types := js("enum", anys(jsonTypes))
	out := js(
		"type", js("description", "The JSON type.", "anyOf", []any{types, js("type", "array", "items", types)}),
		"description", js("description", "What the model should put here.", "type", "string"),
		"enum", js("description", "The only values.", "type", "array", "minItems", 1),
		"const", js("description", "The only value."),
		"items", js("description", "The entries of a list.", "$ref", "#/$defs/field"),
		"$ref", js("description", "A type of the document: #/$defs/Name.", "type", "string", "pattern", "^#"),
		"anyOf", list, "oneOf", list, "allOf", list,
		"minimum", js("type", "number"), "maximum", js("type", "number"),
		"exclusiveMinimum", js("type", "number"), "exclusiveMaximum", js("type", "number"), "multipleOf", js("type", "number"),
		"minLength", js("type", "integer"), "maxLength", js("type", "integer"),
		"minItems", js("type", "integer"), "maxItems", js("type", "integer"), "uniqueItems", js("type", "boolean"),
		"pattern", js("description", "A regular expression (RE2) that a string matches.", "type", "string"),
		"format", js("description", "The form of a string.", "type", "string",
			"examples", anys(strings.Fields("date date-time time duration email uri uuid hostname ipv4 ipv6"))),
		"default", js("description", "The value when the field is left out."),
		"title", js("type", "string"),
	)
	out.Members = append(out.Members, fieldMaps("The fields of an object.", "Types.")...)
	return js("type", []any{"object", "boolean"}, "properties", out)
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// js returns an object of key, value, key, value, in that order.
func js(pairs ...any) *node {
	n := &node{Kind: object}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		n.Members = append(n.Members, member{Key: key, Value: of(pairs[i+1])})
	}
	return n
}

func of(v any) *node {
	switch v := v.(type) {
	case *node:
		return v
	case string:
		return &node{Kind: text, Text: v}
	case []any:
		n := &node{Kind: array}
		for _, item := range v {
			n.Items = append(n.Items, of(item))
		}
		return n
	case bool:
		return &node{Kind: boolean, Text: fmt.Sprint(v)}
	case nil:
		return &node{}
	}
	return &node{Kind: number, Text: fmt.Sprint(v)}
}
