package term

import (
	"io"
	"strconv"
	"strings"
)

// lineView shows a prompt and the text after it in as many rows as necessary.
type lineView struct {
	w    io.Writer
	size Size
	pen  Pen

	prompt string
	// row is the row of the cursor, from the first row of the prompt.
	row int
	// below has the lines under the text: the completions.
	below []string
}

func (v *lineView) begin(prompt string) {
	v.prompt, v.row, v.below = prompt, 0, nil
	_, _ = io.WriteString(v.w, "\x1b[?2004h")
}

// layout returns the rows of the text and the position of the cursor.
func (v *lineView) layout(b *buffer, columns int) (rows []string, row, column int) {
	indent := Width(v.prompt)
	if indent > columns/2 {
		indent = 0
	}
	line, used := v.prompt, Width(v.prompt)
	next := func() {
		rows = append(rows, line)
		line, used = strings.Repeat(" ", indent), indent
	}
	place := func() { row, column = len(rows), used }
	for from, g := range characters(b.text) {
		if g.text == "\n" {
			if from == b.at {
				place()
			}
			next()
			continue
		}
		if used+g.width > columns-1 {
			next()
		}
		if from == b.at {
			place()
		}
		line += g.text
		used += g.width
	}
	if b.at == len(b.text) {
		place()
	}
	return append(rows, line), row, column
}

// draw shows the text with one write.
func (v *lineView) draw(b *buffer) {
	columns, height := v.size()
	rows, row, column := v.layout(b, columns)
	// If the text is taller than the screen, the part at the cursor is shown.
	first := max(0, row-max(height-len(v.below)-1, 1)+1)
	rows = rows[first:]
	row -= first
	rows = rows[:min(len(rows), max(height-len(v.below), 1))]
	all := append(rows[:len(rows):len(rows)], v.below...)
	var out strings.Builder
	out.WriteString("\x1b[?2026h")
	if v.row > 0 {
		out.WriteString("\x1b[" + strconv.Itoa(v.row) + "A")
	}
	out.WriteString("\r")
	for i, line := range all {
		if i > 0 {
			out.WriteString("\r\n")
		}
		out.WriteString(line + "\x1b[K")
	}
	out.WriteString("\x1b[J")
	if up := len(all) - 1 - row; up > 0 {
		out.WriteString("\x1b[" + strconv.Itoa(up) + "A")
	}
	out.WriteString("\r")
	if column > 0 {
		out.WriteString("\x1b[" + strconv.Itoa(column) + "C")
	}
	out.WriteString("\x1b[?2026l")
	v.row = row
	_, _ = io.WriteString(v.w, out.String())
}

// above writes lines above the text, which moves down.
func (v *lineView) above(lines []string, b *buffer) {
	var out strings.Builder
	if v.row > 0 {
		out.WriteString("\x1b[" + strconv.Itoa(v.row) + "A")
	}
	out.WriteString("\r\x1b[J")
	for _, line := range lines {
		out.WriteString(line + "\r\n")
	}
	v.row = 0
	_, _ = io.WriteString(v.w, out.String())
	v.draw(b)
}

// end moves the cursor below the text.
func (v *lineView) end(b *buffer) {
	v.below = nil
	b.at = len(b.text)
	v.draw(b)
	_, _ = io.WriteString(v.w, "\x1b[?2004l\r\n")
}

// clear empties the screen.
func (v *lineView) clear() {
	_, _ = io.WriteString(v.w, "\x1b[H\x1b[2J")
	v.row = 0
}

// mostBelow bounds the lines of completions.
const mostBelow = 8

// columns arranges words in columns.
func (v *lineView) columns(words []string) []string {
	width, _ := v.size()
	widest := 1
	for _, w := range words {
		widest = max(widest, Width(w)+2)
	}
	each := max(1, (width-1)/widest)
	var lines []string
	for len(words) > 0 {
		if len(lines) == mostBelow-1 && len(words) > each {
			return append(lines, v.pen.Paint(Dim, "and "+strconv.Itoa(len(words))+" more"))
		}
		var b strings.Builder
		for _, w := range words[:min(each, len(words))] {
			b.WriteString(w + strings.Repeat(" ", max(1, widest-Width(w))))
		}
		lines = append(lines, v.pen.Paint(Dim, Cut(strings.TrimRight(b.String(), " "), width-1)))
		words = words[min(each, len(words)):]
	}
	return lines
}
