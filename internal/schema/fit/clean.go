package fit

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// cleaner rewrites one schema.
type cleaner struct {
	t     *Target
	root  any
	path  []string // of the schema that is being rewritten
	lost  []Loss
	left  int      // schemas that may still be written
	open  []string // the references that are being unfolded
	room  int      // bytes that references may still stand for
	sizes map[string]int
}

// rule rewrites a keyword of a schema.
type rule func(c *cleaner, s *spot, key string, value any)

// spot is one schema that is being rewritten.
type spot struct {
	in, out object
	depth   int
	// notes are added to the description.
	notes []string
	// positions are the schemas of a tuple's items, for targets without tuples; closed: no
	// items follow the tuple.
	positions []any
	closed    bool
	// types are several types of a target that accepts one.
	types []any
	// unnamed are properties whose names the provider does not accept.
	unnamed object
}

func (s *spot) set(key string, value any) { s.out = s.out.set(key, value) }

// note adds a sentence to the description.
func (s *spot) note(text string) { s.notes = append(s.notes, text) }

// lose records a loss, except within the target of a reference: that is recorded at its
// own place.
func (c *cleaner) lose(kind Kind, keyword string) {
	if len(c.open) == 0 && len(c.lost) < maxLosses {
		c.lost = append(c.lost, Loss{kind, slices.Clone(c.path), keyword})
	}
}

// below rewrites a schema within the one at hand.
func (c *cleaner) below(v any, s *spot, path ...string) object {
	n := len(c.path)
	c.path = append(c.path, path...)
	defer func() { c.path = c.path[:n] }()
	if v == false && c.t.rest {
		return object{{"not", object{}}}
	}
	return c.clean(v, s.depth+1)
}

// clean rewrites a schema; booleans and invalid schemas become one that accepts
// anything.
func (c *cleaner) clean(v any, depth int) object {
	in, ok := v.(object)
	if !ok {
		return object{}
	}
	if c.left--; c.left < 0 || depth > maxDepth {
		c.lose(Cut, "")
		return object{}
	}
	if ref, ok := in.get("$ref").(string); ok && !(depth > 0 && c.keeps(ref)) {
		return c.reference(in, ref, depth)
	}
	s := &spot{in: in, out: make(object, 0, len(in)), depth: depth}
	for _, m := range in {
		switch apply := c.t.rules[m.key]; {
		case apply != nil:
			apply(c, s, m.key, m.value)
		case c.t.rest:
			s.out = append(s.out, m)
		case slices.Contains(constraints[:], m.key):
			c.lose(Dropped, m.key)
		}
	}
	c.array(s)
	c.split(s)
	c.unname(s)
	for _, text := range s.notes {
		describe(s, text)
	}
	return s.out
}

// constraints are the keywords whose absence changes what is valid; the others without a
// rule are annotations, or belong to one of these.
var constraints = [...]string{
	"not", "if", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies", "propertyNames",
	"contains", "uniqueItems", "multipleOf", "unevaluatedItems", "unevaluatedProperties",
}

func isSchema(v any) bool {
	switch v.(type) {
	case object, bool:
		return true
	}
	return false
}

// array completes a schema of arrays: the items are described, and a closed tuple has a
// maximum.
func (c *cleaner) array(s *spot) {
	if s.closed {
		n := len(s.positions)
		if prefix, ok := s.out.get("prefixItems").([]any); ok {
			n = len(prefix)
		}
		s.set("maxItems", json.Number(strconv.Itoa(n)))
	}
	if c.t.item == nil || s.out.has("items") {
		return
	}
	t := s.out.get("type")
	types, _ := t.([]any)
	arrays := t == "array" || slices.Contains(types, any("array")) || slices.Contains(s.types, any("array"))
	switch {
	case len(s.positions) > 0:
		s.set("items", anyOf(s.positions))
	case arrays:
		if !s.closed && !s.out.has("prefixItems") {
			c.lose(OpenItems, "items")
		}
		s.set("items", c.t.item())
	}
}

// anyOf returns a schema for values of any of the schemas.
func anyOf(schemas []any) object {
	var distinct []any
	var seen []string
	for _, v := range schemas {
		if text := string(appendValue(nil, v)); !slices.Contains(seen, text) {
			seen, distinct = append(seen, text), append(distinct, v)
		}
	}
	if len(distinct) == 1 {
		return distinct[0].(object)
	}
	return object{{"anyOf", distinct}}
}

// split writes several types as alternatives, and adds a type that is only implied.
func (c *cleaner) split(s *spot) {
	switch {
	case !c.t.oneType:
	case len(s.types) > 0:
		var options []any
		for _, t := range s.types {
			one := object{{"type", t}}
			if t == "array" {
				one = one.set("items", s.out.get("items"))
			}
			options = append(options, one)
		}
		s.out = s.out.without("items").set("anyOf", options)
	case s.out.has("type") || s.out.has("anyOf"):
	case s.out.has("properties"):
		s.set("type", "object")
	case s.out.has("items"):
		s.set("type", "array")
	}
}

// unname describes the properties whose names are not accepted, and opens the object for
// them.
func (c *cleaner) unname(s *spot) {
	if len(s.unnamed) == 0 {
		return
	}
	s.note("Further properties: " + string(appendValue(nil, s.unnamed)))
	if s.out.get("additionalProperties") == false {
		s.out = s.out.without("additionalProperties")
	}
	if required, ok := s.out.get("required").([]any); ok {
		s.set("required", slices.DeleteFunc(slices.Clone(required), func(v any) bool {
			name, ok := v.(string)
			return ok && s.unnamed.has(name)
		}))
	}
}

// describe adds a sentence to the description.
func describe(s *spot, text string) {
	if have, ok := s.out.get("description").(string); ok && have != "" {
		text = have + " (" + text + ")"
	}
	s.set("description", text)
}

// rootRefused are the keywords that providers refuse at the root.
var rootRefused = [...]string{"anyOf", "oneOf", "allOf", "enum", "not"}

// plainRoot makes the root an object with properties. The properties of alternatives
// join the root's; the description says which belong together.
func (c *cleaner) plainRoot(out object) object {
	rules, joined := object{}, object{}
	names := map[string]bool{}
	own, _ := out.get("properties").(object)
	for _, m := range own {
		names[m.key] = true
	}
	said := out // what the description quotes: the author's words, if the root has them
	if root, ok := c.root.(object); ok && !root.has("$ref") {
		said = root
	}
	for _, key := range rootRefused {
		if !out.has(key) {
			continue
		}
		c.lose(Described, key)
		rules = append(rules, member{key, said.get(key)})
		options, _ := out.get(key).([]any)
		for _, option := range options {
			o, _ := option.(object)
			more, _ := o.get("properties").(object)
			for _, m := range more {
				if !names[m.key] {
					names[m.key] = true
					joined = append(joined, m)
				}
			}
		}
	}
	if len(rules) > 0 {
		out = out.without(rootRefused[:]...)
		text, _ := out.get("description").(string)
		out = out.set("description", strings.TrimPrefix(text+"\n", "\n")+"The arguments also follow this JSON Schema: "+string(appendValue(nil, rules)))
	}
	if !out.has("type") {
		out = append(object{{"type", "object"}}, out...)
	}
	out = out.set("type", "object")
	if len(joined) > 0 || own == nil {
		out = out.set("properties", append(slices.Clone(own), joined...))
	}
	return out
}
