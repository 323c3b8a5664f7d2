package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// recorder follows one run: it stores the rows, adds what a turn says about
// itself, and shows everything to the readers. One goroutine uses it.
type recorder struct {
	*Service
	*job
	text spoken
	// answer is the text of a long answer while the run ends.
	answer string
	shown  bool // something of an answer has been shown
	usage  *event.UsageData
	meta   *event.MetadataData
	done   *event.DoneData
	// asks are the questions that have no answer yet.
	asks []event.ActionRequestData
	// heard is the number of the last event that the tree of agents recalls.
	heard int64
	// unasked are those that could not be stored yet.
	unasked []store.RunRequest
	// speaker is the path of the agent that spoke last, tookOver the model that
	// answers in place of the chosen one.
	speaker, tookOver string
	// asides are what was said beside the answer.
	asides asides
	// held are events of calls, with their rows, that are not stored yet.
	held held
	// added counts the tokens of the run's rows.
	added int
	// open counts the calls of the root agent that have not ended; called are
	// the calls whose rows exist.
	open   int
	called map[callKey]bool
	// chaining says that the answer is complete and handed on to the chained tool;
	// told counts what each call said of its progress.
	chaining bool
	told     map[string]int
	// routed is the session's routing with what this turn handed over; answered: the
	// answer's row is there already.
	routed       routing.State
	answered     bool
	scriptFailed *event.ErrorData
	failed       bool // a row could not be stored, and the client knows
}

// callKey is a call of a run: agents of one name may run side by side.
type callKey struct{ run, id string }

// run follows the run to its end.
func (s *Service) run(ctx context.Context, j *job) {
	defer s.slots.turns.Done()
	defer j.cancel(nil)
	defer j.account.Close()
	r := &recorder{Service: s, job: j, speaker: j.name, text: spoken{account: &j.account, logged: true}}
	r.tree, r.routed = newTree(j.unkept()), routing.Read(j.session.Metadata)
	r.journal.writer = r
	if j.journal.over > 0 {
		r.routed = j.journal.routed
	}
	switch {
	case j.before != nil:
		if err := r.replay(); err != nil {
			// Nothing was done: it may be taken up once more.
			r.finish(fmt.Errorf("%w: %w", errInterrupted, err))
			return
		}
		r.progress(&event.ProgressData{Step: 1, Label: "Continuing", SessionID: j.SessionID, InReplyTo: j.InReplyTo})
	case j.script == nil:
		r.progress(&event.ProgressData{
			Step: 1, Label: "Processing request", SessionID: j.SessionID, InReplyTo: j.InReplyTo,
		})
	}
	r.finish(r.follow(ctx))
	r.tellEnded()
	if r.Turn.result.Reason == event.ReasonPaused && len(r.asks) > 0 {
		// Whoever answered while it was about to pause left it to the run to go on.
		if _, err := s.goOn(r.stored, r.RunID, nil); err != nil && !errors.Is(err, ErrClosed) {
			r.o.Logger.Warn("a run could not be taken up again", "run", r.RunID, "error", err)
		}
	}
}

// errTooLong says that a run has said more than a turn may hold.
var errTooLong = errors.New("chat: the run said too much")

// errMemory says that the runs of this process held too much together, and this one
// most of it.
var errMemory = errors.New("chat: the runs of this process hold too much")

