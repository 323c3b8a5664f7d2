package tree

import (
	"cmp"
	"regexp"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/p8-org/p8/internal/schema"
)

// yamlReader builds the tree from the syntax tree of the YAML library.
type yamlReader struct {
	*Reader
	anchors map[string]*Node
	weight  int
}

// YAML reads a source that is YAML, a list or a scalar, too; nil after an error.
func (r *Reader) YAML(src []byte) *Node {
	r.src = string(src)
	tokens, ok := r.tokenize(r.src)
	if !ok {
		return nil
	}
	file, err := parseTokens(tokens)
	if err != nil {
		r.syntax(err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.DirectiveType {
			continue
		}
		if body != nil {
			r.errorf(place(doc.Body), cmp.Or(r.Hints.Several, "put each into a file of its own"), "the file holds more than one document")
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		r.errorf(At(1, 1), r.Hints.Begin, "the document is empty")
		return nil
	}
	y := &yamlReader{Reader: r, anchors: map[string]*Node{}}
	return y.node(body, 0)
}

func placeOf(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{}
	}
	return At(int32(t.Position.Line), int32(t.Position.Column))
}

func place(n ast.Node) Position {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return placeOf(m.Values[0].Key.GetToken())
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		return placeOf(m.Key.GetToken())
	}
	return placeOf(n.GetToken())
}

// refuse reports a problem and returns null, so that the rest is checked too.
func (y *yamlReader) refuse(pos Position, hint, format string, args ...any) *Node {
	y.errorf(pos, hint, format, args...)
	return (&Node{Pos: pos}).Measure()
}

func (y *yamlReader) node(a ast.Node, depth int) *Node {
	if a == nil {
		return (&Node{}).Measure()
	}
	n := &Node{Pos: place(a)}
	if depth > MaxDepth {
		return y.refuse(n.Pos, "make it flatter", "the document is nested more than %d levels deep", MaxDepth)
	}
	switch a := a.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		n.Kind, n.Text = Boolean, strconv.FormatBool(a.Value)
	case *ast.IntegerNode, *ast.FloatNode:
		n.Kind, n.Text = Number, numberLiteral(a)
	case *ast.InfinityNode, *ast.NanNode:
		return y.refuse(n.Pos, "write a number, or put the text in quotes", "JSON has no number %s", a.GetToken().Value)
	case *ast.StringNode:
		n.Kind, n.Text = Text, a.Value
		// 1e5 and integers beyond 64 bits, which the library reads as texts.
		if a.Token.Type == token.StringType && jsonNumber.MatchString(a.Value) {
			n.Kind = Number
		}
	case *ast.LiteralNode:
		n.Kind, n.Text = Text, a.Value.Value
	case *ast.SequenceNode:
		n.Kind = Array
		for _, item := range a.Values {
			n.Items = append(n.Items, y.node(item, depth+1))
		}
	case *ast.MappingNode:
		n.Kind = Object
		y.members(n, a.Values, depth)
	case *ast.MappingValueNode:
		n.Kind = Object
		y.members(n, []*ast.MappingValueNode{a}, depth)
	case *ast.AnchorNode:
		value := y.node(a.Value, depth)
		y.anchors[a.Name.GetToken().Value] = value
		return value
	case *ast.AliasNode:
		return y.alias(a, n.Pos)
	case *ast.TagNode:
		return y.tagged(a, depth)
	default:
		return y.refuse(n.Pos, "write it as plain keys, lists and values", "this YAML is not understood here")
	}
	if n.Kind == Number && schema.Outlandish(n.Text) {
		return y.refuse(n.Pos, "put it in quotes if it is a text", "the number is too large or too small")
	}
	return n.Measure()
}

