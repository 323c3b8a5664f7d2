package sqlgate

import (
	"slices"
	"strconv"
	"strings"
)

func (p *parser) primary() (expr, *fault) {
	t := p.peek()
	switch t.kind {
	case str:
		p.next()
		return &literal{info{t.at, Unknown}, str, t.text}, nil
	case number:
		p.next()
		typ := Integer
		if strings.ContainsAny(t.text, ".eE") || len(t.text) > 18 {
			typ = Number
		}
		return &literal{info{t.at, typ}, number, t.text}, nil
	case symbol:
		if t.text == "(" {
			return p.group()
		}
	case word:
		if e, ok, err := p.keyword(t); ok {
			return e, err
		}
		if isReserved(t.text) && !(p.ahead(1).text == "(" && (t.text == "left" || t.text == "right")) {
			break
		}
		return p.reference(t)
	case name:
		return p.reference(t)
	}
	return nil, p.unexpected("a value, a column or a function should stand here")
}

func (p *parser) group() (expr, *fault) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	at := p.next().at
	if p.is("select") || p.is("with") {
		q, err := p.query()
		if err != nil {
			return nil, err
		}
		return &subquery{info: info{at: at}, q: q}, p.expectSymbol(")")
	}
	e, err := p.expr()
	if err != nil {
		return nil, err
	}
	if p.isSymbol(",") {
		return nil, faultf(at, "row values are not available; compare column by column")
	}
	return e, p.expectSymbol(")")
}

// keyword reads the expressions that begin with a word of their own.
func (p *parser) keyword(t token) (expr, bool, *fault) {
	at := info{at: t.at}
	switch t.text {
	case "true", "false":
		p.next()
		return &literal{info{t.at, Boolean}, word, t.text}, true, nil
	case "null":
		p.next()
		return &literal{at, word, t.text}, true, nil
	case "case":
		e, err := p.caseOf()
		return e, true, err
	case "exists":
		p.next()
		if err := p.expectSymbol("("); err != nil {
			return nil, true, err
		}
		q, err := p.query()
		if err != nil {
			return nil, true, err
		}
		return &subquery{at, q, true}, true, p.expectSymbol(")")
	case "cast":
		e, err := p.castCall()
		return e, true, err
	case "array":
		e, err := p.array()
		return e, true, err
	case "interval":
		if p.ahead(1).kind == str {
			p.next()
			e, err := p.interval(p.next())
			return e, true, err
		}
	case "timestamp", "timestamptz", "date":
		if s := p.ahead(1); s.kind == str {
			p.i += 2
			e, err := castOf(t.at, &literal{info{s.at, Unknown}, str, s.text}, t.text, nil)
			return e, true, err
		}
	case "current_date", "current_timestamp", "localtimestamp":
		p.next()
		return &call{info: at, name: t.text, spec: functions[t.text]}, true, nil
	case "extract":
		e, err := p.extract()
		return e, true, err
	}
	return nil, false, nil
}

// reference is a column, or a function with its parenthesis.
func (p *parser) reference(t token) (expr, *fault) {
	p.next()
	if p.isSymbol("(") {
		return p.call(t)
	}
	c := &column{info: info{at: t.at}, name: t.text}
	if !p.acceptSymbol(".") {
		return c, nil
	}
	n := p.peek()
	if n.kind == symbol && n.text == "*" {
		return nil, faultf(t.at, "%s.* stands only in the SELECT list", t.text)
	}
	if n.kind != word && n.kind != name {
		return nil, p.unexpected("write a column name after the dot")
	}
	p.next()
	if p.isSymbol(".") || p.isSymbol("(") {
		return nil, faultf(t.at, "%q: schemas and catalogs cannot be named; write table.column, or the function alone", t.text+"."+n.text)
	}
	c.table, c.name = t.text, n.text
	return c, nil
}

