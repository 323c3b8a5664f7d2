package scoring

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/internal/scoring/formula"
	"github.com/p8-org/p8/internal/tree"
)

// reader reads the plan of one document.
type reader struct {
	root     *tree.Node
	plan     *Plan
	scope    formula.Scope
	mistakes []Mistake
}

func (r *reader) fail(n *tree.Node, pointer, hint, format string, args ...any) {
	r.mistakes = append(r.mistakes, Mistake{Node: n, Pointer: pointer, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// config returns the value of a configuration key in either place, nil if it is absent or
// null.
func (r *reader) config(key string) (n *tree.Node, pointer string) {
	if n = r.root.Get(extraKey).Get(key); n != nil {
		pointer = "/" + extraKey
	} else {
		n = r.root.Get(key)
	}
	if n != nil && n.Kind == tree.Null {
		n = nil
	}
	return n, pointer + "/" + key
}

// fields reads the properties.
func (r *reader) fields() {
	for _, m := range r.root.Get("properties").List() {
		f := field{name: m.Key, typ: typeOf(m.Value.Get("type").Str())}
		f.low, _ = number(m.Value.Get("minimum"))
		f.high, f.bounded = number(m.Value.Get("maximum"))
		f.bounded = f.bounded && f.high > f.low
		f.count = m.Value.Get("type").Str() == "integer" && !f.bounded
		r.plan.fields = append(r.plan.fields, f)
		r.scope[f.name] = f.typ
	}
}

func typeOf(name string) formula.Type {
	return map[string]formula.Type{
		"number": formula.Number, "integer": formula.Number, "boolean": formula.Bool, "string": formula.Text,
		"array": formula.List, "object": formula.Map,
	}[name]
}

func number(n *tree.Node) (float64, bool) {
	if n == nil || n.Kind != tree.Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	return f, err == nil
}

// weights reads evaluation_weights.
func (r *reader) weights() {
	n, pointer := r.config("evaluation_weights")
	if n == nil {
		return
	}
	before := len(r.mistakes)
	r.plan.weights = r.shares(n, pointer)
	if len(r.mistakes) == before && !slices.ContainsFunc(r.plan.weights, func(w weight) bool { return w.share > 0 }) {
		r.fail(n, pointer, "give one of them a weight above 0", "no score has a weight")
	}
}

// shares reads a mapping of fields to weights.
func (r *reader) shares(n *tree.Node, pointer string) []weight {
	if n == nil || n.Kind != tree.Object {
		r.fail(n, pointer, "write field: weight below it", "weights must be a mapping of fields to numbers")
		return nil
	}
	var out []weight
	for _, m := range n.Members {
		at := tree.Child(pointer, m.Key)
		share, ok := number(m.Value)
		if !ok || share < 0 {
			r.fail(m.Value, at, "write a number such as 0.5", "the weight of %s must be a number of at least 0", tree.Clip(m.Key, 60))
			continue
		}
		if name := r.name(m.Key, at, m.Value, formula.Number, formula.Bool); name != "" {
			out = append(out, weight{name, share})
		}
	}
	return out
}

// name returns the field or derived score with this name, or with _score behind it. It has
// one of the types, if any are given.
func (r *reader) name(name, pointer string, at *tree.Node, types ...formula.Type) string {
	for _, n := range []string{name, name + "_score"} {
		t, known := r.scope[n]
		switch {
		case !known:
		case t == formula.Any || len(types) == 0 || slices.Contains(types, t):
			return n
		default:
			r.fail(at, pointer, "", "%s is %s, not %s", n, t, types[0])
			return ""
		}
	}
	r.fail(at, pointer, r.hint(name), "there is no field %s", tree.Clip(name, 60))
	return ""
}

// hint names the nearest field, or some of them.
func (r *reader) hint(name string) string {
	var names []string
	for n := range r.scope {
		names = append(names, n)
	}
	slices.Sort(names)
	if similar := near.Names(name, names, 1); len(similar) > 0 {
		return "did you mean " + similar[0] + "?"
	}
	const most = 8
	switch {
	case len(names) == 0:
		return "add it to properties"
	case len(names) > most:
		return "there are " + strings.Join(names[:most], ", ") + " and more"
	}
	return "there are " + strings.Join(names, ", ")
}

// marks reads pass_mark: the mark of the overall score, or those of several scores.
func (r *reader) marks() {
	n, pointer := r.config("pass_mark")
	if n == nil {
		return
	}
	mark := func(name string, n *tree.Node, pointer string) {
		v, ok := number(n)
		if !ok || v < 0 || v > 1 {
			r.fail(n, pointer, "write a number such as 0.75", "a pass mark must be a number from 0 to 1")
			return
		}
		r.plan.marks[name] = v
	}
	if n.Kind != tree.Object {
		mark(Overall, n, pointer)
		return
	}
	for _, m := range n.Members {
		at := tree.Child(pointer, m.Key)
		isEvaluation := slices.ContainsFunc(r.plan.evaluations, func(e evaluation) bool { return e.name == m.Key })
		if m.Key == Overall || isEvaluation {
			mark(m.Key, m.Value, at)
		} else if name := r.name(m.Key, at, m.Value, formula.Number, formula.Bool); name != "" {
			mark(name, m.Value, at)
		}
	}
}
