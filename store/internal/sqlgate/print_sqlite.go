package sqlgate

import (
	"fmt"
	"strings"
	"time"
)

// liteExpr prints an expression so that SQLite computes PostgreSQL's value.
func (p *printer) liteExpr(e expr) {
	p.put("(")
	defer p.put(")")
	switch e := e.(type) {
	case *literal:
		p.liteLiteral(e)
	case *column:
		p.column(e)
	case *unary:
		p.plain(e)
	case *binary:
		p.liteBinary(e)
	case *test:
		p.plain(e)
	case *between:
		p.plain(e)
	case *like:
		p.liteLike(e)
	case *quantified:
		p.liteQuantified(e)
	case *cast:
		p.liteCast(e)
	case *call:
		p.liteCall(e)
	case *interval:
		p.only(e.at, "an interval by itself")
	case *array:
		p.put("json_array(")
		p.list(e.elems)
		p.put(")")
	case *atZone:
		if l, ok := e.zone.(*literal); !ok || !strings.EqualFold(l.text, "utc") && !strings.EqualFold(l.text, "gmt") {
			p.only(e.at, "AT TIME ZONE with another zone than 'UTC'")
		}
		p.timestamp(e.x)
	default:
		p.plain(e)
	}
}

func (p *printer) liteLiteral(e *literal) {
	if e.kind != str {
		text := strings.ToUpper(e.text)
		if e.typ == Number && !strings.ContainsAny(text, ".E") {
			text += ".0"
		}
		p.put(text)
		return
	}
	text := e.text
	if e.typ == Timestamp || e.typ == Date {
		t, ok := ParseTime(text)
		if !ok {
			t = p.relative(text)
		}
		text = t.Format(Layout)
		if e.typ == Date {
			text = t.Format(dateLayout)
		}
	}
	switch e.typ {
	case Integer, Whole:
		p.put("p8_int(", quoteText(text), ")")
	case Number:
		p.put("p8_number(", quoteText(text), ")")
	case Boolean:
		p.put("p8_bool(", quoteText(text), ")")
	case JSON:
		p.put("p8_json(", quoteText(text), ")")
	default:
		p.put(quoteText(text))
	}
}

func (p *printer) relative(s string) time.Time {
	now := p.lite.Now.UTC()
	day := now.Truncate(24 * time.Hour)
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "today":
		return day
	case "yesterday":
		return day.AddDate(0, 0, -1)
	case "tomorrow":
		return day.AddDate(0, 0, 1)
	}
	return now
}

func (p *printer) timestamp(e expr) { p.as(e, Timestamp) }

// text prints a value as PostgreSQL writes it.
func (p *printer) text(e expr) {
	switch e.base().typ {
	case Boolean:
		p.wrap("p8_bool_string(", e, ")")
	case JSON:
		p.wrap("p8_json_string(", e, ")")
	case Number:
		p.wrap("p8_number_string(", e, ")")
	case Timestamp:
		p.wrap("p8_time_string(", e, ")")
	case Integer, Whole:
		p.wrap("CAST(", e, " AS TEXT)")
	default:
		p.expr(e)
	}
}