// call reads a function's arguments; its name was taken.
func (p *parser) call(t token) (expr, *fault) {
	spec, ok := functions[t.text]
	if !ok || t.kind == name && isReserved(t.text) {
		return nil, faultf(t.at, "the function %s() is not available%s", t.text, near(t.text, functionNames()))
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	c := &call{info: info{at: t.at}, name: t.text, spec: spec}
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	if err := p.arguments(c); err != nil {
		return nil, err
	}
	if err := p.expectSymbol(")"); err != nil {
		return nil, err
	}
	if n := len(c.args); !c.star && (n < spec.min || n > spec.max) {
		return nil, faultf(t.at, "%s() takes %s", t.text, spec.arity())
	}
	if err := p.afterCall(c); err != nil {
		return nil, err
	}
	return c, c.check()
}

func (p *parser) arguments(c *call) (err *fault) {
	switch {
	case p.isSymbol(")"):
		return nil
	case p.isSymbol("*"):
		if c.name != "count" {
			return p.unexpected("only count(*) takes a star")
		}
		p.next()
		c.star = true
		return nil
	case c.name == "position":
		// position(a IN b) is strpos(b, a).
		var needle, text expr
		if needle, err = p.operators(); err == nil {
			if err = p.expect("in"); err == nil {
				text, err = p.operators()
			}
		}
		c.args = []expr{text, needle}
		return err
	case c.name == "trim":
		return p.trim(c)
	}
	if c.distinct = p.accept("distinct"); !c.distinct {
		p.accept("all")
	}
	if c.args, err = p.list(); err != nil {
		return err
	}
	if c.name == "substring" && len(c.args) == 1 && (p.is("from") || p.is("for")) {
		return p.substring(c)
	}
	if p.accept("order", "by") {
		c.order, err = p.orderBy()
	}
	return err
}

// substring(x FROM a FOR b)
func (p *parser) substring(c *call) *fault {
	var from expr = &literal{info{c.at, Integer}, number, "1"}
	var err *fault
	if p.accept("from") {
		if from, err = p.expr(); err != nil {
			return err
		}
		if l, ok := from.(*literal); ok && l.kind == str {
			return faultf(l.at, "substring with a regular expression is not available")
		}
	}
	c.args = append(c.args, from)
	if p.accept("for") {
		n, err := p.expr()
		if err != nil {
			return err
		}
		c.args = append(c.args, n)
	}
	return nil
}

// trim(BOTH 'x' FROM y)
func (p *parser) trim(c *call) (err *fault) {
	switch {
	case p.accept("both"):
	case p.accept("leading"):
		c.name = "ltrim"
	case p.accept("trailing"):
		c.name = "rtrim"
	}
	if p.accept("from") {
		c.args, err = p.list()
		return err
	}
	if c.args, err = p.list(); err == nil && len(c.args) == 1 && p.accept("from") {
		var x expr
		if x, err = p.expr(); err == nil {
			c.args = []expr{x, c.args[0]}
		}
	}
	return err
}

func (p *parser) afterCall(c *call) (err *fault) {
	if p.accept("within", "group") {
		if err = p.expectSymbol("("); err == nil && !p.accept("order", "by") {
			err = p.unexpected("write ORDER BY")
		}
		if err == nil {
			c.within, err = p.orderBy()
		}
		if err == nil {
			err = p.expectSymbol(")")
		}
	}
	if err == nil && p.accept("filter") {
		if err = p.expectSymbol("("); err == nil {
			err = p.expect("where")
		}
		if err == nil {
			c.filter, err = p.expr()
		}
		if err == nil {
			err = p.expectSymbol(")")
		}
	}
	if err == nil && p.accept("over") {
		if p.isSymbol("(") {
			c.over, err = p.window()
		} else {
			at := p.peek().at
			var n string
			n, err = p.ident("the name of a window")
			c.over = &window{at: at, base: n, ref: true}
		}
	}
	return err
}

func (p *parser) window() (*window, *fault) {
	w := &window{at: p.peek().at}
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind == name || t.kind == word && !isReserved(t.text) && !slices.Contains(frameWords, t.text) && t.text != "partition" {
		w.base = p.next().text
	}
	var err *fault
	if p.accept("partition", "by") {
		if w.partition, err = p.list(); err != nil {
			return nil, err
		}
	}
	if p.accept("order", "by") {
		if w.order, err = p.orderBy(); err != nil {
			return nil, err
		}
	}
	if w.frame, err = p.frame(); err != nil {
		return nil, err
	}
	return w, p.expectSymbol(")")
}

var frameWords = []string{"rows", "range", "groups"}

// frame is ROWS|RANGE|GROUPS [BETWEEN bound AND] bound.
func (p *parser) frame() (string, *fault) {
	t := p.peek()
	if t.kind != word || !slices.Contains(frameWords, t.text) {
		return "", nil
	}
	p.next()
	out := strings.ToUpper(t.text) + " "
	if !p.accept("between") {
		b, err := p.bound()
		return out + b, err
	}
	lo, err := p.bound()
	if err != nil {
		return "", err
	}
	if err := p.expect("and"); err != nil {
		return "", err
	}
	hi, err := p.bound()
	return out + "BETWEEN " + lo + " AND " + hi, err
}

func (p *parser) bound() (string, *fault) {
	if p.accept("current", "row") {
		return "CURRENT ROW", nil
	}
	n := "UNBOUNDED"
	if t := p.peek(); t.kind == number && !strings.ContainsAny(t.text, ".eE") && len(t.text) < 10 {
		n = p.next().text
	} else if !p.accept("unbounded") {
		return "", p.unexpected("a window's bound is UNBOUNDED PRECEDING, n PRECEDING, CURRENT ROW, n FOLLOWING or UNBOUNDED FOLLOWING")
	}
	switch {
	case p.accept("preceding"):
		return n + " PRECEDING", nil
	case p.accept("following"):
		return n + " FOLLOWING", nil
	}
	return "", p.unexpected("write PRECEDING or FOLLOWING")
}

func (p *parser) caseOf() (expr, *fault) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	e := &caseOf{info: info{at: p.next().at}}
	var err *fault
	if !p.is("when") {
		if e.operand, err = p.expr(); err != nil {
			return nil, err
		}
	}
	for p.accept("when") {
		var w [2]expr
		if w[0], err = p.expr(); err != nil {
			return nil, err
		}
		if err = p.expect("then"); err != nil {
			return nil, err
		}
		if w[1], err = p.expr(); err != nil {
			return nil, err
		}
		e.whens = append(e.whens, w)
	}
	if e.whens == nil {
		return nil, p.unexpected("CASE needs WHEN")
	}
	if p.accept("else") {
		if e.other, err = p.expr(); err != nil {
			return nil, err
		}
	}
	return e, p.expect("end")
}

