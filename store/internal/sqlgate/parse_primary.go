package sqlgate

import (
	"strings"
)

func (p *parser) primary() (expr, *fault) {
	t := p.peek()
	switch t.kind {
	case str:
		p.next()
		return &literal{info{t.at, Unknown}, str, t.text}, nil
	case number:
		p.next()
		typ := Integer
		if strings.ContainsAny(t.text, ".eE") || len(t.text) > 18 {
			typ = Number
		}
		return &literal{info{t.at, typ}, number, t.text}, nil
	case symbol:
		if t.text == "(" {
			return p.group()
		}
	case word:
		if e, ok, err := p.keyword(t); ok {
			return e, err
		}
		if isReserved(t.text) && !(p.ahead(1).text == "(" && (t.text == "left" || t.text == "right")) {
			break
		}
		return p.reference(t)
	case name:
		return p.reference(t)
	}
	return nil, p.unexpected("a value, a column or a function should stand here")
}

func (p *parser) group() (expr, *fault) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	at := p.next().at
	if p.is("select") || p.is("with") {
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		return &subquery{info: info{at: at}, q: q}, p.expectSymbol(")")
	}
	e, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.isSymbol(",") {
		return nil, faultf(at, "row values are not available; compare column by column")
	}
	return e, p.expectSymbol(")")
}

// keyword parses the expressions that begin with a keyword.
func (p *parser) keyword(t token) (expr, bool, *fault) {
	at := info{at: t.at}
	switch t.text {
	case "true", "false":
		p.next()
		return &literal{info{t.at, Boolean}, word, t.text}, true, nil
	case "null":
		p.next()
		return &literal{at, word, t.text}, true, nil
	case "case":
		e, err := p.caseOf()
		return e, true, err
	case "exists":
		p.next()
		if err := p.expectSymbol("("); err != nil {
			return nil, true, err
		}
		q, err := p.query()
		if err != nil {
			return nil, true, err
		}
		return &subquery{at, q, true}, true, p.expectSymbol(")")
	case "cast":
		e, err := p.castCall()
		return e, true, err
	case "array":
		e, err := p.array()
		return e, true, err
	case "interval":
		if p.ahead(1).kind == str {
			p.next()
			e, err := p.interval(p.next())
			return e, true, err
		}
	case "timestamp", "timestamptz", "date":
		if s := p.ahead(1); s.kind == str {
			p.i += 2
			e, err := castOf(t.at, &literal{info{s.at, Unknown}, str, s.text}, t.text, nil)
			return e, true, err
		}
	case "current_date", "current_timestamp", "localtimestamp":
		p.next()
		return &call{info: at, name: t.text, spec: functions[t.text]}, true, nil
	case "extract":
		e, err := p.extract()
		return e, true, err
	}
	return nil, false, nil
}

// reference parses a column, or a function with its parenthesis.
func (p *parser) reference(t token) (expr, *fault) {
	p.next()
	if p.isSymbol("(") {
		return p.call(t)
	}
	c := &column{info: info{at: t.at}, name: t.text}
	if !p.acceptSymbol(".") {
		return c, nil
	}
	n := p.peek()
	if n.kind == symbol && n.text == "*" {
		return nil, faultf(t.at, "%s.* stands only in the SELECT list", t.text)
	}
	if n.kind != word && n.kind != name {
		return nil, p.unexpected("write a column name after the dot")
	}
	p.next()
	if p.isSymbol(".") || p.isSymbol("(") {
		return nil, faultf(t.at, "%q: schemas and catalogs cannot be named; write table.column, or the function alone", t.text+"."+n.text)
	}
	c.table, c.name = t.text, n.text
	return c, nil
}

func (p *parser) caseOf() (expr, *fault) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e := &caseOf{info: info{at: p.next().at}}
	var err *fault
	if !p.is("when") {
		if e.operand, err = p.expr(); err != nil {
			return nil, err
		}
	}
	for p.accept("when") {
		var w [2]expr
		if w[0], err = p.expr(); err != nil {
			return nil, err
		}
		if err = p.expect("then"); err != nil {
			return nil, err
		}
		if w[1], err = p.expr(); err != nil {
			return nil, err
		}
		e.whens = append(e.whens, w)
	}
	if e.whens == nil {
		return nil, p.unexpected("CASE needs WHEN")
	}
	if p.accept("else") {
		if e.other, err = p.expr(); err != nil {
			return nil, err
		}
	}
	return e, p.expect("end")
}

func (p *parser) array() (expr, *fault) {
	a := &array{info: info{p.next().at, Array}}
	if !p.acceptSymbol("[") {
		return nil, p.unexpected("write ARRAY['a', 'b']; array_agg() collects the values of a query")
	}
	for !p.acceptSymbol("]") {
		t := p.next()
		if t.kind != str {
			return nil, faultf(t.at, "the elements of an ARRAY are texts in quotes here")
		}
		a.elems = append(a.elems, &literal{info{t.at, Text}, str, t.text})
		if !p.acceptSymbol(",") && !p.isSymbol("]") {
			return nil, p.unexpected("write , or ]")
		}
	}
	if a.elems == nil {
		return nil, faultf(a.at, "an empty ARRAY is not available")
	}
	return a, nil
}

// extract(field FROM x)
func (p *parser) extract() (expr, *fault) {
	t := p.next()
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	f := p.next()
	if f.kind != word && f.kind != str {
		return nil, faultf(f.at, "write EXTRACT(field FROM a time); a field is year, month, day, hour, …")
	}
	if err := p.expect("from"); err != nil {
		return nil, err
	}
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	c := &call{info: info{at: t.at}, name: "extract", spec: functions["extract"],
		args: []expr{&literal{info{f.at, Text}, str, lowerASCII(f.text)}, x}}
	if err := p.expectSymbol(")"); err != nil {
		return nil, err
	}
	return c, c.check()
}
