package term

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// Size returns the columns and rows of a screen.
type Size func() (columns, rows int)

// Canvas writes lines to a screen. The last lines are open: they may be redrawn. The cursor
// is at the beginning of the line below them.
type Canvas struct {
	w    io.Writer
	size Size
	// open has the open lines on the screen.
	open []string
	// columns is the width of the screen at the last drawing.
	columns int
}

// NewCanvas returns a canvas that begins at the cursor, which must be at the beginning of a
// line.
func NewCanvas(w io.Writer, size Size) *Canvas { return &Canvas{w: w, size: size} }

// Size returns that of the screen.
func (c *Canvas) Size() (columns, rows int) { return c.size() }

// Draw replaces the open lines with done, which stay, and the new open lines. It writes only
// changed lines, with one call.
func (c *Canvas) Draw(done, open []string) error {
	columns, rows := c.size()
	all := slices.Concat(done, open)
	// Lines that have scrolled off the screen cannot be changed.
	reach := max(0, len(c.open)-max(rows-1, 1))
	first, same := reach, columns == c.columns
	if same {
		for first < len(c.open) && first < len(all) && c.open[first] == all[first] {
			first++
		}
	}
	first = min(first, len(all))
	old := c.open
	c.open, c.columns = open, columns
	if first == len(all) && first == len(old) {
		return nil
	}
	var b strings.Builder
	b.WriteString("\x1b[?2026h")
	if up := height(old[min(first, len(old)):], columns); up > 0 {
		b.WriteString("\x1b[" + strconv.Itoa(min(up, max(rows-1, 1))) + "A")
	}
	b.WriteString("\r")
	for i, line := range all[first:] {
		if at := first + i; !same || at >= len(old) || old[at] != line {
			b.WriteString(line + "\x1b[K")
		}
		b.WriteString("\r\n")
	}
	b.WriteString("\x1b[J\x1b[?2026l")
	_, err := io.WriteString(c.w, b.String())
	return err
}

// height returns the rows of lines on a screen whose width has changed since they were
// written.
func height(lines []string, columns int) int {
	n := 0
	for _, line := range lines {
		n += max(1, (Width(line)+columns-1)/max(columns, 1))
	}
	return n
}
