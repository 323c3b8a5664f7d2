// Package schema compiles JSON Schemas that strangers wrote and checks values
// against them, both within bounds.
//
// A few lines of JSON Schema can ask for years of work: forty definitions that
// each say "anyOf: [next, next]" stand for 2^40 schemas, one pattern compiles to
// 128 MB, a bound of 1e1000000 to half a megabyte. [Compile] measures a schema first
// and refuses such a one with an [Excess], which names the place. What it accepts,
// [Schema.Validate] checks within a budget of steps and until its context ends.
//
//	s, err := schema.Compile(doc, schema.Options{})
//	failures, err := s.Validate(ctx, value)
//
// The library (santhosh-tekuri/jsonschema) reads schemas and judges every keyword
// that looks at one value alone. The walk over keywords that hold schemas (allOf,
// properties, items, $ref, …) is done here, because the library's has no end and no
// memory: it visits a shared definition once for each path that leads to it. This
// walk visits it once for each value, so that a recursive type costs what the value's
// size times the schema's size is, not a power of it.
package schema

import (
	"errors"
	"strings"

	js "github.com/santhosh-tekuri/jsonschema/v6"
)

// Options change how a schema is compiled; the zero value does not.
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
	// tracks: some part has unevaluatedProperties or unevaluatedItems.
	tracks bool
}

// Compile reads a schema, decoded with numbers as json.Number. The error is an
// *Excess when checking values against it would take too much, else the library's.
// References out of the schema are not followed, but for those to json-schema.org.
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

// Size counts the schemas that s is made of.
func (s *Schema) Size() int { return len(s.parts) }

// Optional reports whether name is a property of the schema's root that may be left
// out.
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

// noLoader refuses every reference that leaves the schema: it must not make this
// process read files or fetch addresses.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("references out of the document are not followed")
}

// isMeta reports whether s belongs to JSON Schema's own schemas. They are known not
// to explode, and they use $dynamicRef: the library checks values against them.
func isMeta(s *js.Schema) bool {
	return strings.HasPrefix(s.Location, "https://json-schema.org/") || strings.HasPrefix(s.Location, "http://json-schema.org/")
}
