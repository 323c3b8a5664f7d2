package sqlgate

import (
	"fmt"
	"math"
	"strconv"
)

func (p *printer) liteArithmetic(e *binary, l, r Type) {
	switch {
	case e.typ == Timestamp:
		ts, iv := e.l, e.r
		if l == Interval {
			ts, iv = iv, ts
		}
		i, ok := constant(iv)
		if !ok {
			p.only(iv.base().at, "a computed interval")
		}
		sign := int64(1)
		if e.op == "-" {
			sign = -1
		}
		p.put("p8_add(")
		p.timestamp(ts)
		p.put(fmt.Sprintf(", %d, %d, %d)", sign*i.months, sign*i.days, sign*i.micros))
	case e.typ == Interval:
		p.only(e.at, "an interval as a value (write EXTRACT(EPOCH FROM a - b) for the seconds between two times)")
	case e.typ == Date:
		p.wrap("date(", e.l, ", ")
		p.put("CAST(")
		if e.op == "-" {
			p.put("-")
		}
		p.expr(e.r)
		p.put(" AS TEXT) || ' days')")
	case l == Date && r == Date:
		p.put("CAST(julianday(")
		p.expr(e.l)
		p.put(") - julianday(")
		p.expr(e.r)
		p.put(") AS INTEGER)")
	case e.op == "/" && e.typ == Number && l != Number && r != Number:
		p.wrap("CAST(", e.l, " AS REAL) / ")
		p.expr(e.r)
	default:
		p.infix(e)
	}
}

// constant returns an interval made of constants.
func constant(e expr) (interval, bool) {
	switch e := e.(type) {
	case *interval:
		return *e, true
	case *unary:
		i, ok := constant(e.x)
		if e.op == "-" {
			i.months, i.days, i.micros = -i.months, -i.days, -i.micros
		}
		return i, ok
	case *binary:
		if e.op == "*" {
			iv, n := e.l, e.r
			if _, ok := iv.(*literal); ok {
				iv, n = n, iv
			}
			l, ok := n.(*literal)
			if !ok {
				return interval{}, false
			}
			i, ok := constant(iv)
			if !ok {
				return i, false
			}
			v, err := strconv.ParseInt(l.text, 10, 20)
			i.months, i.days, i.micros = i.months*v, i.days*v, i.micros*v
			return i, err == nil
		}
		a, ok := constant(e.l)
		b, also := constant(e.r)
		sign := int64(1)
		if e.op == "-" {
			sign = -1
		}
		if e.op != "+" && e.op != "-" {
			return a, false
		}
		a.months, a.days, a.micros = a.months+sign*b.months, a.days+sign*b.days, a.micros+sign*b.micros
		return a, ok && also
	}
	return interval{}, false
}

// seconds prints a length of time as a number; a month has 30 days, as when PostgreSQL
// compares intervals.
func (p *printer) seconds(e expr) {
	if i, ok := constant(e); ok {
		s := float64(i.months)*30*86400 + float64(i.days)*86400 + float64(i.micros)/1e6
		if math.IsInf(s, 0) {
			s = 0
		}
		p.put(strconv.FormatFloat(s, 'f', 6, 64))
		return
	}
	b, ok := e.(*binary)
	if !ok || b.op != "-" || class(b.l.base().typ) != Timestamp {
		p.only(e.base().at, "a computed interval")
		return
	}
	p.put("p8_seconds(")
	p.timestamp(b.l)
	p.put(", ")
	p.timestamp(b.r)
	p.put(")")
}
