package rem

import (
	"strings"
	"unicode"
)

// sqlScanner steps through SQL outside of quotes.
type sqlScanner struct {
	runes []rune
	at    int
	// open is the quote that is never closed, 0 if all are closed.
	open rune
}

// scannedComment stands for a comment.
const scannedComment = rune(-1)

func newSQLScanner(text string) *sqlScanner { return &sqlScanner{runes: []rune(text)} }

// next returns the next character outside of quotes, a quoted text as one quote, a
// comment as scannedComment; ok is false at the end.
func (s *sqlScanner) next() (r rune, ok bool) {
	if s.at >= len(s.runes) {
		return 0, false
	}
	r = s.runes[s.at]
	s.at++
	following := rune(0)
	if s.at < len(s.runes) {
		following = s.runes[s.at]
	}
	switch {
	case r == '\'', r == '"':
		for ; s.at < len(s.runes); s.at++ {
			if s.runes[s.at] == r {
				s.at++
				return r, true
			}
		}
		s.open = r
	case r == '-' && following == '-':
		for s.at < len(s.runes) && s.runes[s.at] != '\n' {
			s.at++
		}
		return scannedComment, true
	case r == '/' && following == '*':
		end := strings.Index(string(s.runes[s.at:]), "*/")
		if end < 0 {
			s.at = len(s.runes)
		} else {
			s.at += len([]rune(string(s.runes[s.at:])[:end])) + 2
		}
		return scannedComment, true
	}
	return r, true
}

// hasLimit reports whether a SELECT bounds its rows itself: a LIMIT or FETCH
// outside of parentheses.
func hasLimit(text string) bool {
	depth := 0
	var word strings.Builder
	s := newSQLScanner(text)
	for {
		r, ok := s.next()
		if ok && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.') {
			word.WriteRune(unicode.ToUpper(r))
			continue
		}
		if w := word.String(); depth == 0 && (w == "LIMIT" || w == "FETCH") {
			return true
		}
		word.Reset()
		switch {
		case !ok:
			return false
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
	}
}
