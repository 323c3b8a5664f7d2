// Package schema compiles JSON Schemas from untrusted authors and validates values
// against them, with bounded work.
//
// A few lines of JSON Schema can cause years of work: forty definitions with
// "anyOf: [next, next]" stand for 2^40 schemas, one pattern compiles to 128 MB, a bound
// of 1e1000000 to half a megabyte. [Compile] measures a schema first and refuses such a
// schema with an [Excess], which names the place. [Schema.Validate] has a budget of
// steps and stops with its context.
//
//	s, err := schema.Compile(doc, schema.Options{})
//	failures, err := s.Validate(ctx, value)
//
// The library (santhosh-tekuri/jsonschema) reads schemas and checks the keywords of a
// single value. This package walks the keywords that hold schemas (allOf, properties,
// items, $ref, …), because the library visits a shared definition once for each path to
// it, without a bound. This walk visits it once for each value, so that a recursive type
// costs at most the value's size times the schema's size.
package schema

import (
	"errors"
	"strings"

	js "github.com/santhosh-tekuri/jsonschema/v6"
)

// Options change how a schema is compiled.
type Options struct {
	// URL names the schema in the library's errors; "schema:" when empty.
	URL string
	// AssertFormat makes format an assertion in every draft.
	AssertFormat bool
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root  *js.Schema
	parts map[*js.Schema]*part
	// tracks is set if some part has unevaluatedProperties or unevaluatedItems.
	tracks bool
}

// Compile compiles a schema, decoded with numbers as json.Number. The error is an *Excess
// if validation would be too expensive, else the library's. References to other documents
// are refused, except to json-schema.org.
func Compile(doc any, o Options) (*Schema, error) {
	if err := weigh(doc); err != nil {
		return nil, err
	}
	url := o.URL
	if url == "" {
		url = "schema:"
	}
	c := js.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(engine)
	if o.AssertFormat {
		c.AssertFormat()
	}
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	root, err := c.Compile(url)
	if err != nil {
		return nil, err
	}
	s := &Schema{root: root, parts: map[*js.Schema]*part{}}
	s.addAll()
	return s, s.expansion()
}

// Size returns the number of schemas in s.
func (s *Schema) Size() int { return len(s.parts) }

// Optional reports whether name is an optional property of the root.
func (s *Schema) Optional(name string) bool {
	if s.root.Properties[name] == nil {
		return false
	}
	for _, required := range s.root.Required {
		if required == name {
			return false
		}
	}
	return true
}

// noLoader refuses references to other documents, so that a schema cannot make this
// process read files or fetch URLs.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references out of the document are not followed")
}

// isMeta reports whether s belongs to JSON Schema's meta-schemas. The library validates
// against them, because they use $dynamicRef and are known to be cheap.
func isMeta(s *js.Schema) bool {
	return strings.HasPrefix(s.Location, "https://json-schema.org/") || strings.HasPrefix(s.Location, "http://json-schema.org/")
}
