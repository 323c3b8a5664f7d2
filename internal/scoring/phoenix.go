package scoring

import (
	"errors"
	"slices"
	"strings"

	"github.com/p8-org/p8/internal/near"
	"github.com/p8-org/p8/internal/scoring/formula"
	"github.com/p8-org/p8/internal/tree"
)

// derived is a score that is computed from fields and earlier derived scores: the first
// alternative whose condition holds.
type derived struct {
	name         string
	alternatives []alternative
}

// alternative is a sum or an expression, under a condition or nil.
type alternative struct {
	condition  *formula.Formula
	weights    []weight
	expression *formula.Formula
}

// phoenix reads REM's phoenix_config.
func (r *reader) phoenix() {
	n, pointer := r.config("phoenix_config")
	if n == nil {
		return
	}
	if !r.keys(n, pointer, "derived_scores", "evaluations") {
		return
	}
	if d := n.Get("derived_scores"); d != nil {
		r.derivedScores(d, tree.Child(pointer, "derived_scores"))
	}
	if e := n.Get("evaluations"); e != nil {
		r.evaluations(e, tree.Child(pointer, "evaluations"))
	}
}

// keys requires a mapping with no other keys.
func (r *reader) keys(n *tree.Node, pointer string, names ...string) bool {
	if n == nil || n.Kind != tree.Object {
		r.fail(n, pointer, "there are the keys "+strings.Join(names, ", "), "this must be a mapping")
		return false
	}
	for _, m := range n.Members {
		if !slices.Contains(names, m.Key) {
			hint := "there are " + strings.Join(names, ", ")
			if similar := near.Names(m.Key, names, 1); len(similar) > 0 {
				hint = "did you mean " + similar[0] + "?"
			}
			r.fail(&tree.Node{Pos: m.Pos}, tree.Child(pointer, m.Key), hint, "unknown key %q", tree.Clip(m.Key, 60))
		}
	}
	return true
}

func (r *reader) derivedScores(n *tree.Node, pointer string) {
	if n.Kind == tree.Null {
		return
	}
	if n.Kind != tree.Object {
		r.fail(n, pointer, "write one key for each score below it", "derived_scores must be a mapping, not %s", n.Kind)
		return
	}
	for _, m := range n.Members {
		at := tree.Child(pointer, m.Key)
		if _, taken := r.scope[m.Key]; taken {
			r.fail(m.Value, at, "give it another name", "the answer has a field %s already", tree.Clip(m.Key, 60))
			continue
		}
		d, typ := r.derivedScore(m.Key, m.Value, at)
		r.plan.derived = append(r.plan.derived, d)
		r.scope[m.Key] = typ
	}
}

// The types of derived scores.
const (
	weightedSum  = "weighted_sum"
	conditional  = "conditional_weighted"
	booleanLogic = "boolean_logic"
	expression   = "expression"
)

func (r *reader) derivedScore(name string, n *tree.Node, pointer string) (derived, formula.Type) {
	d := derived{name: name}
	if !r.keys(n, pointer, "type", "weights", "conditions", "expression", "description") {
		return d, formula.Any
	}
	switch typ := n.Get("type").Str(); typ {
	case weightedSum:
		d.alternatives = []alternative{{weights: r.shares(orHere(n, "weights"), tree.Child(pointer, "weights"))}}
		return d, formula.Number
	case conditional:
		d.alternatives = r.conditions(n, pointer)
		return d, formula.Number
	case booleanLogic:
		d.alternatives = []alternative{{expression: r.formula(n, pointer, "expression", formula.Bool)}}
		return d, formula.Bool
	case expression:
		f := r.formula(n, pointer, "expression", formula.Number)
		d.alternatives = []alternative{{expression: f}}
		return d, formula.Number
	default:
		types := []string{weightedSum, conditional, booleanLogic, expression}
		hint := "write one of " + strings.Join(types, ", ")
		if similar := near.Names(typ, types, 1); len(similar) > 0 {
			hint = "did you mean " + similar[0] + "?"
		}
		r.fail(orHere(n, "type"), tree.Child(pointer, "type"), hint, "there is no derived score of type %q", tree.Clip(typ, 60))
	}
	return d, formula.Any
}

