package sqlgate

import "strings"

// class returns one type for all types that compare with one another.
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

// want checks the type of an operand and sets that of a literal.
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

// literalAs sets the type of a text in quotes to that of its surroundings.
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

// relative reports whether a text is a word that PostgreSQL reads as a time.
func relative(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "now", "today", "yesterday", "tomorrow":
		return true
	}
	return false
}

// comparable checks that values may be compared, and sets the types of literals.
func comparable(op string, es ...expr) *fault {
	t := Unknown
	for _, e := range es {
		if et := e.base().typ; et != Unknown && et != Any && (t == Unknown || t == Date && et == Timestamp || class(et) == Number && class(t) == Number && et > t) {
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
