package schema

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	js "github.com/santhosh-tekuri/jsonschema/v6"
)

// part holds what Compile prepared for one schema.
type part struct {
	// flat has the keywords of a single value, for the library; nil if there are none.
	flat *js.Schema
	// types are the allowed types, if flat has no other keyword.
	types []string
	// shared parts are reached in several ways: their verdicts are remembered.
	shared bool
	// enum counts the values of enum and const, all levels; pattern is the size of
	// the pattern's program.
	enum, pattern int
	patterns      map[js.Regexp]int
}

// addAll makes the parts of every schema that the root leads to.
func (s *Schema) addAll() {
	s.parts[s.root] = newPart(s.root)
	for queue := []*js.Schema{s.root}; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		s.tracks = s.tracks || at.UnevaluatedItems != nil || at.UnevaluatedProperties != nil
		for _, next := range append(inPlace(at), below(at)...) {
			if p := s.parts[next]; p != nil {
				p.shared = true
				continue
			}
			s.parts[next] = newPart(next)
			queue = append(queue, next)
		}
	}
}

func newPart(s *js.Schema) *part {
	p := &part{flat: flatten(s)}
	if p.flat != nil && s.Types != nil {
		bare := *p.flat
		if bare.Types = nil; flatten(&bare) == nil {
			p.types = s.Types.ToStrings()
		}
	}
	if s.Enum != nil {
		for _, v := range s.Enum.Values {
			p.enum += size(v)
		}
	}
	if s.Const != nil {
		p.enum += size(*s.Const)
	}
	if s.Pattern != nil {
		p.pattern = knownSize(s.Pattern)
	}
	for re := range s.PatternProperties {
		if p.patterns == nil {
			p.patterns = map[js.Regexp]int{}
		}
		p.patterns[re] = knownSize(re)
	}
	return p
}

func knownSize(re js.Regexp) int {
	size, err := patternSize(re.String())
	if err != nil {
		return maxPattern
	}
	return size
}

// flatten returns s without the keywords that hold schemas.
func flatten(s *js.Schema) *js.Schema {
	if s.Bool != nil || isMeta(s) {
		return nil
	}
	if s.Types == nil && s.Enum == nil && s.Const == nil && s.Format == nil && s.MinProperties == nil && s.MaxProperties == nil &&
		s.Required == nil && s.Dependencies == nil && s.DependentRequired == nil && s.MinItems == nil && s.MaxItems == nil &&
		!s.UniqueItems && s.MinLength == nil && s.MaxLength == nil && s.Pattern == nil && s.Minimum == nil && s.Maximum == nil &&
		s.ExclusiveMinimum == nil && s.ExclusiveMaximum == nil && s.MultipleOf == nil {
		return nil
	}
	flat := *s
	flat.Ref, flat.RecursiveRef, flat.DynamicRef = nil, nil, nil
	flat.AllOf, flat.AnyOf, flat.OneOf, flat.Not = nil, nil, nil, nil
	flat.If, flat.Then, flat.Else = nil, nil, nil
	flat.PropertyNames, flat.Properties, flat.PatternProperties, flat.AdditionalProperties = nil, nil, nil, nil
	flat.DependentSchemas, flat.UnevaluatedProperties = nil, nil
	flat.Items, flat.AdditionalItems, flat.PrefixItems, flat.Items2020, flat.UnevaluatedItems = nil, nil, nil, nil, nil
	flat.Contains, flat.MinContains, flat.MaxContains = nil, nil, nil
	flat.ContentEncoding, flat.ContentMediaType, flat.ContentSchema = nil, nil, nil
	flat.Extensions = nil
	flat.Dependencies = nil
	for name, dependency := range s.Dependencies {
		if names, ok := dependency.([]string); ok {
			if flat.Dependencies == nil {
				flat.Dependencies = map[string]any{}
			}
			flat.Dependencies[name] = names
		}
	}
	return &flat
}

// size counts the values in v.
func size(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += size(item)
		}
	case map[string]any:
		for _, item := range v {
			n += size(item)
		}
	}
	return n
}

// plain reports whether v is valid without the library, because flat only has a type.
func (p *part) plain(v any) bool {
	if p.types == nil {
		return false
	}
	name := "number"
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && slices.Contains(p.types, "integer") {
			return true
		}
	case json.Number:
		if strings.Trim(v.String(), "0123456789") == "" && slices.Contains(p.types, "integer") {
			return true
		}
	case nil:
		name = "null"
	case bool:
		name = "boolean"
	case string:
		name = "string"
	case []any:
		name = "array"
	case map[string]any:
		name = "object"
	}
	return slices.Contains(p.types, name)
}

// cost returns the steps that the library takes for v alone.
func (p *part) cost(v any) int {
	steps := p.enum
	switch v := v.(type) {
	case string:
		steps += len(v)/1024 + len(v)*p.pattern/128
		if p.flat.Format != nil {
			steps += len(v) / 64
		}
	case []any:
		if p.flat.UniqueItems {
			steps += size(v)
		}
	case map[string]any:
		steps += len(p.flat.Required) / 8
	}
	return steps
}
