// Package markdown shows Markdown on a terminal.
//
// [Render] returns the lines of a text. [Stream] does so while the text arrives: the lines
// of complete blocks are final, those of the last block may change with the next word.
package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// Options describe the terminal.
type Options struct {
	// Width bounds the columns of a line; 0 is 80.
	Width int
	// Pen writes the styles.
	Pen term.Pen
}

// Render returns the lines of a text.
func Render(src string, o Options) []string {
	r, doc := parse(visible(src), o)
	return r.blocks(doc, r.Width, 0)
}

// renderer renders one parsed text.
type renderer struct {
	Options
	src []byte
}

func parse(src string, o Options) (*renderer, ast.Node) {
	if o.Width <= 0 {
		o.Width = 80
	}
	r := &renderer{Options: o, src: []byte(src)}
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
	return r, md.Parser().Parse(text.NewReader(r.src))
}

// blocks returns the lines of a node's children, separated by empty lines.
func (r *renderer) blocks(parent ast.Node, width, depth int) []string {
	var lines []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && !tight(n) {
			lines = append(lines, "")
		}
		lines = append(lines, r.block(n, max(width, 8), depth)...)
	}
	return lines
}

// tight reports whether a block follows the previous one without an empty line.
func tight(n ast.Node) bool {
	item, ok := n.Parent().(*ast.ListItem)
	if !ok {
		return false
	}
	list, ok := item.Parent().(*ast.List)
	return ok && list.IsTight
}

func (r *renderer) block(n ast.Node, width, depth int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return r.heading(n, width)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return r.code(n, width)
	case *ast.HTMLBlock:
		return r.Pen.Wrap([]term.Span{{Text: strings.TrimRight(r.raw(n), "\n"), Style: term.Dim}}, width)
	case *ast.ThematicBreak:
		return []string{r.Pen.Paint(term.Dim, strings.Repeat("─", min(width, 40)))}
	case *ast.Blockquote:
		return prefixed(r.blocks(n, width-2, depth), r.Pen.Paint(term.Dim, "│")+" ", r.Pen.Paint(term.Dim, "│")+" ")
	case *ast.List:
		return r.list(n, width, depth)
	case *east.Table:
		return r.table(n, width)
	}
	return r.Pen.Wrap(r.inline(n, 0), width)
}

func (r *renderer) heading(n *ast.Heading, width int) []string {
	spans := r.inline(n, term.Bold)
	if !r.Pen.Color {
		spans = append([]term.Span{{Text: strings.Repeat("#", n.Level) + " "}}, spans...)
	} else if n.Level == 1 {
		spans = r.inline(n, term.Bold|term.Underline)
	}
	return r.Pen.Wrap(spans, width)
}

func (r *renderer) code(n ast.Node, width int) []string {
	body := strings.TrimRight(r.raw(n), "\n")
	return prefixed(r.Pen.WrapHard([]term.Span{{Text: body, Style: term.Cyan}}, width-2), "  ", "  ")
}

// raw returns the source of a block.
func (r *renderer) raw(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.src))
	}
	return b.String()
}

func (r *renderer) list(n *ast.List, width, depth int) []string {
	var lines []string
	number := n.Start
	last := strconv.Itoa(n.Start + n.ChildCount() - 1)
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := [...]string{"•", "◦", "▪"}[depth%3] + " "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + string(n.Marker) + " "
			mark = strings.Repeat(" ", len(last)+2-len(mark)) + mark
			number++
		}
		if item.PreviousSibling() != nil && !n.IsTight {
			lines = append(lines, "")
		}
		indent := term.Width(mark)
		body := r.blocks(item, width-indent, depth+1)
		if len(body) == 0 {
			body = []string{""}
		}
		lines = append(lines, prefixed(body, r.Pen.Paint(term.Dim, mark), strings.Repeat(" ", indent))...)
	}
	return lines
}

// prefixed puts first before the first line and rest before the others.
func prefixed(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		head := rest
		if i == 0 {
			head = first
		}
		if line == "" {
			head = strings.TrimRight(head, " ")
		}
		out[i] = head + line
	}
	return out
}
