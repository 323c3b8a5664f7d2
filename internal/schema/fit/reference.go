package fit

import (
	"slices"
	"strconv"
	"strings"
)

func index(i int) string { return strconv.Itoa(i) }

// reference rewrites a schema with a reference that is not sent as it is: one at the
// root, one that leads nowhere, and those that the target does not accept. The target
// replaces the reference, except within the target itself.
func (c *cleaner) reference(in object, ref string, depth int) object {
	out := c.clean(in.without("$ref"), depth+1)
	name, defined := strings.CutPrefix(ref, "#/$defs/")
	if !defined {
		name, defined = strings.CutPrefix(ref, "#/definitions/")
	}
	found := c.find(ref)
	switch {
	case c.t.refs == defsRefs && defined && !strings.Contains(name, "/") && depth > 0 && isSchema(found):
		alone := object{{"$ref", "#/$defs/" + name}}
		if len(out) == 0 {
			return alone
		}
		return out.set("anyOf", []any{alone})
	case !isSchema(found):
		return out
	case slices.Contains(c.open, ref), !c.fits(ref, found):
		return merge(out, plainObject())
	}
	c.open = append(c.open, ref)
	if depth > 0 {
		depth++
	} // what replaces a reference at the root is at the root, too
	out = merge(out, c.clean(found, depth))
	c.open = c.open[:len(c.open)-1]
	return out
}

// keeps reports whether a reference is sent as it is: its target is a definition or a
// property, which is still at its place in the fitted schema.
func (c *cleaner) keeps(ref string) bool {
	if _, ok := c.find(ref).(object); !ok || c.t.refs != localRefs {
		return false
	}
	for i, step := range strings.Split(ref, "/")[1:] {
		named := i%2 == 1
		if !named && !slices.Contains([]string{"$defs", "definitions", "properties"}, step) {
			return false
		}
		if named && c.t.property != nil && !c.t.property(step) {
			return false
		}
	}
	return true
}

// fits reserves room for the target of a reference and reports whether it was enough: a
// long description may be referred to many times.
func (c *cleaner) fits(ref string, found any) bool {
	if c.room < 0 {
		return false
	}
	size, known := c.sizes[ref]
	if !known {
		if c.sizes == nil {
			c.sizes = map[string]int{}
		}
		size = len(appendValue(nil, found))
		c.sizes[ref] = size
	}
	c.room -= size
	return c.room >= 0
}

// find returns the target of a reference within the schema, nil if it leads nowhere.
func (c *cleaner) find(ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil
	}
	at := c.root
	for pointer != "" {
		step, rest, _ := strings.Cut(pointer[1:], "/")
		if pointer = rest; rest != "" {
			pointer = "/" + rest
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch v := at.(type) {
		case object:
			at = v.get(step)
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

// merge adds the keywords of more that out does not have.
func merge(out, more object) object {
	for _, m := range more {
		switch have := out.get(m.key).(type) {
		case nil:
			out = out.set(m.key, m.value)
		case object:
			if o, ok := m.value.(object); ok {
				out = out.set(m.key, merge(slices.Clone(have), o))
			}
		case []any:
			if list, ok := m.value.([]any); ok && m.key == "required" {
				out = out.set(m.key, append(slices.Clone(have), list...))
			}
		}
	}
	return out
}
