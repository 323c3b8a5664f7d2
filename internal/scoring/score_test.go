package scoring_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/scoring"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/tree"
)

// read reads the plan of a document in YAML, which must have no mistake.
func read(t *testing.T, src string) *scoring.Plan {
	t.Helper()
	r := tree.Reader{Report: func(at tree.Position, _, message string) { t.Fatalf("%v: %s", at, message) }}
	plan, mistakes := scoring.Read(r.Read([]byte(src)))
	for _, m := range mistakes {
		t.Fatalf("%s: %s (%s)", m.Pointer, m.Message, m.Hint)
	}
	return plan
}

// show is a score in one line.
func show(s scoring.Score) string {
	pass := "-"
	if s.Pass != nil {
		pass = fmt.Sprint(*s.Pass)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %.4g %s pass=%s %s", s.Name, s.Value, s.Label, pass, s.Explanation))
}

// judge scores an answer; the overall score is last. An error is the only line.
func judge(t *testing.T, plan *scoring.Plan, answer string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(answer))
	d.UseNumber()
	var values map[string]any
	if err := d.Decode(&values); err != nil {
		t.Fatal(err)
	}
	scores, overall, err := plan.Score(values)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	var out []string
	for _, s := range scores {
		out = append(out, show(s))
	}
	return append(out, show(overall))
}

const fields = `
properties:
  accuracy_score: {type: number, minimum: 0, maximum: 1}
  completeness: {type: integer, minimum: 1, maximum: 5}
  count: {type: integer}
  grounded: {type: boolean}
  severity: {type: string, enum: [none, minor, severe]}
  gaps: {type: array, items: {type: string}}
  reasoning: {type: string}
  accuracy_notes: {type: string}
`

const answer = `{"accuracy_score":0.75,"completeness":2,"count":7,"grounded":true,"severity":"minor","gaps":["a","b"],"reasoning":"so so","accuracy_notes":"close"}`

