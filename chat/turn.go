package chat

import (
	"context"
	"encoding/json"
	"errors"
	"iter"

	"p8/event"
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
	read   func(ctx context.Context, after int64) iter.Seq2[event.Event, error]
	log    liveLog
	cancel context.CancelCauseFunc
	result Result
}

// NewTurn is a turn whose events come from elsewhere, after the given number; the
// caller sets the exported fields. It can be read, and neither waited for nor
// cancelled.
func NewTurn(read func(ctx context.Context, after int64) iter.Seq2[event.Event, error]) *Turn {
	return &Turn{read: read}
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
	// Error is set when Reason is error.
	Error *event.ErrorData
}

// The reasons for which a run's context is cancelled.
var (
	errCancelled = errors.New("chat: the run was stopped")
	errShutdown  = errors.New("chat: the server is shutting down")
)

// Events is the run from its first event to Done; it blocks for events that are
// still to come. Any number of readers may read, each at its own pace. The only
// error is that of ctx; breaking off does not touch the run.
func (t *Turn) Events(ctx context.Context) iter.Seq2[event.Event, error] {
	if t.read != nil {
		return t.read(ctx, 0)
	}
	return func(yield func(event.Event, error) bool) {
		defer t.log.wakeWith(ctx)()
		for n := 0; ; {
			batch, err := t.log.after(ctx, n)
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			if len(batch) == 0 {
				return
			}
			for i := range batch {
				if !yield(batch[i], nil) {
					return
				}
			}
			n += len(batch)
		}
	}
}

// Wait blocks until the turn is over, everything stored. The only error is that
// of ctx.
func (t *Turn) Wait(ctx context.Context) (Result, error) {
	if err := t.log.wait(ctx); err != nil {
		return Result{}, err
	}
	return t.result, nil
}

// Cancel stops the run; what it has said so far is kept. It does not wait.
func (t *Turn) Cancel() { t.cancel(errCancelled) }
