package term

import (
	"io"
	"slices"
	"strconv"
	"strings"
)

// Size tells how many columns and rows a screen has.
type Size func() (columns, rows int)

// Canvas writes lines to a screen; the last ones, which are open, may still change.
// The cursor stands at the beginning of the line below them.
type Canvas struct {
	w    io.Writer
	size Size
	// open are the lines that are on the screen and may change.
	open []string
	// columns is how wide the screen was.
	columns int
}

// NewCanvas begins where the cursor is, which is at the beginning of a line.
func NewCanvas(w io.Writer, size Size) *Canvas { return &Canvas{w: w, size: size} }

// Size is that of the screen.
func (c *Canvas) Size() (columns, rows int) { return c.size() }

// Draw puts done in the place of the open lines, for good, and open below. Only what
// changed is written, in one go.
func (c *Canvas) Draw(done, open []string) error {
	columns, rows := c.size()
	all := slices.Concat(done, open)
	// What has left the screen at its top cannot be changed.
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

// height is how many rows lines take on a screen that is no longer as wide as when
// they were written.
func height(lines []string, columns int) int {
	n := 0
	for _, line := range lines {
		n += max(1, (Width(line)+columns-1)/max(columns, 1))
	}
	return n
}
