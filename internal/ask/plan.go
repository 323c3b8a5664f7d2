package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// Plan is the argument of Run.
type Plan struct {
	Stages []Stage
	// Previous are the results of stages that ran before. ResumeFrom skips the stages
	// with smaller numbers, whose results are there.
	Previous   []StageResult
	ResumeFrom int
	// PlanOnly orders the stages, writes the queries of intents, and runs nothing.
	PlanOnly bool
	// Model writes the queries of intents; "" is the Asker's.
	Model string
}

// Run runs a plan for the caller in ctx, stage by stage, and returns the results of
// the stages that ran, in that order. Each stage can use the results of the earlier
// ones. Errors are an *InputError for the plan, a *StageError for a query that is
// wrong, and the store's.
func (a *Asker) Run(ctx context.Context, p Plan) ([]StageResult, error) {
	ran, _, err := a.run(ctx, p)
	return ran, err
}

// run is Run that also returns the complete result of the last stage.
func (a *Asker) run(ctx context.Context, p Plan) ([]StageResult, *rem.Result, error) {
	if len(p.Previous) > MaxStages {
		return nil, nil, &InputError{"previous_results", fmt.Sprintf("there are %d previous results; at most %d are allowed", len(p.Previous), MaxStages)}
	}
	stages := p.Stages
	if len(stages) <= MaxStages {
		stages = slices.DeleteFunc(slices.Clone(stages), func(s Stage) bool { return s.Stage < p.ResumeFrom })
	}
	if len(stages) == 0 && len(p.Stages) > 0 {
		return nil, nil, &InputError{"resume_from_stage", fmt.Sprintf("no stage of the plan has the number %d or a greater one", p.ResumeFrom)}
	}
	stages, err := order(stages, p.Previous)
	if err != nil {
		return nil, nil, err
	}
	r := &planRun{asker: a, Plan: p, stages: stages, done: slices.Clone(p.Previous)}
	ran := make([]StageResult, 0, len(stages))
	var last *rem.Result
	for _, s := range stages {
		var result StageResult
		if result, last, err = r.stage(ctx, s); err != nil {
			return ran, nil, inStage(s.Stage, err)
		}
		ran = append(ran, result)
		r.done = slices.DeleteFunc(r.done, func(r StageResult) bool { return r.Stage == s.Stage })
		r.done = append(r.done, result)
	}
	return ran, last, nil
}

// planRun is a plan under way.
type planRun struct {
	asker *Asker
	Plan
	// stages are the remaining stages, in order; done the results so far.
	stages []Stage
	done   []StageResult
}

// keys returns the keys of a reference.
func (r *planRun) keys(ref Ref) []string {
	n, _, _ := resolve(ref, r.stages, r.done)
	for _, result := range r.done {
		if result.Stage == n {
			return result.keys()
		}
	}
	return nil
}

// stage runs one stage; the complete result is nil if the stage did not run.
func (r *planRun) stage(ctx context.Context, s Stage) (StageResult, *rem.Result, error) {
	out := StageResult{Stage: s.Stage, Name: s.Name, Results: []json.RawMessage{}}
	keys := r.keys
	if r.PlanOnly {
		keys = nil
	}
	if s.Query == "" {
		intent, empty := fillText(s.Intent, keys)
		if empty != "" {
			out.Warning = notReached(empty)
			return out, nil, nil
		}
		answer, err := r.asker.Ask(ctx, intent, Request{Model: r.Model, PlanOnly: true})
		if err != nil {
			return out, nil, err
		}
		if answer.Confidence < MinConfidence || len(answer.Stages) > 0 {
			out.Warning = "not run: the intent was not understood as one query. " + answer.Reasoning
			return out, nil, nil
		}
		s.Query, keys = answer.Query, nil
	}
	query, empty, err := r.asker.fill(s.Query, keys)
	switch {
	case err != nil:
		return out, nil, err
	case empty != "":
		out.Warning = notReached(empty)
		return out, nil, nil
	}
	out.QueryType = query.Verb()
	if r.PlanOnly {
		out.Query = s.Query
		return out, nil, nil
	}
	out.Query = query.String()
	res, err := r.asker.o.Engine.Execute(ctx, query)
	if err != nil {
		return out, nil, err
	}
	out.Count = res.Count
	out.Results, err = rawRows(res)
	return out, &res, err
}

func notReached(ref Ref) string {
	return fmt.Sprintf("not run: %s found nothing to go on with", string(ref))
}

// rawRows returns the rows of a result as JSON.
func rawRows(res rem.Result) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(res.Results))
	for i, row := range res.Results {
		raw, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		out[i] = raw
	}
	return out, nil
}

// describe returns the query of an answer, or its plan.
func (a *Asker) describe(answer *Answer, text string, stages []Stage) error {
	answer.Query = text
	if len(stages) == 0 {
		return nil
	}
	query, _, err := a.fill(text, nil)
	if err != nil {
		return err
	}
	answer.QueryType, answer.Parameters = query.Verb(), parametersOf(query)
	for _, t := range a.o.Engine.Tables() {
		if p := &answer.Parameters; p.FieldName == "" && p.TableName == t.Name {
			p.FieldName = t.EmbeddingField
		}
	}
	if len(stages) == 1 {
		answer.Query = query.String()
		return nil
	}
	for _, s := range stages {
		q, _, err := a.fill(s.Query, nil)
		if err != nil {
			return err
		}
		answer.Stages = append(answer.Stages, StageResult{Stage: s.Stage, Name: s.Name, QueryType: q.Verb(), Query: s.Query, Results: []json.RawMessage{}})
	}
	return nil
}

// answer runs the stages of an answer. If the database refuses a query of the model,
// the answer has a warning; the caller made no mistake.
func (a *Asker) answer(ctx context.Context, answer *Answer, stages []Stage) error {
	ran, found, err := a.run(ctx, Plan{Stages: stages})
	if len(stages) > 1 {
		copy(answer.Stages, ran)
	}
	var syntax *rem.SyntaxError
	var input *InputError
	switch {
	case errors.As(err, &syntax), errors.As(err, &input), errors.Is(err, rem.ErrTimeout), errors.Is(err, store.ErrInvalid):
		if staged := new(StageError); errors.As(err, &staged) && len(stages) == 1 {
			err = staged.Err
		}
		answer.Warning = "the query could not be run: " + err.Error()
		return nil
	case err != nil:
		return err
	}
	answer.Executed = true
	if found == nil { // the last stage had no keys
		answer.Warning = ran[len(ran)-1].Warning
		return nil
	}
	answer.Found, answer.Results, answer.Count, answer.Notes = found, found.Results, found.Count, found.Notes
	return nil
}
