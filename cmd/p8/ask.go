package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
)

type askCmd struct {
	Question []string `arg:"" help:"A question in plain words, such as 'who works on project-alpha?'."`

	caller
	Model  string `short:"m" help:"Model that writes the query, as provider:model."`
	Plan   bool   `help:"Print the query and do not run it."`
	Format string `short:"f" default:"table" enum:"table,json,yaml,markdown" help:"Format of the answer: table, json, yaml or markdown (${default})."`
}

// Run turns the question into a query and answers it.
func (c *askCmd) Run(a *app) error {
	return a.withEngine(c.caller, func(ctx context.Context, e *rem.Engine) error {
		cfg, err := a.config()
		if err != nil {
			return err
		}
		docs, err := newCatalog(cfg, nil, a.quietLogger(cfg))
		if err != nil {
			return err
		}
		registry, choice := newModels(ctx, cfg, nil)
		asker, err := newAsker(cfg, e, docs, registry, choice)
		if err != nil {
			return err
		}
		res, err := asker.Ask(ctx, strings.Join(c.Question, " "), ask.Request{Model: c.Model, PlanOnly: c.Plan})
		if err != nil {
			return err
		}
		return c.print(a, res)
	})
}

func (c *askCmd) print(a *app, res ask.Answer) error {
	switch c.Format {
	case formatJSON:
		return writeJSON(a.stdout, res)
	case formatYAML:
		return writeYAML(a.stdout, res)
	}
	query := oneLine(res.Query)
	if query == "" {
		query = "no query"
	}
	a.say("%s (confidence %.2f, by %s)", query, res.Confidence, res.Model)
	for _, text := range append([]string{res.Reasoning, res.Warning}, res.Notes...) {
		if text != "" {
			a.say("%s", text)
		}
	}
	switch {
	case res.Found != nil:
		return printResult(a.stdout, c.Format, *res.Found)
	case res.PlanOnly:
		_, err := fmt.Fprintln(a.stdout, res.Query)
		return err
	}
	return errSilent
}

// newAsker turns questions into queries: by a model where there is one, by rules
// where the offline model is the default.
func newAsker(cfg *config.Config, e ask.Engine, docs *catalog.Catalog, registry *llm.Registry, choice llm.Choice) (*ask.Asker, error) {
	return ask.New(ask.Options{
		Engine: e, Catalog: docs, Models: registry, Model: cfg.QueryAgentModel, DefaultModel: choice.Model,
		Fallback: cfg.FallbackModels, StructuredMode: cfg.StructuredMode,
	})
}
