package sqlgate

// from reads the relations after FROM with their joins.
func (p *parser) from() ([]*source, *fault) {
	first, err := p.source()
	if err != nil {
		return nil, err
	}
	out := []*source{first}
	for {
		join, ok := p.join()
		if !ok {
			return out, nil
		}
		s, err := p.source()
		if err != nil {
			return nil, err
		}
		s.join = join
		if err := p.condition(s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
}

// join consumes the words between two relations.
func (p *parser) join() (string, bool) {
	if p.acceptSymbol(",") {
		return ",", true
	}
	for _, j := range []struct {
		words []string
		join  string
	}{
		{[]string{"join"}, "INNER JOIN"},
		{[]string{"inner", "join"}, "INNER JOIN"},
		{[]string{"left", "join"}, "LEFT JOIN"},
		{[]string{"left", "outer", "join"}, "LEFT JOIN"},
		{[]string{"right", "join"}, "RIGHT JOIN"},
		{[]string{"right", "outer", "join"}, "RIGHT JOIN"},
		{[]string{"full", "join"}, "FULL JOIN"},
		{[]string{"full", "outer", "join"}, "FULL JOIN"},
		{[]string{"cross", "join"}, "CROSS JOIN"},
	} {
		if p.accept(j.words...) {
			return j.join, true
		}
	}
	return "", false
}

func (p *parser) condition(s *source) (err *fault) {
	if s.join == "," || s.join == "CROSS JOIN" {
		return nil
	}
	switch {
	case p.accept("on"):
		s.on, err = p.expr()
	case p.accept("using"):
		s.using, err = p.names()
	default:
		err = p.unexpected("a join needs ON a condition, or USING (column)")
	}
	return err
}

func (p *parser) source() (*source, *fault) {
	t := p.peek()
	s := &source{at: t.at, lateral: p.accept("lateral")}
	if p.rels++; p.rels > maxRelations {
		return nil, faultf(t.at, "the statement reads more than %d relations", maxRelations)
	}
	var err *fault
	if p.acceptSymbol("(") {
		err = p.inParentheses(s)
	} else {
		err = p.named(s)
	}
	if err != nil {
		return nil, err
	}
	return s, p.alias(s)
}

// inParentheses parses a derived table.
func (p *parser) inParentheses(s *source) (err *fault) {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	if !p.is("select") && !p.is("with") && !p.isSymbol("(") {
		return p.unexpected("a SELECT stands in parentheses in FROM; write joins without them")
	}
	if s.sub, err = p.query(); err != nil {
		return err
	}
	return p.expectSymbol(")")
}

// named parses a table, a CTE or a function.
func (p *parser) named(s *source) *fault {
	t := p.peek()
	n, err := p.ident("the name of a table, or a query in parentheses")
	if err != nil {
		return err
	}
	if p.isSymbol(".") {
		return faultf(t.at, "%q: schemas and catalogs cannot be named; write the table alone", n)
	}
	if !p.isSymbol("(") {
		s.table = n
		return nil
	}
	e, err := p.call(t)
	if err != nil {
		return err
	}
	c, ok := e.(*call)
	if !ok || !c.spec.set {
		return faultf(t.at, "%s() is not available in FROM; available are: %s", t.text, setFunctions())
	}
	if c.distinct || c.star || c.order != nil || c.filter != nil || c.over != nil {
		return faultf(t.at, "a function in FROM takes plain arguments only")
	}
	s.fn = c
	if p.accept("with") {
		if !p.accept("ordinality") {
			return p.unexpected("write ORDINALITY")
		}
		s.ordinality = true
	}
	return nil
}

func (p *parser) alias(s *source) (err *fault) {
	if p.is("tablesample") {
		return p.unexpected("")
	}
	if p.accept("as") {
		if s.alias, err = p.ident("an alias"); err != nil {
			return err
		}
	} else if t := p.peek(); t.kind == name || t.kind == word && !isReserved(t.text) {
		s.alias = p.next().text
	}
	if s.alias == "" {
		if s.sub != nil {
			return p.unexpected("a query in FROM needs an alias: (SELECT …) AS t")
		}
		s.alias = s.table
		if s.fn != nil {
			s.alias = s.fn.name
		}
		return nil
	}
	if p.isSymbol("(") {
		s.columns, err = p.names()
	}
	return err
}