func (p *parser) array() (expr, *fault) {
	a := &array{info: info{p.next().at, Array}}
	if !p.acceptSymbol("[") {
		return nil, p.unexpected("write ARRAY['a', 'b']; array_agg() collects the values of a query")
	}
	for !p.acceptSymbol("]") {
		t := p.next()
		if t.kind != str {
			return nil, faultf(t.at, "the elements of an ARRAY are texts in quotes here")
		}
		a.elems = append(a.elems, &literal{info{t.at, Text}, str, t.text})
		if !p.acceptSymbol(",") && !p.isSymbol("]") {
			return nil, p.unexpected("write , or ]")
		}
	}
	if a.elems == nil {
		return nil, faultf(a.at, "an empty ARRAY is not available")
	}
	return a, nil
}

// extract(field FROM x)
func (p *parser) extract() (expr, *fault) {
	t := p.next()
	if err := p.expectSymbol("("); err != nil {
		return nil, err
	}
	f := p.next()
	if f.kind != word && f.kind != str {
		return nil, faultf(f.at, "write EXTRACT(field FROM a time); a field is year, month, day, hour, …")
	}
	if err := p.expect("from"); err != nil {
		return nil, err
	}
	x, err := p.expr()
	if err != nil {
		return nil, err
	}
	c := &call{info: info{at: t.at}, name: "extract", spec: functions["extract"],
		args: []expr{&literal{info{f.at, Text}, str, lowerASCII(f.text)}, x}}
	if err := p.expectSymbol(")"); err != nil {
		return nil, err
	}
	return c, c.check()
}

// near names what was probably meant.
func near(word string, names []string) string {
	best, score := "", 3
	for _, n := range names {
		if d := distance(word, n); d < score {
			best, score = n, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + strconv.Quote(best) + "?"
}

// distance counts the edits between two words, up to 3.
func distance(a, b string) int {
	if len(a)-len(b) > 2 || len(b)-len(a) > 2 {
		return 3
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := before
			if a[i-1] != b[j-1] {
				cost++
			}
			before, row[j] = row[j], min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
