package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/agent"
)

// Caller runs the agent of an evaluator document. [Model] implements it.
type Caller interface {
	// Judge gives the agent one message and returns its structured answer. The agent is
	// structured; Judge runs it at temperature 0 and never calls its chained tool. What a
	// failed run consumed is in the answer, too.
	Judge(ctx context.Context, a *agent.Agent, message string) (Answer, error)
}

// Answer is the structured answer of a judging agent, and what it consumed.
type Answer struct {
	Value        json.RawMessage
	InputTokens  int
	OutputTokens int
	CostUSD      float64
}

// Kind is the kind of evaluator documents.
const Kind = "evaluator"

// IsEvaluator reports whether a document is an evaluator: its kind says so, or it has an
// evaluation_type and no kind.
func IsEvaluator(d *agent.Document) bool {
	return d.Kind == Kind || d.Kind == "" && d.EvaluationType != ""
}

// Document returns the evaluator that a document describes. It judges by what the agent
// answers to a message with the sample in it; see docs/evaluators.md for the scores.
func Document(a *agent.Agent, c Caller) (Evaluator, error) {
	if a == nil || c == nil {
		return nil, errors.New("evaluation: an evaluator needs a document and a model")
	}
	judging, err := agent.CompileWith(a.Document, agent.CompileOptions{Structured: new(true)})
	if err != nil {
		return nil, err
	}
	judging.ChainedTool = ""
	return &document{agent: judging, caller: c}, nil
}

type document struct {
	agent  *agent.Agent
	caller Caller
}

func (d *document) Name() string { return d.agent.Name }

func (d *document) Evaluate(ctx context.Context, s Sample) (Verdict, error) {
	v := Verdict{Evaluator: d.agent.Name}
	answer, err := d.caller.Judge(ctx, d.agent, Message(&s))
	v.InputTokens, v.OutputTokens, v.CostUSD = answer.InputTokens, answer.OutputTokens, answer.CostUSD
	if err != nil {
		return v, fmt.Errorf("%s: %w", d.agent.Name, err)
	}
	return v, d.score(&v, answer.Value)
}
