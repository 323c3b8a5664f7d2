package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/run"
)

// Turn is a run that goes on whether or not anybody reads it.
type Turn struct {
	RunID     string
	SessionID string
	// MessageID is the row of the answer, which exists when its id has been seen
	// in the final metadata; InReplyTo is the row of the user's message.
	MessageID string
	InReplyTo string
	// Agent is the agent's name, Model "provider:model": the one that was chosen.
	// The metadata name the one that answered.
	Agent string
	Model string
	// Protocol is what the client who began it speaks.
	Protocol string
	// Past is the number of the last event that was told before this request joined
	// the run, with answers or results that it waited for, or to steer it. Its client
	// has them; 0 for a run of its own.
	Past int64

	// read replaces log, where the events come from elsewhere.
	read func(ctx context.Context, after int64) iter.Seq2[event.Event, error]
	// joined is the turn that this one is another look at; nil for itself.
	joined *Turn
	// log is the run's in this process; nil for one that is read from runs, as its
	// caller who.
	log  *live.Log
	runs Runs
	who  identity.Identity
	// restarts is how often the run was interrupted, as far as it is known here.
	restarts int
	// service reads runs of other processes on; nil where runs is.
	service *Service

	// began is when this process took the run up, after the last event from before.
	began time.Time
	after int64

	key    string // of idempotency
	cancel context.CancelCauseFunc
	result Result
	// long: result has no Text, which is read from the log.
	long  bool
	inbox inbox
}

// NewTurn is a turn whose events come from elsewhere, after the given number; the
// caller sets the exported fields. It can be read, and neither waited for nor
// cancelled.
func NewTurn(read func(ctx context.Context, after int64) iter.Seq2[event.Event, error]) *Turn {
	return &Turn{read: read}
}

// join is the turn for a request that came later; its client has the events up to
// past.
func (t *Turn) join(past int64) *Turn {
	return &Turn{
		RunID: t.RunID, SessionID: t.SessionID, MessageID: t.MessageID, InReplyTo: t.InReplyTo,
		Agent: t.Agent, Model: t.Model, Protocol: t.Protocol, Past: past,
		joined: t, log: t.log, runs: t.runs, who: t.who, restarts: t.restarts, service: t.service, cancel: t.cancel,
	}
}

// Result is a turn as a whole, for callers that do not stream.
type Result struct {
	// Text is the answer as it was shown; Output is that of a structured agent.
	Text   string
	Output json.RawMessage
	// ChainedTool is the tool that was called with Output, "" for none, and
	// ChainedResult what it said, a JSON object.
	ChainedTool   string
	ChainedResult json.RawMessage
	// Metadata is nil when there is no answer to describe.
	Metadata *event.MetadataData
	Usage    event.UsageData
	// Reason is why the run ended (event.ReasonStop, …), Limit the limit it
	// reached.
	Reason string
	Limit  string
	// Requests are what a paused run asks.
	Requests []event.ActionRequestData
	// Error is set when Reason is error.
	Error *event.ErrorData
}

// The reasons for which a run's context is cancelled.
var (
	errCancelled = errors.New("chat: the run was stopped")
	errShutdown  = fmt.Errorf("chat: the server is shutting down: %w", run.ErrInterrupted)
	errLost      = errors.New("chat: the run belongs to another process now")
)

// Events is the run from its first event to Done; it blocks for events that are
// still to come. Any number of readers may read, each at its own pace. The errors are
// that of ctx, that of the store and ErrHandedOver; breaking off does not touch the run.
func (t *Turn) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	return t.EventsAfter(ctx, 0)
}

// EventsAfter is Events from an event's number on. Of a run that was resumed, the end
// of what came before is not shown, and nothing that was void when the reading began.
// A run that was interrupted is read on when it goes on; where nobody resumes runs it
// ends with an error that says so.
func (t *Turn) EventsAfter(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	return t.follow(ctx, after, nil, false)
}

// Follow is EventsAfter for a reader who gathers what it gets, and needs to know what
// is void: idle, unless nil, is called whenever there is nothing more at the moment, and
// before the last events.
func (t *Turn) Follow(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error] {
	return t.follow(ctx, after, idle, true)
}

// follow reads the run; void events are left out unless they are wanted.
func (t *Turn) follow(ctx context.Context, after int64, idle func(), void bool) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		known, err := t.cuts(ctx)
		if err != nil {
			yield(event.Event{}, err)
			return
		}
		var held []event.Event // the end of what a process did, until it is known to be the last
		for e, err := range t.raw(ctx, after, idle) {
			if err != nil {
				yield(e, err)
				return
			}
			if e.Void = known.void(&e); e.Void != 0 && !void {
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
			if t.read != nil && idle != nil {
				idle() // nobody knows when these come
			}
		}
		if len(held) == 0 {
			held = t.unended(ctx)
		}
		for _, e := range held {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// raw is the log as it is. A run that another process took over goes on from there.
func (t *Turn) raw(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error] {
	switch {
	case t.read != nil:
		return t.read(ctx, after)
	case t.log == nil:
		return t.elsewhere(ctx, after, idle)
	}
	return func(yield func(event.Event, error) bool) {
		over := false
		for e, err := range t.log.Follow(ctx, after, idle) {
			if !yield(e, err) || err != nil {
				return
			}
			after, over = e.Seq, e.Type == event.Done
		}
		if over || t.runs == nil {
			return
		}
		for e, err := range t.elsewhere(ctx, after, idle) {
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Wait blocks until the turn is over, everything stored. The only error is that
// of ctx, or of the store.
func (t *Turn) Wait(ctx context.Context) (Result, error) {
	if t.joined != nil {
		return t.joined.Wait(ctx)
	}
	if t.log != nil {
		err := t.log.Wait(ctx)
		if err != nil {
			return Result{}, err
		}
		res := t.result
		if t.long {
			res.Text, err = readAnswer(ctx, t.log)
		}
		return res, err
	}
	var f fold
	for e, err := range t.Events(ctx) {
		if err != nil {
			return Result{}, err
		}
		f.add(e)
	}
	return f.result(), nil
}

// Cancel stops the run; what it has said so far is kept. It does not wait.
func (t *Turn) Cancel() {
	if t.cancel != nil {
		t.cancel(errCancelled)
	}
}

// fold makes the whole of a run's events.
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
