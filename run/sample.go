package run

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// maxSamplings bounds the requests of one run's tools to its model.
const maxSamplings = 10

// sampler is the run's model, lent to its tools. It is safe for concurrent use: apart
// from the budget, it shares only what never changes with the run.
type sampler struct {
	*Options
	run      context.Context
	budget   *Budget
	of       Spent
	settings llm.Settings
	asked    atomic.Int64
}

// lend puts a sampler into the context of every call, if the document allows sampling. It
// hides the sampler of the run that called this agent.
func (r *runner) lend() {
	switch {
	case r.Agent.Sampling:
		r.ctx = tool.WithSampler(r.ctx, &sampler{
			Options: &r.Options, run: r.ctx, budget: r.scope.Budget, of: r.of, settings: r.req.Settings,
		})
	case tool.SamplerFrom(r.ctx) != nil:
		r.ctx = tool.WithSampler(r.ctx, nil)
	}
}

// Sample asks the model. The request's settings override the run's, but cannot ask for a
// longer answer. The run's reader does not see the request or the answer.
func (s *sampler) Sample(ctx context.Context, req *llm.Request) (string, llm.Message, llm.Finish, error) {
	n := s.asked.Add(1)
	budget := s.budget
	if in := ScopeFrom(ctx); in != nil && in.RunID == s.RunID {
		budget = in.Budget // the call's, which charges the run's too
	}
	if err := s.admit(n, budget); err != nil {
		return "", llm.Message{}, "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.run, cancel)()

	own := *req
	own.Settings = req.Settings.Or(s.settings)
	if most := s.settings.MaxTokens; most > 0 && own.Settings.MaxTokens > most {
		own.Settings.MaxTokens = most
	}
	var answer step
	answer.reset(s.Model.Name())
	err := s.read(ctx, &own, &answer, n)
	budget.charge(event.UsageData{}, s.bill(s.of, &answer, own.Messages))
	if err != nil {
		return "", llm.Message{}, "", describe(err)
	}
	return answer.model, answer.message(), answer.finish, nil
}

// admit charges one request to the budget.
func (s *sampler) admit(n int64, budget *Budget) error {
	if s.run.Err() != nil {
		return &tool.Error{Message: "the run is over; its model cannot be asked any more"}
	}
	if n > maxSamplings {
		return &tool.Error{Message: fmt.Sprintf("the tools of one run may ask its model %d times, and have done so", maxSamplings)}
	}
	if limit := budget.request(); limit != "" {
		return &tool.Error{Message: "the run has reached its " + limit + "; its model cannot be asked any more"}
	}
	return nil
}

func (s *sampler) read(ctx context.Context, req *llm.Request, answer *step, n int64) error {
	for chunk, err := range s.Model.Stream(ctx, req) {
		if err != nil {
			return err
		}
		answer.add(&chunk, n)
	}
	return ctx.Err()
}

// describe turns an error of the model into one of the tool.
func describe(err error) error {
	var known *llm.Error
	if errors.As(err, &known) {
		return &tool.Error{Message: known.Error()}
	}
	return err
}
