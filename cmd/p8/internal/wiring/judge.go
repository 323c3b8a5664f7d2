package wiring

import (
	"context"
	"errors"
	"fmt"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The session that stores the usage of judges.
const (
	judgementsID   = "judgements"
	judgementsName = "Judgements"
)

// newJudge returns what runs evaluators: with the document's model, else P8_EVALUATOR_MODEL,
// else the default model.
func (p *Parts) newJudge(cfg *config.Config, cost func(string, llm.Usage) float64) (*evaluation.Model, error) {
	var spent func(context.Context, []run.Spent)
	if p.Keeps {
		spent = keepSpent(p.Store, p.Log, store.Session{ID: judgementsID, Name: judgementsName, Mode: store.ModeEvaluation})
	}
	return evaluation.NewModel(evaluation.ModelOptions{
		Model: func(_ context.Context, a *agent.Agent) (llm.Model, error) {
			fallback := cfg.EvaluatorModel
			if fallback == "" {
				fallback = p.Choice.Model
			}
			name := chat.ModelName(a, "", fallback)
			if isOffline(name) {
				return nil, errors.New("the offline model cannot judge: name a model in P8_EVALUATOR_MODEL, such as openai:gpt-4.1")
			}
			m, err := p.Models.Resolve(name)
			if err != nil {
				err = fmt.Errorf("the model of the evaluator %s: %w", a.Name, err)
			}
			return m, err
		},
		Tools:          func(ctx context.Context, a *agent.Agent) []tool.Tool { return p.box.Resolve(ctx, a).Tools },
		May:            p.may,
		StructuredMode: cfg.StructuredMode, Cost: cost, Spent: spent, Logger: p.Log,
	})
}
