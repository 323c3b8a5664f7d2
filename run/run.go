// Package run executes one agent once: model ⇄ tools, as a stream of events.
//
// [Stream] sends the conversation to the model, passes its text on, runs the
// tools that it calls (all calls of one step at once), adds their results in the
// order of the calls and asks the model again, until the model is done, a limit
// is reached or the context ends.
//
// # Failures and limits
//
// A bad call, an unknown tool, a panic or a timeout fails only that call: the
// model sees the failure and the run goes on. The run fails if the model fails,
// or if a structured answer is still invalid after two retries.
//
// A limit ends a run and does not fail it: Done has the reason length and the limit's
// name. Calls of the same step that were already allowed still run. If the model cannot
// be asked again, only the calls that signal something to others run (see
// tool.Annotations). A call above the limit of one step is not made, and its result says
// so; at twice the limit the model's stream is cut, which bounds the memory of one
// answer. A run that is out of time before the model said anything fails.
//
// A fallback model, and a setting that the model refused, are reported as
// warnings. The reasoning of a model goes back to it with the results of its
// calls. Usage and cost include nested runs.
//
// # Structured answers
//
// A structured agent's answer is validated against its schema; an invalid one goes back
// to the model with every error. The text is held back until it is valid and sent as one
// piece; the tool final_result never appears as a tool call. [As] decodes the answer.
// Once a valid answer was shown, the chained tool is called with it, without asking the
// model again. Done has the tool's result, or its failure, beside the answer.
//
// # Nested runs
//
// A tool may start a run with the context of its call. The [Scope] in that
// context makes it a nested run: its events carry a longer path, and the limits
// of the parent hold for it too. If the document allows sampling, the context
// also lends the run's model to the tool (tool.SamplerFrom).
//
// # Pauses and crashes
//
// A run never waits for a person. A call that needs an approval or an answer stays
// without a result; when the other calls of its step have ended, the run ends with
// event.ReasonPaused. The [Journal] records what the model said and what the calls
// returned. A run that is started again with its journal, after the person's answer or
// after a crash, continues at that call and repeats no finished call. Options.Steer adds
// what the user writes meanwhile to the conversation.
package run

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/telemetry"
	"github.com/p8-org/p8/tool"
)

// Stream runs the agent. The sequence yields every event once and in order, and ends with
// Usage and Done, or with Usage and one error: an *llm.Error if the model failed or was
// silent until the run's time was over, an *OutputError if a structured answer stayed
// invalid, the context's cause if the caller cancelled. A limit is not an error: Done
// names it. Breaking off cancels the run and waits for its tools.
func Stream(ctx context.Context, o Options) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r, err := newRunner(ctx, o, yield)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		defer r.close()
		defer func() { r.hold(-r.held) }()
		err = errPanicked
		defer func() { r.endOperation(err) }()
		if err = r.run(); err != nil && !errors.Is(err, errBroken) {
			yield(event.Event{}, err)
		}
	}
}

// ErrInterrupted as the cause of a cancelled context says that the run will be resumed.
// If the run has a Journal, the calls under way get no result and are repeated when the
// run is resumed. Without that cause, or without a Journal, they fail.
var ErrInterrupted = errors.New("run: interrupted, to be taken up again")

// errPanicked ends the operation of a run that panicked.
var errPanicked = errors.New("run: panicked")

// errBroken: the reader broke off.
var errBroken = errors.New("run: the reader left")

// errTimeLimit is the cause of a context that ran out of time.
var errTimeLimit = errors.New("run: out of time")

// runner is the state of one run. Only the goroutine that reads the sequence
// touches it.
type runner struct {
	Options
	ctx    context.Context
	close  context.CancelFunc
	yield  func(event.Event, error) bool
	scope  Scope
	budget Budget // scope's
	ledger ledger // scope's, used if this is the root
	req    llm.Request
	op     *telemetry.Op
	seq    int64
	meta   *event.MetadataData
	below  *event.MetadataData // of nested runs, for what meta lacks
	output output
	step   step
	model  string // the last one that responded
	of     Spent  // names the run in its Spent entries
	since  time.Time
	// asked is when the request under way began, replied when the model said something.
	asked, replied time.Time
	warned         []event.WarningData
	parts          parts
	files          files // scope's, used if this is the root
	own            int   // index of the run's first own message
	held           int   // bytes that Memory counts for this run

	// pending are the entries for the next event of a tool call, past the journal's
	// entries of the step that was half done when the run was interrupted.
	pending []Entry
	past    map[string]past
	takenUp bool
	half    bool
	// childSpoke: a nested run has produced text since this run's last step, so this
	// run's text would repeat it.
	childSpoke bool
	// repeats knows what nested runs have shown, so that this run need not repeat it.
	repeats repeats
	// said: a part of an answer was shown. asking: a request to the model is under way.
	said, asking bool
}

