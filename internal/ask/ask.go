// Package ask turns a question in plain words into a REM query and answers it
// (REM's ask_rem).
//
//	asker, err := ask.New(ask.Options{Engine: engine, Catalog: c, Models: m, DefaultModel: name})
//	answer, err := asker.Ask(ctx, "Who works with Sarah Chen?", ask.Request{})
//
// A language model writes the query: the structured agent rem-query-agent, whose
// prompt has the grammar and the tables of this store. Its query is parsed; a mistake
// is sent back once. The type and the parameters of the answer are read from the
// parsed query, never taken from the model. Without a language model, rules read the
// plain cases: a name, a misspelt name, a subject, a relation, a date, a count.
//
// A query runs if its confidence reaches [MinConfidence]; otherwise the answer says
// why it did not. A question that needs several steps becomes a plan: see [Stage] and
// [Asker.Run].
package ask

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// MinConfidence is the least confidence of a query that runs (REM).
const MinConfidence = 0.7

// MaxQuestion is the longest question, in characters.
const MaxQuestion = 4000

// AgentName is the document of the agent that writes queries. A document of this name
// in the database replaces the built-in one.
const AgentName = "rem-query-agent"

// Engine answers queries for the caller in the context. Implemented by *rem.Engine.
type Engine interface {
	// Parse fails with a *rem.SyntaxError for a query that is wrong.
	Parse(text string) (rem.Query, error)
	// Execute runs a query; it also fails with a *rem.SyntaxError.
	Execute(ctx context.Context, q rem.Query) (rem.Result, error)
	// Tables returns the tables that a query may name.
	Tables() []store.TableInfo
}

// Catalog finds agents. Implemented by *catalog.Catalog.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
}

// Models finds models by "provider:model". Implemented by *llm.Registry.
type Models interface {
	Resolve(name string) (llm.Model, error)
}

// Options are what an Asker works with. Engine is needed.
type Options struct {
	Engine Engine
	// Catalog and Models may be nil: then only the rules answer.
	Catalog Catalog
	Models  Models
	// Model writes the queries of requests that name no model, as provider:model; ""
	// is DefaultModel.
	Model        string
	DefaultModel string
	// Fallback replaces a model that is down, unless the agent's document names a
	// fallback of its own.
	Fallback []string
	// StructuredMode is package run's.
	StructuredMode string
	// Timeout bounds the model's time for one query; 1 minute when 0.
	Timeout time.Duration
	// Cost is as in run.Options. Spent is called with what a question outside of any run
	// consumed, also if it failed; nil is not. Within a run, the run counts it.
	Cost  func(model string, u llm.Usage) float64
	Spent func(ctx context.Context, parts []run.Spent)
	// May refuses a caller who may not ask a model now; nil lets all.
	May func(ctx context.Context) error
	// Parallel bounds the concurrent requests to models, 16 when 0; others wait.
	Parallel int
	// Now is the clock, for relative dates.
	Now func() time.Time
	// Zone returns the time zone of the caller's days, nil for UTC; a nil Zone is UTC for
	// all.
	Zone   func(ctx context.Context) (*time.Location, error)
	Logger *slog.Logger
}

// The defaults of Options.
const (
	defaultTimeout  = time.Minute
	defaultParallel = 16
)

// Asker answers questions. It is safe for concurrent use.
type Asker struct {
	o     Options
	slots chan struct{}
}

