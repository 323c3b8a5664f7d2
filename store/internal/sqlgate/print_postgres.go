package sqlgate

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxText bounds the results of functions that make long texts from short ones, in
// characters: nested calls could fill the server's memory.
const maxText = "100000"

// expr prints an expression for either engine.
func (p *printer) expr(e expr) {
	p.mark(e.base().at)
	if p.lite != nil {
		p.liteExpr(e)
		return
	}
	p.put("(")
	defer p.put(")")
	switch e := e.(type) {
	case *literal:
		p.literal(e)
	case *column:
		p.column(e)
		if e.typ == JSON && e.same == nil {
			// A column may be JSON, which has no operators.
			p.put("::jsonb")
		}
	case *binary:
		p.binary(e)
	case *quantified:
		p.quantified(e)
	case *cast:
		p.cast(e)
	case *call:
		p.call(e)
	case *interval:
		p.put("INTERVAL '", fmt.Sprintf("%d months %d days %d microseconds", e.months, e.days, e.micros), "'")
	case *array:
		p.put("ARRAY[")
		p.list(e.elems)
		p.put("]")
	case *atZone:
		p.expr(e.x)
		p.put(" AT TIME ZONE ")
		p.expr(e.zone)
	default:
		p.plain(e)
	}
}

// plain prints the expressions that are the same in both dialects.
func (p *printer) plain(e expr) {
	switch e := e.(type) {
	case *unary:
		p.put(e.op, " ")
		p.expr(e.x)
	case *test:
		p.expr(e.x)
		p.put(" IS ", not(e.not), e.what)
	case *between:
		t := commonOf(e.x, e.lo, e.hi)
		p.as(e.x, t)
		p.put(" ", not(e.not), "BETWEEN ")
		p.as(e.lo, t)
		p.collate(t)
		p.put(" AND ")
		p.as(e.hi, t)
		p.collate(t)
	case *in:
		t := commonOf(append([]expr{e.x}, e.list...)...)
		p.as(e.x, t)
		p.put(" ", not(e.not), "IN (")
		if e.sub != nil {
			p.query(e.sub)
		}
		for i, x := range e.list {
			if i > 0 {
				p.put(", ")
			}
			p.as(x, t)
		}
		p.put(")")
	case *like:
		p.expr(e.x)
		p.put(" ", not(e.not))
		if e.fold {
			p.put("I")
		}
		p.put("LIKE ")
		p.expr(e.pattern)
		if e.escape != nil {
			p.put(" ESCAPE ")
			p.expr(e.escape)
		}
	case *caseOf:
		p.caseOf(e)
	case *subquery:
		if e.exists {
			p.put("EXISTS ")
		}
		p.put("(")
		p.query(e.q)
		p.put(")")
	}
}

func not(n bool) string {
	if n {
		return "NOT "
	}
	return ""
}

// collate makes PostgreSQL compare texts as SQLite does.
func (p *printer) collate(t Type) {
	if p.lite == nil && t == Text {
		p.put(` COLLATE "C"`)
	}
}

// commonOf returns the type in which values are compared.
func commonOf(es ...expr) Type {
	t := Unknown
	for _, e := range es {
		t = common(t, e.base().typ)
	}
	return t
}

// as prints a value that is compared as type t.
func (p *printer) as(e expr, t Type) {
	if p.lite != nil && t == Timestamp && e.base().typ == Date {
		p.put("(")
		p.expr(e)
		p.put(" || ' 00:00:00.000000')")
		return
	}
	p.expr(e)
}

func (p *printer) literal(e *literal) {
	if e.kind != str {
		p.put(strings.ToUpper(e.text))
		return
	}
	text := e.text
	switch e.typ {
	case Timestamp, Date:
		if t, ok := ParseTime(text); ok {
			text = t.Format(Layout + "Z07:00")
		}
		p.put(quoteText(text), "::timestamptz")
		if e.typ == Date {
			p.put("::date")
		}
	case JSON:
		p.put(quoteText(text), "::jsonb")
	default:
		p.put(quoteText(text))
	}
}

func (p *printer) binary(e *binary) {
	op := e.op
	switch op {
	case "||":
		if e.typ == Text {
			p.put("left(")
			defer p.put(", ", maxText, ")")
		}
	case "@>", "<@":
		p.jsonList(e.l)
		p.put(" ", op, " ")
		p.jsonList(e.r)
		return
	}
	p.expr(e.l)
	p.put(" ", op, " ")
	p.expr(e.r)
	if (op[0] == '<' || op[0] == '>') && op != "<>" && e.l.base().typ == Text && e.r.base().typ == Text {
		p.collate(Text)
	}
}

// jsonList prints a list as JSON.
func (p *printer) jsonList(e expr) {
	if a, ok := e.(*array); ok {
		p.put(quoteText(a.json()), "::jsonb")
		return
	}
	p.expr(e)
}

func (a *array) json() string {
	var list []string
	for _, x := range a.elems {
		list = append(list, x.(*literal).text)
	}
	b, _ := json.Marshal(list)
	return string(b)
}

func (p *printer) quantified(e *quantified) {
	if e.y != nil && e.y.base().typ == JSON {
		p.expr(e.y)
		p.put(" ? (")
		p.expr(e.x)
		p.put(")::text")
		return
	}
	p.expr(e.x)
	p.put(" ", e.op, " ")
	if e.all {
		p.put("ALL (")
	} else {
		p.put("ANY (")
	}
	if e.sub != nil {
		p.query(e.sub)
	} else {
		p.expr(e.y)
	}
	p.put(")")
}

func (p *printer) cast(e *cast) {
	p.expr(e.x)
	p.put("::", e.to)
	for i, n := range e.args {
		if i == 0 {
			p.put("(")
		} else {
			p.put(",")
		}
		p.put(fmt.Sprint(n))
		if i == len(e.args)-1 {
			p.put(")")
		}
	}
}

func (p *printer) caseOf(e *caseOf) {
	p.put("CASE")
	t := Unknown
	if e.operand != nil {
		t = e.operand.base().typ
		for _, w := range e.whens {
			t = common(t, w[0].base().typ)
		}
		p.put(" ")
		p.as(e.operand, t)
	}
	for _, w := range e.whens {
		p.put(" WHEN ")
		p.as(w[0], t)
		p.put(" THEN ")
		p.as(w[1], e.typ)
	}
	if e.other != nil {
		p.put(" ELSE ")
		p.as(e.other, e.typ)
	}
	p.put(" END")
}
