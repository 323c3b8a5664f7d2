package stream

import "github.com/p8-org/p8/event"

// appendTool sends a stage of a call: the beginning, the end of the arguments, the result.
func (e *aguiEncoder) appendTool(v *voice, run string, d *event.ToolCallData) {
	known := e.calls.get(run, d.ID)
	ended := d.Status == event.ToolCompleted || d.Status == event.ToolFailed
	if known == nil {
		known = e.calls.add(run, d.ID)
	}
	if !known.begun {
		e.callStart(v, known, d)
	}
	if !ended {
		known.client = d.Client
	}
	if d.Status != event.ToolStarted && !known.input {
		known.input = true
		e.callInput(v, known, d)
	}
	if d.Ends() {
		v.fresh = v.fresh[:0] // the step will not run again
	}
	if !ended {
		return
	}
	e.calls.end(run, d.ID)
	if !known.sent {
		e.callResult(v, known, d)
	}
}

// appendArguments sends a piece of a call's arguments. It is a hot path: no allocation.
func (e *aguiEncoder) appendArguments(v *voice, ev event.Event, d *event.ToolArgumentsData) {
	k := e.calls.get(ev.RunID, d.ID)
	if k == nil || !k.begun || k.input || k.voice == nil {
		return
	}
	k.pieces = true
	e.argsDelta(k, ev.Text)
}

func (e *aguiEncoder) callStart(v *voice, k *call, d *event.ToolCallData) {
	k.begun = true
	if !e.native(v) {
		return
	}
	k.voice = v
	e.hush(v)
	e.stepBegins(v)
	if v.parent == "" || v.answered {
		v.fresh = append(v.fresh, v.next())
	}
	e.event("TOOL_CALL_START")
	e.field("toolCallId", k.wire)
	e.field("toolCallName", d.Name)
	e.field("parentMessageId", v.parent)
	e.end(v)
}

func (e *aguiEncoder) callInput(v *voice, k *call, d *event.ToolCallData) {
	text := arguments(d.Arguments)
	if e.native(v) {
		e.callArgs(k, text)
	}
	if e.legacy(v) {
		e.childTool(v, "child_tool_start", d)
		e.field("arguments", text)
		e.buf = append(e.buf, "}}\n\n"...)
	}
}

// callArgs sends a call's arguments, unless they were sent in pieces, and their end.
func (e *aguiEncoder) callArgs(k *call, text string) {
	if !k.pieces {
		e.argsDelta(k, text)
	}
	e.event("TOOL_CALL_END")
	e.field("toolCallId", k.wire)
	e.end(k.voice)
}

func (e *aguiEncoder) argsDelta(k *call, text string) {
	e.event("TOOL_CALL_ARGS")
	e.field("toolCallId", k.wire)
	e.field("delta", text)
	e.end(k.voice)
}

func (e *aguiEncoder) callResult(v *voice, k *call, d *event.ToolCallData) {
	text := resultText(d)
	if e.native(v) {
		v.answered = true
		e.stepAnswered = e.stepAnswered || v == e.root && e.inStep
		id := d.MessageID
		if id == "" {
			id = k.wire + "-result"
		}
		e.result(k, id, text, d.Status == event.ToolFailed)
		e.end(v)
	}
	if e.legacy(v) {
		e.childTool(v, "child_tool_result", d)
		e.field("result", text)
		e.buf = append(e.buf, "}}\n\n"...)
	}
}

// callFailed ends a call that has no result.
func (e *aguiEncoder) callFailed(k *call, text string) {
	e.result(k, k.wire+"-result", text, true)
	e.end(k.voice)
}

// result sends a call's result, without its end.
func (e *aguiEncoder) result(k *call, message, text string, failed bool) {
	e.event("TOOL_CALL_RESULT")
	e.field("messageId", message)
	e.field("toolCallId", k.wire)
	e.field("content", text)
	e.field("role", "tool")
	if failed {
		e.raw("metadata", []byte(`{"status":"failed"}`))
	}
}

// childTool begins a CUSTOM event of a child's call.
func (e *aguiEncoder) childTool(v *voice, name string, d *event.ToolCallData) {
	e.buf = append(append(e.buf, `data: {"type":"CUSTOM","name":"`...), name...)
	e.buf = append(append(e.buf, `","value":{"type":"`...), name...)
	e.buf = append(append(e.buf, `","agent_name":`...), v.quoted...)
	e.field("tool_name", d.Name)
	e.field("tool_call_id", d.ID)
}
