package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/schema"
)

var jsonTypes = []string{"string", "number", "integer", "boolean", "array", "object", "null"}

// schemaMaps hold a schema for each key; schemaLists hold a list of schemas,
// schemaSingles one.
var (
	schemaMaps    = []string{"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}
	schemaLists   = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemaSingles = []string{
		"items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else",
		"unevaluatedItems", "unevaluatedProperties",
	}
)

// checkSchema checks the JSON Schema part: first common mistakes, with messages of
// our own, then everything else with the validator.
func (r *report) checkSchema(d *Document) {
	before := len(r.list.Errors())
	if t := d.root.get("type"); t != nil && t.kind != null && t.str() != "object" {
		r.errorf(t.pos, "/type", "write type: object", "the type of a document is object")
	}
	s := &schemaCheck{report: r, root: d.root, strict: d.StructuredOutput}
	s.object(d.root, "")
	r.compileSchema(d, len(r.list.Errors()) == before)
}

type schemaCheck struct {
	*report
	root *node
	// strict makes problems of the schema errors, because the answer must follow it.
	strict bool
}

func (s *schemaCheck) schema(n *node, pointer string) {
	switch n.kind {
	case boolean:
	case object:
		for _, m := range n.members {
			if !isSchemaKey(m.key) {
				s.unknownKey(m, child(pointer, m.key), schemaKeys)
			}
		}
		s.types(n, pointer)
		s.object(n, pointer)
	case text:
		hint := "write type: string and a description below it"
		if slices.Contains(jsonTypes, n.text) {
			hint = fmt.Sprintf("write {type: %s}", n.text)
		}
		s.errorf(n.pos, pointer, hint, "a field is described by a mapping, not by a string")
	case null:
		s.errorf(n.pos, pointer, "write type: string and a description below it", "nothing is said about this field")
	default:
		s.errorf(n.pos, pointer, "write type: string and a description below it", "a field is described by a mapping, not by %s", n.kind)
	}
}

// object checks the keywords that an object schema and the root share.
func (s *schemaCheck) object(n *node, pointer string) {
	for _, m := range n.members {
		at := child(pointer, m.key)
		switch {
		case slices.Contains(schemaMaps, m.key):
			if m.value.kind != object {
				if m.value.kind != null || pointer != "" {
					s.errorf(m.value.pos, at, "write one key for each field below it", "%s must be a mapping, not %s", m.key, m.value.kind)
				}
				continue
			}
			for _, f := range m.value.members {
				s.schema(f.value, child(at, f.key))
			}
		case slices.Contains(schemaLists, m.key):
			for i, v := range m.value.items {
				s.schema(v, element(at, i))
			}
		case slices.Contains(schemaSingles, m.key):
			if m.value.kind == array && m.key == "items" { // draft 7's tuple
				for i, v := range m.value.items {
					s.schema(v, element(at, i))
				}
				continue
			}
			s.schema(m.value, at)
		}
	}
	s.required(n, pointer)
	s.values(n, pointer)
}

func (s *schemaCheck) types(n *node, pointer string) {
	t := n.get("type")
	if t == nil {
		return
	}
	names, at := []*node{t}, child(pointer, "type")
	if t.kind == array {
		names = t.items
	}
	for i, name := range names {
		if name.kind == text && slices.Contains(jsonTypes, name.text) {
			continue
		}
		hint := cmp.Or(typeAlias(name.text), didYouMean(name.text, jsonTypes), "one of "+strings.Join(jsonTypes, ", "))
		if name.kind == null {
			hint = `put it in quotes: "null"`
		}
		if t.kind == array {
			at = element(child(pointer, "type"), i)
		}
		s.errorf(name.pos, at, hint, "there is no type %q", clip(cmp.Or(name.text, "null"), 60))
	}
}

// typeAlias returns the JSON type for a programming language's type name.
func typeAlias(name string) string {
	alias := map[string]string{
		"str": "string", "text": "string", "date": "string", "datetime": "string", "int": "integer", "float": "number", "double": "number",
		"bool": "boolean", "list": "array", "dict": "object", "map": "object", "none": "null",
	}[strings.ToLower(name)]
	if alias == "" {
		return ""
	}
	return "write " + alias
}

func (s *schemaCheck) required(n *node, pointer string) {
	req := n.get("required")
	if req == nil || req.kind == null && pointer == "" {
		return
	}
	at := child(pointer, "required")
	if req.kind == boolean {
		s.errorf(req.pos, at, "list the field's name under required of the object that holds it", "required is a list of names, not %s", req.text)
		return
	}
	if req.kind != array {
		s.errorf(req.pos, at, "write a list of field names", "required must be a list, not %s", req.kind)
		return
	}
	properties, seen := n.get("properties"), map[string]bool{}
	var names []string
	for _, m := range properties.list() {
		names = append(names, m.key)
	}
	for i, name := range req.items {
		switch {
		case name.kind != text:
			s.errorf(name.pos, element(at, i), "write the name of a field", "required is a list of names, not %s", name.kind)
		case seen[name.text]:
			s.errorf(name.pos, element(at, i), "remove one of them", "%q is required twice", clip(name.text, 60))
		case properties.get(name.text) == nil:
			severity := SeverityWarning
			if s.strict {
				severity = SeverityError
			}
			s.add(severity, name.pos, element(at, i), cmp.Or(didYouMean(name.text, names), "add it to properties"),
				"%q is required, but there is no such field", clip(name.text, 60))
		}
		seen[name.text] = true
	}
}

// values checks bounds, patterns and references.
func (s *schemaCheck) values(n *node, pointer string) {
	for _, pair := range [][2]string{{"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}} {
		low, high := n.get(pair[0]), n.get(pair[1])
		if low == nil || high == nil || low.kind != number || high.kind != number {
			continue
		}
		a, _ := strconv.ParseFloat(low.text, 64)
		if b, _ := strconv.ParseFloat(high.text, 64); a > b {
			s.errorf(low.pos, child(pointer, pair[0]), "swap them", "%s %s is above %s %s", pair[0], low.text, pair[1], high.text)
		}
	}
	if p := n.get("pattern"); p != nil && p.kind == text {
		if _, err := schema.Pattern(p.text); errors.Is(err, schema.ErrPattern) {
			s.errorf(p.pos, child(pointer, "pattern"), "write smaller counts, or use maxLength", "the pattern repeats too much")
		} else if err != nil {
			s.errorf(p.pos, child(pointer, "pattern"), "use RE2 syntax: no look-around, no back-references", "the pattern is not a valid regular expression")
		}
	}
	if e := n.get("enum"); e != nil && pointer != "" && (e.kind != array || len(e.items) == 0) {
		s.errorf(e.pos, child(pointer, "enum"), "list the values: [a, b]", "enum must be a list of values")
	}
	if ref := n.get("$ref"); ref != nil && ref.kind == text {
		if !strings.HasPrefix(ref.text, "#") {
			s.errorf(ref.pos, child(pointer, "$ref"), "put it below $defs and write #/$defs/Name", "$ref can only point into the document")
		} else if strings.HasPrefix(ref.text, "#/") && s.root.resolve(ref.text) == nil {
			s.errorf(ref.pos, child(pointer, "$ref"), cmp.Or(didYouMean(ref.text, s.refs()), "define it below $defs"), "$ref %q points to nothing", clip(ref.text, 100))
		}
	}
}

// refs returns the references that exist.
func (s *schemaCheck) refs() []string {
	var out []string
	for _, key := range []string{"$defs", "definitions"} {
		for _, m := range s.root.get(key).list() {
			out = append(out, "#/"+key+"/"+m.key)
		}
	}
	return out
}

// resolve returns the target of a local reference, nil if the reference leads nowhere.
func (n *node) resolve(ref string) *node {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil
	}
	for _, key := range strings.Split(path, "/")[1:] {
		n = n.step(strings.NewReplacer("~1", "/", "~0", "~").Replace(key))
	}
	return n
}

func (n *node) step(key string) *node {
	if n != nil && n.kind == array {
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(n.items) {
			return n.items[i]
		}
		return nil
	}
	return n.get(key)
}

// compileSchema compiles the schema with the validator, so that an agent that loads
// can also check its answers.
func (r *report) compileSchema(d *Document, clean bool) {
	_, err := compile(d.schemaNode(false).value())
	if err == nil {
		return
	}
	var excess *schema.Excess
	if errors.As(err, &excess) {
		at, pointer := d.root.follow(excess.Path)
		r.errorf(at.pos, pointer, excess.Hint, "%s", excess.Message)
		return
	}
	faults := schema.Faults(err)
	for _, f := range faults {
		at, pointer := d.root.follow(f.Path)
		if slices.ContainsFunc(r.list, func(p Problem) bool { return p.Severity == SeverityError && strings.HasPrefix(p.Pointer, pointer+"/") }) {
			continue // reported already, with the entry
		}
		r.errorf(at.pos, pointer, "see JSON Schema 2020-12", "this is not valid JSON Schema: %s", f.Message)
	}
	if len(faults) == 0 && clean {
		r.errorf(d.root.pos, "", "check $schema, $id, $ref and the patterns", "the fields are not valid JSON Schema")
	}
}

// follow goes down a path as far as it exists, and returns the node and its pointer.
func (n *node) follow(path []string) (at *node, pointer string) {
	at = n
	for _, key := range path {
		if next := at.step(key); next != nil {
			at, pointer = next, child(pointer, key)
		}
	}
	return at, pointer
}
