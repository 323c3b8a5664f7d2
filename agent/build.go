package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// New builds a document in Go, with the same checks as [Parse]. The error is
// [Problems].
//
//	doc, err := agent.New(agent.Fields{
//		Name:        "my-agent",
//		Description: "You are a research assistant. Search before answering.",
//		Tools:       []agent.ToolRef{{Name: "search", Description: "Query the knowledge base"}},
//		Schema:      json.RawMessage(`{"properties": {"topic": {"type": "string"}}}`),
//	})
func New(f Fields) (*Document, error) {
	r := newReport("", nil)
	root, err := f.tree()
	if err != nil {
		r.errorf(position{}, "", "write JSON objects such as {\"properties\": {…}}, every key once", "Schema and the other raw fields must be valid JSON")
		return nil, r.list
	}
	return r.document(root)
}

// tree returns the fields as a document without positions.
func (f Fields) tree() (*node, error) {
	schema := &node{Kind: object}
	if len(f.Schema) > 0 {
		r := newReport("", f.Schema)
		if schema = r.reader().JSON(f.Schema); schema == nil || schema.Kind != object || len(r.list) > 0 {
			return nil, errors.New("agent: Fields.Schema is not a JSON object")
		}
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("agent: the fields cannot be written as JSON: %w", err)
	}
	config := newReport("", raw).reader().JSON(raw)
	l := layouts()[reflect.TypeFor[Fields]()]

	root, extra := &node{Kind: object}, &node{Kind: object}
	put := func(n *node, m member) { n.Members = append(n.Members, m) }
	put(root, member{Key: "type", Value: &node{Kind: text, Text: "object"}})
	var rest []member
	for _, m := range config.Members {
		switch {
		case l.byKey[m.Key].schema || f.Dialect == Flat && m.Key == "name":
			put(root, m)
		default:
			rest = append(rest, m)
		}
	}
	for _, m := range schema.Members {
		if root.Get(m.Key) == nil {
			put(root, m)
		}
	}
	if f.Dialect == Nested {
		extra.Members = rest
		put(root, member{Key: extraKey, Value: extra})
	} else {
		root.Members = append(root.Members, rest...)
	}
	root.Forget()
	return root, nil
}

// FromStruct builds a document whose fields are those of T. JSON names come
// from the json tag, descriptions from jsonschema, and enum, minimum, maximum
// and pattern from tags of those names; a field without omitempty is required.
//
// If f has no system prompt or name, T can supply them: the prompt by a method
// Prompt, the name and the prompt by the tags agent and prompt of a blank field.
//
//	type Research struct {
//		_          struct{} `agent:"research" prompt:"You are a research assistant."`
//		Answer     string   `json:"answer" jsonschema:"the answer"`
//		Confidence float64  `json:"confidence,omitempty" minimum:"0" maximum:"1"`
//	}
func FromStruct[T any](f Fields) (*Document, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("agent: %s is not a struct", t)
	}
	schema, err := schemaOf[T]()
	if err != nil {
		return nil, err
	}
	f.Schema = schema
	if p, ok := any(new(T)).(interface{ Prompt() string }); ok && f.Description == "" {
		f.Description = p.Prompt()
	}
	for i := range t.NumField() {
		if sf := t.Field(i); sf.Name == "_" {
			if f.Description == "" {
				f.Description = sf.Tag.Get("prompt")
			}
			if f.Name == "" {
				f.Name = sf.Tag.Get("agent")
			}
		}
	}
	if f.Name == "" {
		f.Name = Kebab(t.Name())
	}
	return New(f)
}

// schemaOf returns the JSON Schema of a struct, by the rules of [FromStruct].
func schemaOf[T any]() (json.RawMessage, error) {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("agent: %s has no JSON Schema: %w", reflect.TypeFor[T](), err)
	}
	if err := constrain(schema, reflect.TypeFor[T]()); err != nil {
		return nil, err
	}
	return json.Marshal(schema)
}

// constrain adds the constraints of the tags, and removes null from the types of
// lists: an empty list says the same.
func constrain(s *jsonschema.Schema, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case s == nil:
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		if len(s.Types) > 0 {
			s.Types, s.Type = nil, "array"
		}
		return constrain(s.Items, t.Elem())
	case t.Kind() == reflect.Map:
		return constrain(s.AdditionalProperties, t.Elem())
	case t.Kind() == reflect.Struct:
		for _, sf := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
			if name == "" {
				name = sf.Name
			}
			p := s.Properties[name]
			if p == nil {
				continue
			}
			if err := constrain(p, sf.Type); err != nil {
				return err
			}
			if err := applyTags(p, sf); err != nil {
				return err
			}
		}
	}
	return nil
}

func applyTags(p *jsonschema.Schema, sf reflect.StructField) error {
	target := p
	if p.Items != nil {
		target = p.Items // the values of a list
	}
	if enum := sf.Tag.Get("enum"); enum != "" {
		// A pointer's schema has two types, null and its own.
		numeric := slices.ContainsFunc(append(target.Types, target.Type), func(t string) bool { return t == "integer" || t == "number" })
		for _, v := range strings.Split(enum, ",") {
			var value any = v
			if numeric {
				value = json.Number(v)
			}
			target.Enum = append(target.Enum, value)
		}
	}
	for tag, bound := range map[string]**float64{"minimum": &target.Minimum, "maximum": &target.Maximum} {
		text := sf.Tag.Get(tag)
		if text == "" {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return fmt.Errorf("agent: the tag %s:%q of %s is not a number", tag, text, sf.Name)
		}
		*bound = &v
	}
	if pattern := sf.Tag.Get("pattern"); pattern != "" {
		target.Pattern = pattern
	}
	return nil
}
