package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// wrapped is a tool with another spec, other annotations, another approval policy or
// another policy for interrupted calls. Everything else is the tool's own.
type wrapped struct {
	Tool
	spec        llm.ToolSpec
	annotations Annotations
	approval    func(Call) *Question
	interrupted string
	resumable   bool
}

// wrap returns the tool with the fields of change. It is a Streamer, Timed and a
// Client if the tool is.
func wrap(t Tool, change func(*wrapped)) Tool {
	w := wrapped{Tool: t, spec: t.Spec(), annotations: AnnotationsOf(t)}
	if g, ok := t.(Guarded); ok {
		w.approval = g.Approval
	}
	if i, ok := t.(interruptible); ok {
		w.interrupted = i.ifInterrupted()
	}
	w.resumable = resumes(t)
	change(&w)
	streamer, streams := t.(Streamer)
	timed, hasTime := t.(Timed)
	_, client := t.(Client)
	switch {
	case client:
		return wrappedClient{w}
	case streams && hasTime:
		return wrappedTimedStreamer{wrappedStreamer{w, streamer}, timed}
	case streams:
		return wrappedStreamer{w, streamer}
	case hasTime:
		return wrappedTimed{w, timed}
	}
	return w
}

// Spec returns the given spec, else the tool's own.
func (w wrapped) Spec() llm.ToolSpec { return w.spec }

// Validate is the tool's own.
func (w wrapped) Validate(ctx context.Context, args json.RawMessage) error {
	return Validate(ctx, w.Tool, args)
}

// Annotations returns the given ones, else the tool's own.
func (w wrapped) Annotations() Annotations { return w.annotations }

// ifInterrupted returns the given policy, "" for none.
func (w wrapped) ifInterrupted() string { return w.interrupted }

// resumes reports whether the tool is a Resumable.
func (w wrapped) resumes() bool { return w.resumable }

// Original is the tool's own.
func (w wrapped) Original() string { return OriginalName(w.Tool) }

// Approval returns the given question, else the tool's own.
func (w wrapped) Approval(call Call) *Question {
	if w.approval == nil {
		return nil
	}
	return w.approval(call)
}

// wrappedStreamer keeps the tool's events.
type wrappedStreamer struct {
	wrapped
	streamer Streamer
}

// Stream is the tool's own.
func (w wrappedStreamer) Stream(ctx context.Context, call Call, emit func(event.Event) bool) (Result, error) {
	return w.streamer.Stream(ctx, call, emit)
}

// wrappedTimed keeps the tool's time.
type wrappedTimed struct {
	wrapped
	timed Timed
}

// Timeout is the tool's own.
func (w wrappedTimed) Timeout(call Call) time.Duration { return w.timed.Timeout(call) }

// wrappedTimedStreamer keeps both.
type wrappedTimedStreamer struct {
	wrappedStreamer
	timed Timed
}

// Timeout is the tool's own.
func (w wrappedTimedStreamer) Timeout(call Call) time.Duration { return w.timed.Timeout(call) }

// wrappedClient is still run by the client.
type wrappedClient struct{ wrapped }

// RunsAtClient is never called.
func (wrappedClient) RunsAtClient() {}
