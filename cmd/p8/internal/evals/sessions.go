package evals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/dataset"
	"github.com/p8-org/p8/store"
)

// chosen are the flags that choose answers of stored sessions.
type chosen struct {
	Agent       string   `short:"a" help:"Only answers of this agent."`
	Since       string   `placeholder:"WHEN" help:"Only answers since then: 7d, 12h, 2026-11-01 or a time in RFC 3339."`
	Until       string   `placeholder:"WHEN" help:"Only answers before then."`
	Rated       bool     `help:"Only answers with feedback."`
	Good        bool     `help:"Only answers that were rated well (1, 4 or 5)."`
	Tag         []string `help:"Only sessions or feedback with this tag; may be repeated."`
	Turns       bool     `help:"Every exchange of a session, not only the first one, which needs no history."`
	Evaluations bool     `help:"Sessions of evaluations, too."`
	Limit       int      `default:"1000" help:"Maximum number of answers (${default})."`
}

func (c *chosen) filter(now time.Time) (f experiment.SessionFilter, err error) {
	if c.Limit < 1 || c.Limit > dataset.MaxCases {
		return f, command.Usage("--limit is %d: give a number from 1 to %d", c.Limit, dataset.MaxCases)
	}
	f = experiment.SessionFilter{Agent: c.Agent, Rated: c.Rated, Good: c.Good, Tags: c.Tag, Turns: c.Turns, Evaluations: c.Evaluations, Limit: c.Limit}
	if f.Since, err = when("--since", c.Since, now); err == nil {
		f.Until, err = when("--until", c.Until, now)
	}
	return f, err
}

// when reads a time: one ago, a day, or RFC 3339.
func when(flag, text string, now time.Time) (time.Time, error) {
	var ago config.Span
	if text == "" {
		return time.Time{}, nil
	}
	if ago.UnmarshalText([]byte(text)) == nil && ago > 0 {
		return now.Add(-time.Duration(ago)), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return day, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, command.Usage("%s is %q: give one such as 7d, 2026-11-01 or 2026-11-01T08:00:00Z", flag, text)
	}
	return at, nil
}

type datasetCmd struct {
	FromSessions fromSessionsCmd `cmd:"" help:"Write a dataset of the questions of stored sessions." example:"p8 eval dataset from-sessions cases.yaml --agent general --since 30d --good"`
	About        aboutCmd        `cmd:"" help:"Write questions to an agent about its name, fields and tools, and the date." example:"p8 eval dataset about general questions.yaml"`
}

type fromSessionsCmd struct {
	File string `arg:"" help:"File to write: .yaml, .jsonl or .csv; - is JSONL on standard output."`
	command.Caller
	chosen
	Force bool `help:"Replace the file."`
}

// Run writes the dataset.
func (c *fromSessionsCmd) Run(a *command.App) error {
	f, err := c.filter(time.Now())
	if err != nil {
		return err
	}
	if err := free(c.File, c.Force); err != nil {
		return err
	}
	return wiring.WithStore(a, c.Caller, func(ctx context.Context, s *store.Store) error {
		cases, expected, err := casesOf(ctx, s, f)
		if err != nil {
			return err
		}
		if err := writeCases(a, c.File, cases); err != nil || c.File == "-" {
			return err
		}
		a.Say("%s: %s, %d with an expected answer", c.File, show.Count(len(cases), "case"), expected)
		return nil
	})
}

// errNoSessions is the error if no stored answer is chosen.
var errNoSessions = errors.New("no stored answer matches: `p8 sessions list` lists the sessions")

func casesOf(ctx context.Context, s *store.Store, f experiment.SessionFilter) (cases []dataset.Case, expected int, err error) {
	if s == nil {
		return nil, 0, errNoSessions
	}
	for x, err := range experiment.Exchanges(ctx, s, f) {
		if err != nil {
			return nil, 0, err
		}
		c := x.Case()
		if c.Expected != nil {
			expected++
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, 0, errNoSessions
	}
	return cases, expected, nil
}

type sessionsCmd struct {
	chosen
	Evaluator []string `placeholder:"NAME" help:"Evaluator: the name of a document, a type of check such as exact, or the path of a file with checks; may be repeated."`
	Name      string   `help:"Name of the evaluation (sessions)."`
	pacing
	command.Caller
	outputs
}

// sessionsOf begins the dataset of an evaluation of stored sessions.
const sessionsOf = "stored sessions"

// Run judges the answers.
func (c *sessionsCmd) Run(a *command.App) error {
	f, err := c.filter(time.Now())
	if err == nil {
		err = errors.Join(c.outputs.check(), c.pacing.check())
	}
	if err != nil {
		return err
	}
	if len(c.Evaluator) == 0 {
		return command.Usage("there is no evaluator: give one with --evaluator")
	}
	j, err := open(a, c.Caller, &c.pacing)
	if err != nil {
		return err
	}
	defer j.close()
	if err := c.resolve(j.ctx, j.Store, ""); err != nil {
		return err
	}
	x := store.Evaluation{Name: cmp.Or(c.Name, "sessions"), Status: running}
	if err := j.beginSessions(&x, f, c.Evaluator); err != nil {
		return err
	}
	if err := j.run(&x); err != nil {
		return err
	}
	if err := c.write(j.ctx, a, j.Store, &x); err != nil {
		return err
	}
	return j.empty()
}

// beginSessions stores the answers as results that are not judged yet.
func (j *job) beginSessions(x *store.Evaluation, f experiment.SessionFilter, evaluators []string) error {
	refs, err := j.findEvaluators(evaluators)
	if err != nil {
		return err
	}
	of := experiment.Ref{Name: cmp.Or(f.Agent, sessionsOf)}
	var list []experiment.Result
	for e, err := range experiment.Exchanges(j.ctx, j.Store, f) {
		if err != nil {
			return err
		}
		c := e.Case()
		list = append(list, experiment.Result{Seq: int64(len(list)), Case: c, Agent: of.Name, Output: &e.Output})
		j.cases = append(j.cases, c)
	}
	if len(list) == 0 {
		return errNoSessions
	}
	j.stored = true
	j.current = &experiment.Plan{Dataset: sessionsOf, Cases: len(list), Agents: []experiment.Ref{of}, Models: []string{""}, Evaluators: refs, Repeats: 1}
	x.Plan = encode(j.current)
	if err := j.Store.Evaluations().Begin(j.ctx, x); err != nil {
		return err
	}
	j.Say("evaluation %s: %s", x.ID, show.Count(len(list), "stored answer"))
	for len(list) > 0 {
		some := list[:min(len(list), 500)]
		list = list[len(some):]
		rows := make([]store.EvaluationResult, len(some))
		for i := range some {
			rows[i] = store.EvaluationResult{Seq: some[i].Seq, Data: encode(&some[i])}
		}
		if err := j.Store.Evaluations().PutResults(j.ctx, x.ID, rows...); err != nil {
			return err
		}
	}
	return nil
}

// restoreSessions goes on with an evaluation of stored sessions.
func (j *job) restoreSessions(x *store.Evaluation, old *experiment.Plan) error {
	refs, err := j.findEvaluators(sources(old.Evaluators))
	if err != nil {
		return err
	}
	for r, err := range resultsOf(j.ctx, j.Store, x.ID) {
		if err != nil {
			return err
		}
		j.cases = append(j.cases, r.Case)
	}
	if len(j.cases) != old.Cases {
		return fmt.Errorf("the evaluation %s was stopped before its answers were stored: begin a new one", x.ID)
	}
	j.stored, j.current = true, old
	return unchanged(old.Evaluators, refs)
}
