package rem

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrNoVerb says that a text does not begin with a verb. A caller that takes
// plain words too may search for them with [NewFuzzy].
var ErrNoVerb = errors.New("no verb")

// SyntaxError says what is wrong with a query, where, and what would be right.
// It is fit for a model and a client.
type SyntaxError struct {
	// Column is the place in the query, in characters from 1.
	Column  int
	Problem string
	// Form is a query as it should be.
	Form string

	cause error
}

// Error is one line.
func (e *SyntaxError) Error() string {
	s := fmt.Sprintf("column %d: %s", e.Column, e.Problem)
	if e.Form != "" {
		s += "; write " + e.Form
	}
	return s
}

// Unwrap is ErrNoVerb where that is the cause.
func (e *SyntaxError) Unwrap() error { return e.cause }

// The right form of each verb.
const (
	lookupForm = `LOOKUP key, or LOOKUP [key, "another, key"]`
	fuzzyForm  = `FUZZY text [THRESHOLD 0.3] [LIMIT 10]`
	bothForms  = lookupForm + ", or " + fuzzyForm
)

// Parse reads one query; a leading REM is skipped. The error is a *SyntaxError.
func Parse(query string) (Query, error) {
	if len(query) > MaxQuery {
		return nil, &SyntaxError{Column: 1, Problem: fmt.Sprintf("the query is %d bytes long; at most %d are allowed", len(query), MaxQuery), Form: bothForms}
	}
	if !utf8.ValidString(query) {
		return nil, &SyntaxError{Column: 1, Problem: "the query is not valid UTF-8", Form: bothForms}
	}
	l := &lexer{runes: []rune(query)}
	verb := l.word()
	if strings.EqualFold(verb.text, "REM") {
		verb = l.word()
	}
	switch name := strings.ToUpper(verb.text); name {
	case "LOOKUP":
		return withForm(lookupForm)(parseLookup(l))
	case "FUZZY":
		return withForm(fuzzyForm)(parseFuzzy(l))
	case "SEARCH", "TRAVERSE", "SQL":
		return nil, &SyntaxError{Column: verb.column, Problem: "this store answers LOOKUP and FUZZY; " + name + " is not one of them", Form: bothForms}
	case "":
		return nil, &SyntaxError{Column: verb.column, Problem: "the query is empty", Form: bothForms}
	}
	return nil, &SyntaxError{Column: verb.column, Problem: fmt.Sprintf("%.40q is no verb", verb.text), Form: bothForms, cause: ErrNoVerb}
}

// withForm shows the verb's form in an error that does not show one.
func withForm(form string) func(Query, error) (Query, error) {
	return func(q Query, err error) (Query, error) {
		var syntax *SyntaxError
		if errors.As(err, &syntax) && syntax.Form == "" {
			syntax.Form = form
		}
		if err != nil {
			return nil, err
		}
		return q, nil
	}
}

// parseLookup reads: key {"," key} | "[" key {"," key} "]".
func parseLookup(l *lexer) (Query, error) {
	l.skipSpace()
	end := len(l.runes)
	for end > l.at && unicode.IsSpace(l.runes[end-1]) {
		end--
	}
	l.runes = l.runes[:end]
	if l.at < end && l.runes[l.at] == '[' {
		if l.runes[end-1] != ']' {
			return nil, &SyntaxError{Column: l.at + 1, Problem: "the list that opens here does not end with ]"}
		}
		l.at++
		l.runes = l.runes[:end-1]
	}
	column := l.at + 1
	tokens, err := l.tokens(true)
	if err != nil {
		return nil, err
	}
	var q Lookup
	for len(tokens) > 0 {
		n := slices.IndexFunc(tokens, func(t token) bool { return t.text == comma && !t.quoted })
		item := tokens
		if n >= 0 {
			item, tokens = tokens[:n], tokens[n+1:]
		} else {
			tokens = nil
		}
		if len(item) == 0 {
			continue
		}
		key := join(item)
		if err := checkText("key", key, item[0].column); err != nil {
			return nil, err
		}
		if slices.Contains(q.Keys, key) {
			continue
		}
		if len(q.Keys) == MaxKeys {
			return nil, &SyntaxError{Column: item[0].column, Problem: fmt.Sprintf("this is key %d; at most %d are allowed", MaxKeys+1, MaxKeys)}
		}
		q.Keys = append(q.Keys, key)
	}
	if len(q.Keys) == 0 {
		return nil, &SyntaxError{Column: column, Problem: "LOOKUP needs a key"}
	}
	return q, nil
}

