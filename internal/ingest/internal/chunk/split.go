package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is never cut: a block, or a part of a block that is too long.
type unit struct {
	Block
	tokens int
	// first marks the unit that begins its block.
	first bool
}

// longestToken is longer than almost all tokens, in bytes. A text of more than this times a
// bound needs no counting.
const longestToken = 64

// units yields a block in parts that fit: whole, or as sentences or lines, or words, or
// characters. It returns false if yield did.
func (c *Cutter) units(text string, b Block, yield func(unit) bool) bool {
	limit := c.Max
	if b.Kind == Prose {
		limit = c.Target
	}
	if b.End-b.Start <= longestToken*limit {
		if n := c.Count(text[b.Start:b.End]); n <= limit {
			return yield(unit{Block: b, tokens: n, first: true})
		}
	}
	return c.parts(text, b, yield)
}

func (c *Cutter) parts(text string, b Block, yield func(unit) bool) bool {
	first := true
	put := func(start, end, tokens int) bool {
		u := unit{Block: b, tokens: tokens, first: first}
		u.Start, u.End = start, end
		if !first {
			u.Level, u.Title = 0, ""
		}
		first = false
		return yield(u)
	}
	cuts := []func(string) int{sentence, words, c.bytes}
	if b.Kind != Prose {
		cuts = []func(string) int{line, words, c.bytes}
	}
	var divide func(start, end, depth int) bool
	divide = func(start, end, depth int) bool {
		for start < end {
			stop := start + cuts[depth](text[start:end])
			n := c.Target + 1
			if stop-start <= longestToken*c.Target {
				n = c.Count(text[start:stop])
			}
			whole := n <= c.Target || depth == len(cuts)-1
			if whole && !put(start, stop, n) || !whole && !divide(start, stop, depth+1) {
				return false
			}
			start = stop
		}
		return true
	}
	return divide(b.Start, b.End, 0)
}

// sentence returns the length of the first sentence with the space after it.
func sentence(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch r {
		case '。', '！', '？', '…':
			return i
		case '\n':
			if rest := strings.TrimLeft(s[i:], " \t\r"); strings.HasPrefix(rest, "\n") || listItem(rest) {
				return i
			}
		case '.', '!', '?':
			end := i
			for end < len(s) && strings.IndexByte(`"')]*_`, s[end]) >= 0 {
				end++
			}
			after := end
			for after < len(s) && strings.IndexByte(" \t\r\n", s[after]) >= 0 {
				after++
			}
			if after == len(s) {
				return after
			}
			// "e.g. this" continues the sentence; "3.14" has no space.
			if next, _ := utf8.DecodeRuneInString(s[after:]); after > end && !unicode.IsLower(next) {
				return after
			}
		}
	}
	return len(s)
}

// listItem reports whether a line begins a list item.
func listItem(s string) bool {
	return len(s) > 1 && strings.IndexByte("-*+", s[0]) >= 0 && s[1] == ' '
}

func line(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i + 1
	}
	return len(s)
}

// words returns the length of about 80 bytes of words with the space after them.
func words(s string) int {
	space := false
	for i, r := range s {
		if now := unicode.IsSpace(r); space && !now && i >= 80 {
			return i
		} else {
			space = now
		}
	}
	return len(s)
}

// bytes returns the length of whole characters that fit a chunk, since a token has at least
// one byte.
func (c *Cutter) bytes(s string) int {
	if len(s) <= c.Target {
		return len(s)
	}
	n := c.Target
	for n > 1 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}
