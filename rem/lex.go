package rem

import (
	"strings"
	"unicode"
)

// token is a word or a quoted text of a query.
type token struct {
	// text is the word as written, or the text between the quotes.
	text   string
	quoted bool
	// start and end are its place in the query, in characters from 0.
	start, end int
}

// column returns where the token begins, in characters from 1.
func (t token) column() int { return t.start + 1 }

// is reports whether the token is this word; a quoted one never is.
func (t token) is(word string) bool { return !t.quoted && strings.EqualFold(t.text, word) }

// The tokens of a list.
const (
	comma = ","
	open  = "["
	shut  = "]"
)

func (t token) mark() bool { return !t.quoted && (t.text == comma || t.text == open || t.text == shut) }

// lexer cuts a query into tokens.
type lexer struct {
	runes []rune
	at    int
	// commas and brackets are tokens of their own where these are set.
	commas, brackets bool
	// lenient takes a double quote that is never closed as a character.
	lenient bool
}

func (l *lexer) skipSpace() {
	for l.at < len(l.runes) && unicode.IsSpace(l.runes[l.at]) {
		l.at++
	}
}

// trimEnd forgets spaces at the end.
func (l *lexer) trimEnd() {
	for len(l.runes) > l.at && unicode.IsSpace(l.runes[len(l.runes)-1]) {
		l.runes = l.runes[:len(l.runes)-1]
	}
}

// word reads up to the next space.
func (l *lexer) word() token {
	l.skipSpace()
	start := l.at
	for l.at < len(l.runes) && !unicode.IsSpace(l.runes[l.at]) {
		l.at++
	}
	return token{text: string(l.runes[start:l.at]), start: start, end: l.at}
}

// tokens reads the rest.
func (l *lexer) tokens() ([]token, error) {
	var out []token
	// unclosed caches that a quote has no end, so that it is searched once.
	unclosed := map[rune]bool{}
	for {
		l.skipSpace()
		if l.at >= len(l.runes) {
			return out, nil
		}
		start := l.at
		r := l.runes[start]
		switch {
		case l.commas && r == ',', l.brackets && r == '[', l.brackets && l.closes(start):
			l.at++
			out = append(out, token{text: string(r), start: start, end: l.at})
			continue
		case (r == '"' || r == '\'') && !unclosed[r]:
			if text, ok := l.quoted(); ok {
				out = append(out, token{text: text, quoted: true, start: start, end: l.at})
				continue
			}
			// A word may begin with an apostrophe ('tis), but not with a double quote.
			if r == '"' && !l.lenient {
				return nil, problemf(start+1, "the quote that opens here is never closed")
			}
			unclosed[r] = true
		}
		for l.at < len(l.runes) && !l.ends(l.at) {
			l.at++
			if quote := l.peek(); l.runes[l.at-1] == '=' && (quote == '"' || quote == '\'') &&
				!unclosed[quote] && isParameter(string(l.runes[start:l.at-1])) {
				if _, ok := l.quoted(); !ok {
					unclosed[quote] = true
				}
			}
		}
		out = append(out, token{text: string(l.runes[start:l.at]), start: start, end: l.at})
	}
}

// peek returns the next character, 0 at the end.
func (l *lexer) peek() rune {
	if l.at < len(l.runes) {
		return l.runes[l.at]
	}
	return 0
}

// ends reports whether a word ends before the character at i.
func (l *lexer) ends(i int) bool {
	return i >= len(l.runes) || unicode.IsSpace(l.runes[i]) || l.commas && l.runes[i] == ',' || l.brackets && l.closes(i)
}

// closes reports whether a list ends with the character at i.
func (l *lexer) closes(i int) bool {
	return l.runes[i] == ']' && (i+1 >= len(l.runes) || unicode.IsSpace(l.runes[i+1]) || l.runes[i+1] == ',')
}

// quoted reads a quoted text that begins here. The closing quote is one that a
// word can end with, so that 'O'Brien' is one name. Backslashes escape quotes
// and themselves.
func (l *lexer) quoted() (string, bool) {
	mark := l.runes[l.at]
	var b strings.Builder
	for i := l.at + 1; i < len(l.runes); i++ {
		r := l.runes[i]
		next := rune(' ')
		if i+1 < len(l.runes) {
			next = l.runes[i+1]
		}
		switch {
		case r == '\\' && (next == '"' || next == '\'' || next == '\\'):
			b.WriteRune(next)
			i++
		case r == mark && l.ends(i+1):
			l.at = i + 1
			return b.String(), true
		default:
			b.WriteRune(r)
		}
	}
	return "", false
}

// join puts tokens together as one text, with one space where there were any.
func join(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && tokens[i-1].end < t.start {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
	}
	return b.String()
}
