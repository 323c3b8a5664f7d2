package agent

import (
	"slices"
	"strings"
)

// maxFields bounds recursive types in a prompt; maxFieldBytes bounds long
// descriptions and enums that many fields refer to.
const (
	maxFields     = 2000
	maxFieldBytes = 2 * MaxSource
)

// renderer writes fields as the YAML of the prompt: "name: type (one of: a, b)
// (required)", the description below as a comment, the fields of objects and of
// lists of objects further in.
type renderer struct {
	root   *node
	b      strings.Builder
	each   string // the line above the fields of a list's objects
	fields int
	open   []*node // the schemas being written, to end recursive types
	full   *member // the field that did not fit
}

// renderFields writes the root's fields except skip, each line ended.
func (d *Document) renderFields(each, skip string) string {
	r := &renderer{root: d.root, each: each}
	s := r.resolve(d.root)
	r.object(s, 0, skip)
	return r.b.String()
}

// shape is a field's schema after its references are resolved.
type shape struct {
	typ         string
	description string
	enum        []*node
	schema      *node // holds properties and required, or items
}

func (r *renderer) object(s shape, indent int, skip string) {
	if slices.Contains(r.open, s.schema) {
		return
	}
	r.open = append(r.open, s.schema)
	required := s.schema.Get("required")
	for _, m := range s.schema.Get("properties").List() {
		if m.Key == skip && indent == 0 {
			continue
		}
		if r.fields++; r.fields > maxFields || r.full != nil {
			break
		}
		if r.b.Len() > maxFieldBytes {
			r.full = &m
			break
		}
		r.field(m.Key, r.resolve(m.Value), indent, has(required, m.Key))
	}
	r.open = r.open[:len(r.open)-1]
}

func has(n *node, name string) bool {
	return n != nil && slices.ContainsFunc(n.Items, func(v *node) bool { return v.Str() == name })
}

func (r *renderer) field(name string, s shape, indent int, required bool) {
	mark := ""
	if required {
		mark = " (required)"
	}
	switch s.typ {
	case "object":
		r.line(indent, name+":"+mark)
		r.comment(indent+2, s.description)
		r.object(s, indent+2, "")
	case "array":
		item := r.resolve(s.schema.Get("items"))
		r.line(indent, name+": ["+item.label()+"]"+oneOf(item)+mark)
		r.comment(indent+2, s.description)
		if item.typ == "object" && len(item.schema.Get("properties").List()) > 0 && !slices.Contains(r.open, item.schema) {
			r.line(indent+2, r.each)
			r.object(item, indent+4, "")
		}
	default:
		r.line(indent, name+": "+s.label()+oneOf(s)+mark)
		r.comment(indent+2, s.description)
	}
}

func (s shape) label() string {
	if s.typ == "" {
		return "any"
	}
	return s.typ
}

func oneOf(s shape) string {
	if len(s.enum) == 0 {
		return ""
	}
	values := make([]string, len(s.enum))
	for i, v := range s.enum {
		if values[i] = v.Text; v.Kind != text {
			values[i] = string(v.AppendJSON(nil))
		}
	}
	return " (one of: " + strings.Join(values, ", ") + ")"
}

func (r *renderer) line(indent int, s string) {
	for range indent {
		r.b.WriteByte(' ')
	}
	r.b.WriteString(s)
	r.b.WriteByte('\n')
}

func (r *renderer) comment(indent int, s string) {
	for line := range strings.Lines(strings.TrimSpace(s)) {
		r.line(indent, strings.TrimRight("# "+strings.TrimRight(line, "\r\n "), " "))
	}
}

// resolve follows references. A description beside a reference takes precedence over
// the target's.
func (r *renderer) resolve(n *node) shape { return r.resolveDeep(n, 0) }

func (r *renderer) resolveDeep(n *node, depth int) shape {
	s := shape{schema: n}
	if n == nil || n.Kind != object || depth > maxDepth {
		return s
	}
	if target := r.target(n); target != nil {
		s = r.resolveDeep(target, depth+1)
	} else {
		s.typ = typeName(n)
		if e := n.Get("enum"); e != nil {
			s.enum = e.Items
		} else if c := n.Get("const"); c != nil {
			s.enum = []*node{c}
		}
	}
	if text := n.Get("description").Str(); text != "" {
		s.description = text
	}
	return s
}

// target returns the schema of a $ref, or the only one of allOf, with which people
// put a description beside a reference.
func (r *renderer) target(n *node) *node {
	if n.Get("properties") != nil {
		return nil
	}
	if ref := n.Get("$ref").Str(); ref != "" {
		return r.root.Resolve(ref)
	}
	if all := n.Get("allOf"); all != nil && len(all.Items) == 1 && n.Get("type") == nil {
		return all.Items[0]
	}
	return nil
}

// typeName returns the type, "number or null" for a list of types, "" if there is
// none, as in unions.
func typeName(n *node) string {
	t := n.Get("type")
	switch {
	case t == nil && n.Get("properties") != nil:
		return "object"
	case t == nil && n.Get("items") != nil:
		return "array"
	case t == nil:
		return ""
	case t.Kind != array:
		return t.Str()
	}
	var names []string
	nullable := false
	for _, v := range t.Items {
		if v.Kind == null || v.Str() == "null" {
			nullable = true
			continue
		}
		names = append(names, v.Str())
	}
	if len(names) == 1 && (names[0] == "object" || names[0] == "array") {
		return names[0] // null adds nothing to an object's fields
	}
	if nullable {
		names = append(names, "null")
	}
	return strings.Join(names, " or ")
}
