package rem

import (
	"slices"
	"strings"
)

// traverse reads: [FROM] keys {clause} | [types] {clause} WITH query {clause}.
func (p *parser) traverse() (Query, error) {
	p.commas, p.brackets, p.lenient = true, true, true
	p.skipSpace()
	column, start := p.at+1, p.at
	tokens, _ := p.tokens()
	if with, ok := p.with(tokens); ok {
		return p.traverseWith(tokens[:with], tokens[with+1:])
	}
	p.at, p.lenient = start, false
	tokens, err := p.tokens()
	if err != nil {
		return nil, err
	}
	text, clauses := suffix(tokens, traverseClause)
	var q Traverse
	if err := q.takeAll(clauses); err != nil {
		return nil, err
	}
	if len(text) > 1 && text[0].is("FROM") {
		text = text[1:]
	}
	if n := len(text); n > 0 && text[0].mark() && text[0].text == open {
		if text[n-1].text != shut || !text[n-1].mark() {
			return nil, problemf(text[0].column(), "the list that opens here does not end with ]")
		}
		text = text[1 : n-1]
	}
	q.Keys, err = readKeys(text, column, TRAVERSE)
	return q, err
}

// with finds the WITH before a query; any other WITH is part of a key.
func (p *parser) with(tokens []token) (int, bool) {
	for i, t := range tokens {
		if t.is("WITH") && i+1 < len(tokens) && !tokens[i+1].quoted {
			if verb, _ := p.part(tokens[i+1].start, len(p.runes), TRAVERSE).verb(); verb != "" {
				return i, true
			}
		}
	}
	return 0, false
}

// traverseWith reads the text before and after a WITH. Clauses after the inner query
// belong to TRAVERSE, unless TRAVERSE has some before the WITH or the inner query can take
// them.
func (p *parser) traverseWith(before, inner []token) (Query, error) {
	var q Traverse
	types, clauses := suffix(before, traverseClause)
	end := len(p.runes)
	if len(clauses) == 0 {
		rest, behind := suffix(inner[1:], traverseClause)
		verb, _ := p.part(inner[0].start, end, TRAVERSE).verb()
		for len(behind) > 0 && takesFirst(verb, behind[0].name) {
			behind = behind[1:]
		}
		if len(behind) > 0 && len(rest) > 0 {
			end = behind[0].start
			clauses = behind
		}
	}
	if len(types) > 0 {
		values, size, ok := list(types)
		if !ok || size != len(types) {
			return nil, problemf(types[0].column(), "before WITH stand the relations to follow, as a, b or [a, b]")
		}
		clauses = append([]clause{{name: "TYPE", values: values, column: types[0].column()}}, clauses...)
	}
	if err := q.takeAll(clauses); err != nil {
		return nil, err
	}
	next := p.part(inner[0].start, end, TRAVERSE)
	next.trimEnd()
	query, err := next.query()
	if err != nil {
		return nil, err
	}
	switch from := query.(type) {
	case Explain:
		return nil, problemf(inner[0].column(), "WITH takes a query that finds rows, not EXPLAIN")
	case Traverse:
		if from.With != nil {
			return nil, problemf(inner[0].column(), "a TRAVERSE behind WITH cannot have a WITH of its own")
		}
	}
	q.With = query
	return q, nil
}

// takesFirst reports whether a clause right behind a query belongs to it.
func takesFirst(verb Verb, name string) bool {
	switch verb {
	case FUZZY, SEARCH:
		return name == "LIMIT"
	case SQL:
		return name == "LIMIT" || name == "ORDER"
	}
	return verb == TRAVERSE
}

// directions are the values of DIRECTION.
var directions = map[string]Direction{"out": Out, "in": In, "both": Both}

// orders are the fields of ORDER BY; REM wrote edge.created_at.
var orders = []string{"depth", "weight", "key", "relation", "entity_type", "created_at"}

