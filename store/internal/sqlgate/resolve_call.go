package sqlgate

// call resolves a function's arguments and the type of its value.
func (r *resolver) call(c *call, s *scope) *fault {
	if c.spec.set {
		return faultf(c.at, "%s() gives rows; write it in FROM: FROM resources AS r, %s(r.tags) AS tag", c.name, c.name)
	}
	if err := r.all(s, c.args...); err != nil {
		return err
	}
	for i := range c.args {
		if err := r.argument(c, i); err != nil {
			return err
		}
	}
	for _, o := range append(c.order, c.within...) {
		if err := r.expr(o.e, s); err != nil {
			return err
		}
	}
	if c.filter != nil {
		if err := r.condition(c.filter, s, nil); err != nil {
			return err
		}
	}
	if c.over != nil {
		if c.distinct || c.order != nil || c.within != nil {
			return faultf(c.at, "%s() OVER takes no DISTINCT, ORDER BY or WITHIN GROUP inside", c.name)
		}
		if err := r.window(c.over, s); err != nil {
			return err
		}
	}
	return c.infer()
}

// argument checks an argument's type.
func (r *resolver) argument(c *call, i int) *fault {
	if len(c.spec.params) == 0 {
		return nil
	}
	t := c.spec.params[min(i, len(c.spec.params)-1)]
	a := c.args[i]
	if it := a.base().typ; t == Timestamp && it == Interval && (c.name == "extract" || c.name == "date_part") {
		return nil
	}
	return want(a, t, c.name+"()")
}

func (c *call) infer() *fault {
	c.typ = c.spec.result
	switch c.name {
	case "coalesce", "greatest", "least":
		var err *fault
		c.typ, err = sameType(c.name+"()", c.args)
		return err
	case "nullif":
		c.typ = c.args[0].base().typ
		return comparable("nullif()", c.args...)
	case "percentile_disc", "mode":
		c.typ = c.within[0].e.base().typ
		return nil
	}
	if c.spec.sameAs > 0 {
		c.typ = c.args[c.spec.sameAs-1].base().typ
		if c.name == "lag" || c.name == "lead" {
			if len(c.args) == 3 {
				return comparable(c.name+"()", c.args[0], c.args[2])
			}
		}
		if c.name == "mod" && c.args[1].base().typ != Integer {
			c.typ = Number
		}
	}
	if c.name == "sum" && c.typ == Integer {
		c.typ = Whole
	}
	if c.typ == Unknown {
		c.typ = Text
	}
	return nil
}

// check refuses casts that PostgreSQL does not know.
func (e *cast) check() *fault {
	from, to := e.x.base().typ, e.typ
	if l, ok := e.x.(*literal); ok && l.kind == str && l.typ == Unknown {
		return literalAs(l, to)
	}
	bad := false
	switch to {
	case Integer, Number:
		bad = from == Timestamp || from == Date || from == Interval || from == Array || from == Boolean && e.to != "int" && e.to != "integer" && e.to != "int4"
	case Boolean:
		bad = from == Timestamp || from == Date || from == Interval || from == Array || from == Number || from == Whole
	case Timestamp, Date:
		bad = class(from) == Number || from == Boolean || from == JSON || from == Interval || from == Array
	case Interval:
		bad = from != Text && from != Interval && from != Any && from != Unknown
	case JSON:
		bad = from != Text && from != JSON && from != Any && from != Unknown
	}
	if bad {
		hint := ""
		if to == Timestamp && class(from) == Number {
			hint = "; seconds since 1970 become a time with to_timestamp(…)"
		}
		return faultf(e.at, "%s cannot be cast to %s%s", article(from), article(to), hint)
	}
	return nil
}
