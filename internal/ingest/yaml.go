package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The bounds of YAML, and of JSON, which is parsed as YAML for its positions. The library's
// parser is recursive, its time grows with the square of the keys and of the indentation,
// and a token takes some 400 bytes.
const (
	maxYAML   = 2 << 20
	maxMarks  = 300_000
	maxIndent = 1000
	maxKeys   = 20_000
	maxDepth  = 50
)

// parseYAML returns the first document of a text, nil for an empty one. file and line are
// the beginning of the text, for errors, which are [*Problem].
func parseYAML(file, src string, line int) (root ast.Node, err error) {
	defer func() {
		if recover() != nil { // the library, on hostile input
			root, err = nil, &Problem{file, line, 1, "this cannot be parsed as YAML"}
		}
	}()
	if len(src) > maxYAML {
		return nil, &Problem{file, line, 1, fmt.Sprintf("larger than %d MiB: split it", maxYAML>>20)}
	}
	if err := checkSource(file, src, line); err != nil {
		return nil, err
	}
	tokens := lexer.Tokenize(src)
	if err := checkTokens(file, tokens, line); err != nil {
		return nil, err
	}
	f, err := parser.Parse(tokens, 0)
	if err != nil {
		var yerr yaml.Error
		if errors.As(err, &yerr) && yerr.GetToken() != nil {
			return nil, at(file, yerr.GetToken(), line, "not valid YAML: "+yerr.GetMessage())
		}
		return nil, &Problem{file, line, 1, "not valid YAML"}
	}
	if len(f.Docs) == 0 {
		return nil, nil
	}
	if len(f.Docs) > 1 {
		return nil, at(file, f.Docs[1].Start, line, "a second document begins here: put it into a file of its own")
	}
	return f.Docs[0].Body, nil
}

// checkSource refuses a text that would cost the lexer too much time or memory. It counts
// the characters at which tokens begin, and measures indentation.
func checkSource(file, src string, line int) error {
	marks, indent, inIndent := 0, 0, true
	for i := range len(src) {
		switch c := src[i]; {
		case c == '\n':
			marks++
			line++
			indent, inIndent = 0, true
			continue
		case c == ' ' && inIndent:
			indent++
		default:
			inIndent = false
			if strings.IndexByte(",[]{}:-?&*!|>'\"#%", c) >= 0 {
				marks++
			}
		}
		switch {
		case indent > maxIndent:
			return &Problem{file, line, 1, fmt.Sprintf("indented by more than %d blanks", maxIndent)}
		case marks > maxMarks:
			return &Problem{file, line, 1, fmt.Sprintf("more than %d values and lines: split the file", maxMarks)}
		}
	}
	return nil
}

// checkTokens refuses tokens that would make the parser recurse too deeply or take too
// long, and aliases, which make a large value of a small text.
func checkTokens(file string, tokens token.Tokens, line int) error {
	flow, run, last, keys := 0, 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType:
			run++
		case token.AliasType, token.AnchorType:
			return at(file, t, line, "anchors and aliases are not taken: write the value out")
		case token.MappingValueType:
			if keys++; keys > maxKeys {
				return at(file, t, line, fmt.Sprintf("more than %d keys: split the file", maxKeys))
			}
			if flow == 0 {
				run++
			}
		}
		if t.Position.Line != last {
			last, run = t.Position.Line, 0
		}
		if flow > maxDepth || run > maxDepth || t.Position.IndentNum > 20*maxDepth {
			return at(file, t, line, fmt.Sprintf("nested more than %d levels deep", maxDepth))
		}
	}
	return nil
}

// at returns a problem at a token; line is the line at which the text begins.
func at(file string, t *token.Token, line int, message string) *Problem {
	if t == nil || t.Position == nil {
		return &Problem{file, line, 1, message}
	}
	return &Problem{file, t.Position.Line + line - 1, t.Position.Column, message}
}

// member is a key of a mapping with its value.
type member struct {
	key   string
	token *token.Token
	value ast.Node
}

// members returns the members of a mapping; ok is false if the node is not a mapping.
func members(n ast.Node) ([]member, bool) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		return nil, false
	}
	out := make([]member, len(values))
	for i, v := range values {
		t := v.Key.GetToken()
		out[i] = member{t.Value, t, v.Value}
	}
	return out, true
}

// elements returns the elements of a list; ok is false if the node is not a list.
func elements(n ast.Node) ([]ast.Node, bool) {
	if l, ok := n.(*ast.SequenceNode); ok {
		return l.Values, true
	}
	return nil, false
}

// toJSON returns the value of a node.
func toJSON(file string, n ast.Node, line int) (json.RawMessage, error) {
	var v any
	if err := yaml.NodeToValue(n, &v); err != nil {
		return nil, at(file, n.GetToken(), line, "this value cannot be read")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, at(file, n.GetToken(), line, "this value cannot be written as JSON: a key that is no text, or a number that is none")
	}
	return b, nil
}
