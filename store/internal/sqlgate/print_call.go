package sqlgate

import "strings"

func (p *printer) call(c *call) {
	name := c.postgresName()
	if c.spec.grows {
		p.put("left(")
		defer p.put(", ", maxText, ")")
	}
	switch {
	case name == "current_date":
		p.put("CURRENT_DATE")
		return
	case name == "extract":
		name = "date_part"
	}
	p.put(name, "(")
	if c.star {
		p.put("*")
	}
	if c.distinct {
		p.put("DISTINCT ")
	}
	for i, a := range c.args {
		if i > 0 {
			p.put(", ")
		}
		p.argument(name, c, i, a)
	}
	p.orderBy(c.order)
	p.put(")")
	if c.within != nil {
		p.put(" WITHIN GROUP (")
		p.orderBy(c.within)
		p.put(")")
	}
	p.after(c)
}

// argument prints an argument, bounded or cast where the function needs it.
func (p *printer) argument(name string, c *call, i int, a expr) {
	switch {
	case name == "repeat" && i == 0:
		p.wrap("left(", a, ", 1000)")
	case name == "repeat" && i == 1:
		p.wrap("least(", a, ", 1000)")
	case (name == "lpad" || name == "rpad") && i == 1:
		p.wrap("least(", a, ", "+maxText+")")
	case (name == "replace" || name == "regexp_replace") && i == 0:
		p.wrap("left(", a, ", "+maxText+")")
	case name == "string_agg" && i == 0:
		p.wrap("left((", a, ")::text, 10000)")
	case name == "round" && i == 0:
		p.wrap("(", a, ")::numeric")
	case (name == "min" || name == "max") && a.base().typ == Text:
		p.wrap("", a, ` COLLATE "C"`)
	case strings.HasPrefix(name, "jsonb_build") && a.base().typ == Unknown && isText(a):
		p.wrap("", a, "::text")
	case (name == "date_trunc" || name == "to_char") && a.base().typ == Date:
		p.wrap("", a, "::timestamptz")
	default:
		p.expr(a)
	}
}

func (p *printer) wrap(before string, e expr, after string) {
	p.put(before)
	p.expr(e)
	p.put(after)
}

// after prints FILTER and OVER.
func (p *printer) after(c *call) {
	if c.filter != nil {
		p.put(" FILTER (WHERE ")
		p.expr(c.filter)
		p.put(")")
	}
	if c.over != nil {
		p.put(" OVER ")
		p.window(c.over)
	}
}
