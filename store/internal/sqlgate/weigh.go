package sqlgate

// maxWeight bounds the size of a statement after its subqueries are merged into
// it, as planners do: a column that is computed from another one, again and
// again, doubles with every step, and so does the planner's memory.
const maxWeight = 20_000

// weigh counts the nodes of expressions, those of computed columns included.
func (r *resolver) weigh(at int, es ...expr) (int, *fault) {
	w := 0
	for _, e := range es {
		w += weight(e)
		if w > maxWeight {
			break
		}
	}
	if r.weight += w; r.weight > maxWeight {
		return w, faultf(at, "columns that are computed from one another make the statement too large; compute each once, and not by itself")
	}
	return w, nil
}

func weight(e expr) int {
	if c, ok := e.(*column); ok && c.rel != nil {
		for _, col := range c.rel.cols {
			if col.Name == c.name {
				return 1 + col.weight
			}
		}
	}
	w := 1
	for _, x := range children(e) {
		if x != nil {
			w = min(w+weight(x), 2*maxWeight)
		}
	}
	return w
}

// children returns the operands of an expression, without those inside subqueries.
func children(e expr) []expr {
	switch e := e.(type) {
	case *unary:
		return []expr{e.x}
	case *binary:
		return []expr{e.l, e.r}
	case *test:
		return []expr{e.x}
	case *between:
		return []expr{e.x, e.lo, e.hi}
	case *in:
		return append([]expr{e.x}, e.list...)
	case *like:
		return []expr{e.x, e.pattern}
	case *quantified:
		return []expr{e.x, e.y}
	case *cast:
		return []expr{e.x}
	case *caseOf:
		list := []expr{e.operand, e.other}
		for _, w := range e.whens {
			list = append(list, w[0], w[1])
		}
		return list
	case *atZone:
		return []expr{e.x}
	case *call:
		list := append([]expr{e.filter}, e.args...)
		for _, o := range append(e.order, e.within...) {
			list = append(list, o.e)
		}
		if e.over != nil {
			list = append(list, e.over.partition...)
			for _, o := range e.over.order {
				list = append(list, o.e)
			}
		}
		return list
	case *subquery:
		// The relations of the query were weighed with the query.
		if !e.exists && len(e.q.outputs) == 1 {
			return []expr{&literal{info: e.info}}
		}
	}
	return nil
}
