package stream

import "github.com/p8-org/p8/event"

const (
	// childText bounds the text that is kept of a delegated agent, childTools its
	// tools.
	childText  = 64 << 10
	childTools = 64
	// childPiece and childShare: the text is sent again once it has grown by childPiece
	// bytes and by 1/childShare of its length, so that all copies together are at most
	// about childShare times the text.
	childPiece, childShare = 32, 16
	// childSmall is the longest text that is sent again with each step of a tool.
	childSmall = 4 << 10
)

// delegate is a delegated run.
type delegate struct {
	// call is the parent's call; nil if it is unknown: the run's text is then part of
	// the answer.
	call *call
	part part
	// about is {"agent":…,"run_id":… without the closing brace.
	about []byte
	// text is the run's text, escaped for a JSON string; sent is how much of it the
	// client has.
	text []byte
	sent int
	full bool
	// paragraphs separate the text; fresh is true if the text continues after a call.
	paragraphs event.Paragraphs
	fresh      bool
	// kept is the length of the text that stays if the run's step is cut; before is the
	// state of paragraphs at that length.
	kept   int
	before event.Paragraphs
	tools  []delegateTool
}

type delegateTool struct {
	Name   string           `json:"tool_name"`
	ID     string           `json:"tool_id"`
	Status event.ToolStatus `json:"status"`
}

// delegate returns the delegated run of the event.
func (e *aisdkEncoder) delegate(ev event.Event) *delegate {
	run := ev.RunID
	if run == "" {
		run = ev.Agent
	}
	if e.last != nil && e.lastRun == run {
		return e.last
	}
	d := e.children[run]
	if d == nil {
		d = &delegate{}
		d.about = appendQuoted(append(d.about, `{"agent":`...), ev.Agent)
		d.about = appendQuoted(append(d.about, `,"run_id":`...), run)
		e.children[run] = d
	}
	e.last, e.lastRun = d, run
	return d
}

// appendChild encodes an event of a delegated agent. The end, failure and usage of a
// child are part of the parent's call and of the run.
func (e *aisdkEncoder) appendChild(ev event.Event) error {
	switch d := ev.Data.(type) {
	case nil:
		return e.appendChildText(ev)
	case *event.DoneData, *event.ErrorData, *event.UsageData, *event.StateData, *event.ModelCallData:
		return nil
	case *event.ChildRunData:
		return e.appendChildRun(ev, d)
	case *event.ToolCallData:
		if err := e.appendTool(ev, d); err != nil || d.Structured {
			return err
		}
		return e.childTool(e.delegate(ev), d)
	case *event.ToolArgumentsData:
		e.appendArguments(ev, d)
		return nil
	case *event.ActionRequestData:
		return e.appendRequest(ev, d)
	case *event.MetadataData:
		return e.data(ev, "metadata-"+ev.RunID, false)
	case *event.ProgressData:
		return e.data(ev, "progress-"+ev.RunID, true)
	}
	return e.data(ev, "", false)
}

func (e *aisdkEncoder) appendChildText(ev event.Event) error {
	if ev.Text == "" {
		return nil
	}
	d := e.delegate(ev)
	switch {
	case ev.Type == event.Reasoning:
		// A transient part reaches only clients that listen for it; a reasoning part
		// would look like the parent's.
		e.buf = append(append(e.buf, `data: {"type":"data-reasoning","transient":true,"data":`...), d.about...)
		e.field("content", ev.Text)
		e.buf = append(e.buf, '}')
		e.end()
	case ev.Type != event.Text:
	case d.call == nil:
		e.openStep()
		e.appendPart(&d.part, ev)
	case d.full:
	default:
		d.text = appendInner(d.text, d.paragraphs.Next(ev.Text, d.fresh))
		d.fresh = false
		d.full = len(d.text) >= childText
		if more := len(d.text) - d.sent; d.full || d.sent == 0 || more >= max(childPiece, d.sent/childShare) {
			return e.preliminary(d, "running", true)
		}
	}
	return nil
}

// appendChildRun sends the beginning or the end of a delegated run.
func (e *aisdkEncoder) appendChildRun(ev event.Event, r *event.ChildRunData) error {
	d := e.delegate(ev)
	if r.Status == event.ChildStarted && d.call == nil {
		d.call = e.calls.get(r.ParentRunID, r.ToolCallID)
	}
	if err := e.data(ev, "child-"+ev.RunID, false); err != nil {
		return err
	}
	e.hush(&d.part)
	switch r.Status {
	case event.ChildStarted:
		return nil
	case event.ChildPaused:
		return e.preliminary(d, r.Status, true)
	}
	err := e.preliminary(d, r.Status, true)
	delete(e.children, e.lastRun)
	e.last = nil
	return err
}

// childTool records a stage of a delegated agent's tool call.
func (e *aisdkEncoder) childTool(d *delegate, t *event.ToolCallData) error {
	d.fresh = true
	at := -1
	for i := range d.tools {
		if d.tools[i].ID == t.ID {
			at = i
		}
	}
	switch {
	case at >= 0:
		d.tools[at].Status = t.Status
	case len(d.tools) < childTools:
		d.tools = append(d.tools, delegateTool{t.Name, t.ID, t.Status})
	}
	if t.Status == event.ToolStarted || len(d.text) > childSmall {
		return nil
	}
	return e.preliminary(d, "running", true)
}

// preliminary sends the text and tools of a delegated agent so far as the output of
// the parent's call.
func (e *aisdkEncoder) preliminary(d *delegate, status string, more bool) error {
	if d.call == nil {
		return nil
	}
	e.input(d.call, nil)
	d.sent = len(d.text)
	e.outputChunk("tool-output-available", d.call)
	e.buf = append(append(e.buf, `,"output":`...), d.about...)
	e.field("status", status)
	e.buf = append(append(append(e.buf, `,"text":"`...), d.text...), '"')
	if d.full {
		e.buf = append(e.buf, `,"truncated":true`...)
	}
	if len(d.tools) > 0 {
		tools, err := e.object(d.tools)
		if err != nil {
			return err
		}
		e.raw("tools", tools)
	}
	e.buf = append(e.buf, '}')
	if more {
		e.buf = append(e.buf, `,"preliminary":true`...)
	}
	e.end()
	return nil
}
