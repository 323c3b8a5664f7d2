package markdown

import (
	"strings"

	east "github.com/yuin/goldmark/extension/ast"

	"github.com/p8-org/p8/cmd/p8/internal/term"
)

// gap is the text between two columns.
const gap = 2

// table returns aligned columns. Cells that are too wide have several lines.
func (r *renderer) table(n *east.Table, width int) []string {
	var rows [][][]term.Span
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		style := term.Style(0)
		if _, head := row.(*east.TableHeader); head {
			style = term.Bold
		}
		var cells [][]term.Span
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, r.inline(c, style))
		}
		rows = append(rows, cells)
	}
	widths := columnWidths(rows, width)
	var lines []string
	for i, cells := range rows {
		lines = append(lines, r.row(cells, widths, n.Alignments)...)
		if i == 0 {
			total := gap * (len(widths) - 1)
			for _, w := range widths {
				total += w
			}
			lines = append(lines, r.Pen.Paint(term.Dim, strings.Repeat("─", max(total, 1))))
		}
	}
	return lines
}

// columnWidths returns the widths of the widest cells, with the widest columns narrowed
// until all fit.
func columnWidths(rows [][][]term.Span, width int) []int {
	var widths []int
	for _, cells := range rows {
		for i, spans := range cells {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			w := 0
			for _, s := range spans {
				w += term.Width(s.Text)
			}
			widths[i] = max(widths[i], w)
		}
	}
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 4 {
			break
		}
		widths[widest]--
	}
	return widths
}

func (r *renderer) row(cells [][]term.Span, widths []int, align []east.Alignment) []string {
	columns := make([][]string, len(widths))
	tallest := 1
	for i := range widths {
		if i < len(cells) {
			columns[i] = r.Pen.Wrap(cells[i], widths[i])
			tallest = max(tallest, len(columns[i]))
		}
	}
	lines := make([]string, tallest)
	for y := range lines {
		var b strings.Builder
		for i, w := range widths {
			text := ""
			if y < len(columns[i]) {
				text = columns[i][y]
			}
			free := strings.Repeat(" ", max(0, w-term.Width(text)))
			if i < len(align) && align[i] == east.AlignRight {
				text, free = free+text, ""
			}
			b.WriteString(text + free)
			if i < len(widths)-1 {
				b.WriteString(strings.Repeat(" ", gap))
			}
		}
		lines[y] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
