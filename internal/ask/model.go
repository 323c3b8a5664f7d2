package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
)

// rulesName is Answer.Model without a language model.
const rulesName = "rules"

func (r rules) name() string { return rulesName }

// now returns the time now, in the caller's zone.
func (a *Asker) now(ctx context.Context) (time.Time, error) {
	now := a.o.Now().UTC()
	if a.o.Zone == nil {
		return now, nil
	}
	at, err := a.o.Zone(ctx)
	if err != nil {
		return now, fmt.Errorf("ask: read the caller's time zone: %w", err)
	}
	return now.In(cmp.Or(at, time.UTC)), nil
}

// proposer returns the model that writes queries, or the rules without a model.
func (a *Asker) proposer(ctx context.Context, name string) (proposer, error) {
	now, err := a.now(ctx)
	if err != nil {
		return nil, err
	}
	byRules := rules{engine: a.o.Engine, when: newCalendar(now)}
	name = cmp.Or(strings.TrimSpace(name), a.o.Model, a.o.DefaultModel)
	offline, _, _ := strings.Cut(llm.OfflineModel, ":")
	if provider, _, _ := strings.Cut(name, ":"); name == "" || name == rulesName || provider == offline {
		return byRules, nil
	}
	if a.o.Models == nil || a.o.Catalog == nil {
		return byRules, nil
	}
	model, err := a.o.Models.Resolve(name)
	if err != nil {
		return nil, err
	}
	doc, err := a.o.Catalog.Agent(ctx, AgentName)
	if err != nil {
		return nil, err
	}
	if !doc.Structured {
		return nil, &InputError{"agent", "the document " + AgentName + " must have structured_output: true, and the properties query and confidence"}
	}
	return &writer{asker: a, agent: doc, model: a.withFallback(doc, model), now: now}, nil
}

// withFallback adds the fallback models: the document's, else the settings'. An
// unknown one is left out.
func (a *Asker) withFallback(doc *agent.Agent, model llm.Model) llm.Model {
	names := doc.Fallback
	if len(names) == 0 {
		names = a.o.Fallback
	}
	models := []llm.Model{model}
	for _, name := range names {
		if m, err := a.o.Models.Resolve(name); err == nil && m.Name() != model.Name() {
			models = append(models, m)
		}
	}
	return llm.NewFallback(llm.FallbackOptions{Models: models, Logger: a.o.Logger})
}

// writer is a proposer that asks a language model.
type writer struct {
	asker *Asker
	agent *agent.Agent
	model llm.Model
	now   time.Time // in the caller's zone
}

func (w *writer) name() string { return w.model.Name() }

func (w *writer) propose(ctx context.Context, question string) (proposal, error) {
	return w.run(ctx, w.messages(question))
}

// correct sends a proposal back with its error.
func (w *writer) correct(ctx context.Context, question string, wrong proposal, problem string) (proposal, error) {
	said, err := json.Marshal(wrong)
	if err != nil {
		return proposal{}, err
	}
	return w.run(ctx, append(w.messages(question),
		llm.Message{Role: llm.Assistant, Content: string(said)},
		llm.Message{Role: llm.User, Content: "The query cannot be read: " + problem + "\nWrite it again, by the grammar."}))
}

// messages returns the prompt, the facts of this store, and the question.
func (w *writer) messages(question string) []llm.Message {
	return []llm.Message{
		{Role: llm.System, Content: w.agent.SystemPrompt("")},
		{Role: llm.System, Content: w.asker.instructions(w.now)},
		{Role: llm.User, Content: question},
	}
}

func (w *writer) run(ctx context.Context, messages []llm.Message) (proposal, error) {
	if w.asker.o.May != nil {
		if err := w.asker.o.May(ctx); err != nil {
			return proposal{}, err
		}
	}
	select {
	case w.asker.slots <- struct{}{}:
		defer func() { <-w.asker.slots }()
	case <-ctx.Done():
		return proposal{}, context.Cause(ctx)
	}
	p, err := run.As[proposal](run.Stream(ctx, run.Options{
		Agent: w.agent, Model: w.model, Messages: messages,
		StructuredMode: w.asker.o.StructuredMode,
		Timeout:        w.asker.o.Timeout, Logger: w.asker.o.Logger,
		Cost: w.asker.o.Cost,
		Spent: func(parts []run.Spent) {
			if w.asker.o.Spent != nil && len(parts) > 0 {
				w.asker.o.Spent(ctx, parts)
			}
		},
	}))
	var wrong *run.OutputError
	switch {
	case errors.As(err, &wrong), errors.Is(err, run.ErrNoOutput):
		w.asker.o.Logger.DebugContext(ctx, "no query was written", "model", w.name(), "error", err)
		return proposal{Reasoning: fmt.Sprintf("The model %s did not write a query that could be used.", w.name())}, nil
	case err != nil:
		return proposal{}, fmt.Errorf("ask: write the query: %w", err)
	}
	return p, nil
}
