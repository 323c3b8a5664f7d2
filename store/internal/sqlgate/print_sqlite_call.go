package sqlgate

import (
	"strings"
)

// liteCall prints a call of SQLite's function, or of the engine's own, that computes
// PostgreSQL's value.
func (p *printer) liteCall(c *call) {
	name := c.spec.lite
	if name == "" {
		name = c.name
	}
	switch {
	case name == "-":
		p.only(c.at, c.name+"()")
	case c.typ == Timestamp && len(c.args) == 0:
		p.put(quoteText(p.lite.Now.UTC().Format(Layout)))
	case c.name == "current_date":
		p.put(quoteText(p.lite.Now.UTC().Format(dateLayout)))
	case c.name == "date":
		p.wrap("substr(", c.args[0], ", 1, 10)")
	case c.name == "string_agg":
		p.liteStringAgg(c)
	case name == "json_group_array":
		p.put("NULLIF(json_group_array(")
		p.liteAggregate(c, func() { p.jsonValue(c.args[0]) })
		p.put(", '[]')")
	case strings.HasPrefix(name, "json_object"), name == "json_array", name == "json_group_object":
		p.liteBuild(c, name)
	case name == "p8_extract" && c.args[1].base().typ == Interval:
		if c.args[0].(*literal).text != "epoch" {
			p.only(c.at, "another field of an interval than EPOCH")
		}
		p.seconds(c.args[1])
	case name == "%":
		if c.typ == Number {
			p.pair("mod", c.args[0], c.args[1])
			return
		}
		p.expr(c.args[0])
		p.put(" % ")
		p.expr(c.args[1])
	case c.name == "coalesce" && len(c.args) == 1:
		p.expr(c.args[0])
	case name == "p8_to_char":
		p.liteToChar(c)
	case name == "ceil" || name == "floor" || name == "trunc" || name == "sign":
		p.wrap("CAST("+name+"(", c.args[0], ") AS REAL)")
	case name == "concat" || name == "concat_ws":
		p.put("p8_", name, "(")
		for i, a := range c.args {
			if i > 0 {
				p.put(", ")
			}
			p.text(a)
		}
		p.put(")")
	default:
		p.put(name, "(")
		p.liteAggregate(c, func() { p.liteArguments(c) })
	}
}

// liteAggregate prints an aggregate's arguments, closing parentheses, FILTER and OVER.
func (p *printer) liteAggregate(c *call, args func()) {
	if c.star {
		p.put("*")
	}
	if c.distinct {
		p.put("DISTINCT ")
	}
	args()
	p.orderBy(c.order)
	p.put(")")
	p.after(c)
}

func (p *printer) liteArguments(c *call) {
	t := c.typ
	if c.name == "nullif" {
		t = commonOf(c.args...)
	}
	for i, a := range c.args {
		if i > 0 {
			p.put(", ")
		}
		param := t
		if n := len(c.spec.params); n > 0 {
			param = c.spec.params[min(i, n-1)]
		}
		p.as(a, param)
	}
}

// liteStringAgg prints string_agg. SQLite's takes no separator with DISTINCT.
func (p *printer) liteStringAgg(c *call) {
	if !c.distinct {
		p.put("string_agg(")
		p.liteAggregate(c, func() {
			p.text(c.args[0])
			p.put(", ")
			p.expr(c.args[1])
		})
		return
	}
	p.put("p8_join(json_group_array(")
	p.liteAggregate(c, func() { p.text(c.args[0]) })
	p.put(", ")
	p.expr(c.args[1])
	p.put(")")
}

func (p *printer) liteBuild(c *call, name string) {
	p.put(name, "(")
	p.liteAggregate(c, func() {
		for i, a := range c.args {
			if i > 0 {
				p.put(", ")
			}
			if i%2 == 0 && name != "json_array" {
				p.text(a)
				continue
			}
			p.jsonValue(a)
		}
	})
}

// jsonValue prints a value so that it keeps its type inside JSON.
func (p *printer) jsonValue(e expr) {
	switch e.base().typ {
	case JSON:
		p.wrap("json(", e, ")")
	case Boolean:
		p.put("json(")
		p.text(e)
		p.put(")")
	case Timestamp:
		p.wrap("p8_time_json(", e, ")")
	default:
		p.expr(e)
	}
}

// charPatterns are the patterns of to_char on both engines, a longer one before its
// prefixes.
var charPatterns = []string{
	"YYYY", "YY", "Month", "MONTH", "month", "Mon", "MON", "mon", "MM", "MI", "Day", "DAY", "day", "DDD", "DD", "Dy", "DY", "dy",
	"HH24", "HH12", "HH", "SS", "MS", "US", "AM", "PM", "am", "pm", "ID", "IW", "Q", "D",
}

// CharParts cuts a format of to_char into patterns and literal texts. ok is false if the
// format has a pattern that only PostgreSQL knows.
func CharParts(format string) (parts []string, ok bool) {
outer:
	for i := 0; i < len(format); {
		if format[i] == '"' {
			j := strings.IndexByte(format[i+1:], '"')
			if j < 0 {
				return nil, false
			}
			parts = append(parts, format[i:i+j+1])
			i += j + 2
			continue
		}
		if strings.HasPrefix(format[i:], "FM") {
			parts = append(parts, "FM")
			i += 2
			continue
		}
		for _, c := range charPatterns {
			if strings.HasPrefix(format[i:], c) {
				parts = append(parts, c)
				i += len(c)
				continue outer
			}
		}
		if c := format[i]; c >= 'a' && c <= 'z' && c != 'T' || c >= 'A' && c <= 'Z' && c != 'T' || c == '\\' {
			return nil, false
		}
		parts = append(parts, `"`+format[i:i+1])
		i++
	}
	return parts, true
}

func (p *printer) liteToChar(c *call) {
	f, ok := c.args[1].(*literal)
	if !ok || class(c.args[0].base().typ) != Timestamp {
		p.only(c.at, "to_char() of another value than a time")
		return
	}
	if _, ok := CharParts(f.text); !ok {
		p.only(f.at, "this pattern of to_char()")
		return
	}
	p.put("p8_to_char(")
	p.timestamp(c.args[0])
	p.put(", ")
	p.expr(f)
	p.put(")")
}
