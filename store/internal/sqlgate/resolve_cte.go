package sqlgate

import "slices"

// cte resolves a WITH query; a recursive one has the columns of its first part.
func (r *resolver) cte(c *cte, recursive bool, s *scope) *fault {
	rename := func(cols []Column) ([]Column, *fault) {
		if c.columns == nil {
			return cols, nil
		}
		if len(c.columns) != len(cols) {
			return nil, faultf(c.at, "%q names %d columns, its query has %d", c.name, len(c.columns), len(cols))
		}
		out := slices.Clone(cols)
		for i, n := range c.columns {
			out[i].Name = n
		}
		return out, nil
	}
	op, ok := c.query.body.(*setOp)
	var err *fault
	if recursive && ok && op.op == "UNION" && c.query.with == nil {
		// The first part may not read the query, the second may.
		var first []Column
		if first, _, err = r.body(op.left, &scope{parent: s}); err != nil {
			return err
		}
		if c.out, err = rename(first); err != nil {
			return err
		}
		inner := &scope{parent: s, ctes: []*cte{c}}
		var second []Column
		second, _, err = r.body(op.right, inner)
		if err != nil {
			return err
		}
		if op.outputs, err = unite(op, first, second); err != nil {
			return err
		}
		c.query.outputs = op.outputs
		if c.self {
			return r.recursive(c, op)
		}
		if err = r.order(c.query, inner); err != nil {
			return err
		}
	} else if err = r.query(c.query, s); err != nil {
		return err
	}
	c.out, err = rename(c.query.outputs)
	return err
}

// recursive refuses recursive queries that grow without end, or differ between the
// engines.
func (r *resolver) recursive(c *cte, op *setOp) *fault {
	if c.query.order != nil || c.query.limit != nil || c.query.offset != nil {
		return faultf(c.at, "a recursive query takes no ORDER BY or LIMIT of its own; write them at the end of the statement")
	}
	for _, side := range []any{op.left, op.right} {
		k, ok := side.(*core)
		if !ok {
			return faultf(c.at, "a recursive query is SELECT … UNION [ALL] SELECT …")
		}
		for i, col := range k.outputs {
			if col.Type == JSON || col.Type == Any || col.Type == Array {
				return faultf(k.at, "column %d of a recursive query is %s; it carries text, numbers, booleans and times only", i+1, col.Type)
			}
		}
	}
	return nil
}
