package rem

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// clause is a NAME value, a name=value or a flag of a query.
type clause struct {
	name string
	// text is the value, values are the items of a list; column is where the value begins.
	text   string
	values []string
	column int
	// start is where the clause begins, size the number of its tokens.
	start, size int
	// desc is the direction of an ORDER BY.
	desc bool
}

// keywords begin a clause; parameters are the names of name=value, each with
// the clause that it stands for.
var (
	keywords = []string{
		"THRESHOLD", "MIN_SIMILARITY", "LIMIT", "FROM", "IN", "TABLE", "FIELD", "WHERE", "CATEGORY", "HYBRID", "LOAD",
		"TYPE", "DIRECTION", "DEPTH", "MAX_DEPTH", "ORDER", "WITH", "DESC", "ASC", "BY",
	}
	parameters = map[string]string{
		"threshold": "THRESHOLD", "min_similarity": "MIN_SIMILARITY", "limit": "LIMIT", "table": "TABLE", "table_name": "TABLE",
		"field": "FIELD", "field_name": "FIELD", "where": "WHERE", "where_clause": "WHERE", "category": "CATEGORY",
		"hybrid": "HYBRID", "load": "LOAD", "type": "TYPE", "rel_type": "TYPE", "rel_types": "TYPE", "edge_types": "TYPE",
		"direction": "DIRECTION", "depth": "DEPTH", "max_depth": "DEPTH", "order_by": "ORDER",
	}
)

func isKeyword(word string) bool {
	return slices.ContainsFunc(keywords, func(k string) bool { return strings.EqualFold(k, word) })
}

func isParameter(name string) bool {
	_, ok := parameters[strings.ToLower(name)]
	return ok
}

// suffix splits tokens into a text and the longest run of clauses that ends
// them. So a clause inside of the text is a part of it.
func suffix(tokens []token, read func([]token) (clause, bool)) (text []token, clauses []clause) {
	ends := make([]bool, len(tokens)+1)
	sizes := make([]clause, len(tokens))
	ends[len(tokens)] = true
	first := len(tokens)
	for i := len(tokens) - 1; i >= 0; i-- {
		if tokens[i].quoted {
			continue
		}
		if c, ok := read(tokens[i:]); ok && ends[i+c.size] {
			c.start = tokens[i].start
			ends[i], sizes[i], first = true, c, i
		}
	}
	for i := first; i < len(tokens); i += sizes[i].size {
		clauses = append(clauses, sizes[i])
	}
	return tokens[:first], clauses
}

// parameter reads name=value, where a name is one of those of the clauses.
func parameter(tokens []token, names ...string) (clause, bool) {
	key, value, ok := strings.Cut(tokens[0].text, "=")
	if !ok || tokens[0].quoted {
		return clause{}, false
	}
	name := parameters[strings.ToLower(key)]
	if !slices.Contains(names, name) {
		return clause{}, false
	}
	column := tokens[0].start + utf8.RuneCountInString(key) + 2
	if n := len(value); n > 0 && (value[0] == '"' || value[0] == '\'') {
		// The lexer has checked whether the quote is closed.
		l := lexer{runes: []rune(value)}
		if text, ok := l.quoted(); ok && l.at == len(l.runes) {
			value = text
		}
	}
	c := clause{name: name, text: value, column: column, size: 1}
	if name == "ORDER" && len(tokens) > 1 && (tokens[1].is("ASC") || tokens[1].is("DESC")) {
		c.text, c.size = c.text+" "+tokens[1].text, 2
	}
	return c, true
}

// keyword reads NAME value for one of the names; the value is the next token.
func keyword(tokens []token, names ...string) (clause, token, bool) {
	for _, name := range names {
		if tokens[0].is(name) && len(tokens) > 1 && !tokens[1].mark() {
			return clause{name: name, text: tokens[1].text, column: tokens[1].column(), size: 2}, tokens[1], true
		}
	}
	return clause{}, token{}, false
}

// numeric reads NAME number. If no number follows NAME, both belong to the text.
func numeric(tokens []token, names ...string) (clause, bool) {
	c, value, ok := keyword(tokens, names...)
	if !ok || value.quoted || !strings.ContainsAny(value.text, "0123456789") {
		return clause{}, false
	}
	_, err := strconv.ParseFloat(value.text, 64)
	return c, err == nil || errors.Is(err, strconv.ErrRange)
}

// flag reads NAME. It must be written exactly like this, because texts end with such words.
func flag(tokens []token, written string) (clause, bool) {
	ok := !tokens[0].quoted && tokens[0].text == written
	return clause{name: written, text: "true", column: tokens[0].column(), size: 1}, ok
}

// whole returns the value as a whole number from least to most.
func (c clause) whole(least, most int) (int, error) {
	n, err := strconv.ParseFloat(c.text, 64)
	if err != nil || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
		return 0, problemf(c.column, "%s is %.40s; it takes a whole number from %d to %d (quote a text that ends like a clause)", c.name, c.text, least, most)
	}
	return int(n), nil
}

// share returns the value as a number from 0 to 1; 0 only if zero is true.
func (c clause) share(zero bool) (float64, error) {
	f, err := strconv.ParseFloat(c.text, 64)
	if err == nil && (f > 0 && f <= 1 || zero && f == 0) {
		return math.Abs(f), nil
	}
	from := "above 0 and up to 1"
	if zero {
		from = "from 0 to 1"
	}
	return 0, problemf(c.column, "%s is %.40s; it takes a number %s (quote a text that ends like a clause)", c.name, c.text, from)
}

// truth returns the value as true or false.
func (c clause) truth() (bool, error) {
	switch strings.ToLower(c.text) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return false, problemf(c.column, "%s is %.40s; it takes true or false", strings.ToLower(c.name), c.text)
}

// list reads: item {"," item} | "[" item {"," item} "]"; an item is one token.
func list(tokens []token) (values []string, size int, ok bool) {
	brackets := len(tokens) > 0 && tokens[0].mark() && tokens[0].text == open
	if brackets {
		size++
	}
	for {
		if size >= len(tokens) || tokens[size].mark() {
			return nil, 0, false
		}
		values = append(values, tokens[size].text)
		size++
		more := size < len(tokens) && tokens[size].mark() && tokens[size].text == comma
		if more {
			size++
			continue
		}
		if brackets {
			closed := size < len(tokens) && tokens[size].mark() && tokens[size].text == shut
			return values, size + 1, closed
		}
		return values, size, true
	}
}

// checkText refuses a text of a query that is too long.
func checkText(what, text string, column int) error {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return problemf(column, "the %s is empty", what)
	case n > MaxText:
		return problemf(column, "the %s is %d characters long; at most %d are allowed", what, n, MaxText)
	}
	return nil
}
