package evaluation_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/internal/evaluation"
)

// TestBuiltIns scores an answer with each evaluator that comes with p8.
func TestBuiltIns(t *testing.T) {
	const notes = `"confidence_in_grading":"high","grading_notes":"so"`
	cases := map[string]struct {
		answer string
		value  float64
		pass   bool
	}{
		"accuracy":            {`"accuracy_score":1,"completeness_score":0.5,"source_usage_score":0`, 0.65, false},
		"faithfulness":        {`"claim_analysis":[],"hallucination_severity":"minor","faithfulness_score":0.9,"context_usage_quality":0,"overall_grounding_score":0.8,"pass":false`, 0.8, true},
		"lookup-correctness":  {`"correctness":1,"completeness":0.5,"performance_contract":0.5`, 0.75, true},
		"search-correctness":  {`"relevance":0.5,"completeness":1,"ranking":0.5`, 0.65, false},
		"retrieval-precision": {`"retrieved":5,"relevant":1,"overall_precision":1,"weighted_precision":1,"precision_at_k":0.5,"ranking_quality":0.5`, 0.8, true},
		"retrieval-recall":    {`"needed_facts":["a"],"missing_facts":[],"overall_recall":0.5,"critical_recall":1,"coverage_quality":0`, 0.6, false},
		"tone":                {`"politeness":1,"clarity":1,"fit":0.5`, 0.85, true},
	}
	files, err := fs.Glob(agents.Files(), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, file := range files {
		src, err := fs.ReadFile(agents.Files(), file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := agent.Parse(file, src)
		if err != nil {
			t.Fatal(err)
		}
		if !evaluation.IsEvaluator(doc) {
			continue
		}
		judged++
		a, err := agent.Compile(doc)
		if err != nil {
			t.Fatal(err)
		}
		tc := cases[strings.TrimSuffix(file, ".yaml")]
		answer := "{" + tc.answer + "," + notes + "}"
		if failures, err := a.ValidateOutput(t.Context(), []byte(answer)); err != nil || len(failures) > 0 {
			t.Errorf("%s: %v %v", file, failures, err)
		}
		e, err := evaluation.Document(a, &answers{value: answer})
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Evaluate(t.Context(), say("x"))
		if err != nil || v.Overall.Value < tc.value-1e-9 || v.Overall.Value > tc.value+1e-9 || v.Overall.Pass == nil || *v.Overall.Pass != tc.pass || v.Overall.Explanation != "so" {
			t.Errorf("%s: %+v, %v", file, v, err)
		}
	}
	if judged != len(cases) {
		t.Errorf("%d of %d evaluators are tested", len(cases), judged)
	}
	severe := `{"claim_analysis":[],"hallucination_severity":"severe","faithfulness_score":1,"context_usage_quality":1,"overall_grounding_score":1,"pass":true,` + notes + `}`
	src, err := fs.ReadFile(agents.Files(), "faithfulness.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := evaluation.Document(compile(t, string(src)), &answers{value: severe})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.Evaluate(t.Context(), say("x")); err != nil || v.Overall.Value != 0 || *v.Overall.Pass {
		t.Errorf("a severe hallucination: %+v, %v", v.Overall, err)
	}
}
