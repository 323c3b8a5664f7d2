package schema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	js "github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxExpansion bounds the number of schemas at one place of a value after references and
// alternatives are expanded. The size of a schema without shared definitions keeps it
// below.
const MaxExpansion = 10_000

// inPlace returns the schemas for the same value as s, with repetitions.
func inPlace(s *js.Schema) []*js.Schema {
	if isMeta(s) {
		return nil
	}
	var out []*js.Schema
	add := func(list ...*js.Schema) {
		for _, sub := range list {
			if sub != nil {
				out = append(out, sub)
			}
		}
	}
	add(s.Ref)
	if s.Ref != nil && s.DraftVersion < 2019 {
		return out
	}
	add(s.AllOf...)
	add(s.AnyOf...)
	add(s.OneOf...)
	add(s.Not, s.If, s.Then, s.Else)
	for _, sub := range s.DependentSchemas {
		add(sub)
	}
	for _, dependency := range s.Dependencies {
		if sub, ok := dependency.(*js.Schema); ok {
			add(sub)
		}
	}
	return out
}

// below returns the schemas for the fields and items of the value.
func below(s *js.Schema) []*js.Schema {
	if isMeta(s) || s.Ref != nil && s.DraftVersion < 2019 {
		return nil
	}
	var out []*js.Schema
	add := func(list ...*js.Schema) {
		for _, sub := range list {
			if sub != nil {
				out = append(out, sub)
			}
		}
	}
	maybe := func(v any) {
		if sub, ok := v.(*js.Schema); ok {
			add(sub)
		}
	}
	for _, sub := range s.Properties {
		add(sub)
	}
	for _, sub := range s.PatternProperties {
		add(sub)
	}
	maybe(s.AdditionalProperties)
	maybe(s.Items)
	if list, ok := s.Items.([]*js.Schema); ok {
		add(list...)
	}
	maybe(s.AdditionalItems)
	add(s.PrefixItems...)
	add(s.Items2020, s.Contains, s.PropertyNames, s.UnevaluatedProperties, s.UnevaluatedItems)
	return out
}

// expansion measures every part; the first fault in the order of their places counts.
func (s *Schema) expansion() error {
	byPlace := func(a, b *js.Schema) int { return strings.Compare(a.Location, b.Location) }
	m := measure{paths: map[*js.Schema]int{}}
	for _, part := range slices.SortedFunc(maps.Keys(s.parts), byPlace) {
		if _, err := m.expand(part); err != nil {
			return err
		}
	}
	return nil
}

// measure counts the paths through the schemas of one place.
type measure struct {
	paths map[*js.Schema]int
}

const counting = -1

// expand returns the number of schemas that s stands for at one place.
func (m *measure) expand(s *js.Schema) (int, error) {
	switch n := m.paths[s]; {
	case n == counting:
		return 0, excessAt(s, "the schema refers to itself without going into a field, so nothing can be checked against it",
			"put the reference below properties or items")
	case n > 0:
		return n, nil
	}
	m.paths[s] = counting
	total := 1
	for _, sub := range inPlace(s) {
		n, err := m.expand(sub)
		if err != nil {
			return 0, err
		}
		if total += n; total > MaxExpansion {
			return 0, excessAt(s, fmt.Sprintf("the schema stands for more than %d schemas once its references are written out", MaxExpansion),
				"refer to each definition from fewer places")
		}
	}
	m.paths[s] = total
	return total, nil
}

func excessAt(s *js.Schema, message, hint string) error {
	return &Excess{Path: pathOf(s), Message: message, Hint: hint}
}

// pathOf returns the place of a schema in its document.
func pathOf(s *js.Schema) []string {
	_, fragment, _ := strings.Cut(s.Location, "#")
	if plain, err := url.PathUnescape(fragment); err == nil {
		fragment = plain
	}
	fragment, found := strings.CutPrefix(fragment, "/")
	if !found {
		return nil
	}
	path := strings.Split(fragment, "/")
	for i := range path {
		path[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(path[i])
	}
	return path
}
