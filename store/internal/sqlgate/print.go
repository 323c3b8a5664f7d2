package sqlgate

import (
	"sort"
	"strconv"
	"strings"
	"time"
)

// Lite are the parameters of SQLite's variant.
type Lite struct {
	// Relation is the name of the view to read for a table.
	Relation func(table string) string
	// Now is the time of the statement.
	Now time.Time
}

// Statement is a checked statement in the SQL of an engine.
type Statement struct {
	SQL   string
	text  string
	marks []mark
}

// mark maps a piece of the printed statement to its place in the text.
type mark struct{ out, in int }

// Position returns the place in the caller's text, in characters from 1, of an offset
// in bytes in SQL.
func (s *Statement) Position(offset int) int {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].out > offset })
	if i == 0 {
		return 0
	}
	return position(s.text, s.marks[i-1].in)
}

// Postgres returns the statement for PostgreSQL. The error is a *Error.
func (q *Query) Postgres() (*Statement, error) {
	return q.print(&printer{})
}

// SQLite returns the statement for SQLite. A feature that only PostgreSQL has is an *Error
// that names it. The engine provides the functions p8_….
func (q *Query) SQLite(l Lite) (*Statement, error) {
	return q.print(&printer{lite: &l})
}

func (q *Query) print(p *printer) (*Statement, error) {
	p.query(q.root)
	if p.err == nil && p.b.Len() > MaxPrinted {
		p.err = faultf(0, "the statement is too large; ask for less at once")
	}
	if p.err != nil {
		return nil, p.err.in(q.text)
	}
	return &Statement{p.b.String(), q.text, p.marks}, nil
}

// printer writes the tree. Names and texts are always quoted, expressions
// always in parentheses: nothing depends on an engine's precedence.
type printer struct {
	b     strings.Builder
	marks []mark
	lite  *Lite
	err   *fault
}

func (p *printer) put(parts ...string) {
	if p.b.Len() > MaxPrinted {
		return
	}
	for _, s := range parts {
		p.b.WriteString(s)
	}
}

func (p *printer) mark(at int) { p.marks = append(p.marks, mark{p.b.Len(), at}) }

// only refuses a construct on SQLite.
func (p *printer) only(at int, construct string) {
	if p.err == nil {
		p.err = faultf(at, "%s is available on PostgreSQL only, not on the embedded database", construct)
	}
}

func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
func quoteText(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }

func (p *printer) query(q *query) {
	for i, c := range q.with {
		if i == 0 {
			p.put("WITH ")
			if q.recursive {
				p.put("RECURSIVE ")
			}
		} else {
			p.put(", ")
		}
		p.mark(c.at)
		p.put(quoteName(c.alias))
		if c.columns != nil {
			p.names(c.columns)
		}
		p.put(" AS (")
		if op, ok := c.query.body.(*setOp); ok && c.self {
			p.recursive(op)
		} else {
			p.query(c.query)
		}
		p.put(")")
		if i == len(q.with)-1 {
			p.put(" ")
		}
	}
	p.body(q.body, false)
	if q.order != nil {
		p.put(" ORDER BY ")
		k, _ := q.body.(*core)
		for i, o := range q.order {
			if i > 0 {
				p.put(", ")
			}
			p.orderItem(o, k, q.outputs)
		}
	}
	if q.limit != nil {
		p.put(" LIMIT ")
		p.expr(q.limit)
	} else if q.offset != nil && p.lite != nil {
		p.put(" LIMIT -1")
	}
	if q.offset != nil {
		p.put(" OFFSET ")
		p.expr(q.offset)
	}
}

func (p *printer) names(list []string) {
	p.put(" (")
	for i, n := range list {
		if i > 0 {
			p.put(", ")
		}
		p.put(quoteName(n))
	}
	p.put(")")
}

// body prints a SELECT or a set operation; operand is true inside another one.
func (p *printer) body(b any, operand bool) {
	switch b := b.(type) {
	case *core:
		p.core(b, operand, false)
	case *query:
		if p.lite != nil {
			p.put("SELECT * FROM (")
		} else {
			p.put("(")
		}
		p.query(b)
		p.put(")")
	case *setOp:
		p.operand(b.left, true)
		p.put(" ", b.op)
		if b.all {
			p.put(" ALL")
			if b.op != "UNION" && p.lite != nil {
				p.only(b.at, b.op+" ALL")
			}
		}
		p.put(" ")
		p.operand(b.right, false)
	}
}

func (p *printer) operand(b any, left bool) {
	if _, ok := b.(*setOp); ok {
		switch {
		case p.lite == nil:
			p.put("(")
			defer p.put(")")
		case !left:
			p.put("SELECT * FROM (")
			defer p.put(")")
		}
	}
	p.body(b, true)
}

