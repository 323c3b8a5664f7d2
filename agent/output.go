package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/internal/tree"
	"github.com/p8-org/p8/llm"
)

// schemaNode returns the JSON Schema part of the document: the keywords at the root
// in their order, with type: object in front if there is no type. The root
// description, which is the system prompt, is included only on demand.
func (d *Document) schemaNode(keepDescription bool) *node {
	out := &node{Kind: object}
	if d.root.Get("type") == nil {
		out.Members = append(out.Members, member{Key: "type", Value: &node{Kind: text, Text: "object"}})
	}
	for _, m := range d.root.Members {
		switch {
		case !tree.IsSchemaKey(m.Key), m.Key == "description" && !keepDescription, m.Value.Kind == null:
		case m.Key == "$schema" && !strings.Contains(m.Value.Str(), "json-schema.org/"):
			// It names the schema of documents for editors, not the dialect of this schema.
		default:
			out.Members = append(out.Members, m)
		}
	}
	return out
}

func (d *Document) outputSchema(keepDescription bool) json.RawMessage {
	return d.schemaNode(keepDescription).AppendJSON(nil)
}

func (d *Document) newOutput(text json.RawMessage) *llm.Output {
	return &llm.Output{Name: llm.SafeName(d.Key()), Schema: text}
}

// validator checks answers against the output schema. It is compiled for the first
// answer and shared by all agents of the document.
type validator struct {
	text  json.RawMessage
	once  sync.Once
	check *schema.Schema
	err   error
}

func newValidator(text json.RawMessage) *validator { return &validator{text: text} }

// validate returns every failure of an answer. The error is the context's.
func (v *validator) validate(ctx context.Context, raw []byte) ([]string, error) {
	answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []string{"/: the answer is not valid JSON; answer with one JSON object and nothing else"}, nil
	}
	if at, found := findOutlandish(answer, ""); found {
		return []string{at + ": the number is too large or too small"}, nil
	}
	v.once.Do(v.compile)
	if v.err != nil { // Parse has compiled it once already
		return []string{"/: the output schema is not valid"}, nil
	}
	failures, err := v.check.Validate(ctx, answer)
	switch {
	case errors.Is(err, schema.ErrSteps):
		return []string{fmt.Sprintf("/: the answer is too large to check: it takes more than %d steps; answer with less", schema.MaxSteps)}, nil
	case err != nil:
		return nil, err
	}
	return sayFailures(failures), nil
}

func (v *validator) compile() {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(v.text))
	if err == nil {
		v.check, err = compile(doc)
	}
	v.err = err
}

// findOutlandish returns the pointer of a number that is too large to compute with.
func findOutlandish(v any, pointer string) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return cmp.Or(pointer, "/"), schema.Outlandish(v.String())
	case []any:
		for i, item := range v {
			if at, found := findOutlandish(item, tree.Element(pointer, i)); found {
				return at, true
			}
		}
	case map[string]any:
		for key, item := range v {
			if at, found := findOutlandish(item, tree.Child(pointer, key)); found {
				return at, true
			}
		}
	}
	return "", false
}

// maxFailures bounds the failures that are sent back to a model.
const maxFailures = 50

// sayFailures lists failures for a model, each with its JSON pointer.
func sayFailures(failures schema.Failures) []string {
	var out []string
	for _, f := range failures.List {
		out = append(out, schema.Pointer(f.Path)+": "+f.Message)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	more := failures.More
	if len(out) > maxFailures {
		more += len(out) - maxFailures
		out = out[:maxFailures]
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("/: and %d more", more))
	}
	return out
}

const schemaURL = "p8:document"

// compile compiles the schema of answers.
func compile(doc any) (*schema.Schema, error) {
	return schema.Compile(doc, schema.Options{URL: schemaURL, AssertFormat: true})
}
