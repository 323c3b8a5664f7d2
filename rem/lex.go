package rem

import (
	"strings"
	"unicode"
)

// token is a word or a quoted text of a query.
type token struct {
	text   string
	quoted bool
	// column is where the token begins, in characters from 1.
	column int
}

// comma separates keys; lexed only where asked for.
const comma = ","

// lexer cuts a query into tokens.
type lexer struct {
	runes []rune
	at    int
}

func (l *lexer) skipSpace() {
	for l.at < len(l.runes) && unicode.IsSpace(l.runes[l.at]) {
		l.at++
	}
}

// word reads up to the next space.
func (l *lexer) word() token {
	l.skipSpace()
	start := l.at
	for l.at < len(l.runes) && !unicode.IsSpace(l.runes[l.at]) {
		l.at++
	}
	return token{text: string(l.runes[start:l.at]), column: start + 1}
}

// tokens reads the rest. With commas, an unquoted comma is a token of its own.
func (l *lexer) tokens(commas bool) ([]token, error) {
	var out []token
	// One search for the end of a quote is enough to know that there is none.
	open := false
	for {
		l.skipSpace()
		if l.at >= len(l.runes) {
			return out, nil
		}
		start := l.at
		switch r := l.runes[l.at]; {
		case commas && r == ',':
			l.at++
			out = append(out, token{text: comma, column: start + 1})
			continue
		case r == '"' || r == '\'' && !open:
			if text, ok := l.quoted(commas); ok {
				out = append(out, token{text: text, quoted: true, column: start + 1})
				continue
			}
			// 'tis is a word, but nobody begins one with a double quote.
			if r == '"' {
				return nil, &SyntaxError{Column: start + 1, Problem: "the quote that opens here is never closed"}
			}
			open = true
		}
		for l.at < len(l.runes) && !unicode.IsSpace(l.runes[l.at]) && !(commas && l.runes[l.at] == ',') {
			l.at++
		}
		out = append(out, token{text: string(l.runes[start:l.at]), column: start + 1})
	}
}

// quoted reads a quoted text that begins here. The closing quote is one that a
// space, the end or (with commas) a comma follows, so that 'O'Brien' is one
// name. Backslashes escape quotes and themselves.
func (l *lexer) quoted(commas bool) (string, bool) {
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
		case r == mark && (unicode.IsSpace(next) || commas && next == ','):
			l.at = i + 1
			return b.String(), true
		default:
			b.WriteRune(r)
		}
	}
	return "", false
}

// join puts tokens together as one text.
func join(tokens []token) string {
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = t.text
	}
	return strings.Join(words, " ")
}
