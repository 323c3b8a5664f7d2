package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/schema"
	"github.com/p8-org/p8/internal/tree"
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
	if t := d.root.Get("type"); t != nil && t.Kind != null && t.Str() != "object" {
		r.errorf(t.Pos, "/type", "write type: object", "the type of a document is object")
	}
	s := &schemaCheck{report: r, root: d.root, strict: d.StructuredOutput}
	s.object(d.root, "")
	r.compileSchema(d.root, "", d.schemaNode(false), len(r.list.Errors()) == before)
}

type schemaCheck struct {
	*report
	root *node
	// strict makes problems of the schema errors, because the answer must follow it.
	strict bool
}

func (s *schemaCheck) schema(n *node, pointer string) {
	switch n.Kind {
	case boolean:
	case object:
		for _, m := range n.Members {
			if !tree.IsSchemaKey(m.Key) {
				s.unknownKey(m, tree.Child(pointer, m.Key), tree.SchemaKeys())
			}
		}
		s.types(n, pointer)
		s.object(n, pointer)
	case text:
		hint := "write type: string and a description below it"
		if slices.Contains(jsonTypes, n.Text) {
			hint = fmt.Sprintf("write {type: %s}", n.Text)
		}
		s.errorf(n.Pos, pointer, hint, "a field is described by a mapping, not by a string")
	case null:
		s.errorf(n.Pos, pointer, "write type: string and a description below it", "nothing is said about this field")
	default:
		s.errorf(n.Pos, pointer, "write type: string and a description below it", "a field is described by a mapping, not by %s", n.Kind)
	}
}

// object checks the keywords that an object schema and the root share.
func (s *schemaCheck) object(n *node, pointer string) {
	for _, m := range n.Members {
		at := tree.Child(pointer, m.Key)
		switch {
		case slices.Contains(schemaMaps, m.Key):
			if m.Value.Kind != object {
				if m.Value.Kind != null || pointer != "" {
					s.errorf(m.Value.Pos, at, "write one key for each field below it", "%s must be a mapping, not %s", m.Key, m.Value.Kind)
				}
				continue
			}
			for _, f := range m.Value.Members {
				s.schema(f.Value, tree.Child(at, f.Key))
			}
		case slices.Contains(schemaLists, m.Key):
			for i, v := range m.Value.Items {
				s.schema(v, tree.Element(at, i))
			}
		case slices.Contains(schemaSingles, m.Key):
			if m.Value.Kind == array && m.Key == "items" { // draft 7's tuple
				for i, v := range m.Value.Items {
					s.schema(v, tree.Element(at, i))
				}
				continue
			}
			s.schema(m.Value, at)
		}
	}
	s.required(n, pointer)
	s.values(n, pointer)
}

