package stream

import (
	"encoding/json"
	"io"
	"time"

	"github.com/p8-org/p8/event"
)

// AGUIOptions describe one AG-UI stream.
type AGUIOptions struct {
	// ThreadID and RunID are sent in RUN_STARTED and RUN_FINISHED: those of the
	// request, or the server's own.
	ThreadID, RunID string
	// MessageID is the id of the answer's first message; "" is RunID with "-message".
	// Later messages are numbered after it.
	MessageID string
	// Children says how the events of delegated agents are sent.
	Children Children
	// Messages are those of the thread before the run, a JSON list; nil sends none.
	Messages json.RawMessage
	// Decided reports whether a request is decided although its call has not run yet; nil
	// means never.
	Decided func(requestID string) bool
	// Now is the time of the events' timestamps; time.Now when nil.
	Now func() time.Time
}

// Children says how AG-UI clients receive the events of delegated agents.
type Children uint8

const (
	// ChildrenBoth sends the events of AG-UI 1.0 and the CUSTOM events child_content,
	// child_tool_start and child_tool_result. A client shows a child's text once: the
	// CUSTOM events reach only clients that listen for them.
	//
	// For ProtocolAGUI0 it is ChildrenActivity.
	ChildrenBoth Children = iota
	// ChildrenNative sends SUBAGENT_* and events with a subagentRunId alone.
	ChildrenNative
	// ChildrenCustom sends the CUSTOM events alone.
	ChildrenCustom
	// ChildrenActivity sends the text and the calls of a delegated agent as messages of
	// their own, an activity that says whether the agent is at work, and the CUSTOM
	// events. Clients of every version accept these.
	ChildrenActivity
)

// aguiEncoder writes a run as AG-UI 1.0 events. Text, reasoning, tool calls and
// delegated agents are AG-UI's own events; every other event is a CUSTOM event with
// its type as the name and its payload as the value. A run that waits for the user
// ends with the outcome "interrupt", a stopped one with "cancelled",
// which clients older than 1.0 do not know: they get no outcome.
type aguiEncoder struct {
	frames
	o   AGUIOptions
	now int64
	// old is true for a client older than 1.0: see agui_old.go.
	old bool

	root     *voice
	children map[string]*voice
	order    []*voice // of the children
	last     *voice   // the child that spoke last
	lastRun  string
	calls    calls
	requests []request
	usage    *event.UsageData
	// suffix ends the ids of messages after the last restart. lost is true if the client
	// may have received events that the process lost before that restart.
	suffix string
	lost   bool

	// step counts the steps; stepAnswered is true if the current step has a result.
	step                 int
	inStep, stepAnswered bool

	said                  bool // the root agent has sent text
	began, behind, closed bool
}

