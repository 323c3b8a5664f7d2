package fit

import (
	"encoding/json"
	"slices"
	"strings"
)

// keep sends a keyword unchanged.
func keep(_ *cleaner, s *spot, key string, value any) { s.set(key, value) }

// list sends a list, and leaves anything else out.
func list(_ *cleaner, s *spot, key string, value any) {
	if v, ok := value.([]any); ok {
		s.set(key, v)
	}
}

// numeric sends a number. In draft 4 a boolean makes a bound exclusive.
func numeric(c *cleaner, s *spot, key string, value any) {
	if _, ok := value.(json.Number); ok {
		s.set(key, value)
	} else {
		c.lose(Dropped, key)
	}
}

// dialect leaves out the name of another draft than that of the fitted schema.
func dialect(_ *cleaner, s *spot, key string, value any) {
	if name, _ := value.(string); strings.Contains(name, "2020-12") {
		s.set(key, value)
	}
}

// one rewrites a keyword with one schema; booleans are accepted there.
func one(c *cleaner, s *spot, key string, value any) {
	if allowed, ok := value.(bool); ok {
		s.set(key, allowed)
		return
	}
	s.set(key, c.below(value, s, key))
}

// each rewrites a keyword with named schemas.
func each(c *cleaner, s *spot, key string, value any) {
	in, _ := value.(object)
	out := make(object, 0, len(in))
	for _, m := range in {
		out = append(out, member{m.key, c.below(m.value, s, key, m.key)})
	}
	s.set(key, out)
}

// definitions moves definitions of either spelling to $defs.
func definitions(c *cleaner, s *spot, key string, value any) {
	have, _ := s.out.get("$defs").(object)
	each(c, s, "$defs", value)
	if len(have) > 0 {
		s.set("$defs", merge(have, s.out.get("$defs").(object)))
	}
}

// properties rewrites the properties of an object, without those that must be absent and
// those whose name is not accepted.
func properties(c *cleaner, s *spot, key string, value any) {
	in, _ := value.(object)
	out := make(object, 0, len(in))
	for _, m := range in {
		switch {
		case m.value == false:
		case c.t.property != nil && !c.t.property(m.key):
			c.path = append(c.path, key, m.key)
			c.lose(Name, m.key)
			c.path = c.path[:len(c.path)-2]
			s.unnamed = append(s.unnamed, m)
		default:
			out = append(out, member{m.key, c.below(m.value, s, key, m.key)})
		}
	}
	s.set(key, out)
}

// described sends the names of required properties that are described; OpenAPI refuses
// others.
func described(_ *cleaner, s *spot, key string, value any) {
	properties, _ := s.in.get("properties").(object)
	known := make(map[any]bool, len(properties))
	for _, m := range properties {
		known[m.key] = m.value != false
	}
	names, ok := value.([]any)
	if !ok {
		return
	}
	kept := []any{}
	for _, name := range names {
		if text, ok := name.(string); ok && known[text] {
			kept = append(kept, name)
		}
	}
	s.set(key, kept)
}

// alternatives rewrites a list of schemas.
func alternatives(c *cleaner, s *spot, key string, value any) {
	in, _ := value.([]any)
	out := make([]any, 0, len(in))
	for i, v := range in {
		if v == false && !c.t.rest {
			continue
		}
		out = append(out, c.below(v, s, key, index(i)))
	}
	s.set(key, out)
}

// withoutNull rewrites alternatives for OpenAPI, which has nullable in place of null.
func withoutNull(c *cleaner, s *spot, key string, value any) {
	in, _ := value.([]any)
	var kept []any
	for i, v := range in {
		o, _ := v.(object)
		switch {
		case v == false:
		case o.get("type") == "null":
			s.set("nullable", true)
		default:
			kept = append(kept, c.below(v, s, key, index(i)))
		}
	}
	switch len(kept) {
	case 0:
	case 1:
		s.out = merge(s.out, kept[0].(object))
	default:
		s.set("anyOf", kept)
	}
}