func newRunner(ctx context.Context, o Options, yield func(event.Event, error) bool) (*runner, error) {
	if o.Agent == nil || o.Model == nil {
		return nil, errors.New("run: an agent and a model are needed")
	}
	r := &runner{Options: o, yield: yield}
	parent := ScopeFrom(ctx)
	if !parent.MayNest() {
		return nil, &tool.Error{Message: fmt.Sprintf("agents are %d deep in one another already; answer without asking another one", parent.Depth)}
	}
	r.defaults(parent)
	if err := r.prepare(); err != nil {
		return nil, err
	}
	ctx, r.close = context.WithTimeoutCause(ctx, r.Timeout, errTimeLimit)
	r.ctx = context.WithValue(ctx, scopeKey{}, &r.scope)
	r.beginOperation()
	r.lend()
	if r.Journal == nil && tool.AskerFrom(ctx) != nil {
		r.ctx = tool.WithAsker(r.ctx, nil)
	}
	r.takeUp()
	return r, nil
}

// prepare builds the request. Each step adds messages and sends it again.
func (r *runner) prepare() error {
	const room = 8 // most runs add no more messages
	msgs := make([]llm.Message, 0, len(r.Messages)+1+room)
	if len(r.Messages) == 0 || r.Messages[0].Role != llm.System {
		msgs = append(msgs, llm.Message{Role: llm.System, Content: r.Agent.Prompt})
	}
	r.req.Messages = append(msgs, r.Messages...)
	r.own = len(r.req.Messages)
	r.req.Settings = r.Settings.Or(r.Agent.Settings)
	r.req.CacheKey = r.Agent.Name
	if err := r.prepareTools(); err != nil {
		return err
	}
	return r.prepareOutput()
}

// emit stamps an event and passes it on.
func (r *runner) emit(e event.Event) error {
	r.note(&e)
	r.seq++
	e.Seq = r.seq
	if e.RunID == "" {
		e.RunID = r.RunID
	}
	if e.Agent == "" {
		e.Agent = r.Path
	}
	if r.scope.ledger != nil && e.Data != nil {
		return r.yieldRecorded(e)
	}
	if !r.yield(e, nil) {
		return r.broken()
	}
	return nil
}

// run asks the model and runs its tools until one of them ends the run.
func (r *runner) run() error {
	for i := range r.Warnings {
		if r.takenUp {
			break
		}
		if err := r.emit(event.New(&r.Warnings[i])); err != nil {
			return err
		}
	}
	for {
		end, err := r.turn()
		if err != nil && !errors.Is(err, errBroken) {
			if broken := r.endCalls(); broken != nil {
				err = broken
			}
		}
		switch {
		case errors.Is(err, errBroken):
			return err
		case err != nil && errors.Is(context.Cause(r.ctx), errTimeLimit):
			if silent := r.silence(); silent != nil {
				return r.failed(silent)
			}
			return r.done(&event.DoneData{Reason: event.ReasonLength, Limit: event.LimitTime})
		case err != nil && r.ctx.Err() != nil:
			return r.failed(context.Cause(r.ctx))
		case err != nil:
			return r.failed(err)
		case end != nil:
			return r.done(end)
		}
	}
}

// turn makes one step: a response of the model, and the calls it asks for. The first step of a
// resumed run may be half done.
func (r *runner) turn() (*event.DoneData, error) {
	if r.half {
		end, err := r.answer()
		r.half, r.past = false, nil
		return end, err
	}
	if _, err := r.steer(false); err != nil {
		return nil, err
	}
	if limit := r.scope.Budget.request(); limit != "" {
		return &event.DoneData{Reason: event.ReasonLength, Limit: limit}, nil
	}
	if end, err := r.ask(); end != nil || err != nil {
		return end, err
	}
	return r.answer()
}

// answer does what the model's response asks for: nothing (the run is over),
// tools, or another try at a structured answer.
func (r *runner) answer() (*event.DoneData, error) {
	if r.Agent.Structured {
		return r.answerStructured()
	}
	if len(r.step.calls) > 0 {
		return r.execute(r.step.calls)
	}
	reason := r.step.reason()
	if reason == event.ReasonStop {
		if goOn, err := r.steer(true); goOn || err != nil {
			return nil, err
		}
	}
	if err := r.warnEmpty(reason); err != nil {
		return nil, err
	}
	if r.Answered != nil {
		r.Answered(r.step.text.String())
	}
	return &event.DoneData{Reason: reason}, nil
}

// done ends the run with a reason.
func (r *runner) done(d *event.DoneData) error {
	if d.Reason == event.ReasonPaused || d.Reason == event.ReasonToolCalls {
		pending := r.pending
		r.pending = nil
		if err := r.scope.ledger.record(r.ctx, pending); err != nil {
			return r.failed(err)
		}
	}
	if err := r.sumUp(); err != nil {
		return err
	}
	r.describeEnd(d)
	return r.emit(event.New(d))
}

// failed emits the usage so far and ends the run with an error.
func (r *runner) failed(cause error) error {
	if err := r.sumUp(); err != nil {
		return err
	}
	return cause
}

// sumUp emits the metadata of the answer and the usage of the run.
func (r *runner) sumUp() error {
	if m := r.metadata(); m != nil {
		if err := r.emit(event.New(m)); err != nil {
			return err
		}
	}
	if r.Spent != nil && r.scope.Depth == 0 {
		r.Spent(r.scope.Budget.Parts())
	}
	used := r.scope.Budget.Used()
	return r.emit(event.New(&used))
}