func newAGUI(w io.Writer, r Reader, o AGUIOptions, old bool) *aguiEncoder {
	if o.MessageID == "" {
		o.MessageID = o.RunID + "-message"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if old && o.Children == ChildrenBoth {
		o.Children = ChildrenActivity
	}
	e := &aguiEncoder{o: o, old: old, root: newVoice("", "", o.MessageID), children: map[string]*voice{}}
	e.init(w, r)
	return e
}

// Write sends one event. Events after the end of the run are ignored. An error is the
// writer's, or means that an event holds invalid raw JSON.
func (e *aguiEncoder) Write(ev event.Event) error {
	if e.r.hides(ev) {
		return nil
	}
	past := e.r.past(ev)
	if e.behind && (!past || e.closed) {
		e.again()
	}
	if e.closed || e.r.over(ev) {
		return nil
	}
	e.behind = past
	e.buf = e.buf[:0]
	e.now = e.o.Now().UnixMilli()
	if !e.began {
		e.began = true
		e.event("RUN_STARTED")
		e.field("threadId", e.o.ThreadID)
		e.field("runId", e.o.RunID)
		e.end(e.root)
		if e.o.Messages != nil {
			e.event("MESSAGES_SNAPSHOT")
			e.raw("messages", e.o.Messages)
			e.end(e.root)
		}
	}
	if err := e.append(ev); err != nil {
		return err
	}
	return e.send(ev)
}

// again prepares for another response of the same run.
func (e *aguiEncoder) again() {
	e.began, e.behind, e.closed = false, false, false
	e.inStep, e.stepAnswered = false, false
	e.calls.again()
	e.root.again()
	for _, v := range e.order {
		v.again()
	}
}

// append encodes the event into e.buf.
func (e *aguiEncoder) append(ev event.Event) error {
	if ev.Data == nil && ev.Text == "" {
		return nil
	}
	delegated := child(ev.Agent)
	if d, ok := ev.Data.(*event.ChildRunData); ok {
		e.appendChildRun(ev, d)
		return nil
	}
	switch d := ev.Data.(type) {
	case *event.ModelCallData:
		return nil
	case *event.RestartData:
		return e.appendRestart(ev, d)
	case *event.DoneData:
		if delegated {
			return nil
		}
		return e.appendDone(d)
	case *event.ErrorData:
		if delegated {
			return nil
		}
		e.appendError(d)
		return nil
	case *event.StateData:
		if delegated {
			return nil
		}
		return e.appendState(d)
	case *event.UsageData:
		if delegated {
			return nil
		}
		e.usage = d
	}
	v := e.root
	if delegated {
		if v = e.voice(ev); v.ended && !structured(ev) {
			return nil
		} else if v.ended {
			v = e.root
		}
	}
	switch {
	case ev.Type == event.Text:
		e.said = e.said || !delegated
		e.appendText(v, ev.Text)
		return nil
	case ev.Type == event.Reasoning:
		e.appendReasoning(v, ev.Text)
		return nil
	case ev.Type == event.ToolCall:
		if d, ok := ev.Data.(*event.ToolCallData); ok {
			e.appendTool(v, ev.RunID, d)
		}
		return nil
	case ev.Type == event.ToolArguments:
		if d, ok := ev.Data.(*event.ToolArgumentsData); ok {
			e.appendArguments(v, ev, d)
		}
		return nil
	}
	if !e.native(v) && (ev.Type == event.Metadata || ev.Type == event.Progress) {
		return nil // without an agent it would look like the root's
	}
	if d, ok := ev.Data.(*event.ActionRequestData); ok && d.RequestID != "" {
		e.ask(v, ev.RunID, d)
	}
	return e.custom(v, ev)
}

// structured reports whether the event is a structured answer, which may follow the
// end of its run.
func structured(ev event.Event) bool {
	d, ok := ev.Data.(*event.ToolCallData)
	return ok && d.Structured
}

// event begins an event.
func (e *aguiEncoder) event(typ string) {
	lead := `data: {"type":"`
	if e.old && recent(typ) {
		lead = `data:{"type":"`
	}
	e.buf = append(append(e.buf, lead...), typ...)
	e.buf = appendInt(append(e.buf, `","timestamp":`...), e.now)
}

// field adds a string.
func (e *aguiEncoder) field(name, value string) {
	e.buf = append(append(append(e.buf, `,"`...), name...), `":`...)
	e.buf = appendQuoted(e.buf, value)
}

// raw adds a value that is JSON already.
func (e *aguiEncoder) raw(name string, value []byte) {
	e.buf = append(append(append(e.buf, `,"`...), name...), `":`...)
	e.buf = append(e.buf, value...)
}

// end ends an event of the voice.
func (e *aguiEncoder) end(v *voice) { e.buf = append(e.buf, v.tail...) }

// native reports whether the voice is sent as AG-UI's own events.
func (e *aguiEncoder) native(v *voice) bool { return v == e.root || e.o.Children != ChildrenCustom }

// legacy reports whether the voice is sent as CUSTOM child events.
func (e *aguiEncoder) legacy(v *voice) bool { return v != e.root && e.o.Children != ChildrenNative }

// custom sends an event of p8's own; it has no timestamp.
func (e *aguiEncoder) custom(v *voice, ev event.Event) error {
	value, err := e.object(ev.Data)
	if err != nil {
		return err
	}
	e.buf = append(append(e.buf, `data: {"type":"CUSTOM","name":"`...), ev.Type.String()...)
	e.buf = append(append(e.buf, `","value":`...), value...)
	if !e.native(v) {
		v = e.root
	}
	e.end(v)
	return nil
}