func (y *yamlReader) alias(a *ast.AliasNode, pos Position) *Node {
	name := a.Value.GetToken().Value
	value, ok := y.anchors[name]
	if !ok {
		return y.refuse(pos, "define it further up with &"+Clip(name, 60), "the alias *%s has no anchor", Clip(name, 60))
	}
	if y.weight += value.Weight; y.weight > maxWeight {
		return y.refuse(pos, "repeat less with aliases", "the document is too large once its aliases are written out")
	}
	return value
}

// tagged reads the tags of JSON types.
func (y *yamlReader) tagged(a *ast.TagNode, depth int) *Node {
	n, tag := y.node(a.Value, depth), a.Start.Value
	want, known := map[string]Kind{
		"!!str": Text, "!!int": Number, "!!float": Number, "!!bool": Boolean,
		"!!null": Null, "!!map": Object, "!!seq": Array,
	}[tag]
	switch {
	case !known:
		return y.refuse(placeOf(a.Start), "leave the tag out", "the tag %s is not understood here", Clip(tag, 60))
	case n.Kind == want:
		return n
	case want == Text && n.Kind < Array:
		s := &Node{Kind: Text, Pos: n.Pos}
		if a.Value != nil {
			s.Text = a.Value.GetToken().Value
		}
		return s.Measure()
	}
	return y.refuse(n.Pos, "leave the tag out", "this is %s, not what the tag %s says", n.Kind, tag)
}

func (y *yamlReader) members(n *Node, values []*ast.MappingValueNode, depth int) {
	seen := map[string]int{}
	var merged []Member
	for _, v := range values {
		if v.Key.IsMergeKey() {
			merged = append(merged, y.merge(v, depth)...)
			continue
		}
		key, ok := y.key(v.Key)
		value := y.node(v.Value, depth+1)
		pos := placeOf(v.Key.GetToken())
		if value.Pos == (Position{}) {
			value.Pos = pos
		}
		if i, twice := seen[key]; twice {
			y.duplicate(key, pos, n.Members[i].Pos)
		} else if ok {
			seen[key] = len(n.Members)
			n.Members = append(n.Members, Member{Key: key, Pos: pos, Value: value})
		}
	}
	for _, m := range merged { // a key of the mapping's own beats a merged one
		if _, own := seen[m.Key]; !own {
			seen[m.Key] = len(n.Members)
			n.Members = append(n.Members, m)
		}
	}
}

// merge returns the members of "<<: *a" or "<<: [*a, *b]".
func (y *yamlReader) merge(v *ast.MappingValueNode, depth int) []Member {
	from := y.node(v.Value, depth+1)
	sources := []*Node{from}
	if from.Kind == Array {
		sources = from.Items
	}
	var out []Member
	for _, s := range sources {
		if s.Kind != Object {
			y.errorf(placeOf(v.Key.GetToken()), "write <<: *name", "only mappings can be merged; this is %s", s.Kind)
		}
		out = append(out, s.Members...)
	}
	return out
}

// key returns the text of a key; numbers and booleans as they are written.
func (y *yamlReader) key(k ast.MapKeyNode) (string, bool) {
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.MappingKeyNode:
		if s, ok := k.Value.(ast.ScalarNode); ok {
			if l, ok := s.(*ast.LiteralNode); ok {
				return l.Value.Value, true
			}
			if s, ok := s.(*ast.StringNode); ok {
				return s.Value, true
			}
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return k.GetToken().Value, true
	}
	y.refuse(placeOf(k.GetToken()), "write it as plain text or in quotes", "a key must be a text")
	return "", false
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// numberLiteral keeps the number as it is written if that is valid JSON.
func numberLiteral(a ast.Node) string {
	if s := a.GetToken().Value; jsonNumber.MatchString(s) {
		return s
	}
	switch a := a.(type) {
	case *ast.IntegerNode:
		switch v := a.Value.(type) {
		case int64:
			return strconv.FormatInt(v, 10)
		case uint64:
			return strconv.FormatUint(v, 10)
		}
	case *ast.FloatNode:
		return strconv.FormatFloat(a.Value, 'g', -1, 64)
	}
	return "0"
}