// New makes an Asker.
func New(o Options) (*Asker, error) {
	if o.Engine == nil {
		return nil, errors.New("ask: an engine is needed")
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Asker{o: o, slots: make(chan struct{}, o.Parallel)}, nil
}

// Request are the options of one question.
type Request struct {
	// Model wins over Options.Model.
	Model string
	// PlanOnly returns the query and does not run it.
	PlanOnly bool
}

// Answer is the query made from a question, with its results.
type Answer struct {
	// QueryType and Parameters are those of Query; QueryType is "" if there is no
	// query.
	QueryType  rem.Verb   `json:"query_type"`
	Parameters Parameters `json:"parameters"`
	// Query is a REM query; for a plan, that of the last stage.
	Query string `json:"query"`
	// Confidence is 0 to 1.
	Confidence float64 `json:"confidence"`
	// Reasoning is set if the confidence is below MinConfidence or there are several
	// stages.
	Reasoning string `json:"reasoning,omitempty"`
	// Warning says why nothing ran, or not everything.
	Warning string `json:"warning,omitempty"`
	// Executed is true if the query ran; Results are its results.
	Executed bool      `json:"executed"`
	Results  []rem.Row `json:"results"`
	Count    int       `json:"count"`
	// Notes are remarks about the results.
	Notes    []string `json:"notes,omitempty"`
	PlanOnly bool     `json:"plan_only"`
	// Model wrote the query, as provider:model; "rules" without a model.
	Model string `json:"model"`
	// Stages are the stages of a plan, with their results.
	Stages []StageResult `json:"stages,omitempty"`
	// Found is the complete result of the query, nil if nothing ran.
	Found *rem.Result `json:"-"`
}

// InputError names the wrong field of a request; Message is fit for a client.
type InputError struct{ Field, Message string }

// Error is the message.
func (e *InputError) Error() string { return e.Message }

// proposal is the query that a model or the rules propose for a question.
type proposal struct {
	Query      string  `json:"query"`
	Confidence float64 `json:"confidence"`
	Reasoning  string  `json:"reasoning"`
	Plan       []Stage `json:"plan"`
}

// proposer makes proposals: a language model or the rules.
type proposer interface {
	// propose turns a question into a query.
	propose(ctx context.Context, question string) (proposal, error)
	// name is Answer.Model.
	name() string
}

// given is a question that is a query: no model guesses what it means.
type given string

func (q given) propose(context.Context, string) (proposal, error) {
	return proposal{Query: string(q), Confidence: exact}, nil
}

func (given) name() string { return rulesName }

// corrector is a proposer that can correct its proposal after an error.
type corrector interface {
	correct(ctx context.Context, question string, wrong proposal, problem string) (proposal, error)
}

// Ask answers a question for the caller in ctx. If no query can be made of the
// question, the answer has a low confidence; that is not an error. Errors are an
// *InputError for the question, those of the catalog, the registry and the run for the
// model, and the store's.
func (a *Asker) Ask(ctx context.Context, question string, req Request) (Answer, error) {
	answer := Answer{PlanOnly: req.PlanOnly, Results: []rem.Row{}}
	question = strings.TrimSpace(question)
	switch n := utf8.RuneCountInString(question); {
	case question == "":
		return answer, &InputError{"query", "the question is empty: ask something"}
	case n > MaxQuestion || !utf8.ValidString(question):
		return answer, &InputError{"query", fmt.Sprintf("the question must be valid UTF-8 of at most %d characters", MaxQuestion)}
	}
	by, err := a.proposer(ctx, req.Model)
	if err != nil {
		return answer, err
	}
	if query, ok := written(question); ok {
		if _, err := a.o.Engine.Parse(query); err == nil {
			by = given(query)
		}
	}
	p, err := by.propose(ctx, question)
	answer.Model = by.name() // a fallback may have answered
	if err != nil {
		return answer, err
	}
	stages, err := a.check(&p)
	if c, ok := by.(corrector); err != nil && ok {
		a.o.Logger.DebugContext(ctx, "a model's query cannot be read", "model", answer.Model, "query", p.Query, "error", err)
		if p, err = c.correct(ctx, question, p, err.Error()); err != nil {
			return answer, err
		}
		stages, err = a.check(&p)
	}
	answer.Confidence = min(max(p.Confidence, 0), 1)
	if err != nil {
		answer.Query, answer.Confidence = p.Query, min(answer.Confidence, nothing)
		answer.Reasoning = "The query that was written for the question cannot be read: " + err.Error()
		answer.Warning = notRun
		return answer, nil
	}
	if answer.Confidence < MinConfidence || len(stages) > 1 {
		answer.Reasoning = p.Reasoning
	}
	if err := a.describe(&answer, p.Query, stages); err != nil {
		return answer, err
	}
	switch {
	case answer.Confidence < MinConfidence:
		answer.Warning = notRun
	case !req.PlanOnly:
		err = a.answer(ctx, &answer, stages)
	}
	return answer, err
}

// notRun warns that a query is too uncertain to run.
const notRun = "the confidence is below 0.7, so nothing was run; ask more precisely, or write the query yourself"

// check parses the query of a proposal, or orders its plan.
func (a *Asker) check(p *proposal) ([]Stage, error) {
	p.Query = strings.TrimSpace(p.Query)
	if len(p.Plan) > 0 {
		stages, err := order(p.Plan, nil)
		if err != nil {
			return nil, err
		}
		for i := range stages {
			if stages[i].Intent != "" || stages[i].Query == "" {
				return nil, &InputError{"plan", fmt.Sprintf("stage %d has no query", stages[i].Stage)}
			}
			if _, _, err := a.fill(stages[i].Query, nil); err != nil {
				return nil, inStage(stages[i].Stage, err)
			}
		}
		p.Query = stages[len(stages)-1].Query
		if len(stages) > 1 {
			return stages, nil
		}
	}
	if p.Query == "" && p.Confidence < MinConfidence {
		return nil, nil
	}
	_, err := a.o.Engine.Parse(p.Query)
	return []Stage{{Stage: 1, Query: p.Query}}, err
}
