package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/scoring"
	"github.com/p8-org/p8/internal/tree"
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

// IsEvaluator reports whether a document is an evaluator. Any other document with properties
// can judge, too.
func IsEvaluator(d *agent.Document) bool { return d.Is() == agent.KindEvaluator }

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
	plan, err := planOf(a.Document)
	if err != nil {
		return nil, err
	}
	return &document{judging, c, plan}, nil
}

// planOf reads how the answers of a document are scored. agent.Parse has done the same for
// evaluators, but not for other documents.
func planOf(d *agent.Document) (*scoring.Plan, error) {
	text, err := d.MarshalJSON()
	if err != nil {
		return nil, err
	}
	r := tree.Reader{Max: len(text), Report: func(tree.Position, string, string) {}}
	root := r.JSON(text)
	if root == nil {
		return nil, fmt.Errorf("the document %s cannot be read", d.Key())
	}
	plan, mistakes := scoring.Read(root)
	if len(mistakes) > 0 {
		m := mistakes[0]
		return nil, fmt.Errorf("the document %s cannot score: %s: %s (%s)", d.Key(), m.Pointer, m.Message, m.Hint)
	}
	if !plan.Scores() {
		return nil, fmt.Errorf("the document %s cannot score: it has no property that is a number or a boolean: add one, such as accuracy: {type: number, minimum: 0, maximum: 1}", d.Key())
	}
	return plan, nil
}

type document struct {
	agent  *agent.Agent
	caller Caller
	plan   *scoring.Plan
}

func (d *document) Name() string { return d.agent.Name }

func (d *document) Evaluate(ctx context.Context, s Sample) (Verdict, error) {
	v := Verdict{Evaluator: d.agent.Name}
	answer, err := d.caller.Judge(ctx, d.agent, Message(&s))
	v.InputTokens, v.OutputTokens, v.CostUSD = answer.InputTokens, answer.OutputTokens, answer.CostUSD
	if err != nil {
		return v, fmt.Errorf("%s: %w", d.agent.Name, err)
	}
	fields, err := decode(answer.Value)
	answered, ok := fields.(map[string]any)
	if err != nil || !ok {
		return v, fmt.Errorf("%s: the answer is no JSON object", d.agent.Name)
	}
	if v.Scores, v.Overall, err = d.plan.Score(answered); err != nil {
		return v, fmt.Errorf("%s: %w", d.agent.Name, err)
	}
	return v, nil
}
