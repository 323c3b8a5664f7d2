package sqlgate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

type kind int

const (
	end kind = iota
	// word is an unquoted name in lower case; name is a quoted one.
	word
	name
	// str is a text without its quotes.
	str
	number
	// symbol is an operator or punctuation.
	symbol
)

type token struct {
	kind kind
	text string
	at   int
}

// symbols are the operators and the punctuation, a longer one before its
// prefixes.
var symbols = []string{
	"->>", "#>>", "!~*", "->", "#>", "@>", "<@", "?|", "?&", "||", "&&", "::", "<=", ">=", "<>", "!=", "~*", "!~",
	"=", "<", ">", "+", "-", "*", "/", "%", "^", "~", "?", "(", ")", "[", "]", ",", ".", ";",
}

// scan cuts the text into tokens, without the comments.
func scan(text string) ([]token, *fault) {
	if !utf8.ValidString(text) {
		return nil, faultf(0, "the statement is not valid UTF-8")
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return nil, faultf(i, "the statement holds a NUL character")
	}
	var tokens []token
	for i := 0; i < len(text); {
		t, next, err := scanOne(text, i)
		if err != nil {
			return nil, err
		}
		if t.kind != end {
			tokens = append(tokens, t)
		}
		i = next
	}
	return append(tokens, token{end, "", len(text)}), nil
}

// scanOne reads the token at i; kind end is space or a comment.
func scanOne(text string, i int) (token, int, *fault) {
	rest := text[i:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.ContainsRune(" \t\r\n\f", r):
		return token{}, i + size, nil
	case strings.HasPrefix(rest, "--"):
		// PostgreSQL ends a comment at a carriage return, too.
		if n := strings.IndexAny(rest, "\r\n"); n >= 0 {
			return token{}, i + n, nil
		}
		return token{}, len(text), nil
	case strings.HasPrefix(rest, "/*"):
		return scanComment(text, i)
	case r == '\'':
		s, next, ok := quoted(text, i, '\'')
		if !ok {
			return token{}, 0, faultf(i, "the text that begins here has no closing quote; write a quote inside a text twice: 'o''brien'")
		}
		if next < len(text) && text[next] == '\'' {
			return token{}, 0, faultf(next, "two texts follow one another; join them with ||")
		}
		return token{str, s, i}, next, nil
	case r == '"':
		s, next, ok := quoted(text, i, '"')
		if !ok {
			return token{}, 0, faultf(i, "the name that begins here has no closing double quote")
		}
		if s == "" || len(s) > 63 {
			return token{}, 0, faultf(i, "a name has 1 to 63 characters; texts are in single quotes: 'like this'")
		}
		return token{name, s, i}, next, nil
	case r == '_' || unicode.IsLetter(r):
		return scanWord(text, i)
	case isDigit(rest, 0) || r == '.' && isDigit(rest, 1):
		return scanNumber(text, i)
	case r == '$':
		return token{}, 0, faultf(i, "dollar quotes and parameters are not allowed; write the value itself: a text in single quotes, or a number")
	}
	for _, s := range symbols {
		if strings.HasPrefix(rest, s) {
			return token{symbol, s, i}, i + len(s), nil
		}
	}
	return token{}, 0, faultf(i, "the character %q is not known here; texts are in single quotes", r)
}

func scanComment(text string, i int) (token, int, *fault) {
	depth := 0
	for j := i; j < len(text); {
		switch {
		case strings.HasPrefix(text[j:], "/*"):
			depth++
			j += 2
		case strings.HasPrefix(text[j:], "*/"):
			depth--
			j += 2
			if depth == 0 {
				return token{}, j, nil
			}
		default:
			j++
		}
	}
	return token{}, 0, faultf(i, "the comment that begins here has no end")
}

// quoted reads the text between two quotes; a doubled quote stands for one.
func quoted(text string, i int, quote byte) (string, int, bool) {
	var b strings.Builder
	for j := i + 1; j < len(text); j++ {
		if text[j] != quote {
			b.WriteByte(text[j])
			continue
		}
		if j+1 < len(text) && text[j+1] == quote {
			b.WriteByte(quote)
			j++
			continue
		}
		return b.String(), j + 1, true
	}
	return "", 0, false
}

func scanWord(text string, i int) (token, int, *fault) {
	j := i
	for j < len(text) {
		r, size := utf8.DecodeRuneInString(text[j:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			break
		}
		j += size
	}
	w := text[i:j]
	if j < len(text) && (text[j] == '\'' || text[j] == '"' && !strings.EqualFold(w, "as")) {
		return token{}, 0, faultf(i, "%s before a quote is not allowed (escape, unicode, bit and national texts); write a plain text: 'like this'", w)
	}
	if strings.EqualFold(w, "u") && strings.HasPrefix(text[j:], "&") {
		return token{}, 0, faultf(i, "U& texts and names are not allowed; write the characters themselves")
	}
	if strings.HasPrefix(text[j:], "$") {
		return token{}, 0, faultf(j, "a name cannot hold a dollar sign")
	}
	if len(w) > 63 {
		return token{}, 0, faultf(i, "a name has at most 63 characters")
	}
	return token{word, lowerASCII(w), i}, j, nil
}

// lowerASCII folds a name as both engines do: only ASCII letters change.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func isDigit(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

func scanNumber(text string, i int) (token, int, *fault) {
	j := i
	digits := func() {
		for isDigit(text, j) {
			j++
		}
	}
	digits()
	if j < len(text) && text[j] == '.' {
		j++
		digits()
	}
	if j < len(text) && (text[j] == 'e' || text[j] == 'E') {
		k := j + 1
		if k < len(text) && (text[k] == '+' || text[k] == '-') {
			k++
		}
		if isDigit(text, k) {
			j = k
			digits()
		}
	}
	if r, _ := utf8.DecodeRuneInString(text[j:]); r == '_' || r == '$' || j < len(text) && unicode.IsLetter(r) {
		return token{}, 0, faultf(i, "a number must end before a letter; numbers are decimal: 10, 0.5, 1e3")
	}
	if j-i > 40 {
		return token{}, 0, faultf(i, "a number has at most 40 digits")
	}
	return token{number, text[i:j], i}, j, nil
}

// reserved words cannot be names without quotes, nor aliases without AS. The
// list is PostgreSQL's (appendix C), and the words that begin a clause here.
var reserved = strings.Fields(`all analyse analyze and any array as asc asymmetric authorization between binary both case cast check
	collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema current_time
	current_timestamp current_user default deferrable desc distinct do else end except exists extract false fetch filter for foreign
	freeze from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
	localtime localtimestamp natural not notnull null offset on only or order outer over overlaps placing primary references
	returning right row select session_user similar some symmetric table tablesample then to trailing true union unique user using
	values variadic verbose when where window with within`)

func isReserved(w string) bool { return slices.Contains(reserved, w) }
