package evaluation_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/evaluation"
)

// answers is a Caller that knows the answer, and keeps the message.
type answers struct {
	value   string
	message string
}

func (a *answers) Judge(_ context.Context, _ *agent.Agent, message string) (evaluation.Answer, error) {
	a.message = message
	return evaluation.Answer{Value: json.RawMessage(a.value), InputTokens: 10, OutputTokens: 2, CostUSD: 0.5}, nil
}

func TestDocument(t *testing.T) {
	doc, err := agent.Parse("judge.yaml", []byte("name: judge\nkind: evaluator\ndescription: Judge.\nproperties: {accuracy: {type: number}, pass: {type: boolean}}"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	e, err := evaluation.Document(a, &answers{value: `{"accuracy":0.5,"pass":true}`})
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Evaluate(t.Context(), say("Oslo"))
	if err != nil || e.Name() != "judge" || v.Overall.Value != 0.5 || v.CostUSD != 0.5 || len(v.Scores) != 2 {
		t.Errorf("%+v, %v", v, err)
	}
}
