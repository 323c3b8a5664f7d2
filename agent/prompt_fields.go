package agent

import (
	"slices"
	"strings"
)

// maxFields bounds what recursive types can grow to in a prompt.
const maxFields = 2000

// renderer writes fields as the YAML of the prompt: "name: type (one of: a, b)
// (required)", the description below as a comment, the fields of objects and of
// lists of objects further in.
type renderer struct {
	root   *node
	b      strings.Builder
	each   string // the line above the fields of a list's objects
	fields int
	open   []*node // the schemas being written: recursive types end here
}

// renderFields writes the root's fields except skip, each line ended.
func (d *Document) renderFields(each, skip string) string {
	r := &renderer{root: d.root, each: each}
	s := r.resolve(d.root)
	r.object(s, 0, skip)
	return r.b.String()
}

// shape is what a field's schema comes down to once references, unions and null
// are taken away.
type shape struct {
	typ         string
	description string
	enum        []*node
	schema      *node // holds properties and required, or items
	nullable    bool
}

func (r *renderer) object(s shape, indent int, skip string) {
	if slices.Contains(r.open, s.schema) {
		return
	}
	r.open = append(r.open, s.schema)
	required := s.schema.get("required")
	for _, m := range s.schema.get("properties").list() {
		if m.key == skip && indent == 0 {
			continue
		}
		if r.fields++; r.fields > maxFields {
			break
		}
		r.field(m.key, r.resolve(m.value), indent, required.has(m.key))
	}
	r.open = r.open[:len(r.open)-1]
}

func (n *node) has(name string) bool {
	return n != nil && slices.ContainsFunc(n.items, func(v *node) bool { return v.str() == name })
}

func (r *renderer) field(name string, s shape, indent int, required bool) {
	switch s.typ {
	case "object":
		r.line(indent, name+":"+orNull(s))
		r.comment(indent+2, s.description)
		r.object(s, indent+2, "")
	case "array":
		item := r.resolve(s.schema.get("items"))
		r.line(indent, name+": ["+item.label()+"]"+oneOf(item)+orNull(s))
		r.comment(indent+2, s.description)
		if item.typ == "object" && len(item.schema.get("properties").list()) > 0 && !slices.Contains(r.open, item.schema) {
			r.line(indent+2, r.each)
			r.object(item, indent+4, "")
		}
	default:
		text := name + ": " + s.label() + orNull(s) + oneOf(s)
		if required {
			text += " (required)"
		}
		r.line(indent, text)
		r.comment(indent+2, s.description)
	}
}

func (s shape) label() string {
	if s.typ == "" {
		return "any"
	}
	return s.typ
}

func orNull(s shape) string {
	switch {
	case !s.nullable || s.typ == "":
		return ""
	case s.typ == "object":
		return " # or null"
	}
	return " or null"
}

func oneOf(s shape) string {
	if len(s.enum) == 0 {
		return ""
	}
	values := make([]string, len(s.enum))
	for i, v := range s.enum {
		if values[i] = v.text; v.kind != text {
			values[i] = string(v.appendJSON(nil))
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

// resolve follows references and looks through unions. A description beside a
// reference counts more than the one it points to.
func (r *renderer) resolve(n *node) shape { return r.resolveDeep(n, 0) }

func (r *renderer) resolveDeep(n *node, depth int) shape {
	s := shape{schema: n}
	if n == nil || n.kind != object || depth > maxDepth {
		return s
	}
	if ref := n.get("$ref").str(); ref != "" && n.get("properties") == nil {
		s = r.resolveDeep(r.root.resolve(ref), depth+1)
	} else if union := n.union(); union != nil && n.get("properties") == nil {
		s = r.union(union, depth)
	} else {
		s.typ, s.nullable = n.typeName()
		if e := n.get("enum"); e != nil {
			s.enum = e.items
		} else if c := n.get("const"); c != nil {
			s.enum = []*node{c}
		}
		if s.typ == "" && len(s.enum) > 0 {
			s.typ = enumType(s.enum)
		}
	}
	if text := n.get("description").str(); text != "" {
		s.description = text
	}
	if n.get("nullable").isTrue() {
		s.nullable = true
	}
	return s
}

func (n *node) isTrue() bool { return n != nil && n.kind == boolean && n.text == "true" }

// union are the alternatives of a schema, null included.
func (n *node) union() []*node {
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if v := n.get(key); v != nil && len(v.items) > 0 && n.get("type") == nil {
			return v.items
		}
	}
	return nil
}

func (r *renderer) union(alternatives []*node, depth int) shape {
	var out shape
	var labels []string
	for _, a := range alternatives {
		s := r.resolveDeep(a, depth+1)
		if s.typ == "null" {
			out.nullable = true
			continue
		}
		if !slices.Contains(labels, s.label()) {
			labels = append(labels, s.label())
		}
		nullable := out.nullable || s.nullable
		if len(labels) == 1 && out.schema == nil {
			out = s
		} else {
			out.enum = append(slices.Clone(out.enum), s.enum...)
		}
		out.nullable = nullable
	}
	if len(labels) > 1 { // several types: no one set of fields describes them
		return shape{typ: strings.Join(labels, " or "), description: "", enum: out.enum, schema: &node{kind: object}, nullable: out.nullable}
	}
	out.description = ""
	if out.schema == nil {
		out.schema = &node{kind: object}
	}
	return out
}

// typeName is the type, null taken out of a list of types.
func (n *node) typeName() (name string, nullable bool) {
	t := n.get("type")
	switch {
	case t == nil && n.get("properties") != nil:
		return "object", false
	case t == nil && n.get("items") != nil:
		return "array", false
	case t == nil:
		return "", false
	case t.kind != array:
		return t.str(), false
	}
	var names []string
	for _, v := range t.items {
		if v.str() == "null" || v.kind == null {
			nullable = true
			continue
		}
		names = append(names, v.str())
	}
	if len(names) == 0 {
		return "null", false
	}
	return strings.Join(names, " or "), nullable
}

func enumType(values []*node) string {
	typ := ""
	for _, v := range values {
		name := map[kind]string{text: "string", number: "number", boolean: "boolean"}[v.kind]
		if typ != "" && typ != name {
			return ""
		}
		typ = name
	}
	return typ
}
