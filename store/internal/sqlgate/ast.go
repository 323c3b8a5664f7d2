package sqlgate

// query is WITH … body ORDER BY … LIMIT …
type query struct {
	at        int
	recursive bool
	with      []*cte
	// body is a *core or a *setOp.
	body    any
	order   []*orderItem
	limit   expr
	offset  expr
	outputs []Column
}

type cte struct {
	at      int
	name    string
	columns []string
	query   *query
	// self is true if the query reads its own name.
	self bool
	// alias is its name in the printed statement.
	alias string
	out   []Column
}

// setOp is UNION, INTERSECT or EXCEPT; an operand is a *core, a *setOp, or a
// *query in parentheses.
type setOp struct {
	op          string
	all         bool
	at          int
	left, right any
	outputs     []Column
}

// core is one SELECT.
type core struct {
	at            int
	distinct      bool
	distinctOn    []expr
	items         []*item
	from          []*source
	where, having expr
	group         []expr
	outputs       []Column
	scope         *scope
}

type item struct {
	e     expr
	alias string
	// cols are the columns of a star.
	cols []*column
}

type orderItem struct {
	e     expr
	desc  bool
	nulls string
	// output is the name of a result's column, if e is one.
	output string
}

// source is a relation in FROM and how it is joined with those before.
type source struct {
	at int
	// join is "" for the first, "," or INNER JOIN, LEFT JOIN, …
	join  string
	table string
	sub   *query
	fn    *call
	// lateral: LATERAL is written. ordinality: WITH ORDINALITY is.
	lateral, ordinality bool
	alias               string
	columns             []string
	on                  expr
	using               []string
	rel                 *relation
}

// window is the window of an OVER.
type window struct {
	partition []expr
	order     []*orderItem
	frame     string
}

// expr is an expression.
type expr interface{ base() *info }

type info struct {
	at  int
	typ Type
}

func (i *info) base() *info { return i }

type (
	// literal has kind str, number or word (TRUE, FALSE, NULL).
	literal struct {
		info
		kind kind
		text string
	}
	column struct {
		info
		table, name string
		rel         *relation
		// merged: a column of USING, which belongs to no relation alone.
		merged bool
		// same is the aliased expression, if GROUP BY names an alias of the SELECT list.
		same expr
	}
	star struct {
		info
		table string
	}
	unary struct {
		info
		op string
		x  expr
	}
	binary struct {
		info
		op   string
		l, r expr
	}
	// test is x IS [NOT] what.
	test struct {
		info
		x    expr
		not  bool
		what string
	}
	between struct {
		info
		x, lo, hi expr
		not       bool
	}
	in struct {
		info
		x    expr
		list []expr
		sub  *query
		not  bool
	}
	like struct {
		info
		x, pattern, escape expr
		not, fold          bool
	}
	// quantified is x op ANY|ALL (y).
	quantified struct {
		info
		op  string
		all bool
		x   expr
		y   expr
		sub *query
	}
	cast struct {
		info
		x expr
		// to is PostgreSQL's name of the type, with its arguments.
		to   string
		args []int
	}
	call struct {
		info
		name     string
		spec     function
		args     []expr
		star     bool
		distinct bool
		order    []*orderItem
		within   []*orderItem
		filter   expr
		over     *window
	}
	caseOf struct {
		info
		operand expr
		whens   [][2]expr
		other   expr
	}
	subquery struct {
		info
		q      *query
		exists bool
	}
	interval struct {
		info
		text                 string
		months, days, micros int64
	}
	array struct {
		info
		elems []expr
	}
	atZone struct {
		info
		x, zone expr
	}
)