// recursive prints a query that reads itself, and bounds the length of its texts.
func (p *printer) recursive(op *setOp) {
	p.core(op.left.(*core), true, true)
	p.put(" UNION ")
	if op.all {
		p.put("ALL ")
	}
	p.core(op.right.(*core), true, true)
}

func (p *printer) core(c *core, operand, bounded bool) {
	p.mark(c.at)
	p.put("SELECT ")
	if c.distinct {
		p.put("DISTINCT ")
	}
	if c.distinctOn != nil {
		if p.lite != nil {
			p.only(c.at, "DISTINCT ON")
		}
		p.put("ON (")
		p.list(c.distinctOn)
		p.put(") ")
	}
	n := 0
	for i, it := range c.items {
		if i > 0 {
			p.put(", ")
		}
		if it.cols == nil {
			p.item(it.e, c.outputs[n].Name, operand || c.distinct || c.group != nil, bounded)
			n++
			continue
		}
		for j, col := range it.cols {
			if j > 0 {
				p.put(", ")
			}
			p.item(col, c.outputs[n].Name, operand || c.distinct || c.group != nil, bounded)
			n++
		}
	}
	for i, s := range c.from {
		if i == 0 {
			p.put(" FROM ")
		}
		p.source(s)
	}
	if c.where != nil {
		p.put(" WHERE ")
		p.expr(c.where)
	}
	if c.group != nil {
		p.put(" GROUP BY ")
		p.list(c.group)
	}
	if c.having != nil {
		p.put(" HAVING ")
		p.expr(c.having)
	}
}

// maxRecursive bounds a text that a recursive query carries along, in
// characters: joined to itself it would double with every step.
const maxRecursive = "10000"

func (p *printer) item(e expr, name string, compared, bounded bool) {
	p.mark(e.base().at)
	col, isColumn := e.(*column)
	switch t := e.base().typ; {
	case bounded && (t == Text || t == Unknown) && p.lite != nil:
		p.put("p8_left(")
		p.expr(e)
		p.put(", ", maxRecursive, ")")
	case bounded && p.lite == nil:
		switch t {
		case Text, Unknown:
			p.put("left((")
			p.expr(e)
			p.put(")::text, ", maxRecursive, ")")
		case Integer:
			p.expr(e)
			p.put("::bigint")
		case Number:
			p.expr(e)
			p.put("::double precision")
		default:
			p.expr(e)
		}
	case isColumn && !compared:
		p.column(col)
	case p.lite == nil && isText(e) && t == Unknown:
		p.expr(e)
		p.put("::text")
	default:
		p.expr(e)
	}
	p.put(" AS ", quoteName(name))
}

func (p *printer) orderItem(o *orderItem, k *core, outputs []Column) {
	e := o.e
	p.mark(e.base().at)
	if k != nil && !k.distinct && outputs != nil {
		// Print the expression itself: a number or an alias cannot have a collation.
		if l, ok := e.(*literal); ok && l.kind == number {
			n, _ := strconv.Atoi(l.text)
			e = k.output(n - 1)
		} else if o.output != "" {
			for i, out := range outputs {
				if out.Name == o.output {
					e = k.output(i)
					break
				}
			}
		}
	}
	if _, constant := e.(*literal); constant {
		e = o.e
	}
	if e == o.e && o.output != "" {
		p.put(quoteName(o.output))
	} else {
		p.expr(e)
		if p.lite == nil && e.base().typ == Text {
			p.put(` COLLATE "C"`)
		}
	}
	nulls := o.nulls
	if o.desc {
		p.put(" DESC")
	}
	if nulls == "" && p.lite != nil {
		nulls = "LAST"
		if o.desc {
			nulls = "FIRST"
		}
	}
	if nulls != "" {
		p.put(" NULLS ", nulls)
	}
}

// output returns the expression of a column of the result.
func (c *core) output(n int) expr {
	for _, it := range c.items {
		if it.cols == nil {
			if n == 0 {
				return it.e
			}
			n--
			continue
		}
		if n < len(it.cols) {
			return it.cols[n]
		}
		n -= len(it.cols)
	}
	return nil
}

func (p *printer) window(w *window) {
	p.put("(")
	if w.partition != nil {
		p.put("PARTITION BY ")
		p.list(w.partition)
		p.put(" ")
	}
	p.orderBy(w.order)
	p.put(" ", w.frame, ")")
}

func (p *printer) orderBy(list []*orderItem) {
	for i, o := range list {
		if i == 0 {
			p.put(" ORDER BY ")
		} else {
			p.put(", ")
		}
		p.orderItem(o, nil, nil)
	}
}
