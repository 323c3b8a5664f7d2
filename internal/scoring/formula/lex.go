package formula

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a number, a text or an operator.
type token struct {
	kind tokenKind
	text string
	at   int
}

type tokenKind uint8

const (
	end tokenKind = iota
	word
	number
	quoted
	operator
)

// operators, the longest first.
var operators = []string{"==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ".", "?", ":"}

// words that stand for an operator, or for another word.
var synonyms = map[string]string{"&&": "and", "||": "or", "!": "not", "True": "true", "False": "false", "None": "null", "nil": "null"}

// lex splits an expression. The last token is of kind end.
func lex(text string) ([]token, error) {
	if len(text) > maxText {
		return nil, &Error{Message: "the expression is too long", Hint: "split it into several derived scores"}
	}
	var tokens []token
	r := []rune(text)
	for i := 0; i < len(r); {
		c := r[i]
		start := i
		switch {
		case unicode.IsSpace(c):
			i++
			continue
		case c == '_' || unicode.IsLetter(c):
			for i < len(r) && (r[i] == '_' || unicode.IsLetter(r[i]) || unicode.IsDigit(r[i])) {
				i++
			}
			tokens = append(tokens, token{word, string(r[start:i]), start})
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(r) && r[i+1] >= '0' && r[i+1] <= '9':
			i = numberEnd(r, i)
			tokens = append(tokens, token{number, string(r[start:i]), start})
		case c == '"' || c == '\'':
			s, next, err := unquote(r, i)
			if err != nil {
				return nil, err
			}
			i = next
			tokens = append(tokens, token{quoted, s, start})
		default:
			op := operatorAt(string(r[i:min(i+2, len(r))]))
			if op == "" {
				hint := ""
				if c == '=' {
					hint = "write == to compare"
				}
				return nil, &Error{i, "unexpected " + string(c), hint}
			}
			i += utf8.RuneCountInString(op)
			tokens = append(tokens, token{operator, op, start})
		}
	}
	for i := range tokens {
		if s, ok := synonyms[tokens[i].text]; ok && tokens[i].kind != quoted {
			tokens[i].kind, tokens[i].text = word, s
		}
	}
	return append(tokens, token{end, "", len(r)}), nil
}

func operatorAt(text string) string {
	for _, op := range operators {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	return ""
}

// numberEnd returns the end of digits, a fraction and an exponent.
func numberEnd(r []rune, i int) int {
	digits := func() {
		for i < len(r) && r[i] >= '0' && r[i] <= '9' {
			i++
		}
	}
	digits()
	if i < len(r) && r[i] == '.' {
		i++
		digits()
	}
	if i+1 < len(r) && (r[i] == 'e' || r[i] == 'E') {
		i++
		if r[i] == '+' || r[i] == '-' {
			i++
		}
		digits()
	}
	return i
}

// unquote reads a text in quotes, in which \ stands before a quote or itself.
func unquote(r []rune, i int) (s string, next int, err error) {
	var b strings.Builder
	for j := i + 1; j < len(r); j++ {
		switch {
		case r[j] == r[i]:
			return b.String(), j + 1, nil
		case r[j] == '\\' && j+1 < len(r):
			j++
			b.WriteRune(r[j])
		default:
			b.WriteRune(r[j])
		}
	}
	return "", 0, &Error{i, "the text does not end", "close the quote"}
}
