package markdown

import "strings"

// maxFront bounds front matter, in bytes.
const maxFront = 64 << 10

// SplitFront returns the front matter of a page and the offset of the page itself. The front
// matter is between a first line --- and the next line --- or ...
func SplitFront(s string) (front string, body int) {
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		if rest, ok = strings.CutPrefix(s, "---\r\n"); !ok {
			return "", 0
		}
	}
	begin := len(s) - len(rest)
	for at := begin; at < len(s) && at-begin <= maxFront; {
		next := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		switch strings.TrimRight(s[at:next], " \t\r\n") { // an indented one is text
		case "---", "...":
			return s[begin:at], next
		}
		at = next
	}
	return "", 0
}
