package show

import "strings"

// OneLine cuts a text to 100 characters and replaces line breaks and control characters
// with spaces.
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

// printable drops control characters other than tabs and line breaks.
func printable(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}

// Visible removes the control characters that a terminal would obey.
func Visible(s string) string { return strings.Map(printable, s) }

// Flat puts a text on one line without cutting it.
func Flat(s string) string { return strings.Join(strings.Fields(Visible(s)), " ") }

// shorten cuts a text to n characters, the last of them an ellipsis.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
