package evaluation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// ModelOptions configure a Model. Model is required.
type ModelOptions struct {
	// Model returns the model that runs an agent.
	Model func(ctx context.Context, a *agent.Agent) (llm.Model, error)
	// Tools returns the tools of an agent; without it, agents judge without tools.
	Tools func(ctx context.Context, a *agent.Agent) []tool.Tool
	// May returns an error if the caller may spend nothing more; it may be nil.
	May func(ctx context.Context) error
	// Timeout of one judgement; 2 minutes if 0.
	Timeout time.Duration
	// StructuredMode and Cost are as in run.Options.
	StructuredMode string
	Cost           func(model string, u llm.Usage) float64
	// Spent stores what was consumed, with an answer or an error. It may be nil.
	Spent  func(ctx context.Context, parts []run.Spent)
	Logger *slog.Logger
}

// Model is the [Caller] that runs agents with a language model. It stores no session.
type Model struct{ o ModelOptions }

// NewModel makes a Model.
func NewModel(o ModelOptions) (*Model, error) {
	if o.Model == nil {
		return nil, errors.New("evaluation: a Model needs a model")
	}
	o.Timeout = cmp.Or(max(0, o.Timeout), 2*time.Minute)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return &Model{o}, nil
}

// Ready returns an error if no model can run the agent.
func (m *Model) Ready(ctx context.Context, a *agent.Agent) error {
	_, err := m.o.Model(ctx, a)
	return err
}

// Judge runs the agent once. It is safe for concurrent use.
func (m *Model) Judge(ctx context.Context, a *agent.Agent, message string) (out Answer, err error) {
	if m.o.May != nil {
		if err := m.o.May(ctx); err != nil {
			return out, err
		}
	}
	model, err := m.o.Model(ctx, a)
	if err != nil {
		return out, err
	}
	var tools []tool.Tool
	if m.o.Tools != nil {
		tools = m.o.Tools(ctx, a)
	}
	var spent []run.Spent
	out.Value, err = output(run.Stream(ctx, run.Options{
		Agent: a, Model: model, Tools: tools, Settings: llm.Settings{Temperature: new(0.0)},
		StructuredMode: m.o.StructuredMode, Timeout: m.o.Timeout, Cost: m.o.Cost, Logger: m.o.Logger,
		Spent: func(parts []run.Spent) { spent = parts },
		Messages: []llm.Message{
			{Role: llm.System, Content: a.SystemPrompt("")},
			{Role: llm.User, Content: message},
		},
	}))
	for _, p := range spent {
		out.InputTokens += p.Usage.InputTokens
		out.OutputTokens += p.Usage.OutputTokens
		out.CostUSD += p.Usage.CostUSD
	}
	if len(spent) > 0 && m.o.Spent != nil {
		m.o.Spent(ctx, spent)
	}
	return out, err
}

// output is run.Output, with an error that a person can act on.
func output(events iter.Seq2[event.Event, error]) (json.RawMessage, error) {
	out, err := run.Output(events)
	if errors.Is(err, run.ErrNoOutput) {
		err = errors.New("the judge gave no structured answer")
	}
	return out, err
}
