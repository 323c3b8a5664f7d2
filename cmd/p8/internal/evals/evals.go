// Package evals has p8 eval and p8 experiments: agents answer the cases of a dataset,
// evaluators judge the answers, and a report says what came out.
package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/report"
	"github.com/p8-org/p8/store"
)

// Eval is p8 eval.
type Eval struct {
	Run      runCmd      `cmd:"" help:"Run agents over a dataset and have the answers judged." example:"p8 eval run examples/evaluation/cases.yaml --agent general --evaluator contains --html report.html"`
	Sessions sessionsCmd `cmd:"" help:"Have stored sessions judged." example:"p8 eval sessions --agent general --since 7d --evaluator faithfulness"`
	Dataset  datasetCmd  `cmd:"" help:"Make datasets."`
	List     listCmd     `cmd:"" help:"List evaluations, the newest first." example:"p8 eval list --limit 5"`
	Show     showCmd     `cmd:"" help:"Show an evaluation again, or compare it with another one." example:"p8 eval show last --html report.html"`
	Delete   deleteCmd   `cmd:"" help:"Delete an evaluation with its results." example:"p8 eval delete last"`
}

// The states of an evaluation.
const (
	running   = "running"
	stopped   = "stopped"
	completed = "completed"
)

// last is the name of the newest evaluation.
const last = "last"

// find returns the evaluation of an id, or the newest one for "last": of an experiment, if of
// names one.
func find(ctx context.Context, s *store.Store, id, of string) (store.Evaluation, error) {
	if s == nil {
		return store.Evaluation{}, errors.New("there are no evaluations yet: begin one with `p8 eval run`")
	}
	if id == last {
		list, _, err := s.Evaluations().List(ctx, store.EvaluationFilter{Experiment: of, Limit: 1})
		if err == nil && len(list) == 0 {
			err = errors.New("there are no evaluations yet: begin one with `p8 eval run`")
		}
		if err != nil {
			return store.Evaluation{}, err
		}
		return list[0], nil
	}
	x, err := s.Evaluations().Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("there is no evaluation %s: `p8 eval list` lists them", show.OneLine(id))
	}
	return x, err
}

// planOf reads the plan of an evaluation.
func planOf(x *store.Evaluation) (*experiment.Plan, error) {
	p := new(experiment.Plan)
	if err := json.Unmarshal(x.Plan, p); err != nil || p.Check() != nil {
		return nil, fmt.Errorf("the evaluation %s cannot be read: it is of another version of p8", x.ID)
	}
	return p, nil
}

// resultsOf reads the results of an evaluation, page by page.
func resultsOf(ctx context.Context, s *store.Store, id string) iter.Seq2[experiment.Result, error] {
	return func(yield func(experiment.Result, error) bool) {
		for after := int64(-1); ; {
			page, err := s.Evaluations().Results(ctx, id, after, 0)
			if err != nil {
				yield(experiment.Result{}, err)
				return
			}
			for _, x := range page {
				var r experiment.Result
				if err := json.Unmarshal(x.Data, &r); err != nil {
					yield(r, fmt.Errorf("the results of the evaluation %s cannot be read: they are of another version of p8", id))
					return
				}
				if !yield(r, nil) {
					return
				}
			}
			if len(page) == 0 {
				return
			}
			after = page[len(page)-1].Seq
		}
	}
}

type listCmd struct {
	command.Caller
	Experiment string `help:"Only evaluations of this experiment."`
	Limit      int    `short:"n" default:"20" help:"Maximum number of evaluations (${default})."`
	JSON       bool   `help:"Print JSON."`
}

// Run prints a table, or JSON.
func (c *listCmd) Run(a *command.App) error {
	if c.Limit < 1 || c.Limit > 500 {
		return command.Usage("--limit is %d: give a number from 1 to 500", c.Limit)
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) (err error) {
		list := []store.Evaluation{}
		if s != nil {
			if list, _, err = s.Evaluations().List(ctx, store.EvaluationFilter{Experiment: c.Experiment, Limit: c.Limit}); err != nil {
				return err
			}
		}
		if c.JSON {
			return show.JSON(a.Stdout, append([]store.Evaluation{}, list...))
		}
		if len(list) == 0 {
			a.SayEmpty("evaluations", c.Experiment != "", "begin one with `p8 eval run`")
			return nil
		}
		g := show.Grid{Columns: []string{"evaluation", "name", "status", "agents", "cases", "pass", "began"}}
		for _, x := range list {
			var p experiment.Plan
			var sum report.Summary
			_ = json.Unmarshal(x.Plan, &p)
			_ = json.Unmarshal(x.Summary, &sum)
			g.Rows = append(g.Rows, []string{x.ID, x.Name, x.Status, fmt.Sprint(len(p.Subjects())), fmt.Sprint(p.Cases), passes(&sum), show.Local(x.CreatedAt)})
		}
		return g.Table(a.Stdout)
	})
}

// passes are the pass rates of all subjects in short.
func passes(s *report.Summary) string {
	var all []string
	for i := range s.Subjects {
		if x := s.Subjects[i].Pass; x != nil {
			all = append(all, fmt.Sprintf("%.0f%%", 100*x.Value))
		}
	}
	return strings.Join(all, " ")
}

type showCmd struct {
	ID string `arg:"" name:"evaluation" help:"Id of the evaluation; last is the newest one."`
	command.Caller
	outputs
}

// Run prints the report of what is stored.
func (c *showCmd) Run(a *command.App) error {
	if err := c.check(); err != nil {
		return err
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		x, err := find(ctx, s, c.ID, "")
		if err != nil {
			return err
		}
		if x.Status != completed {
			a.Say("the evaluation is %s; %s", x.Status, resumeHint(x.ID))
		}
		return c.write(ctx, a, s, &x)
	})
}

func resumeHint(id string) string { return "to go on: p8 eval run --resume " + id }

type deleteCmd struct {
	ID string `arg:"" name:"evaluation" help:"Id of the evaluation; last is the newest one."`
	command.Caller
}

// Run deletes it.
func (c *deleteCmd) Run(a *command.App) error {
	return withStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		x, err := find(ctx, s, c.ID, "")
		if err == nil {
			err = s.Evaluations().Delete(ctx, x.ID)
		}
		if err == nil {
			a.Say("the evaluation %s and its results are deleted; its sessions stay", x.ID)
		}
		return err
	})
}

// withStore calls fn with the store, opened for writing.
func withStore(a *command.App, who command.Caller, fn func(context.Context, *store.Store) error) error {
	ctx, err := who.Context()
	if err != nil {
		return err
	}
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	s, err := wiring.ConnectStore(ctx, cfg, a.QuietLogger(cfg))
	if err != nil {
		return taken(err)
	}
	defer s.Close()
	return fn(ctx, s)
}

// taken says what to do if a server has the embedded database.
func taken(err error) error {
	if errors.As(err, new(*wiring.InUse)) {
		return fmt.Errorf("%w, or use PostgreSQL (P8_DATABASE_URL), which a server and evaluations share", err)
	}
	return err
}
