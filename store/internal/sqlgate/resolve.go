package sqlgate

import (
	"fmt"
	"slices"
	"strings"
)

// relation is a table, a CTE, a query or a function in FROM.
type relation struct {
	name string
	// alias is its unique name in the printed statement.
	alias string
	cols  []Column
	table string
	cte   *cte
	fn    *call
	// under are the columns' original names, if FROM renames them.
	under []string
}

// scope is the relations that an expression may name, and those around it.
type scope struct {
	parent *scope
	ctes   []*cte
	rels   []*relation
	merged []string
	// core is the SELECT of the scope; errors mention its aliases.
	core *core
}

// resolver finds the meaning of every name and the type of every expression.
type resolver struct {
	tables  map[string]Table
	names   []string
	aliases map[string]int
	// ctes are the aliases of the WITH queries.
	ctes map[string]bool
	// weight is the size of the resolved expressions.
	weight int
}

// unique returns an alias that nothing else in the statement has.
func (r *resolver) unique(name string) string {
	for {
		r.aliases[name]++
		n := r.aliases[name]
		if n == 1 {
			return name
		}
		next := fmt.Sprintf("%.50s_%d", name, n)
		if r.aliases[next] == 0 {
			r.aliases[next] = 1
			return next
		}
	}
}

func (r *resolver) query(q *query, outer *scope) *fault {
	s := &scope{parent: outer}
	for _, c := range q.with {
		if slices.ContainsFunc(s.ctes, func(o *cte) bool { return o.name == c.name }) {
			return faultf(c.at, "two WITH queries are named %q", c.name)
		}
		c.alias = r.unique(c.name)
		r.ctes[c.alias] = true
		if err := r.cte(c, q.recursive, s); err != nil {
			return err
		}
		s.ctes = append(s.ctes, c)
	}
	outputs, inner, err := r.body(q.body, s)
	if err != nil {
		return err
	}
	q.outputs = outputs
	return r.order(q, inner)
}

// body resolves a SELECT or a set operation; the scope is that of the SELECT,
// nil for a set operation.
func (r *resolver) body(b any, s *scope) ([]Column, *scope, *fault) {
	switch b := b.(type) {
	case *core:
		inner, err := r.core(b, s)
		return b.outputs, inner, err
	case *query:
		err := r.query(b, s)
		return b.outputs, nil, err
	case *setOp:
		left, _, err := r.body(b.left, s)
		if err != nil {
			return nil, nil, err
		}
		right, _, err := r.body(b.right, s)
		if err != nil {
			return nil, nil, err
		}
		b.outputs, err = unite(b, left, right)
		return b.outputs, nil, err
	}
	return nil, nil, faultf(0, "the statement is not understood")
}

func unite(b *setOp, left, right []Column) ([]Column, *fault) {
	if len(left) != len(right) {
		return nil, faultf(b.at, "%s joins queries of %d and %d columns; they need the same number", b.op, len(left), len(right))
	}
	out := slices.Clone(left)
	for i := range out {
		out[i].Type = common(left[i].Type, right[i].Type)
		out[i].weight = left[i].weight + right[i].weight
	}
	return out, nil
}

// common returns the type of a value that may be of either type.
func common(a, b Type) Type {
	switch {
	case a == b || b == Unknown:
		return a
	case a == Unknown:
		return b
	case class(a) == Number && class(b) == Number:
		return max(a, b)
	case a == Date && b == Timestamp || a == Timestamp && b == Date:
		return Timestamp
	}
	return Any
}

