package tool

import (
	"context"
	"encoding/json"

	"p8/event"
	"p8/llm"
)

// WithNote is the tool with a document's note behind its description (REM).
// Documents whose prompt has Tool Notes need none here.
func WithNote(t Tool, note string) Tool {
	if note == "" {
		return t
	}
	spec := t.Spec()
	if spec.Description != "" {
		note = spec.Description + "\n\n" + note
	}
	spec.Description = note
	return withSpec(t, spec)
}

// withSpec is the tool under another name or description.
func withSpec(t Tool, spec llm.ToolSpec) Tool {
	n := noted{Tool: t, spec: spec}
	if s, ok := t.(Streamer); ok {
		return notedStreamer{n, s}
	}
	return n
}

// noted is a tool with another spec: a note, or a name that is free.
type noted struct {
	Tool
	spec llm.ToolSpec
}

// Spec has the note.
func (n noted) Spec() llm.ToolSpec { return n.spec }

// Validate is the tool's own.
func (n noted) Validate(args json.RawMessage) error { return Validate(n.Tool, args) }

// Annotations are the tool's own.
func (n noted) Annotations() Annotations { return AnnotationsOf(n.Tool) }

// notedStreamer keeps the tool's events.
type notedStreamer struct {
	noted
	streamer Streamer
}

// Stream is the tool's own.
func (n notedStreamer) Stream(ctx context.Context, call Call, emit func(event.Event) bool) (Result, error) {
	return n.streamer.Stream(ctx, call, emit)
}