// orHere returns the value of a key, or the mapping that lacks it.
func orHere(n *tree.Node, key string) *tree.Node {
	if v := n.Get(key); v != nil {
		return v
	}
	return &tree.Node{Pos: n.Pos}
}

// conditions reads the alternatives of conditional_weighted; one without a condition holds
// always.
func (r *reader) conditions(n *tree.Node, pointer string) []alternative {
	list, pointer := n.Get("conditions"), tree.Child(pointer, "conditions")
	if list == nil || list.Kind != tree.Array || len(list.Items) == 0 {
		r.fail(orHere(n, "conditions"), pointer, "list alternatives with condition: and formula:", "conditions must be a list")
		return nil
	}
	var out []alternative
	for i, item := range list.Items {
		at := tree.Element(pointer, i)
		if !r.keys(item, at, "condition", "formula") {
			continue
		}
		a := alternative{condition: r.condition(item, at)}
		f := orHere(item, "formula")
		if r.keys(f, tree.Child(at, "formula"), "type", "weights") {
			if typ := f.Get("type"); typ != nil && typ.Str() != weightedSum {
				r.fail(typ, tree.Child(at, "formula")+"/type", "write type: "+weightedSum, "a formula is a weighted sum")
			}
			a.weights = r.shares(orHere(f, "weights"), tree.Child(at, "formula")+"/weights")
		}
		out = append(out, a)
	}
	return out
}

// condition reads {field, operator, value}; nil for none.
func (r *reader) condition(n *tree.Node, pointer string) *formula.Formula {
	c := n.Get("condition")
	if c == nil || c.Kind == tree.Null {
		return nil
	}
	pointer = tree.Child(pointer, "condition")
	if !r.keys(c, pointer, "field", "operator", "value") {
		return nil
	}
	operators := []string{">=", ">", "<=", "<", "==", "!="}
	op := c.Get("operator").Str()
	if !slices.Contains(operators, op) {
		r.fail(orHere(c, "operator"), tree.Child(pointer, "operator"), "write one of "+strings.Join(operators, " "), "there is no operator %q", tree.Clip(op, 60))
		return nil
	}
	value := c.Get("value")
	if value == nil || value.Kind >= tree.Array {
		r.fail(orHere(c, "value"), tree.Child(pointer, "value"), "write a number, a text, true or false", "value is missing, or is no single value")
		return nil
	}
	name := r.name(c.Get("field").Str(), tree.Child(pointer, "field"), orHere(c, "field"))
	if name == "" {
		return nil
	}
	f, err := formula.Compare(name, op, scalar(value), r.scope)
	r.mistaken(err, c, pointer)
	return f
}

func scalar(n *tree.Node) any {
	if f, ok := number(n); ok {
		return f
	}
	return n.Any()
}

// formula reads an expression whose result has a type; a boolean can be a number, too.
func (r *reader) formula(n *tree.Node, pointer, key string, typ formula.Type) *formula.Formula {
	text, pointer := n.Get(key), tree.Child(pointer, key)
	if text == nil || text.Kind != tree.Text {
		r.fail(orHere(n, key), pointer, "write an expression in quotes, such as \"accuracy >= 0.5\"", "%s is missing, or is no text", key)
		return nil
	}
	f, err := formula.Compile(text.Text, r.scope)
	if r.mistaken(err, text, pointer) {
		return nil
	}
	got := f.Type()
	if got == formula.Any || got == typ || got == formula.Bool && typ == formula.Number {
		return f
	}
	r.fail(text, pointer, "", "the result of the expression is %s, not %s", got, typ)
	return nil
}

// mistaken reports a mistake in an expression at its place.
func (r *reader) mistaken(err error, n *tree.Node, pointer string) bool {
	var e *formula.Error
	if errors.As(err, &e) {
		r.mistakes = append(r.mistakes, Mistake{Node: n, Pointer: pointer, At: e.At, Message: e.Message, Hint: e.Hint})
	}
	return err != nil
}