func (s *schemaCheck) types(n *node, pointer string) {
	t := n.Get("type")
	if t == nil {
		return
	}
	names, at := []*node{t}, tree.Child(pointer, "type")
	if t.Kind == array {
		names = t.Items
	}
	for i, name := range names {
		if name.Kind == text && slices.Contains(jsonTypes, name.Text) {
			continue
		}
		hint := cmp.Or(typeAlias(name.Text), didYouMean(name.Text, jsonTypes), "one of "+strings.Join(jsonTypes, ", "))
		if name.Kind == null {
			hint = `put it in quotes: "null"`
		}
		if t.Kind == array {
			at = tree.Element(tree.Child(pointer, "type"), i)
		}
		s.errorf(name.Pos, at, hint, "there is no type %q", clip(cmp.Or(name.Text, "null"), 60))
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
	req := n.Get("required")
	if req == nil || req.Kind == null && pointer == "" {
		return
	}
	at := tree.Child(pointer, "required")
	if req.Kind == boolean {
		s.errorf(req.Pos, at, "list the field's name under required of the object that holds it", "required is a list of names, not %s", req.Text)
		return
	}
	if req.Kind != array {
		s.errorf(req.Pos, at, "write a list of field names", "required must be a list, not %s", req.Kind)
		return
	}
	properties, seen := n.Get("properties"), map[string]bool{}
	var names []string
	for _, m := range properties.List() {
		names = append(names, m.Key)
	}
	for i, name := range req.Items {
		switch {
		case name.Kind != text:
			s.errorf(name.Pos, tree.Element(at, i), "write the name of a field", "required is a list of names, not %s", name.Kind)
		case seen[name.Text]:
			s.errorf(name.Pos, tree.Element(at, i), "remove one of them", "%q is required twice", clip(name.Text, 60))
		case properties.Get(name.Text) == nil:
			severity := SeverityWarning
			if s.strict {
				severity = SeverityError
			}
			s.add(severity, name.Pos, tree.Element(at, i), cmp.Or(didYouMean(name.Text, names), "add it to properties"),
				"%q is required, but there is no such field", clip(name.Text, 60))
		}
		seen[name.Text] = true
	}
}

// values checks bounds, patterns and references.
func (s *schemaCheck) values(n *node, pointer string) {
	for _, pair := range [][2]string{{"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}} {
		low, high := n.Get(pair[0]), n.Get(pair[1])
		if low == nil || high == nil || low.Kind != number || high.Kind != number {
			continue
		}
		a, _ := strconv.ParseFloat(low.Text, 64)
		if b, _ := strconv.ParseFloat(high.Text, 64); a > b {
			s.errorf(low.Pos, tree.Child(pointer, pair[0]), "swap them", "%s %s is above %s %s", pair[0], low.Text, pair[1], high.Text)
		}
	}
	if p := n.Get("pattern"); p != nil && p.Kind == text {
		if _, err := schema.Pattern(p.Text); errors.Is(err, schema.ErrPattern) {
			s.errorf(p.Pos, tree.Child(pointer, "pattern"), "write smaller counts, or use maxLength", "the pattern repeats too much")
		} else if err != nil {
			s.errorf(p.Pos, tree.Child(pointer, "pattern"), "use RE2 syntax: no look-around, no back-references", "the pattern is not a valid regular expression")
		}
	}
	if e := n.Get("enum"); e != nil && pointer != "" && (e.Kind != array || len(e.Items) == 0) {
		s.errorf(e.Pos, tree.Child(pointer, "enum"), "list the values: [a, b]", "enum must be a list of values")
	}
	if ref := n.Get("$ref"); ref != nil && ref.Kind == text {
		if !strings.HasPrefix(ref.Text, "#") {
			s.errorf(ref.Pos, tree.Child(pointer, "$ref"), "put it below $defs and write #/$defs/Name", "$ref can only point into the document")
		} else if strings.HasPrefix(ref.Text, "#/") && s.root.Resolve(ref.Text) == nil {
			s.errorf(ref.Pos, tree.Child(pointer, "$ref"), cmp.Or(didYouMean(ref.Text, s.refs()), "define it below $defs"), "$ref %q points to nothing", clip(ref.Text, 100))
		}
	}
}

// refs returns the references that exist.
func (s *schemaCheck) refs() []string {
	var out []string
	for _, key := range []string{"$defs", "definitions"} {
		for _, m := range s.root.Get(key).List() {
			out = append(out, "#/"+key+"/"+m.Key)
		}
	}
	return out
}

// compileSchema compiles a schema with the validator, so that an agent that loads can also
// check its answers. root is the schema's place in the document, top the pointer of root.
func (r *report) compileSchema(root *node, top string, text *node, clean bool) {
	_, err := compile(text.Any())
	if err == nil {
		return
	}
	var excess *schema.Excess
	if errors.As(err, &excess) {
		at, pointer := root.Follow(excess.Path)
		r.errorf(at.Pos, top+pointer, excess.Hint, "%s", excess.Message)
		return
	}
	faults := schema.Faults(err)
	for _, f := range faults {
		at, pointer := root.Follow(f.Path)
		pointer = top + pointer
		if slices.ContainsFunc(r.list, func(p Problem) bool { return p.Severity == SeverityError && strings.HasPrefix(p.Pointer, pointer+"/") }) {
			continue // reported already, with the entry
		}
		r.errorf(at.Pos, pointer, "see JSON Schema 2020-12", "this is not valid JSON Schema: %s", f.Message)
	}
	if len(faults) == 0 && clean {
		r.errorf(root.Pos, top, "check $schema, $id, $ref and the patterns", "the fields are not valid JSON Schema")
	}
}
