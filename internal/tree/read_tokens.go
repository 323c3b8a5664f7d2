package tree

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parseTokens turns a panic of the library, which hostile input may cause, into an
// error.
func parseTokens(tokens token.Tokens) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, errors.New("the YAML cannot be parsed")
		}
	}()
	return parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
}

// maxKeys bounds the keys of a YAML document: the library's time grows with their
// square.
const maxKeys = 4000

// maxIndent bounds the indentation of a line: the lexer's time grows with the
// indentation of a text below | times its empty lines, to minutes for 100 KB.
const maxIndent = 1000

// checkIndent refuses a line that is indented too far.
func (r *Reader) checkIndent(src string) bool {
	number := int32(0)
	for line := range strings.Lines(src) {
		number++
		if len(line) > maxIndent && strings.Trim(line[:maxIndent], " ") == "" {
			r.errorf(At(number, 1), "indent it less", "the line is indented by %d blanks or more", maxIndent)
			return false
		}
	}
	return true
}

// tokenize refuses sources that would make the recursive parser go too deep or take
// too long.
func (r *Reader) tokenize(src string) (tokens token.Tokens, ok bool) {
	defer func() {
		if recover() != nil {
			r.errorf(At(1, 1), lookAround, "the YAML cannot be parsed")
			tokens, ok = nil, false
		}
	}()
	if !r.checkIndent(src) {
		return nil, false
	}
	tokens = lexer.Tokenize(src)
	flow, run, line, keys := 0, 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			run++
		case token.MappingValueType:
			if keys++; keys > maxKeys {
				r.errorf(placeOf(t), "shorten it", "the document has more than %d keys", maxKeys)
				return nil, false
			}
			if flow == 0 {
				run++
			}
		}
		if t.Position.Line != line {
			line, run = t.Position.Line, 0
		}
		if flow > MaxDepth || run > MaxDepth {
			r.errorf(placeOf(t), "make it flatter", "the document is nested more than %d levels deep", MaxDepth)
			return nil, false
		}
	}
	return tokens, true
}

const lookAround = "look at the indentation and the quotes of this line and the one before"

// syntax reports the parser's error.
func (r *Reader) syntax(err error) {
	var yerr yaml.Error
	if !errors.As(err, &yerr) || yerr.GetToken() == nil {
		r.errorf(At(1, 1), lookAround, "the YAML cannot be parsed")
		return
	}
	pos, hint := placeOf(yerr.GetToken()), lookAround
	line := r.line(pos.Line)
	switch indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; {
	case strings.Contains(indent, "\t"):
		hint = "indent with spaces, not with tabs"
	case strings.Count(line, ": ") > 1:
		hint = "put a text that contains a colon in quotes, or write it below a |"
	}
	r.errorf(pos, hint, "this is not valid YAML: %s", yerr.GetMessage())
}