func (p *printer) liteBinary(e *binary) {
	l, r := e.l.base().typ, e.r.base().typ
	switch e.op {
	case "AND", "OR":
		p.infix(e)
	case "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM":
		if l == Interval || r == Interval {
			p.seconds(e.l)
			p.put(" ", e.op, " ")
			p.seconds(e.r)
			return
		}
		t := common(l, r)
		if t == JSON {
			p.wrap("p8_json_string(", e.l, ") "+e.op+" ")
			p.wrap("p8_json_string(", e.r, ")")
			return
		}
		p.as(e.l, t)
		p.put(" ", e.op, " ")
		p.as(e.r, t)
	case "||":
		if e.typ == JSON {
			p.only(e.at, "|| of JSON")
		}
		p.text(e.l)
		p.put(" || ")
		p.text(e.r)
	case "->":
		p.key(e.l, e.r)
	case "->>":
		p.put("p8_json_text(")
		p.key(e.l, e.r)
		p.put(")")
	case "#>", "#>>":
		p.path(e)
	case "@>":
		p.contains(e.l, e.r)
	case "<@":
		p.contains(e.r, e.l)
	case "?":
		p.pair("p8_json_has", e.l, e.r)
	case "?|":
		p.pair("p8_json_any", e.l, e.r)
	case "?&":
		p.pair("p8_json_all", e.l, e.r)
	case "~", "~*", "!~", "!~*":
		if e.op[0] == '!' {
			p.put("NOT ")
		}
		if strings.HasSuffix(e.op, "*") {
			p.pair("p8_regex_fold", e.l, e.r)
		} else {
			p.pair("p8_regex", e.l, e.r)
		}
	case "^":
		p.pair("power", e.l, e.r)
	case "%":
		if e.typ == Number {
			p.pair("mod", e.l, e.r)
			return
		}
		p.infix(e)
	default:
		p.liteArithmetic(e, l, r)
	}
}

func (p *printer) infix(e *binary) {
	p.expr(e.l)
	p.put(" ", e.op, " ")
	p.expr(e.r)
}

func (p *printer) pair(name string, a, b expr) {
	p.put(name, "(")
	p.expr(a)
	p.put(", ")
	p.expr(b)
	p.put(")")
}

func (p *printer) liteLike(e *like) {
	p.put(not(e.not), "p8_like(")
	p.expr(e.x)
	p.put(", ")
	p.expr(e.pattern)
	p.put(", ")
	if e.escape == nil {
		p.put(`'\'`)
	} else {
		p.expr(e.escape)
	}
	if e.fold {
		p.put(", 1)")
	} else {
		p.put(", 0)")
	}
}

func (p *printer) liteQuantified(e *quantified) {
	if e.y != nil {
		p.pair("p8_json_has", e.y, e.x)
		return
	}
	if e.op != "=" || e.all {
		p.only(e.at, e.op+" ANY/ALL (SELECT …), other than = ANY")
	}
	p.expr(e.x)
	p.put(" IN (")
	p.query(e.sub)
	p.put(")")
}

func (p *printer) liteCast(e *cast) {
	from := e.x.base().typ
	if l, ok := e.x.(*literal); ok && l.kind == str && (e.typ == Timestamp || e.typ == Date) {
		p.liteLiteral(l)
		return
	}
	textual := class(from) != Number && from != Boolean
	switch e.typ {
	case Text:
		if len(e.args) == 1 {
			p.put("p8_left(")
			defer p.put(", ", fmt.Sprint(e.args[0]), ")")
		}
		p.text(e.x)
	case Integer:
		switch {
		case from == Number || from == Whole:
			p.wrap("CAST(p8_round(", e.x, ") AS INTEGER)")
		case textual:
			p.wrap("p8_int(", e.x, ")")
		default:
			p.expr(e.x)
		}
	case Number:
		switch {
		case len(e.args) > 0:
			scale := "0"
			if len(e.args) == 2 {
				scale = fmt.Sprint(e.args[1])
			}
			p.wrap("p8_round(p8_number(", e.x, "), "+scale+")")
		case textual:
			p.wrap("p8_number(", e.x, ")")
		default:
			p.wrap("CAST(", e.x, " AS REAL)")
		}
	case Boolean:
		switch {
		case from == Integer:
			p.wrap("", e.x, " <> 0")
		case textual:
			p.wrap("p8_bool(", e.x, ")")
		default:
			p.expr(e.x)
		}
	case Timestamp:
		if class(from) == Timestamp {
			p.timestamp(e.x)
		} else {
			p.wrap("p8_time(", e.x, ")")
		}
	case Date:
		if class(from) == Timestamp {
			p.wrap("substr(", e.x, ", 1, 10)")
		} else {
			p.wrap("substr(p8_time(", e.x, "), 1, 10)")
		}
	case JSON:
		if from == JSON {
			p.expr(e.x)
		} else {
			p.wrap("p8_json(", e.x, ")")
		}
	default:
		p.only(e.at, "a cast to "+e.to)
	}
}