func (r *resolver) core(c *core, outer *scope) (*scope, *fault) {
	s := &scope{parent: outer, core: c}
	c.scope = s
	for _, src := range c.from {
		if err := r.source(src, s); err != nil {
			return nil, err
		}
	}
	for _, it := range c.items {
		if err := r.item(it, c, s); err != nil {
			return nil, err
		}
	}
	for _, e := range c.distinctOn {
		if err := r.output(e, c, s); err != nil {
			return nil, err
		}
	}
	for _, e := range c.group {
		if err := r.output(e, c, s); err != nil {
			return nil, err
		}
	}
	if _, err := r.weigh(c.at, c.group...); err != nil {
		return nil, err
	}
	for _, e := range []*expr{&c.where, &c.having} {
		if *e != nil {
			if err := r.condition(*e, s, c); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// condition resolves an expression in WHERE, HAVING or ON.
func (r *resolver) condition(e expr, s *scope, c *core) *fault {
	if err := r.expr(e, s); err != nil {
		return err
	}
	if _, err := r.weigh(e.base().at, e); err != nil {
		return err
	}
	if t := e.base().typ; t != Boolean && t != Unknown && t != Any {
		return faultf(e.base().at, "a condition is true or false; this is %s", t)
	}
	return nil
}

// output resolves an expression of GROUP BY or DISTINCT ON: a number means a column of the
// result, and so does a name that no relation has.
func (r *resolver) output(e expr, c *core, s *scope) *fault {
	if col, ok := e.(*column); ok && col.table == "" && !s.has(col.name) {
		for i, it := range c.items {
			if it.cols == nil && c.outputName(i) == col.name {
				if _, constant := it.e.(*literal); constant {
					return faultf(col.at, "%q is a constant; leave it out of GROUP BY", col.name)
				}
				col.same, col.typ = it.e, it.e.base().typ
				return nil
			}
		}
	}
	return r.ordinal(e, len(c.outputs), func() *fault { return r.expr(e, s) })
}

// ordinal checks a literal as the number of one of n columns, and calls other for any other
// expression.
func (r *resolver) ordinal(e expr, n int, other func() *fault) *fault {
	l, ok := e.(*literal)
	if !ok {
		return other()
	}
	if l.kind != number {
		return faultf(l.at, "a constant neither groups nor orders; write a column, its number in the result, or an expression")
	}
	for i := range n {
		if l.text == fmt.Sprint(i+1) {
			return nil
		}
	}
	return faultf(l.at, "there is no column %s in the result; it has %d", l.text, n)
}

// outputName returns the name of an item that is no star.
func (c *core) outputName(i int) string {
	if c.items[i].alias != "" {
		return c.items[i].alias
	}
	return nameOf(c.items[i].e)
}

func (r *resolver) item(it *item, c *core, s *scope) *fault {
	st, ok := it.e.(*star)
	if !ok {
		if err := r.expr(it.e, s); err != nil {
			return err
		}
		name := it.alias
		if name == "" {
			name = nameOf(it.e)
		}
		typ := it.e.base().typ
		if typ == Unknown {
			typ = Text
		}
		w, err := r.weigh(it.e.base().at, it.e)
		c.outputs = append(c.outputs, Column{name, typ, w})
		return err
	}
	if len(s.rels) == 0 {
		return faultf(st.at, "a star needs FROM")
	}
	found := false
	if st.table == "" {
		// The columns of USING come first, once.
		for _, n := range s.merged {
			col := &column{info: info{at: st.at}, name: n}
			if err := r.expr(col, s); err != nil {
				return err
			}
			it.cols = append(it.cols, col)
		}
	}
	for _, rel := range s.rels {
		if st.table != "" && rel.name != st.table {
			continue
		}
		found = true
		for _, col := range rel.cols {
			if st.table == "" && slices.Contains(s.merged, col.Name) {
				continue
			}
			it.cols = append(it.cols, &column{info: info{st.at, col.Type}, name: col.Name, rel: rel})
		}
	}
	if !found {
		return faultf(st.at, "there is no %q in FROM", st.table)
	}
	for _, col := range it.cols {
		w, err := r.weigh(st.at, col)
		if err != nil {
			return err
		}
		c.outputs = append(c.outputs, Column{col.name, col.typ, w})
	}
	return nil
}

// order resolves ORDER BY: a result's column by number or name, or, for one
// SELECT, an expression.
func (r *resolver) order(q *query, s *scope) (err *fault) {
	defer func() {
		for _, o := range q.order {
			if _, w := r.weigh(o.e.base().at, o.e); err == nil {
				err = w
			}
		}
	}()
	for _, o := range q.order {
		col, ok := o.e.(*column)
		if ok && col.table == "" {
			if i := slices.IndexFunc(q.outputs, func(c Column) bool { return c.Name == col.name }); i >= 0 {
				o.output, col.typ = col.name, q.outputs[i].Type
				continue
			}
		}
		if err := r.ordinal(o.e, len(q.outputs), func() *fault {
			if s == nil {
				return faultf(o.e.base().at, "after %s, ORDER BY takes a column of the result: its name or number", "UNION, INTERSECT and EXCEPT")
			}
			return r.expr(o.e, s)
		}); err != nil {
			return err
		}
	}
	return nil
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.parent {
		for _, rel := range s.rels {
			if slices.ContainsFunc(rel.cols, func(c Column) bool { return c.Name == name }) {
				return true
			}
		}
	}
	return false
}

func (s *scope) cte(name string) *cte {
	for ; s != nil; s = s.parent {
		for _, c := range s.ctes {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

func (r *resolver) tableList() string { return strings.Join(r.names, ", ") }
