package rem

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// sql reads a SELECT, or makes one of: table {clause}. word is the verb, which
// may be the SELECT itself.
func (p *parser) sql(word token) (Query, error) {
	if !word.is(string(SQL)) {
		p.at = word.start
		return p.selectText()
	}
	p.skipSpace()
	start := p.at
	first := p.word()
	p.at = start
	if first.text == "" {
		return nil, problemf(start+1, "SQL needs a SELECT")
	}
	if keyword := strings.ToUpper(strings.TrimLeft(first.text, "(")); isSelect(keyword) {
		return p.selectText()
	}
	return p.selectParts(start)
}

func isSelect(word string) bool {
	return strings.HasPrefix(word, "SELECT") && !isName(word, len("SELECT")) || strings.HasPrefix(word, "WITH") && !isName(word, len("WITH"))
}

// isName reports whether a word goes on at i.
func isName(word string, i int) bool {
	return i < len(word) && (word[i] == '_' || word[i] >= 'A' && word[i] <= 'Z' || word[i] >= '0' && word[i] <= '9')
}

// selectText takes the rest of the text, without a semicolon at its end.
func (p *parser) selectText() (Query, error) {
	text := strings.TrimRightFunc(string(p.runes[p.at:]), func(r rune) bool { return unicode.IsSpace(r) || r == ';' })
	return Select{Text: text}, nil
}

// selectParts reads: table {clause} | name=value {clause}.
func (p *parser) selectParts(start int) (Query, error) {
	p.lenient = true
	tokens, err := p.tokens()
	if err != nil {
		return nil, err
	}
	var s parts
	if !tokens[0].quoted && !strings.Contains(tokens[0].text, "=") {
		table, ok := p.table(tokens[0].text)
		if !ok {
			return nil, problemf(start+1, "SQL takes one SELECT or WITH query, or the name of a table; %.40q is neither (the tables are %s)",
				tokens[0].text, strings.Join(p.tables, ", "))
		}
		s.table, tokens = table, tokens[1:]
	}
	for len(tokens) > 0 {
		c, ok := sqlClause(tokens)
		if !ok && tokens[0].is("WHERE") && s.table != "" {
			// A condition without quotes goes on to the end.
			p.at = tokens[0].start
			rest, err := p.selectText()
			if err != nil {
				return nil, err
			}
			return Select{Text: "SELECT * FROM " + s.table + " " + rest.(Select).Text}, nil
		}
		if !ok {
			return nil, problemf(tokens[0].column(), "%.40q is no clause here; SQL on a table takes WHERE, ORDER BY and LIMIT", tokens[0].text)
		}
		switch c.name {
		case "TABLE":
			if s.table, ok = p.table(c.text); !ok {
				return nil, p.noTable(c.column, c.text)
			}
		case "WHERE":
			s.where, err = strings.TrimSpace(c.text), checkCondition(strings.TrimSpace(c.text), c.column)
		case "ORDER":
			s.order, err = c.text, checkOrder(c.text, c.column)
		case "LIMIT":
			s.limit, err = c.whole(1, MaxRows)
		}
		if err != nil {
			return nil, err
		}
		tokens = tokens[c.size:]
	}
	if s.table == "" {
		return nil, problemf(start+1, "SQL needs a SELECT or the name of a table")
	}
	return s.query(), nil
}

// parts are the clauses of a SELECT on one table.
type parts struct {
	table, where, order string
	limit               int
}

func (s parts) query() Select {
	w := writer{"SELECT * FROM " + s.table}
	if s.where != "" {
		w.word("WHERE", "("+s.where+")")
	}
	w.word("ORDER BY", s.order)
	if s.limit > 0 {
		w.word("LIMIT", strconv.Itoa(s.limit))
	}
	return Select{Text: w.text}
}

// sqlClause reads one clause of SQL on a table.
func sqlClause(tokens []token) (clause, bool) {
	if c, ok := numeric(tokens, "LIMIT"); ok {
		return c, true
	}
	if c, value, ok := keyword(tokens, "WHERE"); ok && value.quoted {
		// "created_at" > NOW() is a condition that begins with a quoted name.
		return c, len(tokens) == 2 || isClause(tokens[2:])
	}
	if tokens[0].is("ORDER") && len(tokens) > 2 && tokens[1].is("BY") {
		n := 2
		for n < len(tokens) && !isClause(tokens[n:]) {
			n++
		}
		return clause{name: "ORDER", text: join(tokens[2:n]), column: tokens[2].column(), size: n}, n > 2
	}
	return parameter(tokens, "TABLE", "WHERE", "ORDER", "LIMIT")
}

func isClause(tokens []token) bool {
	_, ok := parameter(tokens, "TABLE", "WHERE", "ORDER", "LIMIT")
	return ok || slices.ContainsFunc([]string{"WHERE", "ORDER", "LIMIT"}, tokens[0].is)
}

// orderBy is a list of columns.
var orderBy = regexp.MustCompile(`(?i)^[a-z_][a-z0-9_.]*(\s+(ASC|DESC))?(\s+NULLS\s+(FIRST|LAST))?(\s*,\s*[a-z_][a-z0-9_.]*(\s+(ASC|DESC))?(\s+NULLS\s+(FIRST|LAST))?)*$`)

func checkOrder(text string, column int) error {
	if !orderBy.MatchString(text) {
		return problemf(column, "ORDER BY takes columns with ASC or DESC, such as created_at DESC, name; for more write SQL SELECT")
	}
	return nil
}

// checkCondition ensures that a condition cannot close the parentheses around it. The
// store decides whether the condition is allowed.
func checkCondition(text string, column int) error {
	if text == "" {
		return problemf(column, "the condition is empty")
	}
	depth := 0
	for s := newSQLScanner(text); ; {
		r, ok := s.next()
		switch {
		case s.open != 0:
			return problemf(column, "a %c in the condition is never closed", s.open)
		case !ok && depth == 0:
			return nil
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ';', r == scannedComment:
			return problemf(column, "a condition cannot hold ; or a comment")
		}
		if depth < 0 || !ok {
			return problemf(column, "the parentheses of the condition do not match")
		}
	}
}
