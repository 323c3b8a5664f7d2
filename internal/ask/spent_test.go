package ask

import (
	"context"
	"errors"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

// TestAQuestionIsPaidFor: a question reports its usage, unless it belongs to a run, which
// counts the usage itself.
func TestAQuestionIsPaidFor(t *testing.T) {
	a, _ := setup(t, &engine{}, scripted.Turn{Text: []string{`{"query_type":"LOOKUP","query":"LOOKUP a","confidence":1}`}, Usage: llm.Usage{Input: 9, Output: 1}})
	a.o.Cost = func(string, llm.Usage) float64 { return 0.5 }
	var spent []run.Spent
	a.o.Spent = func(_ context.Context, parts []run.Spent) { spent = append(spent, parts...) }
	if _, err := a.Ask(caller(t), "Who is a?", Request{}); err != nil {
		t.Fatal(err)
	}
	if len(spent) != 1 || spent[0].Path != AgentName || spent[0].Model != "scripted:test" || spent[0].Usage.InputTokens != 9 || spent[0].Usage.CostUSD != 0.5 {
		t.Errorf("%+v", spent)
	}
}

// TestAQuestionMayBeRefused: whoever may spend nothing asks no model. Queries are free.
func TestAQuestionMayBeRefused(t *testing.T) {
	a, _ := setup(t, &engine{})
	used := errors.New("all is used")
	a.o.May = func(context.Context) error { return used }
	if _, err := a.Ask(caller(t), "Who is a?", Request{}); !errors.Is(err, used) {
		t.Errorf("a question: %v", err)
	}
	if _, err := a.Ask(caller(t), "LOOKUP a", Request{}); err != nil {
		t.Errorf("a query: %v", err)
	}
}