// traverseClause reads one clause of TRAVERSE. Keys hardly end with these
// words, so any case will do.
func traverseClause(tokens []token) (clause, bool) {
	if c, ok := numeric(tokens, "DEPTH", "MAX_DEPTH", "LIMIT"); ok {
		if c.name == "MAX_DEPTH" {
			c.name = "DEPTH"
		}
		return c, true
	}
	if c, value, ok := keyword(tokens, "DIRECTION"); ok && !value.quoted {
		_, known := directions[strings.ToLower(c.text)]
		return c, known
	}
	if tokens[0].is("LOAD") {
		return clause{name: "LOAD", text: "true", column: tokens[0].column(), size: 1}, true
	}
	if tokens[0].is("TYPE") {
		values, size, ok := list(tokens[1:])
		if !ok {
			return clause{}, false
		}
		return clause{name: "TYPE", values: values, column: tokens[1].column(), size: 1 + size}, true
	}
	if tokens[0].is("ORDER") && len(tokens) > 2 && tokens[1].is("BY") && !tokens[2].quoted {
		c := clause{name: "ORDER", text: tokens[2].text, column: tokens[2].column(), size: 3}
		if len(tokens) > 3 && (tokens[3].is("ASC") || tokens[3].is("DESC")) {
			c.desc = tokens[3].is("DESC")
			c.size++
		}
		_, known := orderField(c.text)
		return c, known
	}
	c, ok := parameter(tokens, "DEPTH", "TYPE", "DIRECTION", "LIMIT", "LOAD", "ORDER")
	if ok && c.name == "TYPE" {
		return typeParameter(c, tokens)
	}
	if ok && c.name == "ORDER" {
		text, direction, _ := strings.Cut(strings.TrimSpace(c.text), " ")
		direction = strings.TrimSpace(direction)
		c.text, c.desc = text, strings.EqualFold(direction, "DESC")
		if direction != "" && !c.desc && !strings.EqualFold(direction, "ASC") {
			c.text += " " + direction
		}
	}
	return c, ok
}

// typeParameter reads the rest of a list that begins in a name=value.
func typeParameter(c clause, tokens []token) (clause, bool) {
	if first, ok := strings.CutPrefix(c.text, open); ok {
		c.text = first
		// A list that is longer than this is refused anyway.
		tokens = tokens[:min(len(tokens), 4*maxTypes)]
		if end := slices.IndexFunc(tokens, func(t token) bool { return t.mark() && t.text == shut }); end > 0 {
			tokens = slices.Concat(tokens[:end], tokens[end+1:])
			c.size++
		}
	}
	for v := range strings.SplitSeq(c.text, comma) {
		c.values = append(c.values, strings.TrimSpace(v))
	}
	if len(tokens) > 2 && tokens[1].mark() && tokens[1].text == comma {
		more, size, ok := list(tokens[2:])
		if !ok {
			return clause{}, false
		}
		c.values = append(c.values, more...)
		c.size += 1 + size
	}
	return c, true
}

func orderField(text string) (string, bool) {
	name := strings.ToLower(text)
	for _, prefix := range []string{"edge.", "node."} {
		name = strings.TrimPrefix(name, prefix)
	}
	switch name {
	case "type", "rel_type":
		name = "relation"
	}
	return name, slices.Contains(orders, name)
}

// takeAll puts the clauses into the query; the last of two counts.
func (q *Traverse) takeAll(clauses []clause) (err error) {
	for _, c := range clauses {
		switch c.name {
		case "DEPTH":
			q.Depth, err = c.whole(0, MaxDepth)
			q.Plan = err == nil && q.Depth == 0
		case "LIMIT":
			q.Limit, err = c.whole(1, MaxLimit)
		case "LOAD":
			q.Load, err = c.truth()
		case "TYPE":
			q.Types, err = c.types()
		case "DIRECTION":
			direction, ok := directions[strings.ToLower(c.text)]
			if !ok {
				return problemf(c.column, "DIRECTION is %.40q; it takes in, out or both", c.text)
			}
			q.Direction = direction
		case "ORDER":
			field, ok := orderField(c.text)
			if !ok {
				return problemf(c.column, "ORDER BY takes %s, with ASC or DESC; %.60q is none of them", strings.Join(orders, ", "), c.text)
			}
			q.Order = Order{Field: field, Desc: c.desc}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// types returns the value as relations, each once; * is all of them.
func (c clause) types() ([]string, error) {
	var types []string
	for _, v := range c.values {
		if v == anyType {
			return nil, nil
		}
		if err := checkText("relation", v, c.column); err != nil {
			return nil, err
		}
		if !slices.Contains(types, v) {
			types = append(types, v)
		}
	}
	if len(types) > maxTypes {
		return nil, problemf(c.column, "these are %d relations; at most %d are allowed", len(types), maxTypes)
	}
	return types, nil
}
