package evals

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/cmd/p8/internal/turns"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment"
	"github.com/p8-org/p8/internal/experiment/dataset"
	"github.com/p8-org/p8/internal/experiment/pace"
	"github.com/p8-org/p8/internal/experiment/report"
	"github.com/p8-org/p8/store"
)

// job is an evaluation that this process runs.
type job struct {
	*command.App
	*wiring.Parts
	// ctx has the caller, and ends when the user stops the evaluation.
	ctx    context.Context
	close  func()
	pacing *pacing
	bar    *progress

	current    *experiment.Plan
	cases      []dataset.Case
	evaluators []evaluation.Evaluator
	// pinned are the documents of agents that are not asked by name.
	pinned map[string]*agent.Agent
	// stored: the answers are those of stored sessions, which no agent is asked for.
	stored bool
}

// open opens the parts for an evaluation.
func open(a *command.App, who command.Caller, p *pacing) (*job, error) {
	ctx, err := who.Context()
	if err != nil {
		return nil, err
	}
	cfg, err := a.Stored()
	if err != nil {
		return nil, err
	}
	if p.Judge != "" {
		cfg.EvaluatorModel = p.Judge
	}
	cfg.FallbackModels = nil // an evaluation is of the model that it names
	j := &job{App: a, pacing: p, bar: newProgress(a), pinned: map[string]*agent.Agent{}}
	pacer := pace.New(pace.Options{PerMinute: p.rates, Patience: p.Patience, Refused: j.bar.refused})
	parts, err := wiring.Open(ctx, cfg, wiring.Options{Log: a.QuietLogger(cfg), Pace: pacer.Wrap})
	if err != nil {
		return nil, taken(err)
	}
	j.Parts = parts
	if p.Judge != "" {
		if _, err := parts.Models.Resolve(p.Judge); err != nil {
			parts.Close()
			return nil, fmt.Errorf("--judge %s: %w", show.OneLine(p.Judge), err)
		}
	}
	leave, err := parts.StayAlive(ctx, cfg)
	if err != nil {
		parts.Close()
		return nil, err
	}
	var stop context.CancelFunc
	j.ctx, stop = signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	j.close = func() {
		stop()
		leave()
		parts.Close()
	}
	return j, nil
}

// findAgents finds the agents to evaluate.
func (j *job) findAgents(names []string) (refs []experiment.Ref, err error) {
	f := &finder{j.Catalog, j.Store}
	found := make([]*agent.Agent, len(names))
	refs = make([]experiment.Ref, len(names))
	count := map[string]int{}
	for i, name := range names {
		if refs[i], found[i], err = f.agent(j.ctx, name); err != nil {
			return nil, err
		}
		count[refs[i].String()]++
	}
	for i, name := range names {
		if isPath(name) && count[refs[i].String()] > 1 { // files of one name in several folders
			refs[i].Version = "file " + filepath.ToSlash(filepath.Clean(name))
		}
		if slices.ContainsFunc(refs[:i], func(r experiment.Ref) bool { return r.String() == refs[i].String() }) {
			return nil, command.Usage("--agent %s is given twice", show.OneLine(name))
		}
		if refs[i].Pinned {
			j.pinned[refs[i].String()] = found[i]
		}
	}
	return refs, nil
}

// findEvaluators finds what judges.
func (j *job) findEvaluators(names []string) (refs []experiment.Ref, err error) {
	f := &finder{j.Catalog, j.Store}
	j.evaluators = nil
	for _, name := range names {
		found, list, err := f.evaluators(j.ctx, name, j.Judge)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			if slices.ContainsFunc(refs, func(x experiment.Ref) bool { return x.Name == r.Name }) {
				return nil, command.Usage("two evaluators have the name %s: give one of them another name", show.OneLine(r.Name))
			}
		}
		refs, j.evaluators = append(refs, found...), append(j.evaluators, list...)
	}
	return refs, nil
}

// knowModels returns an error if a model cannot be used.
func (j *job) knowModels(names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return command.Usage("--model %s is given twice", show.OneLine(name))
		}
		if name == "" {
			continue
		}
		if _, err := j.Models.Resolve(name); err != nil {
			return fmt.Errorf("--model %s: %w", show.OneLine(name), err)
		}
	}
	return nil
}

// run runs what is left of an evaluation, and stores how it ended.
func (j *job) run(x *store.Evaluation) error {
	release, err := hold(j.ctx, j.Store, x.ID, j.Chat.Process())
	if err != nil {
		return err
	}
	defer release()
	have := map[int64]experiment.Result{}
	for r, err := range resultsOf(j.ctx, j.Store, x.ID) {
		if err != nil {
			return err
		}
		have[r.Seq] = r
	}
	runner := &experiment.Runner{
		Evaluators: j.evaluators, Keep: j.keep(x.ID), Concurrency: j.pacing.Concurrency, Progress: j.bar.show,
	}
	if !j.stored {
		runner.Answer = j.agents(x.ID).Answer
	}
	x.Status, x.EndedAt = running, time.Time{}
	if err := j.Store.Evaluations().Change(j.ctx, x); err != nil {
		return err
	}
	_, err = runner.Run(j.ctx, j.current, j.cases, have)
	j.bar.close()
	after := context.WithoutCancel(j.ctx)
	if err != nil {
		x.Status = stopped
		changed := j.Store.Evaluations().Change(after, x)
		if j.ctx.Err() != nil {
			return errors.Join(interruptedError(x.ID), changed)
		}
		return fmt.Errorf("%w; %s", turns.Explain(j.Parts, err), resumeHint(x.ID))
	}
	sum, err := report.Summarize(j.current, resultsOf(after, j.Store, x.ID))
	if err != nil {
		return err
	}
	j.bar.troubles(j.App)
	x.Status, x.Summary, x.EndedAt = completed, encode(sum), time.Now()
	return j.Store.Evaluations().Change(after, x)
}

// empty returns the error of an evaluation of which nothing came out: no answer, or no verdict.
// The reason is said already.
func (j *job) empty() error {
	at := j.bar.at
	answers := at.Done - int64(at.Failed)
	if answers == 0 || len(j.evaluators) > 0 && int64(at.Unjudged) == answers*int64(len(j.evaluators)) {
		return command.ErrSilent
	}
	return nil
}

// keep returns what stores results. A result is stored even if the evaluation is being stopped.
func (j *job) keep(id string) func(context.Context, experiment.Result) error {
	return func(ctx context.Context, r experiment.Result) error {
		data, err := json.Marshal(&r)
		if err != nil {
			return err
		}
		return j.Store.Evaluations().PutResults(context.WithoutCancel(ctx), id, store.EvaluationResult{Seq: r.Seq, Data: data})
	}
}

// agents returns what asks the agents.
func (j *job) agents(id string) *experiment.Agents {
	documents := map[string]*agent.Document{}
	for name, a := range j.pinned {
		documents[name] = a.Document
	}
	return &experiment.Agents{Turns: j.Chat, Evaluation: id, Documents: documents}
}
