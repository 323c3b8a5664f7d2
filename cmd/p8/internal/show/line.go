package show

import "strings"

// OneLine shortens a text to a line of a terminal; control characters, which
// could move the cursor, become spaces.
func OneLine(s string) string {
	const limit = 100
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > limit {
			b.WriteString("…")
			break
		}
		if r == '\n' || r == '\t' || printable(r) < 0 {
			r = ' '
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// printable drops what could move the cursor or change the terminal.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

// Visible is a text without what a terminal would obey.
func Visible(s string) string { return strings.Map(printable, s) }

// Flat is a text on one line, whole.
func Flat(s string) string { return strings.Join(strings.Fields(Visible(s)), " ") }

// shorten cuts a text to n characters, the last of them an ellipsis.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
