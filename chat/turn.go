package chat

import (
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/event"
)

// Turn is a run for a reader: one that this process executes, one that another process
// executes, or one that has ended. It goes on whether or not anybody reads it.
type Turn struct {
	RunID     string
	SessionID string
	// MessageID is the row of the answer, which exists once the final metadata have its
	// id; InReplyTo is the row of the user's message.
	MessageID string
	InReplyTo string
	// Agent is the name of the chosen agent, Model that of the chosen model. The metadata
	// name the ones that answered.
	Agent string
	Model string
	// Protocol is that of the client that began the run.
	Protocol string
	// Past is the number of the last event before this request joined an existing run,
	// with answers, results or a message that steers it. The client already has the
	// events up to Past. It is 0 for a request that began the run.
	Past int64

	source source
}

// source is where the events of a turn come from: a run of this process (running), a run
// in the store that has ended or that another process executes (kept), or a function
// (given).
type source interface {
	// events yields the log after a number, and waits for more until the run is over. idle,
	// unless nil, is called whenever there is nothing more at the moment.
	events(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error]
	// cuts are the restarts of the run that are stored.
	cuts(ctx context.Context) (recovery.Cuts, error)
	// missingEnd returns the events that end the reading of a log without an end.
	missingEnd(ctx context.Context) []event.Event
	// wait returns the result of t when the run is over.
	wait(ctx context.Context, t *Turn) (Result, error)
	// stop stops the run if this process executes it.
	stop()
	// goesOn reports whether the run is resumed automatically if it is interrupted.
	goesOn() bool
}

// NewTurn makes a turn whose events come from elsewhere: read yields those after a number.
// The caller sets the exported fields. Cancel does nothing.
func NewTurn(read func(ctx context.Context, after int64) iter.Seq2[event.Event, error]) *Turn {
	return &Turn{source: given(read)}
}

// given is a source that the caller of NewTurn gives.
type given func(ctx context.Context, after int64) iter.Seq2[event.Event, error]

// events implements source. idle is called after each event, because it is not known when
// the next one comes.
func (g given) events(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error] {
	if idle == nil {
		return g(ctx, after)
	}
	return func(yield func(event.Event, error) bool) {
		for e, err := range g(ctx, after) {
			if !yield(e, err) {
				return
			}
			if e.Type != event.Error && e.Type != event.Done {
				idle()
			}
		}
	}
}

func (given) cuts(context.Context) (recovery.Cuts, error) { return nil, nil }

func (given) missingEnd(context.Context) []event.Event { return nil }

func (given) wait(ctx context.Context, t *Turn) (Result, error) { return gather(ctx, t) }

func (given) stop() {}

func (given) goesOn() bool { return false }

// Result is a turn as a whole, for callers that do not stream.
type Result struct {
	// Text is the answer as it was shown; Output is that of a structured agent.
	Text   string
	Output json.RawMessage
	// ChainedTool is the tool that was called with Output, "" if no tool was, and
	// ChainedResult its result, a JSON object.
	ChainedTool   string
	ChainedResult json.RawMessage
	// Metadata is nil when there is no answer to describe.
	Metadata *event.MetadataData
	Usage    event.UsageData
	// Reason is why the run ended (event.ReasonStop, …), Limit the limit it
	// reached.
	Reason string
	Limit  string
	// Requests are the open requests of a paused run.
	Requests []event.ActionRequestData
	// Error is set when Reason is error.
	Error *event.ErrorData
}

// Events yields the run from its first event to Done, and waits for events that are still
// to come. Any number of readers may read, each at its own pace. The errors are those of
// ctx and of the store, and ErrHandedOver. The run continues if a reader stops.
func (t *Turn) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return t.EventsAfter(ctx, 0)
}

// EventsAfter is Events after the event with a number. It leaves out the interruptions of
// a run that was resumed, and events that were void when the reading began. If the run is
// interrupted, it waits until the run is resumed, or, if runs are not resumed automatically,
// ends with an error event.
func (t *Turn) EventsAfter(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	return t.follow(ctx, after, nil, false)
}

// Follow is EventsAfter with the void events. idle, unless nil, is called whenever there is
// nothing more at the moment, and before the last events.
func (t *Turn) Follow(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error] {
	return t.follow(ctx, after, idle, true)
}

// follow reads the run, with the void events if void is set.
func (t *Turn) follow(ctx context.Context, after int64, idle func(), void bool) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		known, err := t.source.cuts(ctx)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		var held []event.Event // the end of one process's part, until it is known to be the last
		for e, err := range t.source.events(ctx, after, idle) {
			if err != nil {
				yield(e, err)
				return
			}
			if e.Void = known.Void(&e); e.Void != 0 && !void {
				continue
			}
			if e.Type == event.Error || e.Type == event.Done {
				held = append(held, e)
				continue
			}
			held = held[:0]
			if !yield(e, nil) {
				return
			}
		}
		if len(held) == 0 {
			held = t.source.missingEnd(ctx)
		}
		for _, e := range held {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Wait blocks until the turn is over and everything is stored. The only error is that of
// ctx, or of the store.
func (t *Turn) Wait(ctx context.Context) (Result, error) { return t.source.wait(ctx, t) }

// Cancel stops the run; what it has said so far is kept. It does not wait.
func (t *Turn) Cancel() { t.source.stop() }

// GoesOn reports whether the run is resumed automatically if it is interrupted.
func (t *Turn) GoesOn() bool { return t.source.goesOn() }

// gather makes the result of a turn from its events.
func gather(ctx context.Context, t *Turn) (Result, error) {
	var f fold
	for e, err := range t.Events(ctx) {
		if err != nil {
			return Result{}, err
		}
		f.add(e)
	}
	return f.result(), nil
}

// fold combines a run's events into its Result.
type fold struct {
	text event.Spoken
	res  Result
}

func (f *fold) add(e event.Event) {
	root := strings.IndexByte(e.Agent, '/') < 0
	f.text.Add(&e)
	switch d := e.Data.(type) {
	case *event.ActionRequestData:
		if d.RequestID != "" {
			f.res.Requests = append(f.res.Requests, *d)
		}
	case *event.MetadataData:
		if root {
			f.res.Metadata = d
		}
	case *event.UsageData:
		if root {
			f.res.Usage = *d
		}
	case *event.ErrorData:
		f.res.Error = d
	case *event.DoneData:
		f.res.Output, f.res.Reason, f.res.Limit = d.Output, d.Reason, d.Limit
		f.res.ChainedTool, f.res.ChainedResult = d.ChainedTool, d.ChainedResult
	}
}

func (f *fold) result() Result {
	f.res.Text = f.text.String()
	return f.res
}
