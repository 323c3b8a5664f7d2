// Package run is one run of one agent: model ⇄ tools, as a stream of events.
//
// [Stream] sends the conversation to the model, passes on what it says, runs
// the tools it calls (all calls of one step at once), answers them in the
// order of the calls and asks again, until the model is done, a limit is
// reached or the context ends. A bad call, an unknown tool, a panic or a
// timeout is that call's failure: the model sees it and the run goes on.
//
// What the model thought goes back to it with the results of its calls. That
// another model took over, or that something asked for was left out, is a
// warning; what each answer cost is summed up, nested runs included.
//
// A structured agent's answer is validated against its schema; a wrong one
// goes back with every error, a bounded number of times. [As] decodes it. A
// valid one may be handed to a chained tool, without the model: its result stands
// beside the answer in Done, its failure too, and the answer stays what it is.
//
// A tool may start a run of its own with the context it was called with: the
// [Scope] in it makes the run a nested one, whose events carry a longer path
// and whose limits are the parent's too. Where the document allows sampling, the
// context also lends the run's model to the tool (tool.SamplerFrom).
package run

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"p8/agent"
	"p8/event"
	"p8/llm"
	"p8/tool"
)

// Options is everything that one run needs.
type Options struct {
	// Agent is the compiled document.
	Agent *agent.Agent
	// Model answers.
	Model llm.Model
	// Tools are those that the document declares and this process has.
	Tools []tool.Tool
	// Chained is called with the structured answer, outside of the model's view;
	// nil is none. It counts as a tool call; a limit refuses it, not the answer.
	Chained tool.Tool
	// ChainedMissing says why Chained is nil although the document names a tool.
	ChainedMissing string
	// Cost is what a response of a model costs in US dollars; nil knows no prices but
	// the caller's, in a nested run.
	Cost func(model string, u llm.Usage) float64
	// Messages are the conversation, the user's message last. The agent's prompt
	// is put before them when they do not begin with a system message.
	Messages []llm.Message
	// Settings win over the document's; what is unset is taken from there.
	Settings llm.Settings
	// Warnings are emitted first.
	Warnings []event.WarningData
	// RunID is made up when empty.
	RunID string
	// Path is the path of agent names; the agent's name, below the caller's path
	// in a nested run, when empty.
	Path string
	// Timeout is the wall clock of the run; 10 minutes when 0.
	Timeout time.Duration
	// ToolTimeout is the wall clock of one call; 2 minutes when 0.
	ToolTimeout time.Duration
	// Parallel bounds the calls that run at once; 16 when 0.
	Parallel int
	// StructuredMode is "native" or "tool"; the model's ability decides when
	// empty.
	StructuredMode string
	// Journal lets the run pause for the user and be taken up again; nil does not:
	// then what needs an approval is refused. A nested run has its parent's.
	Journal Journal
	// Steer gives the messages that came in while the run was running, nil for none.
	// It is called before every request to the model, and with last before a run
	// ends that would end well: what is there then makes it go on.
	Steer func(last bool) []llm.Message
	// MaxDepth bounds the runs below the root; 5 when 0. It is the root's that
	// counts.
	MaxDepth int
	Logger   *slog.Logger
}

// The defaults of Options.
const (
	defaultTimeout     = 10 * time.Minute
	defaultToolTimeout = 2 * time.Minute
	defaultParallel    = 16
)

// The structured modes.
const (
	// ModeNative binds the model to the schema by the provider's own means.
	ModeNative = "native"
	// ModeTool offers the model a tool named final_result whose parameters are
	// the schema.
	ModeTool = "tool"
)

// Stream runs the agent. The sequence yields every event once and in order and
// ends with Usage and Done; or with Usage and one error: an *llm.Error when the
// model failed, an *OutputError when a structured answer stayed wrong, the
// context's cause when the caller cancelled. A limit is not an error: Done
// names it. Breaking off cancels the run and waits for its tools.
func Stream(ctx context.Context, o Options) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, err := newRunner(ctx, o, yield)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer r.close()
		if err := r.run(); err != nil && !errors.Is(err, errBroken) {
			yield(event.Event{}, err)
		}
	}
}

// errBroken says that the reader broke off.
var errBroken = errors.New("run: the reader left")

// errTimeLimit is the cause of a run's context that ran out of time.
var errTimeLimit = errors.New("run: out of time")

// runner is the state of one run. Only the goroutine that reads the sequence
// touches it.
type runner struct {
	Options
	ctx    context.Context
	close  context.CancelFunc
	yield  func(event.Event, error) bool
	scope  Scope
	req    llm.Request
	seq    int64
	meta   *event.MetadataData
	output output
	step   step
	model  string // that answered last
	warned []event.WarningData
	parts  parts
}

