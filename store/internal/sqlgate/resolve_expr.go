package sqlgate

// expr resolves an expression and sets its type.
func (r *resolver) expr(e expr, s *scope) *fault {
	switch e := e.(type) {
	case *literal, *interval, *array:
		return nil
	case *star:
		return faultf(e.at, "a star stands only in the SELECT list and in count(*)")
	case *column:
		return r.column(e, s)
	case *unary:
		return r.unary(e, s)
	case *binary:
		if err := r.all(s, e.l, e.r); err != nil {
			return err
		}
		return e.infer()
	case *test:
		e.typ = Boolean
		if err := r.expr(e.x, s); err != nil {
			return err
		}
		if e.what != "NULL" {
			return want(e.x, Boolean, "IS "+e.what)
		}
		return nil
	case *between:
		e.typ = Boolean
		if err := r.all(s, e.x, e.lo, e.hi); err != nil {
			return err
		}
		return comparable("BETWEEN", e.x, e.lo, e.hi)
	case *in:
		return r.in(e, s)
	case *like:
		return r.like(e, s)
	case *quantified:
		return r.quantified(e, s)
	case *cast:
		if err := r.expr(e.x, s); err != nil {
			return err
		}
		return e.check()
	case *call:
		return r.call(e, s)
	case *caseOf:
		return r.caseOf(e, s)
	case *subquery:
		if err := r.query(e.q, s); err != nil {
			return err
		}
		if e.exists {
			e.typ = Boolean
			return nil
		}
		if len(e.q.outputs) != 1 {
			return faultf(e.at, "a query in an expression has one column; this has %d", len(e.q.outputs))
		}
		e.typ = e.q.outputs[0].Type
		return nil
	case *atZone:
		e.typ = Timestamp
		if err := r.all(s, e.x, e.zone); err != nil {
			return err
		}
		return want(e.x, Timestamp, "AT TIME ZONE")
	}
	return faultf(e.base().at, "this is not understood")
}

func (r *resolver) all(s *scope, es ...expr) *fault {
	for _, e := range es {
		if e == nil {
			continue
		}
		if err := r.expr(e, s); err != nil {
			return err
		}
	}
	return nil
}

func (r *resolver) unary(e *unary, s *scope) *fault {
	if err := r.expr(e.x, s); err != nil {
		return err
	}
	if e.op == "NOT" {
		e.typ = Boolean
		return want(e.x, Boolean, "NOT")
	}
	e.typ = e.x.base().typ
	if e.typ == Interval {
		return nil
	}
	return want(e.x, Number, "the sign "+e.op)
}

func (r *resolver) in(e *in, s *scope) *fault {
	e.typ = Boolean
	if err := r.expr(e.x, s); err != nil {
		return err
	}
	if e.sub != nil {
		return r.against(e.at, e.x, e.sub, s)
	}
	if err := r.all(s, e.list...); err != nil {
		return err
	}
	return comparable("IN", append([]expr{e.x}, e.list...)...)
}

// against checks that a value is comparable with a query's only column.
func (r *resolver) against(at int, x expr, sub *query, s *scope) *fault {
	if err := r.query(sub, s); err != nil {
		return err
	}
	if len(sub.outputs) != 1 {
		return faultf(at, "the query has one column here; this has %d", len(sub.outputs))
	}
	other := &literal{info: info{at, sub.outputs[0].Type}}
	return comparable("IN", x, other)
}

func (r *resolver) like(e *like, s *scope) *fault {
	e.typ = Boolean
	if err := r.all(s, e.x, e.pattern, e.escape); err != nil {
		return err
	}
	op := "LIKE"
	if e.fold {
		op = "ILIKE"
	}
	if l, ok := e.escape.(*literal); e.escape != nil && (!ok || l.kind != str || len([]rune(l.text)) != 1) {
		return faultf(e.escape.base().at, "ESCAPE takes one character in quotes")
	}
	if err := want(e.x, Text, op); err != nil {
		return err
	}
	return want(e.pattern, Text, op)
}

func (r *resolver) quantified(e *quantified, s *scope) *fault {
	e.typ = Boolean
	if err := r.expr(e.x, s); err != nil {
		return err
	}
	if e.sub != nil {
		return r.against(e.at, e.x, e.sub, s)
	}
	if err := r.expr(e.y, s); err != nil {
		return err
	}
	t := e.y.base().typ
	if e.op != "=" || e.all || t != JSON && t != Array {
		return faultf(e.at, "%s ANY/ALL takes a query here, and = ANY a list (a JSON column, or ARRAY['a', 'b'])", e.op)
	}
	return want(e.x, Text, "= ANY")
}

func (r *resolver) caseOf(e *caseOf, s *scope) *fault {
	if err := r.all(s, e.operand, e.other); err != nil {
		return err
	}
	results := []expr{}
	for _, w := range e.whens {
		if err := r.all(s, w[0], w[1]); err != nil {
			return err
		}
		if e.operand == nil {
			if err := want(w[0], Boolean, "WHEN"); err != nil {
				return err
			}
		} else if err := comparable("CASE", e.operand, w[0]); err != nil {
			return err
		}
		results = append(results, w[1])
	}
	if e.other != nil {
		results = append(results, e.other)
	}
	var err *fault
	e.typ, err = sameType("CASE", results)
	return err
}

// sameType returns the type of a value that is one of several.
func sameType(where string, es []expr) (Type, *fault) {
	t := Unknown
	for _, e := range es {
		et := e.base().typ
		if t != Unknown && et != Unknown && t != Any && et != Any && class(t) != class(et) {
			return t, faultf(e.base().at, "%s gives %s here and %s elsewhere; cast one of them: (…)::%s", where, article(et), article(t), castName(t))
		}
		t = common(t, et)
	}
	for _, e := range es {
		if err := literalAs(e, t); err != nil {
			return t, err
		}
	}
	if t == Unknown {
		t = Text
	}
	return t, nil
}
