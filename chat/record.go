package chat

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"p8/event"
	"p8/llm"
	"p8/run"
	"p8/store"
)

// recorder follows one run: it stores the rows, adds what a turn says about
// itself, and shows everything to the readers. One goroutine uses it.
type recorder struct {
	*Service
	*job
	text  event.Deltas
	shown bool // something of an answer has been shown
	usage *event.UsageData
	meta  *event.MetadataData
	done  *event.DoneData
	// speaker is the path of the agent that spoke last, tookOver the model that
	// answers in place of the chosen one.
	speaker, tookOver string
	// open counts the calls of the root agent that have not ended; called are
	// the calls whose rows exist.
	open   int
	called []string
	// chaining says that the answer is complete and handed on to the chained tool;
	// told counts what each call said of its progress.
	chaining bool
	told     map[string]int
	failed   bool // a row could not be stored, and the client knows
}

// run follows the run to its end.
func (s *Service) run(ctx context.Context, j *job) {
	defer s.turns.Done()
	defer j.cancel(nil)
	r := &recorder{Service: s, job: j, speaker: j.Agent}
	r.progress(&event.ProgressData{
		Step: 1, Label: "Processing request", SessionID: j.SessionID, InReplyTo: j.InReplyTo,
	})
	r.finish(r.follow(ctx))
}

// errTooLong says that a run has said more than a turn may hold.
var errTooLong = errors.New("chat: the run said too much")

// follow records events until the run is over or must be broken off. A panic
// in a model or a tool is the end of this run and of nothing else.
func (r *recorder) follow(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			r.o.Logger.Error("a run panicked", "run", r.RunID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = errPanic
		}
	}()
	for e, err := range run.Stream(ctx, r.options()) {
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		full := r.log.full(r.o.MaxEvents, r.o.MaxBytes)
		if full {
			r.cancel(errTooLong)
		}
		if full && e.Data == nil {
			continue // what ends the run is still told: its open calls, its cost
		}
		r.record(e)
	}
	return nil
}

var errPanic = errors.New("chat: the run panicked")

func (r *recorder) options() run.Options {
	return run.Options{
		Agent: r.agent, Model: r.model, Tools: r.tools, Chained: r.chained, ChainedMissing: r.chainedMissing, Cost: r.o.Cost, Messages: r.messages,
		Settings: r.settings(), Warnings: r.warnings, RunID: r.RunID, Path: r.Agent,
		Timeout: r.o.RunTimeout, ToolTimeout: r.o.ToolTimeout, Parallel: r.o.Parallel,
		StructuredMode: r.o.StructuredMode, Logger: r.o.Logger,
	}
}

// settings are the request's, then the document's, then the defaults.
func (r *recorder) settings() llm.Settings {
	return r.req.Settings.Or(r.agent.Settings).Or(r.o.Defaults)
}

// record stores and shows one event of the run.
func (r *recorder) record(e event.Event) {
	root := e.Agent == r.Agent
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
	case *event.MetadataData:
		if root {
			r.meta = d
		}
		return
	case *event.UsageData:
		if root {
			r.usage = d
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
	}
	r.log.append(e)
}

// maxProgress bounds what one call may say of its progress, in events.
const maxProgress = 200

// mayTell counts what a tool says of its progress.
func (r *recorder) mayTell(d *event.ProgressData) bool {
	if d.ToolID == "" {
		return true
	}
	if r.told == nil {
		r.told = make(map[string]int)
	}
	r.told[d.ToolID]++
	return r.told[d.ToolID] <= maxProgress
}

// toolCall stores the rows of a call before the readers see their ids.
func (r *recorder) toolCall(e event.Event, d *event.ToolCallData, root bool) {
	switch d.Status {
	case event.ToolStarted:
		r.log.append(e)
		if root {
			r.open++
			r.progress(&event.ProgressData{Step: 2, Label: "Calling " + d.Name})
		}
		return
	case event.ToolExecuting:
		// The model did not begin to write it, so it is the chained call.
		r.chaining = r.chaining || root && r.chained != nil && r.open == 0
		d.MessageID = r.save(r.callRow(e.Agent, d))
		r.called = append(r.called, d.ID)
	case event.ToolCompleted, event.ToolFailed:
		// A call that was cut off before it was complete was never made.
		if r.wasCalled(d.ID) {
			d.MessageID = r.save(r.resultRow(e.Agent, d))
		}
	}
	r.log.append(e)
	if root && !r.chaining && (d.Status == event.ToolCompleted || d.Status == event.ToolFailed) {
		if r.open--; r.open <= 0 {
			r.open = 0
			r.progress(&event.ProgressData{Step: 3, Label: "Generating response"})
		}
	}
}

// wasCalled reports whether the call has a row without a result, and takes it.
func (r *recorder) wasCalled(id string) bool {
	for i, known := range r.called {
		if known == id {
			r.called[i] = r.called[len(r.called)-1]
			r.called = r.called[:len(r.called)-1]
			return true
		}
	}
	return false
}

// save stores a row and gives its id, "" when there is no such row.
func (r *recorder) save(row *store.Message) string {
	if r.o.Store == nil {
		return ""
	}
	if err := r.o.Store.Append(r.stored, row); err != nil {
		r.storageFailed(err)
		return ""
	}
	return row.ID
}

// storageFailed lets the turn go on without its record, and says so once.
func (r *recorder) storageFailed(err error) {
	r.o.Logger.Error("a row could not be stored", "run", r.RunID, "session", r.SessionID, "error", err)
	if r.failed {
		return
	}
	r.failed = true
	r.show(&event.WarningData{
		Code: "storage_failed", Message: "this turn could not be stored completely; the session may not remember it",
	})
}

// progressSteps is the number of steps that a turn says it has (REMLight).
const progressSteps = 3

func (r *recorder) progress(d *event.ProgressData) {
	d.TotalSteps, d.Status = progressSteps, "in_progress"
	r.show(d)
}

// show adds an event of the turn itself.
func (r *recorder) show(d event.Data) {
	r.log.append(event.Event{Type: d.EventType(), RunID: r.RunID, Agent: r.Agent, Data: d})
}

// latency is the time since the request, in milliseconds, at least one.
func (r *recorder) latency() int64 {
	return max(1, r.o.Now().Sub(r.started).Milliseconds())
}

// lastName is the name at the end of a path of agents.
func lastName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
