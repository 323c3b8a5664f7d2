package rem

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// parseOptions are what the parser knows of the store.
type parseOptions struct {
	// Tables are the names of the tables, plural; nil is [Tables]. A query may
	// use the singular too.
	Tables []string
}

// Parse reads one query about the tables that every store has; a leading REM is
// skipped. The error is a *SyntaxError.
func Parse(query string) (Query, error) { return parseOptions{}.parse(query) }

// parse reads one query; a leading REM is skipped. The error is a *SyntaxError.
func (o parseOptions) parse(query string) (Query, error) {
	if len(query) > MaxQuery {
		return nil, withForm(allForms, problemf(1, "the query is %d bytes long; at most %d are allowed", len(query), MaxQuery))
	}
	if !utf8.ValidString(query) {
		return nil, withForm(allForms, problemf(1, "the query is not valid UTF-8"))
	}
	if o.Tables == nil {
		o.Tables = Tables()
	}
	p := &parser{tables: o.Tables}
	p.runes = []rune(query)
	p.trimEnd()
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	return q, nil
}

// parser reads the query that begins at its lexer's place. A nested query has its own
// parser on a part of the same characters.
type parser struct {
	lexer
	tables []string
	// inside is the verb of the query around this one.
	inside Verb
}

// part returns a parser for the characters from start to end.
func (p *parser) part(start, end int, inside Verb) *parser {
	return &parser{lexer: lexer{runes: p.runes[:end], at: start}, tables: p.tables, inside: inside}
}

func (p *parser) query() (Query, error) {
	verb, word := p.verb()
	switch verb {
	case LOOKUP:
		q, err := p.lookup()
		return q, withForm(lookupForm, err)
	case FUZZY:
		q, err := p.fuzzy()
		return q, withForm(fuzzyForm, err)
	case SEARCH:
		q, err := p.search()
		return q, withForm(searchForm, err)
	case TRAVERSE:
		q, err := p.traverse()
		return q, withForm(traverseForm, err)
	case SQL:
		q, err := p.sql(word)
		return q, withForm(sqlForm, err)
	case EXPLAIN:
		return p.explain()
	}
	if word.text == "" {
		return nil, withForm(allForms, problemf(word.column(), "the query is empty"))
	}
	return nil, &SyntaxError{Column: word.column(), Problem: fmt.Sprintf("%.40q is no verb", word.text), Form: allForms, cause: ErrNoVerb}
}

// verb reads the verb. If the first word is not one, it returns "" and the word. A bare
// SELECT or WITH is SQL.
func (p *parser) verb() (Verb, token) {
	word := p.word()
	if word.is("REM") {
		word = p.word()
	}
	switch verb := Verb(strings.ToUpper(word.text)); verb {
	case LOOKUP, FUZZY, SEARCH, TRAVERSE, SQL:
		return verb, word
	case EXPLAIN:
		// "explain how it works" is plain words.
		at := p.at
		next, _ := p.verb()
		p.at = at
		if next != "" {
			return EXPLAIN, word
		}
	case "SELECT":
		return SQL, word
	case "WITH":
		if commonTable.MatchString(string(p.runes[word.start:])) {
			return SQL, word
		}
	}
	return "", word
}

// commonTable is how a WITH of SQL begins; that of plain words does not.
var commonTable = regexp.MustCompile(`(?i)^WITH\s+(RECURSIVE\s+)?("[^"]*"|\w+)\s*(\([^)]*\)\s*)?AS\s*(NOT\s+MATERIALIZED\s*|MATERIALIZED\s*)?\(`)

// explain reads the query to explain.
func (p *parser) explain() (Query, error) {
	next := p.part(p.at, len(p.runes), EXPLAIN)
	at := next.at
	if verb, word := next.verb(); verb == EXPLAIN {
		return nil, withForm(explainForm, problemf(word.column(), "EXPLAIN takes a query, not another EXPLAIN"))
	}
	next.at = at
	q, err := next.query()
	if err != nil {
		return nil, err
	}
	return Explain{q}, nil
}

// lookup reads: key {"," key} | "[" key {"," key} "]".
func (p *parser) lookup() (Query, error) {
	p.skipSpace()
	if end := len(p.runes); p.at < end && p.runes[p.at] == '[' {
		if p.runes[end-1] != ']' {
			return nil, problemf(p.at+1, "the list that opens here does not end with ]")
		}
		p.at++
		p.runes = p.runes[:end-1]
	}
	column := p.at + 1
	p.commas = true
	tokens, err := p.tokens()
	if err != nil {
		return nil, err
	}
	keys, err := readKeys(tokens, column, LOOKUP)
	if err != nil {
		return nil, err
	}
	return Lookup{keys}, nil
}

// readKeys reads keys between commas, each once.
func readKeys(tokens []token, column int, verb Verb) ([]string, error) {
	var keys []string
	for len(tokens) > 0 {
		n := slices.IndexFunc(tokens, func(t token) bool { return t.mark() && t.text == comma })
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
		if err := checkText("key", key, item[0].column()); err != nil {
			return nil, err
		}
		if slices.Contains(keys, key) {
			continue
		}
		if len(keys) == MaxKeys {
			return nil, problemf(item[0].column(), "this is key %d; at most %d are allowed", MaxKeys+1, MaxKeys)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, problemf(column, "%s needs a key", verb)
	}
	return keys, nil
}

// fuzzy reads: text {clause}.
func (p *parser) fuzzy() (Query, error) {
	column := p.at + 1
	tokens, err := p.tokens()
	if err != nil {
		return nil, err
	}
	text, clauses := suffix(tokens, func(t []token) (clause, bool) {
		for _, name := range []string{"THRESHOLD", "MIN_SIMILARITY", "LIMIT"} {
			if c, ok := numeric(t, name); ok {
				return c, true
			}
		}
		if c, ok := flag(t, "LOAD"); ok {
			return c, true
		}
		if c, _, ok := keyword(t, "FROM"); ok && t[0].text == "FROM" && strings.EqualFold(c.text, Manual) {
			return c, true
		}
		return parameter(t, "THRESHOLD", "MIN_SIMILARITY", "LIMIT", "LOAD")
	})
	var q Fuzzy
	for _, c := range clauses {
		switch c.name {
		case "LIMIT":
			q.Limit, err = c.whole(1, MaxLimit)
		case "LOAD":
			q.Load, err = c.truth()
		case "FROM":
			q.Manual = true
		default:
			q.Threshold, err = c.share(false)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(text) == 0 {
		return nil, problemf(column, "FUZZY needs a text to search for")
	}
	q.Text = join(text)
	return q, checkText("text", q.Text, text[0].column())
}

// table returns the name of a table as the store has it.
func (p *parser) table(name string) (string, bool) {
	for _, t := range p.tables {
		if strings.EqualFold(name, t) || strings.EqualFold(name, singular(t)) {
			return t, true
		}
	}
	return "", false
}

// noTable returns the mistake of an unknown table.
func (p *parser) noTable(column int, name string) error {
	if name == "" {
		return problemf(column, "the name of a table is missing; the tables are %s", strings.Join(p.tables, ", "))
	}
	return problemf(column, "there is no table %.60q; the tables are %s", name, strings.Join(p.tables, ", "))
}