// parseFuzzy reads: text {option}.
func parseFuzzy(l *lexer) (Query, error) {
	column := l.at + 1
	tokens, err := l.tokens(false)
	if err != nil {
		return nil, err
	}
	q := NewFuzzy("")
	tokens, err = q.takeOptions(tokens)
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, &SyntaxError{Column: column, Problem: "FUZZY needs a text to search for"}
	}
	q.Text = join(tokens)
	if err := checkText("text", q.Text, tokens[0].column); err != nil {
		return nil, err
	}
	return q, nil
}

// takeOptions takes the options from the end of the tokens; the last of two
// counts. A keyword without a number behind it is part of the text.
func (q *Fuzzy) takeOptions(tokens []token) ([]token, error) {
	var limit, threshold bool
	for {
		name, value, n := lastOption(tokens)
		if n == 0 {
			return tokens, nil
		}
		number, err := strconv.ParseFloat(value.text, 64)
		if name == "LIMIT" {
			if err != nil || number != math.Trunc(number) || number < 1 || number > MaxLimit {
				return nil, &SyntaxError{Column: value.column, Problem: fmt.Sprintf(
					"LIMIT is %.40s; it takes a whole number from 1 to %d (quote a text that ends like an option)", value.text, MaxLimit)}
			}
			if !limit {
				q.Limit, q.LimitGiven, limit = int(number), true, true
			}
		} else {
			if err != nil || !(number > 0 && number <= 1) {
				return nil, &SyntaxError{Column: value.column, Problem: fmt.Sprintf(
					"THRESHOLD is %.40s; it takes a number above 0 and up to 1 (quote a text that ends like an option)", value.text)}
			}
			if !threshold {
				q.Threshold, threshold = number, true
			}
		}
		tokens = tokens[:len(tokens)-n]
	}
}

// lastOption is the option that the tokens end with, as NAME number or
// name=value, and the number of its tokens; 0 if they end with text.
func lastOption(tokens []token) (name string, value token, n int) {
	if len(tokens) == 0 {
		return "", token{}, 0
	}
	last := tokens[len(tokens)-1]
	if last.quoted {
		return "", token{}, 0
	}
	if key, text, ok := strings.Cut(last.text, "="); ok && isOption(key) {
		column := last.column + utf8.RuneCountInString(key) + 1
		return strings.ToUpper(key), token{text: strings.Trim(text, `"'`), column: column}, 1
	}
	if len(tokens) < 2 {
		return "", token{}, 0
	}
	word := tokens[len(tokens)-2]
	if _, err := strconv.ParseFloat(last.text, 64); err != nil && !errors.Is(err, strconv.ErrRange) ||
		word.quoted || !isOption(word.text) || !strings.ContainsAny(last.text, "0123456789") {
		return "", token{}, 0
	}
	return strings.ToUpper(word.text), last, 2
}

func isOption(name string) bool {
	return strings.EqualFold(name, "LIMIT") || strings.EqualFold(name, "THRESHOLD")
}

func checkText(what, text string, column int) error {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return &SyntaxError{Column: column, Problem: "the " + what + " is empty"}
	case n > MaxText:
		return &SyntaxError{Column: column, Problem: fmt.Sprintf("the %s is %d characters long; at most %d are allowed", what, n, MaxText)}
	}
	return nil
}
