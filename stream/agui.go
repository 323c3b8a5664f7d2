package stream

import (
	"io"
	"time"

	"p8/event"
)

// AGUIOptions describe one AG-UI stream.
type AGUIOptions struct {
	Reader Reader
	// ThreadID and RunID are what RUN_STARTED and RUN_FINISHED name: those of the
	// request, or the server's own.
	ThreadID, RunID string
	// MessageID is the first message of the answer; the later ones are numbered after
	// it. The run's id when "".
	MessageID string
	// Children says how the events of delegated agents travel.
	Children Children
	// Now is the time of the events' timestamps; time.Now when nil.
	Now func() time.Time
}

// Children says how AG-UI clients hear of delegated agents.
type Children uint8

const (
	// ChildrenBoth sends the events of AG-UI 1.0 and, beside them, the CUSTOM events
	// child_content, child_tool_start and child_tool_result. A client shows a child's
	// text once: it is in a message of its own, and in a CUSTOM event only for who asks.
	ChildrenBoth Children = iota
	// ChildrenNative sends SUBAGENT_* and events with a subagentRunId alone.
	ChildrenNative
	// ChildrenCustom sends the CUSTOM events alone, for clients from before 1.0 that
	// refuse an event they do not know.
	ChildrenCustom
)

// AGUI writes a run as AG-UI 1.0 events.
type AGUI struct {
	frames
	o AGUIOptions
}

// NewAGUI is an encoder onto w.
func NewAGUI(w io.Writer, o AGUIOptions) *AGUI {
	e := &AGUI{o: o}
	e.init(w, o.Reader)
	return e
}

// Write sends one event.
func (e *AGUI) Write(ev event.Event) error { return nil }
