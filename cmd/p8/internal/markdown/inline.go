package markdown

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// inline returns the spans of the content of a node.
func (r *renderer) inline(parent ast.Node, style term.Style) []term.Span {
	var spans []term.Span
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		spans = append(spans, r.span(n, style)...)
	}
	return spans
}

func (r *renderer) span(n ast.Node, style term.Style) []term.Span {
	one := func(text string, more term.Style) []term.Span { return []term.Span{{Text: text, Style: style | more}} }
	switch n := n.(type) {
	case *ast.Text:
		text := plain(n.Segment.Value(r.src))
		switch {
		case n.HardLineBreak():
			text += "\n"
		case n.SoftLineBreak():
			text += " "
		}
		return one(text, 0)
	case *ast.String:
		return one(string(n.Value), 0)
	case *ast.Emphasis:
		if n.Level > 1 {
			return r.inline(n, style|term.Bold)
		}
		return r.inline(n, style|term.Italic)
	case *east.Strikethrough:
		return r.inline(n, style|term.Strike)
	case *ast.CodeSpan:
		return r.codeSpan(n, style)
	case *ast.AutoLink:
		return one(string(n.URL(r.src)), term.Blue|term.Underline)
	case *ast.Link:
		return r.link(n.Destination, r.inline(n, style|term.Blue|term.Underline), style)
	case *ast.Image:
		return r.link(n.Destination, append(one("▣ ", term.Dim), r.inline(n, style|term.Blue)...), style)
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			b.Write(segment.Value(r.src))
		}
		if tag := strings.ToLower(b.String()); strings.HasPrefix(tag, "<br") {
			return one("\n", 0)
		}
		return one(b.String(), term.Dim)
	case *east.TaskCheckBox:
		if n.IsChecked {
			return one("☑ ", term.Green)
		}
		return one("☐ ", 0)
	}
	return r.inline(n, style)
}

// codeSpan keeps the backticks if there are no styles.
func (r *renderer) codeSpan(n *ast.CodeSpan, style term.Style) []term.Span {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.WriteString(strings.ReplaceAll(string(t.Segment.Value(r.src)), "\n", " "))
		}
	}
	text := b.String()
	if !r.Pen.Color {
		text = "`" + text + "`"
	}
	return []term.Span{{Text: text, Style: style | term.Cyan}}
}

// link returns the text of a link, and its destination if that differs.
func (r *renderer) link(to []byte, label []term.Span, style term.Style) []term.Span {
	var said strings.Builder
	for _, s := range label {
		said.WriteString(s.Text)
	}
	address := string(to)
	if address == "" || address == said.String() || address == "mailto:"+said.String() {
		return label
	}
	return append(label, term.Span{Text: " (" + address + ")", Style: style | term.Dim})
}

// plain returns a text without backslashes and entities.
func plain(raw []byte) string {
	s := string(raw)
	if strings.IndexByte(s, '\\') >= 0 {
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[i+1]) >= 0 {
				i++
			}
			b.WriteByte(s[i])
		}
		s = b.String()
	}
	return visible(html.UnescapeString(s))
}

// visible removes the control characters that a terminal would obey.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
