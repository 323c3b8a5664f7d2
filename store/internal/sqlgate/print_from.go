package sqlgate

import "strings"

func (p *printer) source(s *source) {
	switch s.join {
	case "":
	case ",":
		p.put(", ")
	default:
		p.put(" ", s.join, " ")
	}
	p.mark(s.at)
	switch {
	case s.sub != nil:
		if s.lateral {
			if p.lite != nil {
				p.only(s.at, "LATERAL (SELECT …)")
			}
			p.put("LATERAL ")
		}
		p.put("(")
		p.query(s.sub)
		p.put(") AS ", quoteName(s.rel.alias))
	case s.fn != nil:
		p.setFunction(s)
	case s.rel.cte != nil:
		p.put(quoteName(s.rel.cte.alias), " AS ", quoteName(s.rel.alias))
	case p.lite != nil:
		p.put(`"temp".`, quoteName(p.lite.Relation(s.rel.table)), " AS ", quoteName(s.rel.alias))
	default:
		p.put(quoteName(s.rel.table), " AS ", quoteName(s.rel.alias))
	}
	if s.on != nil {
		p.put(" ON ")
		p.expr(s.on)
	}
	if s.using != nil {
		p.put(" USING")
		p.names(s.using)
	}
}

func (p *printer) setFunction(s *source) {
	if p.lite != nil {
		p.put(s.fn.spec.lite, "(")
		p.list(s.fn.args)
		p.put(") AS ", quoteName(s.rel.alias))
		if s.ordinality && len(s.rel.cols) != 2 {
			p.only(s.at, "WITH ORDINALITY of an object")
		}
		return
	}
	p.put(s.fn.postgresName(), "(")
	p.list(s.fn.args)
	p.put(")")
	if s.ordinality {
		p.put(" WITH ORDINALITY")
	}
	p.put(" AS ", quoteName(s.rel.alias))
	p.names(names(s.rel.cols))
}

func (p *printer) list(es []expr) {
	for i, e := range es {
		if i > 0 {
			p.put(", ")
		}
		p.expr(e)
	}
}

// column prints a reference by the column's name before FROM renamed it.
func (p *printer) column(c *column) {
	switch {
	case c.same != nil:
		p.expr(c.same)
		return
	case c.merged || c.rel == nil:
		p.put(quoteName(c.name))
		return
	}
	alias, name := quoteName(c.rel.alias), c.name
	for i, col := range c.rel.cols {
		if col.Name != c.name {
			continue
		}
		if c.rel.fn != nil && p.lite != nil {
			p.element(c.rel, i)
			return
		}
		if c.rel.under != nil {
			name = c.rel.under[i]
		}
	}
	p.put(alias, ".", quoteName(name))
}

// element prints a column of json_each so that it has the value of PostgreSQL's function.
func (p *printer) element(rel *relation, i int) {
	a := quoteName(rel.alias)
	fn := rel.fn.postgresName()
	switch {
	case i == 1 && strings.HasPrefix(fn, "jsonb_array"):
		p.put("(", a, `."key" + 1)`)
	case i == 0 && (strings.HasPrefix(fn, "jsonb_each") || fn == "jsonb_object_keys"):
		p.put(a, `."key"`)
	case rel.cols[i].Type == JSON:
		p.put("p8_element(", a, `."type", `, a, `."value")`)
	default:
		p.put("p8_element_text(", a, `."type", `, a, `."value")`)
	}
}
