package rem

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// search reads: [tables] text {clause}. Tables come first only before a text
// in quotes: "SEARCH users of the API" is a text.
func (p *parser) search() (Query, error) {
	column := p.at + 1
	tokens, err := p.tokens()
	if err != nil {
		return nil, err
	}
	text, clauses := suffix(tokens, p.searchClause)
	var q Search
	if n := len(text); n > 1 && text[n-1].quoted {
		first := text[:n-1]
		if n > 2 && isTableWord(first[0]) {
			first = first[1:]
		}
		if names, size := tableList(first); size == len(first) && p.known(names) == len(names) {
			q.Tables, text = p.tablesOf(names), text[n-1:]
		}
	}
	for _, c := range clauses {
		if err := q.take(p, c); err != nil {
			return nil, err
		}
	}
	if len(text) == 0 {
		return nil, problemf(column, "SEARCH needs a text to search for")
	}
	q.Text = join(text)
	return q, checkText("text", q.Text, text[0].column())
}

func isTableWord(t token) bool { return t.is("FROM") || t.is("IN") || t.is("TABLE") }

// searchClause reads one clause of SEARCH. A text may end with any of these words, so each
// clause needs a value that a text hardly has: an existing table, a number, a condition.
func (p *parser) searchClause(tokens []token) (clause, bool) {
	if c, ok := numeric(tokens, "LIMIT", "MIN_SIMILARITY", "THRESHOLD"); ok {
		return c, true
	}
	if c, _, ok := keyword(tokens, "FROM", "IN", "TABLE"); ok {
		c.name = "TABLE"
		c.values, c.size = tableList(tokens[1:])
		c.size++
		// After FROM in capitals comes a list of tables, even if one of its names is wrong.
		known := p.known(c.values)
		return c, known == len(c.values) && known > 0 || known > 0 && tokens[0].text == "FROM"
	}
	if c, value, ok := keyword(tokens, "FIELD", "WHERE", "CATEGORY"); ok {
		switch c.name {
		case "FIELD":
			return c, isEmbedded(c.text)
		case "WHERE":
			return c, value.quoted && looksLikeCondition.MatchString(c.text)
		}
		return c, value.quoted || tokens[0].text == "CATEGORY"
	}
	for _, name := range []string{"HYBRID", "LOAD"} {
		if c, ok := flag(tokens, name); ok {
			return c, true
		}
	}
	return parameter(tokens, "TABLE", "FIELD", "WHERE", "CATEGORY", "MIN_SIMILARITY", "THRESHOLD", "LIMIT", "HYBRID", "LOAD")
}

// tableList reads: name {"," name}, with or without spaces. size is the number of its
// tokens.
func tableList(tokens []token) (names []string, size int) {
	var text string
	for size < len(tokens) && !tokens[size].quoted {
		text += tokens[size].text
		size++
		if !strings.HasSuffix(text, comma) && (size == len(tokens) || tokens[size].quoted || !strings.HasPrefix(tokens[size].text, comma)) {
			break
		}
	}
	return splitTables(text), size
}

// splitTables splits names at their commas.
func splitTables(text string) []string {
	names := strings.Split(text, comma)
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// known counts the names that are tables.
func (p *parser) known(names []string) (n int) {
	for _, name := range names {
		if _, ok := p.table(name); ok {
			n++
		}
	}
	return n
}

// tablesOf returns the tables with these names, each once.
func (p *parser) tablesOf(names []string) (tables []string) {
	for _, name := range names {
		if table, ok := p.table(name); ok && !slices.Contains(tables, table) {
			tables = append(tables, table)
		}
	}
	return tables
}

// isEmbedded reports whether some table embeds a column of that name.
func isEmbedded(column string) bool {
	return slices.Contains([]string{"content", "summary", "description"}, strings.ToLower(column))
}

// looksLikeCondition distinguishes a condition from the end of a quoted sentence.
var looksLikeCondition = regexp.MustCompile(`(?i)[=<>~]|\b(is|in|like|ilike|between|not|exists|and|or|true|false)\b`)

// identifier is the name of a column.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// take puts a clause into the query; the last of two counts.
func (q *Search) take(p *parser, c clause) (err error) {
	switch c.name {
	case "TABLE":
		if c.values == nil {
			c.values = splitTables(c.text)
		}
		for _, name := range c.values {
			if _, ok := p.table(name); !ok {
				before, _, _ := strings.Cut(string(p.runes[c.column-1:]), name)
				return p.noTable(c.column+utf8.RuneCountInString(before), name)
			}
		}
		q.Tables = p.tablesOf(c.values)
	case "FIELD":
		if !identifier.MatchString(c.text) || len(c.text) > 60 {
			return problemf(c.column, "FIELD is %.60q; it takes the name of a column", c.text)
		}
		q.Field = strings.ToLower(c.text)
	case "WHERE":
		q.Where = strings.TrimSpace(c.text)
		return checkCondition(q.Where, c.column)
	case "CATEGORY":
		q.Category = c.text
		return checkText("category", c.text, c.column)
	case "MIN_SIMILARITY", "THRESHOLD":
		least, err := c.share(true)
		if err != nil {
			return err
		}
		q.MinSimilarity = &least
	case "LIMIT":
		q.Limit, err = c.whole(1, MaxLimit)
	case "HYBRID":
		q.Hybrid, err = c.truth()
	case "LOAD":
		q.Load, err = c.truth()
	}
	return err
}
