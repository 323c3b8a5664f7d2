package sqlgate

// call parses a function's arguments; the name is already consumed.
func (p *parser) call(t token) (expr, *fault) {
	spec, ok := functions[t.text]
	if !ok || t.kind == name && isReserved(t.text) {
		return nil, faultf(t.at, "the function %s() is not available%s", t.text, didYouMean(t.text, functionNames()))
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	c := &call{info: info{at: t.at}, name: t.text, spec: spec}
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	if err := p.arguments(c); err != nil {
		return nil, err
	}
	if err := p.expectSymbol(")"); err != nil {
		return nil, err
	}
	if n := len(c.args); !c.star && (n < spec.min || n > spec.max) {
		return nil, faultf(t.at, "%s() takes %s", t.text, spec.arity())
	}
	if err := p.afterCall(c); err != nil {
		return nil, err
	}
	return c, c.check()
}

func (p *parser) arguments(c *call) (err *fault) {
	switch {
	case p.isSymbol(")"):
		return nil
	case p.isSymbol("*"):
		if c.name != "count" {
			return p.unexpected("only count(*) takes a star")
		}
		p.next()
		c.star = true
		return nil
	case c.name == "position":
		// position(a IN b) is strpos(b, a).
		var needle, text expr
		if needle, err = p.operators(); err == nil {
			if err = p.expect("in"); err == nil {
				text, err = p.operators()
			}
		}
		c.args = []expr{text, needle}
		return err
	case c.name == "trim":
		return p.trim(c)
	}
	if c.distinct = p.accept("distinct"); !c.distinct {
		p.accept("all")
	}
	if c.args, err = p.list(); err != nil {
		return err
	}
	if c.name == "substring" && len(c.args) == 1 && (p.is("from") || p.is("for")) {
		return p.substring(c)
	}
	if p.accept("order", "by") {
		c.order, err = p.orderBy()
	}
	return err
}

// substring(x FROM a FOR b)
func (p *parser) substring(c *call) *fault {
	var from expr = &literal{info{c.at, Integer}, number, "1"}
	var err *fault
	if p.accept("from") {
		if from, err = p.expr(); err != nil {
			return err
		}
		if l, ok := from.(*literal); ok && l.kind == str {
			return faultf(l.at, "substring with a regular expression is not available")
		}
	}
	c.args = append(c.args, from)
	if p.accept("for") {
		n, err := p.expr()
		if err != nil {
			return err
		}
		c.args = append(c.args, n)
	}
	return nil
}

// trim(BOTH 'x' FROM y)
func (p *parser) trim(c *call) (err *fault) {
	switch {
	case p.accept("both"):
	case p.accept("leading"):
		c.name = "ltrim"
	case p.accept("trailing"):
		c.name = "rtrim"
	}
	if p.accept("from") {
		c.args, err = p.list()
		return err
	}
	if c.args, err = p.list(); err == nil && len(c.args) == 1 && p.accept("from") {
		var x expr
		if x, err = p.expr(); err == nil {
			c.args = []expr{x, c.args[0]}
		}
	}
	return err
}

func (p *parser) afterCall(c *call) (err *fault) {
	if p.accept("within", "group") {
		if err = p.expectSymbol("("); err == nil && !p.accept("order", "by") {
			err = p.unexpected("write ORDER BY")
		}
		if err == nil {
			c.within, err = p.orderBy()
		}
		if err == nil {
			err = p.expectSymbol(")")
		}
	}
	if err == nil && p.accept("filter") {
		if err = p.expectSymbol("("); err == nil {
			err = p.expect("where")
		}
		if err == nil {
			c.filter, err = p.expr()
		}
		if err == nil {
			err = p.expectSymbol(")")
		}
	}
	if err == nil && p.accept("over") {
		c.over, err = p.window()
	}
	return err
}
