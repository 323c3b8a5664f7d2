package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece returns the length of the first piece that cl100k_base counts separately. It matches
// this pattern:
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

// contraction returns the length of 's, 're and the like, 0 for none.
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

// space returns the length of white space: up to its last line break, or all but the last
// character before a word.
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

// span returns the end of the characters for which in is true, from an offset.
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
