package formula

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// node is a part of an expression.
type node interface {
	typ() Type
	eval(values map[string]any) (any, error)
}

type literal struct{ value any }

func (l literal) typ() Type                        { return typeOf(l.value) }
func (l literal) eval(map[string]any) (any, error) { return l.value, nil }

// field is a name of the scope.
type field struct {
	name string
	t    Type
}

func (f field) typ() Type                               { return f.t }
func (f field) eval(values map[string]any) (any, error) { return values[f.name], nil }

type listNode []node

func (listNode) typ() Type { return List }
func (l listNode) eval(values map[string]any) (any, error) {
	out := make([]any, len(l))
	for i, item := range l {
		v, err := item.eval(values)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// operation computes from the values of its operands.
type operation struct {
	name     string
	t        Type
	operands []node
	apply    func([]any) (any, error)
}

func (o *operation) typ() Type { return o.t }
func (o *operation) eval(values map[string]any) (any, error) {
	args := make([]any, len(o.operands))
	for i, n := range o.operands {
		v, err := n.eval(values)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return o.apply(args)
}

// need refuses an operand that has another type for certain.
func need(at int, op string, n node, types ...Type) error {
	t := n.typ()
	if t == Any {
		return nil
	}
	var names []string
	for _, want := range types {
		if t == want {
			return nil
		}
		names = append(names, want.String())
	}
	return &Error{at, fmt.Sprintf("%s needs %s, not %s", op, strings.Join(names, " or "), t), ""}
}

// as returns a value of a type, or an error that names the operator.
func as[T any](op string, v any) (T, error) {
	t, ok := v.(T)
	if !ok {
		var zero T
		return t, fmt.Errorf("%s needs %s, not %s", op, typeOf(zero), typeOf(v))
	}
	return t, nil
}

func newUnary(op token, n node) (node, error) {
	if op.text == "not" {
		return &operation{"not", Bool, []node{n}, func(a []any) (any, error) {
			b, err := as[bool]("not", a[0])
			return !b, err
		}}, need(op.at, "not", n, Bool)
	}
	return &operation{"-", Number, []node{n}, func(a []any) (any, error) {
		f, err := as[float64]("-", a[0])
		return -f, err
	}}, need(op.at, "-", n, Number)
}

func newBinary(op token, a, b node) (node, error) {
	o := &operation{name: op.text, operands: []node{a, b}}
	both := func(types ...Type) error {
		if err := need(op.at, op.text, a, types...); err != nil {
			return err
		}
		return need(op.at, op.text, b, types...)
	}
	switch op.text {
	case "and", "or":
		return &logic{op.text == "and", a, b}, both(Bool)
	case "==", "!=":
		negated := op.text == "!="
		o.t, o.apply = Bool, func(v []any) (any, error) { return reflect.DeepEqual(v[0], v[1]) != negated, nil }
		return o, nil
	case "in", "not in":
		negated := op.text == "not in"
		o.t, o.apply = Bool, func(v []any) (any, error) {
			found, err := in(v[0], v[1])
			return found != negated, err
		}
		return o, need(op.at, op.text, b, List, Text, Map)
	case "<", "<=", ">", ">=":
		o.t, o.apply = Bool, func(v []any) (any, error) { return order(op.text, v[0], v[1]) }
		if err := both(Number, Text); err != nil {
			return nil, err
		}
		if a.typ() != Any && b.typ() != Any && a.typ() != b.typ() {
			return nil, &Error{op.at, fmt.Sprintf("%s cannot compare %s with %s", op.text, a.typ(), b.typ()), ""}
		}
		return o, nil
	}
	o.t, o.apply = Number, func(v []any) (any, error) { return arithmetic(op.text, v[0], v[1]) }
	return o, both(Number)
}

func in(needle, hay any) (bool, error) {
	switch hay := hay.(type) {
	case []any:
		for _, v := range hay {
			if reflect.DeepEqual(v, needle) {
				return true, nil
			}
		}
		return false, nil
	case string:
		text, err := as[string]("in", needle)
		return strings.Contains(hay, text), err
	case map[string]any:
		key, err := as[string]("in", needle)
		_, there := hay[key]
		return there, err
	}
	return false, fmt.Errorf("in needs a list, a text or a mapping, not %s", typeOf(hay))
}

func order(op string, a, b any) (any, error) {
	c := 0
	switch x := a.(type) {
	case float64:
		y, err := as[float64](op, b)
		if err != nil {
			return nil, err
		}
		switch {
		case x < y:
			c = -1
		case x > y:
			c = 1
		}
	case string:
		y, err := as[string](op, b)
		if err != nil {
			return nil, err
		}
		c = strings.Compare(x, y)
	default:
		return nil, fmt.Errorf("%s needs a number or a text, not %s", op, typeOf(a))
	}
	switch op {
	case "<":
		return c < 0, nil
	case "<=":
		return c <= 0, nil
	case ">":
		return c > 0, nil
	}
	return c >= 0, nil
}

func arithmetic(op string, a, b any) (any, error) {
	x, err := as[float64](op, a)
	if err != nil {
		return nil, err
	}
	y, err := as[float64](op, b)
	if err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return finite(x + y)
	case "-":
		return finite(x - y)
	case "*":
		return finite(x * y)
	case "/":
		if y == 0 {
			return nil, fmt.Errorf("%v is divided by 0", x)
		}
		return finite(x / y)
	}
	if y == 0 {
		return nil, fmt.Errorf("%v is divided by 0", x)
	}
	return finite(math.Mod(x, y))
}

// logic is and, or: the second operand is evaluated only if the first does not decide.
type logic struct {
	and  bool
	a, b node
}

func (*logic) typ() Type { return Bool }
func (l *logic) eval(values map[string]any) (any, error) {
	name := "or"
	if l.and {
		name = "and"
	}
	for _, n := range []node{l.a, l.b} {
		v, err := n.eval(values)
		if err != nil {
			return nil, err
		}
		b, err := as[bool](name, v)
		if err != nil {
			return nil, err
		}
		if b != l.and {
			return b, nil
		}
	}
	return l.and, nil
}

// choice is "condition ? yes : no".
type choice struct{ condition, yes, no node }

func newChoice(at int, condition, yes, no node) (node, error) {
	return &choice{condition, yes, no}, need(at, "a condition", condition, Bool)
}

func (c *choice) typ() Type {
	if t := c.yes.typ(); t == c.no.typ() {
		return t
	}
	return Any
}

func (c *choice) eval(values map[string]any) (any, error) {
	v, err := c.condition.eval(values)
	if err != nil {
		return nil, err
	}
	b, err := as[bool]("a condition", v)
	if err != nil {
		return nil, err
	}
	if b {
		return c.yes.eval(values)
	}
	return c.no.eval(values)
}

// newIndex is .field or [index]; a field that is absent is null.
func newIndex(at int, n, key node) (node, error) {
	if err := need(at, "an index", n, List, Map); err != nil {
		return nil, err
	}
	if err := need(at, "an index", key, Number, Text); err != nil {
		return nil, err
	}
	return &operation{"index", Any, []node{n, key}, func(v []any) (any, error) {
		switch of := v[0].(type) {
		case map[string]any:
			key, err := as[string]("a field", v[1])
			return of[key], err
		case []any:
			f, err := as[float64]("an index", v[1])
			if err != nil {
				return nil, err
			}
			if f < 0 {
				f += float64(len(of))
			}
			if f != math.Trunc(f) || f < 0 || f >= float64(len(of)) {
				return nil, fmt.Errorf("a list of %d has no item %v", len(of), v[1])
			}
			return of[int(f)], nil
		}
		return nil, fmt.Errorf("an index needs a list or a mapping, not %s", typeOf(v[0]))
	}}, nil
}
