package experiment

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/p8-org/p8/internal/evaluation"
	"github.com/p8-org/p8/internal/experiment/dataset"
)

// Runner runs plans.
type Runner struct {
	// Answer asks an agent. A run that failed is an output with an Error; an error stops the
	// evaluation. nil if all answers are there already, as for stored sessions.
	Answer     func(ctx context.Context, t Task) (evaluation.Output, error)
	Evaluators []evaluation.Evaluator
	// Keep stores a result, once with its answer and again with its verdicts. Its error stops
	// the evaluation.
	Keep func(ctx context.Context, r Result) error
	// Concurrency is how many tasks are worked on at once; 1 when 0.
	Concurrency int
	// Progress is called after each task, one call at a time; it may be nil.
	Progress func(Progress)
}

// Progress is how far an evaluation is.
type Progress struct {
	Done, Tasks int64
	// Kept counts the tasks that were done before this run.
	Kept int64
	// Failed counts runs that failed, Unjudged verdicts that are missing.
	Failed, Unjudged int
	CostUSD          float64
	// Last is the result of the task.
	Last *Result
}

// Run runs what is left of a plan. have are the results that were kept before: what they
// contain is not done again, but failed runs and missing verdicts are tried again. If ctx ends,
// the tasks under way end with it.
func (r *Runner) Run(ctx context.Context, p *Plan, cases []dataset.Case, have map[int64]Result) (Progress, error) {
	if err := p.Check(); err != nil {
		return Progress{}, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	todo := make(chan int64)
	s := &sum{now: Progress{Tasks: p.Tasks()}, tell: r.Progress}
	var workers sync.WaitGroup
	for range max(1, r.Concurrency) {
		workers.Go(func() {
			for seq := range todo {
				result, err := r.task(ctx, p.task(seq, cases), have[seq])
				if err != nil {
					stop(err)
					return
				}
				s.add(&result, false)
			}
		})
	}
feed:
	for seq := range p.Tasks() {
		if kept, ok := have[seq]; ok && kept.Done(p.Evaluators) {
			s.add(&kept, true)
			continue
		}
		select {
		case todo <- seq:
		case <-ctx.Done():
			break feed
		}
	}
	close(todo)
	workers.Wait()
	return s.now, context.Cause(ctx)
}

// task has a task answered and judged.
func (r *Runner) task(ctx context.Context, t Task, result Result) (Result, error) {
	if !result.answered() {
		if r.Answer == nil {
			if result.Output == nil {
				return result, fmt.Errorf("the case %s has no answer", t.Case.ID)
			}
			return result, nil
		}
		if t.Round = result.Round; result.Output != nil {
			t.Round++
		}
		output, err := r.Answer(ctx, t)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return result, err
		}
		result = Result{Seq: t.Seq, Case: t.Case, Agent: t.Agent.String(), Model: t.Model, Repeat: t.Repeat, Round: t.Round, Output: &output}
		if !result.answered() || len(r.Evaluators) == 0 { // there is nothing to judge
			return result, r.Keep(ctx, result)
		}
		if err := r.Keep(ctx, result); err != nil {
			return result, err
		}
	}
	result.Unjudged = nil
	for _, e := range r.Evaluators {
		if result.verdict(e.Name()) != nil {
			continue
		}
		v, err := e.Evaluate(ctx, result.Sample())
		switch {
		case ctx.Err() != nil:
			return result, ctx.Err()
		case err != nil:
			if result.Unjudged == nil {
				result.Unjudged = map[string]string{}
			}
			result.Unjudged[e.Name()] = strings.Join(strings.Fields(err.Error()), " ")
		default:
			v.Evaluator = e.Name()
			result.Verdicts = append(result.Verdicts, v)
		}
	}
	return result, r.Keep(ctx, result)
}

// sum adds results up.
type sum struct {
	mu   sync.Mutex
	now  Progress
	tell func(Progress)
}

func (s *sum) add(r *Result, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Done++
	if kept {
		s.now.Kept++
	}
	if r.Output.Error != "" {
		s.now.Failed++
	}
	s.now.Unjudged += len(r.Unjudged)
	s.now.CostUSD += r.Output.CostUSD
	for _, v := range r.Verdicts {
		s.now.CostUSD += v.CostUSD
	}
	s.now.Last = r
	if s.tell != nil {
		s.tell(s.now)
	}
}