// follow records events until the run is over, has to wait, or must be broken
// off. A panic in a model or a tool is the end of this run and of nothing else.
func (r *recorder) follow(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.o.Logger.Error("a run panicked", "run", r.RunID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	for {
		if err := r.listen(ctx, r.events(identity.With(ctx, r.who))); err != nil {
			return err
		}
		again, err := r.another()
		if err != nil || !again {
			return err
		}
	}
}

// events are those of the agent, or of what answers in its place.
func (r *recorder) events(ctx context.Context) iter.Seq2[event.Event, error] {
	if r.script != nil {
		return r.script(ctx, r.input, r.req.Options)
	}
	return run.Stream(withPlace(ctx, r.agent, r.tree), r.options())
}

// listen records the events of one run.
func (r *recorder) listen(ctx context.Context, events iter.Seq2[event.Event, error]) error {
	for e, err := range events {
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		full := r.log.Full() || r.text.size >= maxText
		if full {
			r.cancel(errTooLong)
		}
		if full && e.Data == nil {
			continue // what ends the run is still told: its open calls, its cost
		}
		if r.script != nil {
			e.RunID = r.RunID
			e.Agent = cmp.Or(e.Agent, r.name)
		}
		r.record(e)
	}
	return nil
}

var errPanic = errors.New("chat: the run panicked")

func (r *recorder) options() run.Options {
	o := run.Options{
		Memory: runMemory{r},
		Agent:  r.agent, Model: r.model, Tools: r.tools, Chained: r.chained, ChainedMissing: r.chainedMissing, Cost: r.o.Cost, Messages: r.messages,
		Settings: r.settings(), Warnings: r.warnings, RunID: r.RunID, Path: r.name,
		Timeout: r.o.RunTimeout, ToolTimeout: r.o.ToolTimeout, Parallel: r.o.Parallel, MaxDepth: r.o.MaxDepth, ResultChars: r.o.ResultChars,
		StepToolCalls: r.o.StepToolCalls, ToolCalls: r.o.ToolCalls,
		StructuredMode: r.o.StructuredMode, Steer: r.inbox.take, Logger: r.o.Logger,
	}
	if r.o.Store != nil {
		o.Journal, o.Thread, o.NewID = &r.journal, r.journal.thread(), r.o.NewID
	}
	return o
}

// another says whether the turn goes on with a run of its own: that of an agent
// that the session was handed to, or the same one, whose questions were answered
// meanwhile.
func (r *recorder) another() (bool, error) {
	switch {
	case r.done == nil:
		return false, nil
	case r.done.TransferTo != "":
		return true, r.transfer(r.done.TransferTo)
	case r.done.Reason != event.ReasonPaused:
		return false, nil
	}
	if len(r.unasked) > 0 {
		return false, nil
	}
	open, err := r.Service.answers(r.stored, r.job)
	if err != nil || open || len(r.asks) == 0 {
		return false, err
	}
	r.asks = nil
	return true, r.hearAgain()
}

// settings are the request's, then the document's, then the defaults.
func (r *recorder) settings() llm.Settings {
	return r.req.Settings.Or(r.agent.Settings).Or(r.o.Defaults)
}

// record stores and shows one event of the run.
func (r *recorder) record(e event.Event) {
	root := e.Agent == r.name
	if d, ok := e.Data.(*event.ToolCallData); !ok || d.Status == event.ToolStarted {
		r.flush()
	}
	r.asides.add(e)
	switch d := e.Data.(type) {
	case nil:
		if e.Type == event.Text {
			if r.chaining {
				return // what the chained tool says is no part of the answer
			}
			r.text.Add(e.Text)
			r.speaker = e.Agent
		}
		r.shown = true
	case *event.ToolCallData:
		r.shown = true
		r.toolCall(e, d, root)
		return
	case *event.ActionData:
		if root {
			r.routeAction(d)
		}
	case *event.ActionRequestData:
		r.shown = true
		if d.RequestID != "" {
			r.ask(e, d)
			return
		}
	case *event.MetadataData:
		if root {
			r.describe(e, d)
		}
		return
	case *event.UsageData:
		if root {
			spent := r.journal.spent
			spent.Add(*d)
			r.usage = &spent
		}
		return
	case *event.DoneData:
		if root {
			r.done = d
		}
		return
	case *event.WarningData:
		if root && d.Code == event.CodeModelFallback {
			r.tookOver = d.Model
		}
	case *event.ProgressData:
		if !root || !r.mayTell(d) {
			return
		}
	case *event.ErrorData:
		if !root {
			return // how a delegated run went is told by its tool call
		}
		if r.script != nil {
			r.scriptFailed = d
			return
		}
	}
	r.append(e)
}

// describe keeps what was said about the answer for its end. A script says it
// where it wants, and the answer is stored there.
func (r *recorder) describe(e event.Event, d *event.MetadataData) {
	r.meta = d
	if r.script == nil {
		return
	}
	row := r.answerRow(&event.DoneData{Reason: event.ReasonStop})
	r.answered = true
	e.Data = r.metadata(row, true)
	// The event tells, if the answer of the store is lost, whether it has the row.
	err := r.write(store.RunWrite{Status: store.RunRunning, Answer: row, SessionName: d.SessionName}, e)
	if err == nil {
		return
	}
	if !errors.Is(err, errNotStored) {
		r.tellNotStored(err)
	}
	e.Data = r.metadata(row, false)
	r.append(e)
}

// maxProgress bounds what one call may say of its progress, in events.
const maxProgress = 200

// mayTell counts what a tool says of its progress.
func (r *recorder) mayTell(d *event.ProgressData) bool {
	if d.ToolCallID == "" {
		return true
	}
	if r.told == nil {
		r.told = make(map[string]int)
	}
	r.told[d.ToolCallID]++
	return r.told[d.ToolCallID] <= maxProgress
}

// toolCall stores the rows of a call before the readers see their ids.
func (r *recorder) toolCall(e event.Event, d *event.ToolCallData, root bool) {
	if r.script != nil {
		r.append(e) // nobody called anything
		return
	}
	switch {
	case d.Structured:
		r.save(e, d, r.resultRow(e.Agent, d))
		return
	case d.Status == event.ToolStarted:
		r.append(e)
		if root {
			r.open++
			r.progress(&event.ProgressData{Step: 2, Label: "Calling " + d.Name})
		}
		return
	case d.Status == event.ToolExecuting:
		// The model did not begin to write it, so it is the chained call.
		r.chaining = r.chaining || root && r.chained != nil && r.open == 0 && d.Name == r.chained.Spec().Name
		if r.begins(e.RunID, d.ID) {
			r.save(e, d, r.callRow(e.Agent, d))
		} else {
			r.append(e) // it was called before the run was taken up again
		}
		return
	}
	// A call that was cut off before it was complete was never made.
	if key := (callKey{e.RunID, d.ID}); r.called[key] {
		delete(r.called, key)
		r.save(e, d, r.resultRow(e.Agent, d))
	} else {
		r.append(e)
	}
	if root && !r.chaining {
		if r.open--; r.open <= 0 {
			r.open = 0
			r.progress(&event.ProgressData{Step: 3, Label: "Generating response"})
		}
	}
}

// progressSteps is the number of steps that a turn says it has (REMLight).
const progressSteps = 3

func (r *recorder) progress(d *event.ProgressData) {
	d.TotalSteps, d.Status = progressSteps, "in_progress"
	r.show(d)
}

// show adds an event of the turn itself.
func (r *recorder) show(d event.Data) {
	r.append(r.own(d))
}

// own is an event of the turn itself.
func (r *recorder) own(d event.Data) event.Event {
	return event.Event{Type: d.EventType(), RunID: r.RunID, Agent: r.name, Data: d}
}

// latency is the time since the request, in milliseconds, at least one.
func (r *recorder) latency() int64 {
	return max(1, r.o.Now().Sub(r.started).Milliseconds())
}

// lastName is the name at the end of a path of agents.
func lastName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
