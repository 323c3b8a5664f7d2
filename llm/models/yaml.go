package models

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxDepth bounds how deep a file is nested, as the library's parser is
// recursive.
const maxDepth = 40

// Problem is one mistake in a file of models.
type Problem struct {
	File         string
	Line, Column int
	// Message names the mistake and its fix.
	Message string
}

// Error returns "file:line:column: message".
func (p *Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// at returns a problem at a token.
func at(file string, t *token.Token, message string) *Problem {
	p := &Problem{File: file, Line: 1, Column: 1, Message: message}
	if t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	return p
}

// start returns a node's first token; nil for no node.
func start(n ast.Node) *token.Token {
	switch m := n.(type) {
	case nil:
		return nil
	case *ast.MappingValueNode:
		return m.Key.GetToken()
	case *ast.MappingNode:
		if len(m.Values) > 0 && !m.IsFlowStyle {
			return m.Values[0].Key.GetToken()
		}
	}
	return n.GetToken()
}

// parseYAML returns the file's only document; nil if it is empty.
func parseYAML(file, src string) (root ast.Node, err error) {
	const mend = ": look at the indentation and the quotes of this line and the one before"
	defer func() {
		if recover() != nil { // the library, on hostile input
			root, err = nil, at(file, nil, "this cannot be read as YAML"+mend)
		}
	}()
	tokens := lexer.Tokenize(src)
	if p := refuse(file, tokens); p != nil {
		return nil, p
	}
	f, err := parser.Parse(tokens, 0)
	if err != nil {
		var yerr yaml.Error
		if errors.As(err, &yerr) {
			return nil, at(file, yerr.GetToken(), "this is not valid YAML: "+yerr.GetMessage()+mend)
		}
		return nil, at(file, nil, "this is not valid YAML"+mend)
	}
	for _, doc := range f.Docs {
		switch {
		case doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.DirectiveType:
		case root != nil:
			return nil, at(file, start(doc.Body), "a second document begins here: put all models into one list")
		default:
			root = doc.Body
		}
	}
	return root, nil
}

// refuse finds syntax that a file of models does not need, or that would make the
// parser go too deep.
func refuse(file string, tokens token.Tokens) *Problem {
	flow, run, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, run = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			run++
		case token.MappingValueType:
			if flow == 0 {
				run++
			}
		case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType:
			return at(file, t, "anchors, aliases and tags are not taken: write the value out")
		}
		if flow > maxDepth || run > maxDepth || t.Position.IndentNum > maxDepth {
			return at(file, t, "this is nested too deep: make it flatter")
		}
	}
	return nil
}

// list returns the values of a list; nil if the node is no list.
func (r *reader) list(n ast.Node, what string) []ast.Node {
	if n == nil {
		return nil
	}
	l, ok := n.(*ast.SequenceNode)
	if !ok {
		r.bad(n, "%s is a list: write each entry after a dash", what)
		return nil
	}
	return l.Values
}

// text returns a scalar's text, "" for anything else.
func (r *reader) text(n ast.Node) string {
	switch s := n.(type) {
	case *ast.StringNode:
		return s.Value
	case *ast.LiteralNode:
		return s.Value.Value
	}
	return ""
}

// number returns a number within bounds, 0 if the key is absent.
func (r *reader) number(n ast.Node, what string, low, high float64) float64 {
	v := low - 1
	switch s := n.(type) {
	case nil:
		return 0
	case *ast.FloatNode:
		v = s.Value
	case *ast.IntegerNode:
		switch i := s.Value.(type) {
		case int64:
			v = float64(i)
		case uint64:
			v = float64(i)
		}
	}
	if !(low <= v && v <= high) { // also refuses NaN
		r.bad(n, "%s is not a number from %.0f to %.0f: write one", what, low, high)
		return 0
	}
	return v
}
