package gemini

import (
	"slices"
	"strings"
)

// reference rewrites a schema with a reference. In JSON Schema a reference to a
// definition is kept, without other keywords and not at the root. Otherwise, and in
// OpenAPI, the target replaces it, except within the target itself.
func (c *cleaner) reference(in object, ref string, depth int) object {
	more := slices.DeleteFunc(slices.Clone(in), func(m member) bool { return m.key == "$ref" })
	out := c.clean(more, depth+1)
	name, defined := strings.CutPrefix(ref, "#/$defs/")
	if !defined {
		name, defined = strings.CutPrefix(ref, "#/definitions/")
	}
	switch {
	case !c.openAPI && defined && !strings.Contains(name, "/") && depth > 0:
		alone := object{{"$ref", "#/$defs/" + name}}
		if len(out) == 0 {
			return alone
		}
		return out.set("anyOf", []any{alone})
	case slices.Contains(c.open, ref), !c.fits(ref):
		return merge(out, object{{"type", "object"}})
	}
	c.open = append(c.open, ref)
	out = merge(out, c.clean(c.find(ref), depth+1))
	c.open = c.open[:len(c.open)-1]
	return out
}

// fits reserves room for the target of a reference and reports whether it was enough: a
// long description may be referred to many times.
func (c *cleaner) fits(ref string) bool {
	if c.room < 0 {
		return false
	}
	size, known := c.sizes[ref]
	if !known {
		if c.sizes == nil {
			c.sizes = map[string]int{}
		}
		size = len(appendValue(nil, c.find(ref)))
		c.sizes[ref] = size
	}
	c.room -= size
	return c.room >= 0
}

// find returns the target of a reference within the schema, nil if it leads nowhere.
func (c *cleaner) find(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	at := c.root
	for pointer != "" {
		var step string
		step, pointer, _ = strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		o, ok := at.(object)
		if !ok {
			return nil
		}
		at = o.get(strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~"))
		if pointer != "" {
			pointer = "/" + pointer
		}
	}
	return at
}
