package wiring

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// openTools builds p8's own tools and resources.
func (p *Parts) openTools(cfg *config.Config, o Options) (*tool.Registry, error) {
	var err error
	if p.own, err = p.OwnTools(cfg, o); err != nil {
		return nil, err
	}
	for i, t := range p.own {
		if o.Tape != nil && tool.AnnotationsOf(t).OpenWorld {
			p.own[i] = o.Tape.Tool("", t)
		}
	}
	p.resources = builtin.NewResources(p.toolOptions(cfg, o))
	return tool.NewRegistry(p.own...)
}

// OwnTools returns p8's own tools, other than those that run agents.
func (p *Parts) OwnTools(cfg *config.Config, o Options) ([]tool.Tool, error) {
	own, err := builtin.Tools(p.toolOptions(cfg, o))
	if err != nil {
		return nil, err
	}
	remind, err := p.reminders.Tools() // without a database, their calls fail
	return append(own, remind...), err
}

// toolOptions returns the options of p8's own tools.
func (p *Parts) toolOptions(cfg *config.Config, o Options) builtin.Options {
	options := builtin.Options{
		Engine: p.engine, Store: p.Store, ReadOnly: o.NoStore, Documents: p.Catalog,
		WebSearch: builtin.WebSearch{URL: cfg.SearchURL, APIKey: cfg.SearchKey},
		Now:       o.Now, Logger: p.Log,
	}
	if p.asker != nil {
		options.Asker = askREM{p.asker}
	}
	return options
}

// askREM adapts an Asker to the tool.
type askREM struct{ *ask.Asker }

// AskREM answers a question.
func (a askREM) AskREM(ctx context.Context, question string, planOnly bool) (builtin.Answer, error) {
	found, err := a.Ask(ctx, question, ask.Request{PlanOnly: planOnly})
	var input *ask.InputError
	var syntax *rem.SyntaxError
	var used *quota.Error
	if errors.As(err, &input) || errors.As(err, &syntax) || errors.As(err, &used) || errors.Is(err, rem.ErrTimeout) || errors.Is(err, store.ErrBusy) {
		return builtin.Answer{}, &tool.Error{Message: err.Error()}
	}
	if err != nil {
		return builtin.Answer{}, err
	}
	parameters, err := json.Marshal(found.Parameters)
	answer := builtin.Answer{
		QueryType: found.QueryType, Parameters: parameters, Query: found.Query, Confidence: found.Confidence,
		Reasoning: found.Reasoning, Warning: found.Warning, Executed: found.Executed, Results: found.Results, Notes: found.Notes,
	}
	for _, s := range found.Stages {
		answer.Stages = append(answer.Stages, builtin.Stage{Stage: s.Stage, Name: s.Name, Query: s.Query, Count: s.Count, Warning: s.Warning})
	}
	return answer, err
}

// Own returns p8's own tools, other than those that run agents.
func (p *Parts) Own() []tool.Tool { return p.own }
