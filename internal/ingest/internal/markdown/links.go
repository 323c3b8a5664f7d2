// Package markdown finds the front matter and the links of a Markdown file, wiki links
// ([[name]]) included. Text in code is not a link.
package markdown

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Link is a link of a Markdown text to another file.
type Link struct {
	// Dest is the written path without fragment and query, or the name of a wiki link.
	Dest string
	Wiki bool
	// Pos is the offset of the link in bytes.
	Pos int
}

// The bounds of the search for links. The parser's time grows with the square of the length
// of a paragraph, of its brackets, and of the nesting of quotations and lists. Text beyond a
// bound, or after maxPage, is ignored.
const (
	maxLinks     = 10_000
	maxPage      = 1 << 20
	maxParagraph = 8 << 10
	maxBrackets  = 256 // in a paragraph
	maxMarkers   = 16  // of quotations and lists at the beginning of a line
	maxIndent    = 100
)

// Links returns the links of a Markdown text to files, in order. It ignores code, images,
// and links to the web or within the page.
func Links(src []byte) []Link {
	src = bounded(src)
	root := newParser().Parse(text.NewReader(src))
	var found []Link
	// The walk cannot fail: nothing here returns an error.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		l, ok := n.(*ast.Link)
		if !entering || !ok {
			return ast.WalkContinue, nil
		}
		_, wiki := l.AttributeString(wikiAttribute)
		if dest := destination(string(l.Destination), wiki); dest != "" {
			found = append(found, Link{dest, wiki, max(l.Pos(), 0)})
		}
		if len(found) == maxLinks {
			return ast.WalkStop, nil
		}
		return ast.WalkContinue, nil
	})
	return found
}

// bounded replaces paragraphs and lines beyond a bound with white space.
func bounded(src []byte) []byte {
	src = src[:min(len(src), maxPage)]
	copied := false
	blank := func(from, to int) {
		if !copied {
			src, copied = bytes.Clone(src), true
		}
		for i := from; i < to; i++ {
			if src[i] != '\n' {
				src[i] = ' '
			}
		}
	}
	for at := 0; at < len(src); {
		end := at + paragraph(src[at:])
		if end-at > maxParagraph || bytes.Count(src[at:end], []byte("[")) > maxBrackets {
			blank(at, end)
		}
		at = end
	}
	for at := 0; at < len(src); {
		end := len(src)
		if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if nested(src[at:end]) {
			blank(at, end)
		}
		at = end
	}
	return src
}

// nested reports whether a line begins with more markers or blanks than the
// parser takes in little time.
func nested(line []byte) bool {
	markers, blanks := 0, 0
	for i := 0; i < len(line) && markers <= maxMarkers && blanks <= maxIndent; i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			blanks++
		case c == '>' || c == '-' || c == '*' || c == '+' || c == '.' || c == ')':
			markers++
		case c < '0' || c > '9':
			return false
		}
	}
	return (markers > maxMarkers && !rule(line)) || blanks > maxIndent
}

// rule reports whether a line is a thematic break or an underline.
func rule(line []byte) bool {
	t := bytes.Trim(line, " \t\r\n")
	return len(bytes.Trim(t, "-")) == 0 || len(bytes.Trim(t, "*")) == 0
}

// paragraph returns the length of a text up to an empty line or a list item.
func paragraph(src []byte) int {
	for at := 0; at < len(src); {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		next := bytes.TrimLeft(src[at:min(len(src), at+64)], " \t")
		if len(next) == 0 || next[0] == '\n' || len(next) > 1 && next[1] == ' ' && bytes.IndexByte([]byte("-*+"), next[0]) >= 0 {
			return at
		}
	}
	return len(src)
}

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:`)

// destination returns the path of a link, "" for none.
func destination(dest string, wiki bool) string {
	if !wiki && (scheme.MatchString(dest) || strings.HasPrefix(dest, "//")) {
		return ""
	}
	if i := strings.IndexAny(dest, "#?"); i >= 0 {
		dest = dest[:i]
	}
	if !wiki {
		if plain, err := url.PathUnescape(dest); err == nil {
			dest = plain
		}
	}
	return strings.TrimSpace(dest)
}

const wikiAttribute = "wiki"

// newParser makes a parser per call, as extensions share state.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(wikiLinks{}, 150))...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
}

// wikiLinks parses [[name]], [[name|text]] and [[name#part]] as links.
type wikiLinks struct{}

// Trigger returns the character that may begin a link.
func (wikiLinks) Trigger() []byte { return []byte{'['} }

// Parse parses the link at the reader's position; it returns nil if no link begins there.
func (wikiLinks) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if len(line) < 5 || line[1] != '[' {
		return nil
	}
	end := strings.Index(string(line[2:]), "]]")
	if end < 1 || strings.ContainsAny(string(line[2:2+end]), "[]") {
		return nil
	}
	name, _, _ := strings.Cut(string(line[2:2+end]), "|")
	block.Advance(end + 4)
	l := ast.NewLink()
	l.Destination = []byte(strings.TrimSpace(name))
	l.SetAttributeString(wikiAttribute, true)
	l.SetPos(segment.Start)
	return l
}
