package chunk

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// counter counts tokens as the codec does, but splits a text into words by hand
// and remembers the count of each: a text repeats its words, and so this is ten
// times as fast.
type counter struct {
	codec *codec.Codec
	known map[string]int
}

// Bounds of what a counter remembers.
const (
	maxKnown     = 1 << 15
	maxKnownWord = 32
)

// newCounters makes counters, one for each goroutine that counts at a time.
func newCounters(codec *codec.Codec) *sync.Pool {
	return &sync.Pool{New: func() any { return &counter{codec: codec, known: map[string]int{}} }}
}

// count is the number of tokens of a text.
func (c *counter) count(s string) int {
	total := 0
	for len(s) > 0 {
		n := piece(s)
		total += c.piece(s[:n])
		s = s[n:]
	}
	return total
}

// piece is the number of tokens of a piece.
func (c *counter) piece(s string) int {
	if n, ok := c.known[s]; ok {
		return n
	}
	n, err := c.codec.Count(s)
	if err != nil { // no text makes it fail; a byte is a token at least
		n = len(s)
	}
	if len(s) <= maxKnownWord {
		if len(c.known) == maxKnown {
			clear(c.known)
		}
		c.known[strings.Clone(s)] = n // not a part of a text that would be kept
	}
	return n
}

// piece is the length of the first of the pieces that cl100k_base counts by
// themselves. It is this pattern, written out:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func piece(s string) int {
	first, size := utf8.DecodeRuneInString(s)
	if first == '\'' {
		if n := contraction(s); n > 0 {
			return n
		}
	}
	switch {
	case unicode.IsLetter(first):
		return span(s, size, unicode.IsLetter)
	case unicode.IsNumber(first):
		end := size
		for range 2 {
			r, n := utf8.DecodeRuneInString(s[end:])
			if n == 0 || !unicode.IsNumber(r) {
				break
			}
			end += n
		}
		return end
	}
	next, n := utf8.DecodeRuneInString(s[size:])
	switch {
	case n > 0 && first != '\r' && first != '\n' && unicode.IsLetter(next):
		return span(s, size+n, unicode.IsLetter)
	case !unicode.IsSpace(first):
		return span(s, span(s, size, isMark), isBreak)
	case n > 0 && first == ' ' && isMark(next):
		return span(s, span(s, size+n, isMark), isBreak)
	}
	return space(s)
}

// contraction is the length of 's, 're and the like, 0 for none.
func contraction(s string) int {
	if len(s) > 1 && strings.IndexByte("stmdSTMD", s[1]) >= 0 {
		return 2
	}
	if len(s) > 2 {
		switch strings.ToLower(s[1:3]) {
		case "re", "ve", "ll":
			return 3
		}
	}
	return 0
}

// space is the length of white space: up to its last line break, else all but
// the last before a word.
func space(s string) int {
	end := span(s, 0, unicode.IsSpace)
	if i := strings.LastIndexAny(s[:end], "\r\n"); i >= 0 {
		return i + 1
	}
	if end == len(s) {
		return end
	}
	if _, last := utf8.DecodeLastRuneInString(s[:end]); last < end {
		return end - last
	}
	return end
}

// span is where the characters end that are as in says, from an offset on.
func span(s string, at int, in func(rune) bool) int {
	for at < len(s) {
		r, n := utf8.DecodeRuneInString(s[at:])
		if !in(r) {
			break
		}
		at += n
	}
	return at
}

func isMark(r rune) bool  { return !unicode.IsSpace(r) && !unicode.IsLetter(r) && !unicode.IsNumber(r) }
func isBreak(r rune) bool { return r == '\r' || r == '\n' }
