package agent_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
)

const judge = `name: judge
evaluation_type: accuracy
description: You judge answers.
properties:
  accuracy: {type: number}
`

// TestEvaluatorMistakes: an expression is wrong at its line and column when the document is
// read, not when it is run.
func TestEvaluatorMistakes(t *testing.T) {
	for config, want := range map[string]string{
		`phoenix_config: {derived_scores: {d: {type: expression, expression: accuracy + zzz}}}`:                                      `judge.yaml:6:80: there is no field zzz (there are accuracy)`,
		`phoenix_config: {derived_scores: {d: {type: expression, expression: "2 * accuracy + zzz"}}}`:                                `judge.yaml:6:85: there is no field zzz (there are accuracy)`,
		"phoenix_config:\n  derived_scores:\n    d:\n      type: expression\n      expression: |\n        accuracy +\n        zzz\n": `judge.yaml:10:`,
		`evaluation_weights: {speed: 1}`: `judge.yaml:6:29: there is no field speed (there are accuracy)`,
		`pass_mark: high`:                `judge.yaml:6:12: a pass mark must be a number from 0 to 1 (write a number such as 0.75)`,
	} {
		_, err := agent.Parse("judge.yaml", []byte(judge+config))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", config, err, want)
		}
	}
	// Other documents are not scored.
	if _, err := agent.Parse("a.yaml", []byte(strings.Replace(judge, "evaluation_type: accuracy\n", "", 1)+"evaluation_weights: {speed: 1}")); err != nil {
		t.Error(err)
	}
}

func TestIs(t *testing.T) {
	for head, want := range map[string]string{
		"":                                   "agent",
		"kind: agent":                        "agent",
		"kind: evaluator":                    "evaluator",
		"evaluation_type: accuracy":          "evaluator",
		"kind: agent\nevaluation_type: tone": "evaluator",
		"kind: engram\nevaluation_type: x":   "engram",
		"json_schema_extra: {kind: evaluator, name: x}":           "evaluator",
		"json_schema_extra: {evaluation_type: accuracy, name: x}": "evaluator",
		"json_schema_extra: {name: x}\nevaluation_type: accuracy": "evaluator",
	} {
		d, err := agent.Parse("x.yaml", []byte("description: Judge.\nproperties: {a: {type: number}}\n"+head))
		if err != nil {
			t.Errorf("%s: %v", head, err)
		} else if d.Is() != want {
			t.Errorf("%s: is %s, want %s", head, d.Is(), want)
		}
	}
}
