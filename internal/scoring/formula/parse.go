package formula

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/p8-org/p8/internal/near"
)

// parser reads an expression by precedence, from or to the operands.
type parser struct {
	tokens []token
	next   int
	depth  int
	scope  Scope
}

func newParser(text string, scope Scope) (*parser, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	return &parser{tokens: tokens, scope: scope}, nil
}

func (p *parser) whole() (node, error) {
	if p.peek().kind == end {
		return nil, &Error{0, "the expression is empty", "write one such as accuracy >= 0.5"}
	}
	n, err := p.expression()
	if err == nil && p.peek().kind != end {
		err = p.unexpected()
	}
	return n, err
}

func (p *parser) peek() token { return p.tokens[p.next] }

// is reports whether the next token is one of the words or operators.
func (p *parser) is(texts ...string) bool {
	t := p.peek()
	return (t.kind == word || t.kind == operator) && slices.Contains(texts, t.text)
}

// take skips the next token if it is this word or operator.
func (p *parser) take(text string) bool {
	if !p.is(text) {
		return false
	}
	p.next++
	return true
}

func (p *parser) expect(text string) error {
	if p.take(text) {
		return nil
	}
	return p.wanted(text)
}

func (p *parser) wanted(what string) error {
	t := p.peek()
	if t.kind == end {
		return &Error{t.at, "the expression ends too early", "expected " + what}
	}
	return &Error{t.at, "unexpected " + t.text, "expected " + what}
}

func (p *parser) unexpected() error { return p.wanted("an operator, such as + or >=") }

// expression reads "a ? b : c", "b if a else c", or less.
func (p *parser) expression() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errDepth(p.peek())
	}
	defer func() { p.depth-- }()
	first, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	at := p.peek().at
	switch {
	case p.take("?"):
		yes, err := p.expression()
		if err != nil {
			return nil, err
		}
		if err := p.expect(":"); err != nil {
			return nil, err
		}
		no, err := p.expression()
		if err != nil {
			return nil, err
		}
		return newChoice(at, first, yes, no)
	case p.take("if"):
		condition, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		if err := p.expect("else"); err != nil {
			return nil, err
		}
		no, err := p.expression()
		if err != nil {
			return nil, err
		}
		return newChoice(at, condition, first, no)
	}
	return first, nil
}

// levels are the binary operators, from the loosest to the tightest. "not" is between and
// and the comparisons.
var levels = [][]string{{"or"}, {"and"}, {"==", "!=", "<", "<=", ">", ">=", "in", "not"}, {"+", "-"}, {"*", "/", "%"}}

const comparisons = 2

func (p *parser) binary(level int) (node, error) {
	if level == len(levels) {
		return p.unary()
	}
	if level == comparisons && p.is("not") {
		return p.negation()
	}
	left, err := p.binary(level + 1)
	if err != nil {
		return nil, err
	}
	for count := 0; p.is(levels[level]...); count++ {
		op := p.peek()
		p.next++
		if op.text == "not" { // not in
			if err := p.expect("in"); err != nil {
				return nil, err
			}
			op.text = "not in"
		}
		right, err := p.binary(level + 1)
		if err != nil {
			return nil, err
		}
		if level == comparisons && count > 0 {
			return nil, &Error{op.at, "comparisons cannot be chained", "write a < b and b < c"}
		}
		if left, err = newBinary(op, left, right); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (p *parser) negation() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errDepth(p.peek())
	}
	defer func() { p.depth-- }()
	op := p.peek()
	p.next++
	inner, err := p.binary(comparisons)
	if err != nil {
		return nil, err
	}
	return newUnary(op, inner)
}

func (p *parser) unary() (node, error) {
	if !p.is("-") {
		return p.postfix()
	}
	if p.depth++; p.depth > maxDepth {
		return nil, errDepth(p.peek())
	}
	defer func() { p.depth-- }()
	op := p.peek()
	p.next++
	inner, err := p.unary()
	if err != nil {
		return nil, err
	}
	return newUnary(op, inner)
}

// postfix reads an operand with .field and [index] behind it.
func (p *parser) postfix() (node, error) {
	n, err := p.operand()
	for err == nil {
		at := p.peek().at
		switch {
		case p.take("."):
			t := p.peek()
			if t.kind != word {
				return nil, p.wanted("the name of a field")
			}
			p.next++
			n, err = newIndex(at, n, literal{t.text})
		case p.take("["):
			var key node
			if key, err = p.expression(); err != nil {
				return nil, err
			}
			if err = p.expect("]"); err != nil {
				return nil, err
			}
			n, err = newIndex(at, n, key)
		default:
			return n, nil
		}
	}
	return nil, err
}

func (p *parser) operand() (node, error) {
	t := p.peek()
	switch {
	case t.kind == number:
		f, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			return nil, &Error{t.at, "the number " + t.text + " is not valid", ""}
		}
		p.next++
		return literal{f}, nil
	case t.kind == quoted:
		p.next++
		return literal{t.text}, nil
	case p.take("("):
		n, err := p.expression()
		if err == nil {
			err = p.expect(")")
		}
		return n, err
	case p.take("["):
		items, err := p.list("]")
		return listNode(items), err
	case p.take("true"):
		return literal{true}, nil
	case p.take("false"):
		return literal{false}, nil
	case p.take("null"):
		return literal{nil}, nil
	case t.kind == word && !slices.Contains([]string{"and", "or", "in", "if", "else"}, t.text):
		p.next++
		if p.take("(") {
			args, err := p.list(")")
			if err != nil {
				return nil, err
			}
			return newCall(t, args)
		}
		return p.name(t)
	}
	return nil, p.wanted("a field, a number, a text or (")
}

// list reads expressions up to a closing bracket.
func (p *parser) list(closing string) ([]node, error) {
	var items []node
	for !p.take(closing) {
		if len(items) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		item, err := p.expression()
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

func (p *parser) name(t token) (node, error) {
	typ, known := p.scope[t.text]
	if known {
		return field{t.text, typ}, nil
	}
	names := slices.Sorted(maps.Keys(p.scope))
	hint := "there are no fields"
	if similar := near.Names(t.text, names, 1); len(similar) > 0 {
		hint = "did you mean " + similar[0] + "?"
	} else if len(names) > 0 {
		hint = "there are " + enumerate(names)
	}
	return nil, &Error{t.at, "there is no field " + t.text, hint}
}

// enumerate names the first few.
func enumerate(names []string) string {
	const most = 8
	text := ""
	for i, name := range names[:min(most, len(names))] {
		if i > 0 {
			text += ", "
		}
		text += name
	}
	if len(names) > most {
		text += " and more"
	}
	return text
}

func errDepth(t token) error {
	return &Error{t.at, "the expression is nested too deep", "split it into several derived scores"}
}

// Compare returns the formula that compares a name of the scope with a value.
func Compare(name, op string, value any, scope Scope) (*Formula, error) {
	n, err := newBinary(token{operator, op, 0}, field{name, scope[name]}, literal{value})
	if err != nil {
		return nil, err
	}
	return &Formula{fmt.Sprintf("%s %s %v", name, op, value), n}, nil
}