func newRunner(ctx context.Context, o Options, yield func(event.Event, error) bool) (*runner, error) {
	if o.Agent == nil || o.Model == nil {
		return nil, errors.New("run: an agent and a model are needed")
	}
	r := &runner{Options: o, yield: yield}
	r.defaults(ScopeFrom(ctx))
	if err := r.prepare(); err != nil {
		return nil, err
	}
	ctx, r.close = context.WithTimeoutCause(ctx, r.Timeout, errTimeLimit)
	r.ctx = context.WithValue(ctx, scopeKey{}, &r.scope)
	r.lend()
	return r, nil
}

func (r *runner) defaults(parent *Scope) {
	if r.RunID == "" {
		r.RunID = uuid.NewString()
	}
	path, above := r.Agent.Name, (*Budget)(nil)
	r.scope = Scope{RootRunID: r.RunID, maxDepth: positive(r.MaxDepth, defaultDepth)}
	if parent != nil {
		path, above = parent.Path+"/"+path, parent.Budget
		r.scope.RootRunID, r.scope.maxDepth = parent.RootRunID, parent.maxDepth
		r.scope.Depth, r.scope.Thread = parent.Depth+1, parent.ChildThread()
		r.Journal = parent.Journal
		if r.Cost == nil {
			r.Cost = parent.cost
		}
	}
	r.Path = cmp.Or(r.Path, path)
	r.scope.RunID, r.scope.Path, r.scope.Journal = r.RunID, r.Path, r.Journal
	r.scope.Budget, r.scope.cost = newBudget(r.Agent.Limits, above), r.Cost
	r.Timeout = positive(r.Timeout, defaultTimeout)
	r.ToolTimeout = positive(r.ToolTimeout, defaultToolTimeout)
	r.Parallel = positive(r.Parallel, defaultParallel)
	if r.Logger == nil {
		r.Logger = slog.Default()
	}
}

// positive is v, or other where v is not above 0.
func positive[T cmp.Ordered](v, other T) T {
	var zero T
	if v > zero {
		return v
	}
	return other
}

// prepare builds the request that every step sends again, longer each time.
func (r *runner) prepare() error {
	const room = 8 // messages that most runs add
	msgs := make([]llm.Message, 0, len(r.Messages)+1+room)
	if len(r.Messages) == 0 || r.Messages[0].Role != llm.System {
		msgs = append(msgs, llm.Message{Role: llm.System, Content: r.Agent.Prompt})
	}
	r.req.Messages = append(msgs, r.Messages...)
	r.req.Settings = r.Settings.Or(r.Agent.Settings)
	r.req.CacheKey = r.Agent.Name
	if err := r.prepareTools(); err != nil {
		return err
	}
	return r.prepareOutput()
}

// emit stamps an event and passes it on.
func (r *runner) emit(e event.Event) error {
	r.seq++
	e.Seq = r.seq
	if e.RunID == "" {
		e.RunID = r.RunID
	}
	if e.Agent == "" {
		e.Agent = r.Path
	}
	if !r.yield(e, nil) {
		return errBroken
	}
	return nil
}

// run asks the model and runs its tools until one of them ends the run.
func (r *runner) run() error {
	for i := range r.Warnings {
		if err := r.emit(event.New(&r.Warnings[i])); err != nil {
			return err
		}
	}
	for {
		if limit := r.scope.Budget.request(); limit != "" {
			return r.done(event.DoneData{Reason: event.ReasonLength, Limit: limit})
		}
		end, err := r.ask()
		if err == nil && end == nil {
			end, err = r.answer()
		}
		if err != nil && !errors.Is(err, errBroken) {
			if broken := r.endCalls(); broken != nil {
				err = broken
			}
		}
		switch {
		case errors.Is(err, errBroken):
			return err
		case err != nil && errors.Is(context.Cause(r.ctx), errTimeLimit):
			return r.done(event.DoneData{Reason: event.ReasonLength, Limit: event.LimitTime})
		case err != nil && r.ctx.Err() != nil:
			return r.failed(context.Cause(r.ctx))
		case err != nil:
			return r.failed(err)
		case end != nil:
			return r.done(*end)
		}
	}
}

// answer does what the model's response asks for: nothing (the run is over),
// tools, or another try at a structured answer.
func (r *runner) answer() (*event.DoneData, error) {
	if r.Agent.Structured {
		return r.answerStructured()
	}
	if len(r.step.calls) == 0 {
		return &event.DoneData{Reason: r.step.reason()}, nil
	}
	return r.execute(r.step.calls)
}

// done ends the run and says why.
func (r *runner) done(d event.DoneData) error {
	if err := r.sum(); err != nil {
		return err
	}
	return r.emit(event.New(&d))
}

// failed ends the run with an error: what it cost until then was spent.
func (r *runner) failed(cause error) error {
	if err := r.sum(); err != nil {
		return err
	}
	return cause
}

// sum says what the tools said about the answer, and what the run cost.
func (r *runner) sum() error {
	if r.meta != nil {
		if err := r.emit(event.New(r.meta)); err != nil {
			return err
		}
	}
	used := r.scope.Budget.Used()
	return r.emit(event.New(&used))
}