// merged adds the keywords of all the schemas to the one at hand.
func merged(c *cleaner, s *spot, key string, value any) {
	in, _ := value.([]any)
	for i, v := range in {
		s.out = merge(s.out, c.below(v, s, key, index(i)))
	}
}

// items rewrites the schema of items. A list of schemas is a tuple of earlier drafts.
func items(c *cleaner, s *spot, key string, value any) {
	switch v := value.(type) {
	case []any:
		tuple(c, s, "prefixItems", v)
	case bool:
		switch {
		case c.t.item == nil:
			s.set(key, v)
		case !v:
			s.closed = true
		}
	default:
		if out := c.below(value, s, key); len(out) > 0 || c.t.item == nil {
			s.set(key, out)
		}
	}
}

// further rewrites the schema of the items after a tuple of earlier drafts.
func further(c *cleaner, s *spot, _ string, value any) {
	if _, tuple := s.in.get("items").([]any); tuple {
		items(c, s, "items", value)
	}
}

// tuple rewrites the schemas of the first items.
func tuple(c *cleaner, s *spot, key string, value any) {
	alternatives(c, s, key, value)
	if !c.t.tuples {
		s.positions, _ = s.out.get(key).([]any)
		s.out = s.out.without(key)
	}
}

// oneType sends one type; null becomes nullable, and several become alternatives.
func oneType(_ *cleaner, s *spot, key string, value any) {
	names, several := value.([]any)
	if !several {
		names = []any{value}
	}
	var kept []any
	for _, name := range names {
		if name == "null" {
			s.set("nullable", true)
		} else {
			kept = append(kept, name)
		}
	}
	switch len(kept) {
	case 0:
		s.set(key, "string")
	case 1:
		s.set(key, kept[0])
	default:
		s.types = kept
	}
}

// formats sends the formats that the provider accepts, and describes the others.
func formats(accepted ...string) rule {
	return func(_ *cleaner, s *spot, key string, value any) {
		if name, ok := value.(string); ok && slices.Contains(accepted, name) {
			s.set(key, name)
		} else if ok {
			s.note("Format: " + name)
		}
	}
}

// inclusive loosens an exclusive bound to one that the provider has, and describes it.
func inclusive(key, words string) rule {
	return func(_ *cleaner, s *spot, _ string, value any) {
		n, ok := value.(json.Number)
		if !ok {
			return
		}
		s.note(words + " " + n.String())
		if !s.in.has(key) {
			s.set(key, n)
		}
	}
}

func enum(_ *cleaner, s *spot, _ string, value any) {
	values, _ := value.([]any)
	writeEnum(s, values, false)
}

func constant(_ *cleaner, s *spot, _ string, value any) { writeEnum(s, []any{value}, false) }

func textEnum(_ *cleaner, s *spot, _ string, value any) {
	values, _ := value.([]any)
	writeEnum(s, values, true)
}

func textConstant(_ *cleaner, s *spot, _ string, value any) { writeEnum(s, []any{value}, true) }

// writeEnum sends texts, and numbers unless the provider accepts texts alone. If there
// are other values, the description lists all of them.
func writeEnum(s *spot, values []any, texts bool) {
	var kept []any
	strange, numbers := false, false
	for _, v := range values {
		switch v.(type) {
		case string:
			kept = append(kept, v)
		case json.Number:
			kept = append(kept, v)
			numbers, strange = true, strange || texts
		case nil:
			if texts {
				s.set("nullable", true)
			}
		default:
			strange = true
		}
	}
	switch {
	case len(values) == 0:
	case strange || len(kept) == 0:
		s.note("One of: " + strings.TrimSuffix(strings.TrimPrefix(string(appendValue(nil, values)), "["), "]"))
	default:
		if !s.in.has("type") && !numbers {
			s.set("type", "string")
		}
		s.set("enum", kept)
	}
}
