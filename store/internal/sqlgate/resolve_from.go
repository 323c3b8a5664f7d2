package sqlgate

import (
	"slices"
	"strings"
)

// source resolves a relation of FROM and its join.
func (r *resolver) source(src *source, s *scope) *fault {
	rel, err := r.relation(src, s)
	if err != nil {
		return err
	}
	if len(src.columns) > len(rel.cols) {
		return faultf(src.at, "%q has %d columns, and %d names are given", rel.name, len(rel.cols), len(src.columns))
	}
	if src.columns != nil && src.fn == nil {
		rel.under = names(rel.cols)
	}
	rel.cols = slices.Clone(rel.cols)
	for i, n := range src.columns {
		rel.cols[i].Name = n
	}
	for _, other := range s.rels {
		if other.name == rel.name {
			return faultf(src.at, "two relations are named %q; give one an alias", rel.name)
		}
	}
	rel.alias = r.unique(rel.name)
	src.rel = rel
	s.rels = append(s.rels, rel)
	return r.joined(src, s)
}

func (r *resolver) relation(src *source, s *scope) (*relation, *fault) {
	rel := &relation{name: src.alias}
	switch {
	case src.sub != nil:
		outer := s.parent
		if src.lateral {
			outer = s
		}
		if err := r.query(src.sub, outer); err != nil {
			return nil, err
		}
		rel.cols = src.sub.outputs
	case src.fn != nil:
		rel.fn = src.fn
		for i, a := range src.fn.args {
			if err := r.expr(a, s); err != nil {
				return nil, err
			}
			if err := r.argument(src.fn, i); err != nil {
				return nil, err
			}
		}
		rel.cols = setColumns(src.fn.postgresName())
		if len(rel.cols) == 1 {
			// As in PostgreSQL, the alias of the function also names its only column.
			rel.cols[0].Name = src.alias
			if n := src.fn.postgresName(); src.alias == src.fn.name && n != "jsonb_object_keys" && src.fn.name != "unnest" {
				rel.cols[0].Name = "value"
			}
		}
		if src.ordinality {
			rel.cols = append(rel.cols, Column{Name: "ordinality", Type: Integer})
		}
	default:
		if c := s.cte(src.table); c != nil {
			c.self = c.self || c.query.outputs == nil
			rel.cte, rel.cols = c, c.out
			return rel, nil
		}
		t, ok := r.tables[src.table]
		if !ok {
			return nil, faultf(src.at, "there is no table %q; tables are %s%s", src.table, r.tableList(), didYouMean(src.table, r.names))
		}
		rel.table, rel.cols = t.Name, t.Columns
	}
	return rel, nil
}

func (r *resolver) joined(src *source, s *scope) *fault {
	if src.on != nil {
		return r.condition(src.on, s, nil)
	}
	for _, n := range src.using {
		count := 0
		for _, rel := range s.rels {
			if slices.ContainsFunc(rel.cols, func(c Column) bool { return c.Name == n }) {
				count++
			}
		}
		if count < 2 {
			return faultf(src.at, "USING (%s): both sides need that column", n)
		}
		if !slices.Contains(s.merged, n) {
			s.merged = append(s.merged, n)
		}
	}
	return nil
}

// system are the columns of every PostgreSQL or SQLite table, which no caller may read.
var system = []string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid", "rowid", "_rowid_"}

// column finds the relation of a column, from the inside out.
func (r *resolver) column(c *column, s *scope) *fault {
	for at := s; at != nil; at = at.parent {
		var found *relation
		for _, rel := range at.rels {
			if c.table != "" && rel.name != c.table {
				continue
			}
			i := slices.IndexFunc(rel.cols, func(col Column) bool { return col.Name == c.name })
			if i < 0 {
				if c.table != "" {
					return faultf(c.at, "%s has no column %q%s; it has %s", c.table, c.name, didYouMean(c.name, names(rel.cols)), strings.Join(names(rel.cols), ", "))
				}
				continue
			}
			if found == nil {
				found, c.typ = rel, rel.cols[i].Type
				if slices.ContainsFunc(rel.cols[i+1:], func(col Column) bool { return col.Name == c.name }) {
					return faultf(c.at, "%s has two columns %q; name them apart with AS", rel.name, c.name)
				}
			} else if c.table == "" && slices.Contains(at.merged, c.name) {
				c.merged = true
			} else {
				return faultf(c.at, "%q is a column of %s and of %s; write %s.%s", c.name, found.name, rel.name, found.name, c.name)
			}
		}
		if found != nil {
			c.rel = found
			return nil
		}
	}
	return r.missing(c, s)
}

// missing returns the error for an unknown column.
func (r *resolver) missing(c *column, s *scope) *fault {
	if c.table != "" {
		return faultf(c.at, "there is no %q in FROM", c.table)
	}
	if slices.Contains(system, c.name) {
		return faultf(c.at, "the system column %s cannot be read; rows have an id", c.name)
	}
	var known []string
	for at := s; at != nil; at = at.parent {
		for _, rel := range at.rels {
			if rel.name == c.name {
				return faultf(c.at, "%q is a whole row; write its columns", c.name)
			}
			known = append(known, names(rel.cols)...)
		}
		if at.core != nil {
			for i, it := range at.core.items {
				if it.cols == nil && it.alias == c.name && i < len(at.core.outputs) {
					return faultf(c.at, "%q is a name of the SELECT list; here write its expression again, or select from a WITH query", c.name)
				}
			}
		}
	}
	if known == nil {
		return faultf(c.at, "there is no column %q: the query has no FROM; a text is in single quotes", c.name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return faultf(c.at, "there is no column %q%s; columns are %s; a text is in single quotes", c.name, didYouMean(c.name, known), strings.Join(known, ", "))
}

func names(cols []Column) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.Name
	}
	return out
}

// window resolves the expressions of a window.
func (r *resolver) window(w *window, s *scope) *fault {
	for _, e := range w.partition {
		if err := r.expr(e, s); err != nil {
			return err
		}
	}
	for _, o := range w.order {
		if err := r.expr(o.e, s); err != nil {
			return err
		}
	}
	return nil
}

// nameOf returns PostgreSQL's name of a column without an alias.
func nameOf(e expr) string {
	if n, strong := named(e); strong || n != "" {
		return n
	}
	return "?column?"
}

var typeShort = map[Type]string{Text: "text", Integer: "int4", Whole: "numeric", Number: "numeric", Boolean: "bool",
	Timestamp: "timestamptz", Date: "date", Interval: "interval", JSON: "jsonb"}

func named(e expr) (name string, strong bool) {
	switch e := e.(type) {
	case *column:
		return e.name, true
	case *call:
		return e.name, true
	case *cast:
		if n, ok := named(e.x); ok {
			return n, true
		}
		return typeShort[e.typ], false
	case *caseOf:
		if e.other != nil {
			if n, ok := named(e.other); ok {
				return n, true
			}
		}
		return "case", false
	case *subquery:
		if e.exists {
			return "exists", true
		}
		return e.q.outputs[0].Name, true
	case *literal:
		if e.typ == Boolean {
			return "bool", false
		}
	case *interval:
		return "interval", false
	case *array:
		return "array", true
	case *atZone:
		return "timezone", true
	}
	return "", false
}
