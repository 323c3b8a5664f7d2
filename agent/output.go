package agent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	errkind "github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"p8/llm"
)

// schemaNode is the JSON Schema part of the document: everything at the root
// that is a keyword, in its order, a type in front when there is none. The root
// description is the system prompt and is left out unless it is asked for.
func (d *Document) schemaNode(keepDescription bool) *node {
	out := &node{kind: object}
	if d.root.get("type") == nil {
		out.members = append(out.members, member{key: "type", value: &node{kind: text, text: "object"}})
	}
	for _, m := range d.root.members {
		switch {
		case !isSchemaKey(m.key), m.key == "description" && !keepDescription, m.value.kind == null:
		case m.key == "$schema" && !strings.Contains(m.value.str(), "json-schema.org/"):
			// It tells an editor what a document is, not a validator what a schema is.
		default:
			out.members = append(out.members, m)
		}
	}
	return out
}

func (d *Document) outputSchema(keepDescription bool) json.RawMessage {
	return d.schemaNode(keepDescription).appendJSON(nil)
}

func (d *Document) newOutput(schema json.RawMessage) *llm.Output {
	return &llm.Output{Name: llm.SafeName(d.Key()), Schema: schema}
}

// validator checks answers against the output schema. It is compiled when the
// first answer comes and shared by every agent of the document.
type validator struct {
	schema json.RawMessage
	once   sync.Once
	check  func(any) []string
}

func newValidator(schema json.RawMessage) *validator { return &validator{schema: schema} }

// validate is every failure of an answer; none when it is valid.
func (v *validator) validate(raw []byte) []string {
	answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []string{"/: the answer is not valid JSON; answer with one JSON object and nothing else"}
	}
	if at, found := findOutlandish(answer, ""); found {
		return []string{at + ": the number is too large or too small"}
	}
	v.once.Do(func() { v.check = newCheck(v.schema) })
	return v.check(answer)
}

// findOutlandish is where a number is that cannot be calculated with.
func findOutlandish(v any, pointer string) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return cmp.Or(pointer, "/"), outlandish(v.String())
	case []any:
		for i, item := range v {
			if at, found := findOutlandish(item, element(pointer, i)); found {
				return at, true
			}
		}
	case map[string]any:
		for key, item := range v {
			if at, found := findOutlandish(item, child(pointer, key)); found {
				return at, true
			}
		}
	}
	return "", false
}

// maxFailures bounds what is sent back to a model.
const maxFailures = 50

func newCheck(schema json.RawMessage) func(any) []string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	var compiled *jsonschema.Schema
	if err == nil {
		compiled, err = compile(doc)
	}
	if err != nil { // Parse has compiled it once already
		return func(any) []string { return []string{"/: the output schema is not valid"} }
	}
	return func(answer any) []string {
		var cause *jsonschema.ValidationError
		if !errors.As(compiled.Validate(answer), &cause) {
			return nil
		}
		var out []string
		for _, f := range failures(cause) {
			out = append(out, fmt.Sprintf("%s: %s", f.pointer(), f.message))
		}
		slices.Sort(out)
		out = slices.Compact(out)
		if more := len(out) - maxFailures; more > 0 {
			out = append(out[:maxFailures], fmt.Sprintf("/: and %d more", more))
		}
		return out
	}
}

// failure is one keyword that an instance does not satisfy.
type failure struct {
	path    []string
	message string
}

func (f failure) pointer() string {
	if len(f.path) == 0 {
		return "/"
	}
	pointer := ""
	for _, key := range f.path {
		pointer = child(pointer, key)
	}
	return pointer
}

// failures are the leaves of a validation error.
func failures(e *jsonschema.ValidationError) []failure {
	printer := message.NewPrinter(language.English)
	var out []failure
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			out = append(out, failure{e.InstanceLocation, e.ErrorKind.LocalizedString(printer)})
			return
		}
		if _, choice := e.ErrorKind.(*errkind.AnyOf); choice {
			if best := closest(e); best != nil {
				walk(best)
				return
			}
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(e)
	return out
}

// closest is the alternative of an anyOf that the answer meant: the only one
// that is of its type at all. Telling a model that its object should have been
// null helps nobody.
func closest(anyOf *jsonschema.ValidationError) *jsonschema.ValidationError {
	var found *jsonschema.ValidationError
	for _, c := range anyOf.Causes {
		if _, wrongType := c.ErrorKind.(*errkind.Type); wrongType && len(c.InstanceLocation) == len(anyOf.InstanceLocation) {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}

// noLoader refuses every reference that leaves the document.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references out of the document are not followed")
}

const schemaURL = "p8:document"

func compile(doc any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.AssertFormat()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}
