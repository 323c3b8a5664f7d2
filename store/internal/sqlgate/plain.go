package sqlgate

// Plain reports whether the statement's conditions only compare columns with constants,
// over tables alone. An engine may evaluate such conditions before it filters out the
// rows of other callers: they cannot fail, take long or call a function, so they reveal
// nothing about those rows.
func (q *Query) Plain() bool {
	c, ok := q.root.body.(*core)
	if !ok || q.root.with != nil {
		return false
	}
	for _, s := range c.from {
		if s.rel == nil || s.rel.table == "" || s.on != nil && !simple(s.on) {
			return false
		}
	}
	return simple(c.where) && simple(c.having)
}

func simple(es ...expr) bool {
	for _, e := range es {
		ok := true
		switch e := e.(type) {
		case nil, *literal, *column:
		case *binary:
			switch e.op {
			case "AND", "OR", "=", "<>", "<", "<=", ">", ">=":
				ok = simple(e.l, e.r) && e.l.base().typ != JSON && e.r.base().typ != JSON
			default:
				ok = isNow(e)
			}
		case *unary:
			ok = simple(e.x)
		case *test:
			ok = simple(e.x)
		case *between:
			ok = simple(e.x, e.lo, e.hi)
		case *in:
			ok = e.sub == nil && simple(e.x) && simple(e.list...)
		default:
			ok = isNow(e)
		}
		if !ok {
			return false
		}
	}
	return true
}

// isNow reports whether an expression is a time that depends on no row.
func isNow(e expr) bool {
	switch e := e.(type) {
	case *call:
		return len(e.args) == 0 && (e.typ == Timestamp || e.typ == Date)
	case *binary:
		_, ok := constant(e.r)
		return ok && isNow(e.l) && (e.op == "-" || e.op == "+")
	}
	return false
}
