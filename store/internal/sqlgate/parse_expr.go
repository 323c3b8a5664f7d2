package sqlgate

import "strings"

// expr reads an expression; the levels are PostgreSQL's (manual, 4.1.6).
func (p *parser) expr() (expr, *fault) { return p.or() }

func (p *parser) or() (expr, *fault) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	return p.chain("or", p.and)
}

func (p *parser) and() (expr, *fault) { return p.chain("and", p.not) }

// maxChain bounds the operands of one level, which nest to the left.
const maxChain = 200

func (p *parser) chain(op string, operand func() (expr, *fault)) (expr, *fault) {
	l, err := operand()
	for n := 0; err == nil; n++ {
		t := p.peek()
		if !p.accept(op) {
			return l, nil
		}
		if n > maxChain {
			return nil, faultf(t.at, "more than %d conditions are joined", maxChain)
		}
		var r expr
		if r, err = operand(); err == nil {
			l = &binary{info{at: t.at}, strings.ToUpper(op), l, r}
		}
	}
	return nil, err
}

func (p *parser) not() (expr, *fault) {
	t := p.peek()
	if !p.accept("not") {
		return p.is_()
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	x, err := p.not()
	if err != nil {
		return nil, err
	}
	return &unary{info{at: t.at}, "NOT", x}, nil
}

func (p *parser) is_() (expr, *fault) {
	x, err := p.comparison()
	for err == nil {
		t := p.peek()
		switch {
		case p.accept("is"):
			x, err = p.isWhat(t.at, x)
		default:
			return x, nil
		}
	}
	return nil, err
}

func (p *parser) isWhat(at int, x expr) (expr, *fault) {
	not := p.accept("not")
	if p.accept("distinct", "from") {
		r, err := p.comparison()
		if err != nil {
			return nil, err
		}
		op := "IS DISTINCT FROM"
		if not {
			op = "IS NOT DISTINCT FROM"
		}
		return &binary{info{at: at}, op, x, r}, nil
	}
	for _, w := range []string{"null", "true", "false"} {
		if p.accept(w) {
			return &test{info{at: at}, x, not, strings.ToUpper(w)}, nil
		}
	}
	return nil, p.unexpected("after IS write NULL, TRUE, FALSE or DISTINCT FROM")
}

func oneOf(t token, ops ...string) bool {
	if t.kind == symbol {
		for _, o := range ops {
			if t.text == o {
				return true
			}
		}
	}
	return false
}

func (p *parser) comparison() (expr, *fault) {
	l, err := p.matching()
	if err != nil {
		return nil, err
	}
	t := p.peek()
	if !oneOf(t, "=", "<>", "!=", "<", "<=", ">", ">=") {
		return l, nil
	}
	p.next()
	op := t.text
	if op == "!=" {
		op = "<>"
	}
	if p.is("any") || p.is("some") || p.is("all") {
		return p.quantified(t.at, op, l)
	}
	r, err := p.matching()
	if err != nil {
		return nil, err
	}
	if n := p.peek(); oneOf(n, "=", "<>", "!=", "<", "<=", ">", ">=") {
		return nil, faultf(n.at, "comparisons cannot be chained; join them with AND")
	}
	return &binary{info{at: t.at}, op, l, r}, nil
}

func (p *parser) quantified(at int, op string, l expr) (expr, *fault) {
	q := &quantified{info: info{at: at}, op: op, all: p.is("all"), x: l}
	p.next()
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	var err *fault
	if p.is("select") || p.is("with") {
		q.sub, err = p.query()
	} else {
		q.y, err = p.expr()
	}
	if err != nil {
		return nil, err
	}
	return q, p.expectSymbol(")")
}

// matching parses BETWEEN, IN, LIKE and ILIKE.
func (p *parser) matching() (expr, *fault) {
	x, err := p.operators()
	for err == nil {
		t := p.peek()
		not := t.kind == word && t.text == "not"
		if not {
			if w := p.ahead(1); w.kind != word || w.text != "between" && w.text != "in" && w.text != "like" && w.text != "ilike" {
				return x, nil
			}
			p.next()
		}
		switch {
		case p.accept("between"):
			x, err = p.between(t.at, x, not)
		case p.accept("in"):
			x, err = p.in(t.at, x, not)
		case p.is("like"), p.is("ilike"):
			x, err = p.like(t.at, x, not)
		default:
			return x, nil
		}
	}
	return nil, err
}

func (p *parser) between(at int, x expr, not bool) (expr, *fault) {
	b := &between{info: info{at: at}, x: x, not: not}
	var err *fault
	if b.lo, err = p.operators(); err == nil {
		if err = p.expect("and"); err == nil {
			b.hi, err = p.operators()
		}
	}
	return b, err
}

func (p *parser) in(at int, x expr, not bool) (expr, *fault) {
	e := &in{info: info{at: at}, x: x, not: not}
	var err *fault
	if open := p.ahead(1); p.isSymbol("(") && open.kind == word && (open.text == "select" || open.text == "with") {
		p.next()
		if e.sub, err = p.query(); err != nil {
			return nil, err
		}
		return e, p.expectSymbol(")")
	}
	if p.isSymbol("(") && p.ahead(1).kind == symbol && p.ahead(1).text == ")" {
		return nil, faultf(p.peek().at, "IN needs one value at least")
	}
	e.list, err = p.parenthesised()
	return e, err
}

func (p *parser) like(at int, x expr, not bool) (expr, *fault) {
	l := &like{info: info{at: at}, x: x, not: not, fold: p.next().text == "ilike"}
	var err *fault
	if p.is("any") || p.is("all") || p.is("some") {
		return nil, faultf(p.peek().at, "LIKE ANY is not available; join several LIKE with OR")
	}
	if l.pattern, err = p.operators(); err == nil && p.accept("escape") {
		l.escape, err = p.operators()
	}
	return l, err
}

// operators parses the operators without a level of their own.
func (p *parser) operators() (expr, *fault) {
	return p.leftAssociative(p.sum, "||", "->", "->>", "#>", "#>>", "@>", "<@", "?", "?|", "?&", "&&", "~", "~*", "!~", "!~*")
}

func (p *parser) sum() (expr, *fault) { return p.leftAssociative(p.product, "+", "-") }

func (p *parser) product() (expr, *fault) { return p.leftAssociative(p.power, "*", "/", "%") }

func (p *parser) power() (expr, *fault) { return p.leftAssociative(p.zone, "^") }

func (p *parser) leftAssociative(operand func() (expr, *fault), ops ...string) (expr, *fault) {
	l, err := operand()
	for n := 0; err == nil; n++ {
		t := p.peek()
		if !oneOf(t, ops...) {
			return l, nil
		}
		if n > maxChain {
			return nil, faultf(t.at, "more than %d operators follow one another", maxChain)
		}
		p.next()
		var r expr
		if r, err = operand(); err == nil {
			l = &binary{info{at: t.at}, t.text, l, r}
		}
	}
	return nil, err
}

func (p *parser) zone() (expr, *fault) {
	x, err := p.sign()
	for err == nil {
		t := p.peek()
		if p.is("collate") {
			return nil, p.unexpected("")
		}
		if !p.accept("at", "time", "zone") {
			return x, nil
		}
		var z expr
		if z, err = p.sign(); err == nil {
			x = &atZone{info{at: t.at}, x, z}
		}
	}
	return nil, err
}

func (p *parser) sign() (expr, *fault) {
	t := p.peek()
	if !oneOf(t, "-", "+") {
		return p.casts()
	}
	p.next()
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	x, err := p.sign()
	if err != nil {
		return nil, err
	}
	return &unary{info{at: t.at}, t.text, x}, nil
}

func (p *parser) casts() (expr, *fault) {
	x, err := p.primary()
	for n := 0; err == nil; n++ {
		t := p.peek()
		switch {
		case n > maxDepth:
			return nil, faultf(t.at, "more than %d casts follow one another", maxDepth)
		case p.acceptSymbol("::"):
			x, err = p.castTo(t.at, x)
		case p.isSymbol("["):
			return nil, faultf(t.at, "array subscripts are not available; use -> with a number on JSON, or split_part on a text")
		case p.isSymbol("."):
			return nil, faultf(t.at, "a dot is not understood here; write table.column")
		default:
			return x, nil
		}
	}
	return nil, err
}
