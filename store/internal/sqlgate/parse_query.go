package sqlgate

import (
	"slices"
	"strings"
)

func (p *parser) query() (*query, *fault) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	q := &query{at: p.peek().at}
	if p.accept("with") {
		q.recursive = p.accept("recursive")
		for {
			c, err := p.cte()
			if err != nil {
				return nil, err
			}
			q.with = append(q.with, c)
			if !p.acceptSymbol(",") {
				break
			}
		}
	}
	var err *fault
	if q.body, err = p.setOp(0); err != nil {
		return nil, err
	}
	if p.accept("order", "by") {
		if q.order, err = p.orderBy(); err != nil {
			return nil, err
		}
	}
	return q, p.limits(q)
}

func (p *parser) limits(q *query) (err *fault) {
	for err == nil {
		switch {
		case q.limit == nil && p.accept("limit"):
			q.limit, err = p.count("LIMIT")
		case q.offset == nil && p.accept("offset"):
			q.offset, err = p.count("OFFSET")
		default:
			return nil
		}
	}
	return err
}

// count parses the number of a LIMIT.
func (p *parser) count(clause string) (expr, *fault) {
	t := p.peek()
	if t.kind != number || strings.ContainsAny(t.text, ".eE") || len(t.text) > 15 {
		return nil, p.unexpected("write a whole number after " + clause)
	}
	p.next()
	return &literal{info{t.at, Integer}, number, t.text}, nil
}

func (p *parser) cte() (*cte, *fault) {
	c := &cte{at: p.peek().at}
	var err *fault
	if c.name, err = p.ident("a name for the query"); err != nil {
		return nil, err
	}
	if p.isSymbol("(") {
		if c.columns, err = p.names(); err != nil {
			return nil, err
		}
	}
	if err := p.expect("as"); err != nil {
		return nil, err
	}
	_ = p.accept("materialized") || p.accept("not", "materialized")
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	if !p.is("select") && !p.is("with") && !p.isSymbol("(") {
		return nil, p.unexpected("a WITH query begins with SELECT; only reading is allowed")
	}
	if c.query, err = p.query(); err != nil {
		return nil, err
	}
	return c, p.expectSymbol(")")
}

// ident parses a name that is no reserved word.
func (p *parser) ident(what string) (string, *fault) {
	t := p.peek()
	if t.kind == name || t.kind == word && !isReserved(t.text) {
		p.next()
		return t.text, nil
	}
	return "", p.unexpected("write " + what + " (a reserved word needs double quotes)")
}

func (p *parser) names() ([]string, *fault) {
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	var out []string
	for {
		n, err := p.ident("a column name")
		if err != nil {
			return nil, err
		}
		if slices.Contains(out, n) {
			return nil, faultf(p.peek().at, "the column name %q comes twice", n)
		}
		out = append(out, n)
		if !p.acceptSymbol(",") {
			return out, p.expectSymbol(")")
		}
	}
}

// setOp reads operands joined by UNION and EXCEPT (level 0), or by INTERSECT,
// which binds tighter (level 1).
func (p *parser) setOp(level int) (any, *fault) {
	operand := p.operand
	if level == 0 {
		operand = func() (any, *fault) { return p.setOp(1) }
	}
	left, err := operand()
	for n := 0; err == nil; n++ {
		t := p.peek()
		if t.kind != word || (level == 0) != (t.text == "union" || t.text == "except") || level == 1 && t.text != "intersect" {
			return left, nil
		}
		if n >= maxDepth {
			return nil, faultf(t.at, "more than %d queries are joined", maxDepth)
		}
		p.next()
		op := &setOp{op: strings.ToUpper(t.text), at: t.at, left: left}
		if op.all = p.accept("all"); !op.all {
			p.accept("distinct")
		}
		op.right, err = operand()
		left = op
	}
	return nil, err
}

func (p *parser) operand() (any, *fault) {
	if p.acceptSymbol("(") {
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		return q, p.expectSymbol(")")
	}
	return p.core()
}

func (p *parser) core() (*core, *fault) {
	c := &core{at: p.peek().at}
	if err := p.expect("select"); err != nil {
		return nil, err
	}
	var err *fault
	if p.accept("distinct") {
		c.distinct = true
		if p.accept("on") {
			if c.distinctOn, err = p.parenthesised(); err != nil {
				return nil, err
			}
		}
	} else {
		p.accept("all")
	}
	if c.items, err = p.items(); err != nil {
		return nil, err
	}
	if p.accept("from") {
		if c.from, err = p.from(); err != nil {
			return nil, err
		}
	}
	if p.accept("where") {
		if c.where, err = p.expr(); err != nil {
			return nil, err
		}
	}
	if p.accept("group", "by") {
		if p.is("rollup") || p.is("cube") || p.is("grouping") {
			return nil, p.unexpected("")
		}
		if c.group, err = p.list(); err != nil {
			return nil, err
		}
	}
	if p.accept("having") {
		c.having, err = p.expr()
	}
	return c, err
}

func (p *parser) items() ([]*item, *fault) {
	var out []*item
	for {
		it, err := p.item()
		if err != nil {
			return nil, err
		}
		out = append(out, it)
		if !p.acceptSymbol(",") {
			return out, nil
		}
	}
}

func (p *parser) item() (*item, *fault) {
	t := p.peek()
	if p.acceptSymbol("*") {
		return &item{e: &star{info: info{at: t.at}}}, nil
	}
	if dot, s := p.ahead(1), p.ahead(2); (t.kind == name || t.kind == word) && dot.kind == symbol && dot.text == "." && s.kind == symbol && s.text == "*" {
		p.i += 3
		return &item{e: &star{info{at: t.at}, t.text}}, nil
	}
	e, err := p.expr()
	if err != nil {
		return nil, err
	}
	it := &item{e: e}
	switch t := p.peek(); {
	case p.accept("as"):
		// After AS any word may be a name.
		if t := p.peek(); t.kind != word && t.kind != name {
			return nil, p.unexpected("write a name after AS")
		}
		it.alias = p.next().text
	case t.kind == name || t.kind == word && !isReserved(t.text):
		it.alias = p.next().text
	}
	return it, nil
}

func (p *parser) list() ([]expr, *fault) {
	var out []expr
	for {
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		out = append(out, e)
		if !p.acceptSymbol(",") {
			return out, nil
		}
	}
}

func (p *parser) parenthesised() ([]expr, *fault) {
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	l, err := p.list()
	if err != nil {
		return nil, err
	}
	return l, p.expectSymbol(")")
}

func (p *parser) orderBy() ([]*orderItem, *fault) {
	var out []*orderItem
	for {
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		o := &orderItem{e: e}
		if o.desc = p.accept("desc"); !o.desc {
			p.accept("asc")
		}
		if p.accept("nulls", "first") {
			o.nulls = "FIRST"
		} else if p.accept("nulls", "last") {
			o.nulls = "LAST"
		}
		out = append(out, o)
		if !p.acceptSymbol(",") {
			return out, nil
		}
	}
}