func TestScore(t *testing.T) {
	for name, tc := range map[string]struct {
		config, answer string
		want           []string
	}{
		"without configuration": {``, answer, []string{
			"accuracy_score 0.75 good pass=- close", "completeness 0.25 poor pass=-", "grounded 1 true pass=-", "overall 0.5 good pass=- so so"}},
		"weights": {`evaluation_weights: {accuracy: 3, completeness: 1, grounded: 0}`, answer, []string{
			"accuracy_score 0.75 good pass=- close", "completeness 0.25 poor pass=-", "grounded 1 true pass=-", "overall 0.625 good pass=- so so"}},
		"weights, absent": {`evaluation_weights: {accuracy: 1}`, `{"completeness":3}`, []string{
			"error: the answer has no score accuracy_score, which has a weight"}},
		"pass mark": {`pass_mark: 0.5`, answer, []string{
			"accuracy_score 0.75 good pass=- close", "completeness 0.25 poor pass=-", "grounded 1 true pass=-", "overall 0.5 pass pass=true so so"}},
		"pass marks": {`pass_mark: {overall: 0.5, completeness: 0.3}`, answer, []string{
			"accuracy_score 0.75 good pass=- close", "completeness 0.25 poor pass=false", "grounded 1 true pass=-", "overall 0.5 fail pass=false so so"}},
		"booleans alone": {``, `{"grounded":false}`, []string{"grounded 0 false pass=-", "overall 0 poor pass=-"}},
		"no score":       {``, `{"severity":"none","count":1}`, []string{"error: the answer has no score: no number between 0 and 1, and no boolean"}},
		"nested":         {"json_schema_extra: {pass_mark: 0.9}", `{"accuracy_score":1}`, []string{"accuracy_score 1 good pass=-", "overall 1 pass pass=true"}},
		"derived": {`
phoenix_config:
  derived_scores:
    mix: {type: weighted_sum, weights: {accuracy_score: 0.6, grounded: 0.4}}
    careful: {type: boolean_logic, expression: "mix > 0.8 and severity in ['none', 'minor']"}
    strict:
      type: conditional_weighted
      conditions:
        - {condition: {field: severity, operator: ==, value: severe}, formula: {type: weighted_sum, weights: {mix: 0}}}
        - {condition: {field: completeness, operator: <, value: 3}, formula: {weights: {mix: 0.5, accuracy_score: 0}}}
        - {condition: null, formula: {type: weighted_sum, weights: {mix: 1}}}
    overall: {type: expression, expression: "mix if careful else mix / 2"}
`, answer, []string{
			"accuracy_score 0.75 good pass=- close", "completeness 0.25 poor pass=-", "grounded 1 true pass=-",
			"mix 0.85 good pass=-", "careful 1 true pass=-", "strict 0.425 poor pass=-", "overall 0.85 good pass=-", "overall 0.85 good pass=- so so"}},
		"evaluations": {`
phoenix_config:
  evaluations:
    - {name: accuracy, score_field: accuracy_score, label_logic: [{threshold: 0.75, operator: ">", label: high}, {threshold: 0.5, label: fair}], explanation_field: accuracy_notes}
    - {name: severity, score_logic: {none: 1, minor: 0.5}, label_field: severity, label_transform: {minor: a little}, explanation_field: gaps}
    - {name: grounded, score_expression: grounded, label_field: grounded}
    - {name: half, score_expression: accuracy_score / 2, label_logic: [{threshold: 0.9, operator: ">=", label: x}]}
    - {name: label, score_field: grounded, label_expression: "'yes' if grounded else 'no'"}
evaluation_weights: {completeness: 1}
pass_mark: {accuracy: 0.7, completeness: 0.2}
`, answer, []string{
			"accuracy 0.75 fair pass=true close", "severity 0.5 a little pass=- a, b", "grounded 1 true pass=-",
			"half 0.375 unknown pass=-", "label 1 yes pass=-", "overall 0.25 pass pass=true so so"}},
		"evaluation named overall": {`
phoenix_config: {evaluations: [{name: a, score_field: accuracy}, {name: overall, score_field: grounded, label_field: severity, explanation_field: gaps}]}
`, `{"accuracy_score":0.5,"grounded":true,"severity":"none","gaps":[]}`, []string{"a 0.5  pass=-", "overall 1 none pass=- None", "overall 1 none pass=- None"}},
		"score above 1": {`phoenix_config: {evaluations: [{name: a, score_expression: accuracy_score * 2}]}`, answer, []string{
			"error: the evaluation a: the score a is 1.5, not between 0 and 1"}},
		"no label": {`phoenix_config: {evaluations: [{name: a, score_logic: {none: 1}, label_field: severity}]}`, answer, []string{
			`error: the evaluation a: score_logic has no score for the label "minor"`}},
		"no condition holds": {`phoenix_config: {derived_scores: {d: {type: conditional_weighted, conditions: [{condition: {field: count, operator: ">", value: 10}, formula: {weights: {count: 1}}}]}}}`, answer, []string{
			"error: no condition of the derived score d holds"}},
		"divided by 0": {`phoenix_config: {derived_scores: {d: {type: expression, expression: 1 / (count - 7)}}}`, answer, []string{
			`error: the expression "1 / (count - 7)": 1 is divided by 0`}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, judge(t, read(t, fields+tc.config), tc.answer)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestREM has the mistakes of REM, each of which is impossible here.
func TestREM(t *testing.T) {
	plan := read(t, `
properties: {accuracy: {type: number}, pass: {type: boolean}, hallucinated: {type: boolean}, overall_score: {type: number}, evaluation_notes: {type: string}}
phoenix_config: {derived_scores: {ok: {type: boolean_logic, expression: "accuracy > 0.5 and not hallucinated"}}}
`)
	got := judge(t, plan, `{"accuracy":0.75,"pass":true,"hallucinated":false,"overall_score":0.5,"evaluation_notes":"fine"}`)
	want := []string{
		"accuracy 0.75 good pass=-",
		// A boolean was read as a number, since isinstance(True, int) holds in Python.
		"pass 1 true pass=true", "hallucinated 0 false pass=-",
		"overall_score 0.5 good pass=-", "ok 1 true pass=-",
		// Only the evaluation overall was returned, and every other score lost.
		"overall 0.5 pass pass=true fine",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Expressions were run by eval.
	for _, text := range []string{"__import__('os').system('id')", "().__class__.__bases__[0]", "open('/etc/passwd').read()", "exec('x = 1')", "lambda: 1", "[x for x in accuracy]"} {
		doc := "properties: {accuracy: {type: number}}\nphoenix_config: {derived_scores: {d: {type: boolean_logic, expression: " + fmt.Sprintf("%q", text) + "}}}"
		r := tree.Reader{Report: func(tree.Position, string, string) {}}
		if _, mistakes := scoring.Read(r.Read([]byte(doc))); len(mistakes) == 0 {
			t.Errorf("%s was accepted", text)
		}
	}
	// A failure was reported as a score of 0; here it is an error, and no score.
	if got := judge(t, plan, `{}`); !strings.HasPrefix(got[0], "error: ") {
		t.Errorf("an empty answer scores %v", got)
	}
}

func TestMistakes(t *testing.T) {
	src, err := os.ReadFile("testdata/mistakes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := tree.Reader{Report: func(at tree.Position, _, message string) { t.Fatalf("%v: %s", at, message) }}
	_, mistakes := scoring.Read(r.Read(src))
	var b strings.Builder
	for _, m := range mistakes {
		fmt.Fprintf(&b, "%d:%d+%d %s: %s (%s)\n", m.Node.Pos.Line, m.Node.Pos.Column, m.At, m.Pointer, m.Message, m.Hint)
	}
	golden.Compare(t, "testdata/mistakes.txt", b.String())
}
