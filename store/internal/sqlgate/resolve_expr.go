package sqlgate

import "strings"

// expr resolves an expression and gives it its type.
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

// class puts types together that compare with one another.
func class(t Type) Type {
	switch t {
	case Integer, Whole:
		return Number
	case Date:
		return Timestamp
	}
	return t
}

func fits(got, wanted Type) bool {
	return got == Unknown || got == Any || wanted == Any || wanted == Unknown || class(got) == class(wanted) && !(wanted == Integer && got != Integer)
}

// want checks an operand and gives a literal the type that it is taken for.
func want(e expr, t Type, where string) *fault {
	i := e.base()
	if !fits(i.typ, t) {
		return faultf(i.at, "%s takes %s, this is %s; cast it: (…)::%s", where, article(t), article(i.typ), castName(t))
	}
	return literalAs(e, t)
}

func castName(t Type) string {
	switch t {
	case Integer:
		return "int"
	case Whole, Number:
		return "numeric"
	case JSON:
		return "jsonb"
	}
	return t.String()
}

func article(t Type) string {
	switch t {
	case Text, JSON:
		return t.String()
	case Integer, Interval, Array:
		return "an " + t.String()
	case Any:
		return "a value"
	}
	return "a " + t.String()
}

// literalAs gives a text in quotes the type of its surroundings.
func literalAs(e expr, t Type) *fault {
	l, ok := e.(*literal)
	if !ok || l.kind != str || l.typ != Unknown && l.typ != Text || t == Any || t == Unknown {
		return nil
	}
	if t == Timestamp || t == Date {
		if _, ok := ParseTime(l.text); !ok && !relative(l.text) {
			return faultf(l.at, "%.40q is no time; write it like '2026-01-31' or '2026-01-31T12:00:00Z'", l.text)
		}
	}
	l.typ = t
	return nil
}

// relative are the words that PostgreSQL takes for a time.
func relative(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "now", "today", "yesterday", "tomorrow":
		return true
	}
	return false
}

// comparable checks that values may be compared, and gives literals their type.
func comparable(op string, es ...expr) *fault {
	t := Unknown
	for _, e := range es {
		if et := e.base().typ; et != Unknown && et != Any && (t == Unknown || t == Date && et == Timestamp || class(et) == Number && et > t) {
			t = et
		}
	}
	for _, e := range es {
		if et := e.base().typ; t != Unknown && et != Unknown && et != Any && class(et) != class(t) {
			return faultf(e.base().at, "%s compares %s with %s; cast one of them: (…)::%s", op, article(t), article(et), castName(t))
		}
		if err := literalAs(e, t); err != nil {
			return err
		}
	}
	return nil
}

func (e *binary) infer() *fault {
	l, r := e.l.base().typ, e.r.base().typ
	e.typ = Boolean
	switch e.op {
	case "AND", "OR":
		if err := want(e.l, Boolean, e.op); err != nil {
			return err
		}
		return want(e.r, Boolean, e.op)
	case "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		return comparable(e.op, e.l, e.r)
	case "~", "~*", "!~", "!~*":
		if err := want(e.l, Text, e.op); err != nil {
			return err
		}
		return want(e.r, Text, e.op)
	case "||":
		e.typ = Text
		if l == JSON && (r == JSON || r == Unknown) || r == JSON && l == Unknown {
			e.typ = JSON
		} else if l == JSON || r == JSON {
			return faultf(e.at, "|| joins two texts or two JSON values; cast one: (…)::text")
		}
		return nil
	case "->", "#>":
		e.typ = JSON
		return e.path(l, r)
	case "->>", "#>>":
		e.typ = Text
		return e.path(l, r)
	case "@>", "<@", "?", "?|", "?&", "&&":
		return e.contains(l, r)
	}
	return e.arithmetic(l, r)
}

func (e *binary) path(l, r Type) *fault {
	if err := want(e.l, JSON, e.op); err != nil {
		return err
	}
	if strings.HasPrefix(e.op, "#") {
		return want(e.r, Text, e.op)
	}
	if !fits(r, Text) && !fits(r, Integer) {
		return faultf(e.r.base().at, "%s takes a key in quotes or the number of an element", e.op)
	}
	return literalAs(e.r, Text)
}

func (e *binary) contains(l, r Type) *fault {
	if err := want(e.l, JSON, e.op); err != nil && !(e.op == "<@" && l == Array) {
		return err
	}
	switch e.op {
	case "?":
		return want(e.r, Text, e.op)
	case "?|", "?&":
		if r != Array {
			return faultf(e.r.base().at, "%s takes a list: ARRAY['a', 'b']", e.op)
		}
	case "&&":
		// p8's lists are JSON; what was meant is that they share an element.
		if r != Array {
			return faultf(e.r.base().at, "&& takes a list: ARRAY['a', 'b']")
		}
		e.op = "?|"
	default:
		if r != Array {
			return want(e.r, JSON, e.op)
		}
	}
	return nil
}

func (e *binary) arithmetic(l, r Type) *fault {
	times := func(t Type) bool { return t == Timestamp || t == Date }
	switch {
	case times(l) && r == Interval && (e.op == "+" || e.op == "-"), l == Interval && times(r) && e.op == "+":
		e.typ = Timestamp
		return nil
	case times(l) && r == Unknown && e.op == "-" && isText(e.r):
		if err := literalAs(e.r, Timestamp); err != nil {
			return faultf(e.r.base().at, "write INTERVAL %s before the text to subtract a length of time", "'…'")
		}
		r = Timestamp
		fallthrough
	case times(l) && times(r) && e.op == "-":
		e.typ = Interval
		if l == Date && r == Date {
			e.typ = Integer
		}
		return nil
	case l == Date && r == Integer && (e.op == "+" || e.op == "-"):
		e.typ = Date
		return nil
	case l == Interval && r == Interval && (e.op == "+" || e.op == "-"):
		e.typ = Interval
		return nil
	case l == Interval && class(r) == Number && (e.op == "*" || e.op == "/"), class(l) == Number && r == Interval && e.op == "*":
		e.typ = Interval
		return nil
	}
	if err := want(e.l, Number, e.op); err != nil {
		return err
	}
	if err := want(e.r, Number, e.op); err != nil {
		return err
	}
	e.typ = Number
	if l == Integer && r == Integer && e.op != "^" {
		e.typ = Integer
	}
	return nil
}

func isText(e expr) bool {
	l, ok := e.(*literal)
	return ok && l.kind == str
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

// against compares a value with a query's only column.
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

// sameType is the type of a value that is one of several.
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
