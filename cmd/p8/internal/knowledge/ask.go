package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Ask is p8 ask.
type Ask struct {
	Question []string `arg:"" help:"A question in plain words, such as 'who works on project-alpha?'."`

	command.Caller
	Model string `short:"m" help:"Model that writes the query, as provider:model."`
	Plan  bool   `help:"Print the query without running it."`
	form
}

// Run turns the question into a query and prints the result.
func (c *Ask) Run(a *command.App) error {
	return withEngine(a, c.Caller, func(ctx context.Context, s *store.Store, e *rem.Engine) error {
		cfg, err := a.Config()
		if err != nil {
			return err
		}
		docs, err := wiring.NewCatalog(cfg, nil, "", false, a.QuietLogger(cfg))
		if err != nil {
			return err
		}
		registry, choice := wiring.NewModels(ctx, cfg, wiring.ModelOptions{})
		asker, err := wiring.NewAsker(cfg, e, docs, registry, choice, wiring.Zone(s, a.Logger(cfg)), func(ctx context.Context, parts []run.Spent) { record(ctx, a, cfg, parts) }, nil)
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

// record stores what the model used. The question itself only reads, so it is also answered
// while another process has the database; this then says that nothing was recorded.
func record(ctx context.Context, a *command.App, cfg *config.Config, parts []run.Spent) {
	log := a.QuietLogger(cfg)
	s, err := wiring.ConnectStore(context.WithoutCancel(ctx), cfg, log)
	var taken *wiring.InUse
	switch {
	case errors.As(err, &taken):
		a.Say("the usage of %s is not recorded, as another p8 has the database", parts[0].Model)
		return
	case err != nil:
		a.Say("the usage of %s is not recorded: %v", parts[0].Model, err)
		return
	}
	defer s.Close()
	wiring.KeepSpent(s, log)(ctx, parts)
}

func (c *Ask) print(a *command.App, res ask.Answer) error {
	switch c.format() {
	case formatJSON:
		return show.JSON(a.Stdout, res)
	case formatYAML:
		return show.YAML(a.Stdout, res)
	}
	query := show.OneLine(res.Query)
	if query == "" {
		query = "no query"
	}
	a.Say("%s (confidence %.2f, by %s)", query, res.Confidence, res.Model)
	for _, text := range append([]string{res.Reasoning, res.Warning}, res.Notes...) {
		if text != "" {
			a.Say("%s", text)
		}
	}
	switch {
	case res.Found != nil:
		return printResult(a.Stdout, c.format(), *res.Found)
	case res.PlanOnly:
		_, err := fmt.Fprintln(a.Stdout, res.Query)
		return err
	}
	return command.ErrSilent
}
