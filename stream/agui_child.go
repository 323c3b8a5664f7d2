package stream

import "github.com/p8-org/p8/event"

// voice returns the voice of the event's run. A run without a child_run event, as
// after a pause, begins with its first event.
func (e *aguiEncoder) voice(ev event.Event) *voice {
	v := e.known(ev)
	if !v.begun && !v.ended {
		e.subagent(v, nil)
	}
	return v
}

// known returns the voice of the event's run, begun or not.
func (e *aguiEncoder) known(ev event.Event) *voice {
	run := ev.RunID
	if run == "" {
		run = ev.Agent
	}
	if e.last != nil && e.lastRun == run {
		return e.last
	}
	v := e.children[run]
	if v == nil {
		v = newVoice(run, ev.Agent, run)
		if e.suffix != "" {
			e.begin(v)
		}
		e.children[run] = v
		e.order = append(e.order, v)
	}
	e.last, e.lastRun = v, run
	return v
}

// appendChildRun sends the beginning or the end of a delegated run.
func (e *aguiEncoder) appendChildRun(ev event.Event, d *event.ChildRunData) {
	v := e.known(ev)
	if v.ended || v.begun && d.Status == event.ChildStarted {
		return
	}
	if !v.begun {
		e.subagent(v, d)
	}
	switch d.Status {
	case event.ChildCompleted:
		e.subagentEnd(v, "")
	case event.ChildFailed:
		e.subagentError(v, d.ErrorMessage)
	case event.ChildPaused:
		e.subagentEnd(v, e.suspended(v))
	}
}

// subagent begins a delegated run; d names its parent, if it is known.
func (e *aguiEncoder) subagent(v *voice, d *event.ChildRunData) {
	v.begun = true
	if !e.native(v) {
		return
	}
	parent, call := "", ""
	if d != nil {
		if p := e.children[d.ParentRunID]; p != nil && p.begun {
			parent = p.run
		}
		if k := e.calls.get(d.ParentRunID, d.ToolCallID); k != nil {
			call = k.wire
		}
	}
	if e.o.Children == ChildrenActivity {
		e.activity(v, call)
		return
	}
	e.event("SUBAGENT_STARTED")
	e.field("name", v.name)
	if parent != "" {
		e.field("parentSubagentRunId", parent)
	}
	if call != "" {
		e.field("parentToolCallId", call)
	}
	e.end(v)
}

// subagentEnd ends a delegated run with the outcome, a JSON object.
func (e *aguiEncoder) subagentEnd(v *voice, outcome string) {
	v.ended = true
	if !e.native(v) {
		return
	}
	e.rest(v, outcome == "")
	if e.o.Children == ChildrenActivity {
		status := "completed"
		if outcome != "" {
			status = "suspended"
		}
		e.activityEnd(v, status)
		return
	}
	e.event("SUBAGENT_FINISHED")
	if outcome != "" {
		e.raw("outcome", []byte(outcome))
	}
	e.end(v)
}

func (e *aguiEncoder) subagentError(v *voice, message string) {
	v.ended = true
	if !e.native(v) {
		return
	}
	if message == "" {
		message = MessageInternal
	}
	e.rest(v, true)
	if e.o.Children == ChildrenActivity {
		e.activityEnd(v, "failed")
		return
	}
	e.event("SUBAGENT_ERROR")
	e.field("message", message)
	e.end(v)
}

// suspended returns the outcome of a delegated run that waits for the user.
func (e *aguiEncoder) suspended(v *voice) string {
	out := []byte(`{"type":"suspended","interruptIds":[`)
	first := true
	for r := range e.waiting() {
		if r.voice != v {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = appendQuoted(out, r.RequestID)
	}
	return string(append(out, "]}"...))
}
