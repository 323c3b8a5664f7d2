// Package scoring computes scores from the answer of a judging agent, as its document says:
// one for each number and boolean, weights, derived scores, labels and pass marks.
//
// [Read] reads the document's part and reports every mistake with its place, so that an
// evaluator that loads can also score. [Plan.Score] is pure and safe for concurrent use.
package scoring

import (
	"github.com/p8-org/p8/internal/scoring/formula"
	"github.com/p8-org/p8/internal/tree"
	"slices"
)

// Score is one judgement.
type Score struct {
	Name string `json:"name"`
	// Value is between 0 and 1.
	Value float64 `json:"value"`
	Label string  `json:"label,omitempty"`
	// Pass is nil if the score has no pass mark.
	Pass        *bool  `json:"pass,omitempty"`
	Explanation string `json:"explanation,omitempty"`
}

// Overall is the name of the score that sums up the others.
const Overall = "overall"

// Plan says how an answer is scored.
type Plan struct {
	fields      []field
	weights     []weight
	derived     []derived
	evaluations []evaluation
	marks       map[string]float64
}

// field is a property of the answer.
type field struct {
	name string
	typ  formula.Type
	// low and high are the bounds of a number; bounded is set if high is given.
	low, high float64
	bounded   bool
	// count is set for an integer without a maximum.
	count bool
}

// weight is the share of a field.
type weight struct {
	field string
	share float64
}

// Mistake is a mistake in the document's part.
type Mistake struct {
	// Node is the value that is wrong, Pointer its JSON pointer; At is the place in its text,
	// in characters.
	Node    *tree.Node
	Pointer string
	At      int
	Message string
	Hint    string
}

// Read reads the plan of a document. If there are mistakes, the plan is of no use.
func Read(root *tree.Node) (*Plan, []Mistake) {
	r := &reader{root: root, plan: &Plan{marks: map[string]float64{}}, scope: formula.Scope{}}
	r.fields()
	r.weights()
	r.phoenix()
	r.marks()
	return r.plan, r.mistakes
}

// Scores reports whether an answer can have a score.
func (p *Plan) Scores() bool {
	return len(p.derived)+len(p.evaluations) > 0 || slices.ContainsFunc(p.fields, func(f field) bool {
		return !f.count && (f.typ == formula.Any || f.typ == formula.Number || f.typ == formula.Bool)
	})
}

// extraKey holds the configuration of nested documents.
const extraKey = "json_schema_extra"
