package sqlgate

import "strings"

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
		// p8's lists are JSON; && means that they share an element.
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
