package scoring

import (
	"slices"

	"github.com/p8-org/p8/internal/scoring/formula"
	"github.com/p8-org/p8/internal/tree"
)

// evaluation is one of phoenix_config's evaluations: a named score with a label and an
// explanation.
type evaluation struct {
	name string
	// score is the expression, else scoreField the field, else scores the score of each label.
	score      *formula.Formula
	scoreField string
	scores     map[string]float64
	// label is the expression, else labelField the field, else thresholds decide by the score.
	label      *formula.Formula
	labelField string
	// transform renames labels.
	transform   map[string]string
	thresholds  []threshold
	explanation string
}

// threshold gives a label to scores that reach it.
type threshold struct {
	at    float64
	above bool
	label string
}

func (r *reader) evaluations(n *tree.Node, pointer string) {
	if n.Kind == tree.Null {
		return
	}
	if n.Kind != tree.Array {
		r.fail(n, pointer, "write a list: begin each evaluation with a dash", "evaluations must be a list, not %s", n.Kind)
		return
	}
	for i, item := range n.Items {
		at := tree.Element(pointer, i)
		if !r.keys(item, at, "name", "score_expression", "score_field", "score_logic", "label_expression", "label_field",
			"label_transform", "label_logic", "explanation_field", "description") {
			continue
		}
		e := evaluation{name: item.Get("name").Str()}
		switch {
		case e.name == "":
			r.fail(orHere(item, "name"), tree.Child(at, "name"), "add name: overall", "the evaluation has no name")
		case slices.ContainsFunc(r.plan.evaluations, func(o evaluation) bool { return o.name == e.name }):
			r.fail(item.Get("name"), tree.Child(at, "name"), "give each its own", "there are two evaluations named %s", tree.Clip(e.name, 60))
		}
		r.scoreOf(&e, item, at)
		r.labelOf(&e, item, at)
		if f := item.Get("explanation_field"); f != nil && f.Kind != tree.Null {
			e.explanation = r.name(f.Str(), tree.Child(at, "explanation_field"), f)
		}
		r.plan.evaluations = append(r.plan.evaluations, e)
	}
}

// scoreOf reads score_expression, else score_field, else score_logic.
func (r *reader) scoreOf(e *evaluation, n *tree.Node, pointer string) {
	switch {
	case has(n, "score_expression"):
		e.score = r.formula(n, pointer, "score_expression", formula.Number)
	case has(n, "score_field"):
		f := n.Get("score_field")
		e.scoreField = r.name(f.Str(), tree.Child(pointer, "score_field"), f, formula.Number, formula.Bool)
	case has(n, "score_logic"):
		logic, at := n.Get("score_logic"), tree.Child(pointer, "score_logic")
		if logic.Kind != tree.Object {
			r.fail(logic, at, "write label: score below it", "score_logic must be a mapping, not %s", logic.Kind)
			return
		}
		e.scores = map[string]float64{}
		for _, m := range logic.Members {
			v, ok := number(m.Value)
			if !ok || v < 0 || v > 1 {
				r.fail(m.Value, tree.Child(at, m.Key), "write a number such as 0.5", "the score of %s must be a number from 0 to 1", tree.Clip(m.Key, 60))
			}
			e.scores[m.Key] = v
		}
		if !has(n, "label_expression") && !has(n, "label_field") {
			r.fail(logic, at, "add label_field", "score_logic needs a label")
		}
	default:
		r.fail(n, pointer, "add score_field, score_expression or score_logic", "the evaluation has no score")
	}
}

// labelOf reads label_expression, else label_field, else label_logic; all may be absent.
func (r *reader) labelOf(e *evaluation, n *tree.Node, pointer string) {
	switch {
	case has(n, "label_expression"):
		text, at := n.Get("label_expression"), tree.Child(pointer, "label_expression")
		f, err := formula.Compile(text.Str(), r.scope)
		if !r.mistaken(err, text, at) {
			e.label = f
		}
	case has(n, "label_field"):
		f := n.Get("label_field")
		e.labelField = r.name(f.Str(), tree.Child(pointer, "label_field"), f, formula.Text, formula.Bool, formula.Number)
	case has(n, "label_logic"):
		r.labelLogic(e, n.Get("label_logic"), tree.Child(pointer, "label_logic"))
	}
	if !has(n, "label_transform") {
		return
	}
	t, at := n.Get("label_transform"), tree.Child(pointer, "label_transform")
	if t.Kind != tree.Object {
		r.fail(t, at, "write label: other label below it", "label_transform must be a mapping, not %s", t.Kind)
		return
	}
	e.transform = map[string]string{}
	for _, m := range t.Members {
		if m.Value.Kind != tree.Text {
			r.fail(m.Value, tree.Child(at, m.Key), "write a text", "the label for %s must be a text", tree.Clip(m.Key, 60))
		}
		e.transform[m.Key] = m.Value.Text
	}
}

func (r *reader) labelLogic(e *evaluation, n *tree.Node, pointer string) {
	if n.Kind != tree.Array {
		r.fail(n, pointer, "list {threshold: 0.8, operator: \">=\", label: good}", "label_logic must be a list, not %s", n.Kind)
		return
	}
	for i, item := range n.Items {
		at := tree.Element(pointer, i)
		if !r.keys(item, at, "threshold", "operator", "label") {
			continue
		}
		t := threshold{label: item.Get("label").Str()}
		var ok bool
		if t.at, ok = number(item.Get("threshold")); !ok {
			r.fail(orHere(item, "threshold"), tree.Child(at, "threshold"), "write a number such as 0.8", "threshold must be a number")
		}
		if t.label == "" {
			r.fail(orHere(item, "label"), tree.Child(at, "label"), "write a text", "label is missing")
		}
		switch item.Get("operator").Str() {
		case ">=":
		case ">":
			t.above = true
		default:
			if has(item, "operator") {
				r.fail(item.Get("operator"), tree.Child(at, "operator"), `write ">=" or ">"`, "the operator of a threshold is >= or >")
			}
		}
		e.thresholds = append(e.thresholds, t)
	}
}

func has(n *tree.Node, key string) bool {
	v := n.Get(key)
	return v != nil && v.Kind != tree.Null
}
