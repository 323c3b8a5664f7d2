package stream

import (
	"encoding/json"

	"github.com/p8-org/p8/event"
)

// appendTool sends a stage of a call. A call begins with its arguments: before them it
// is unknown whether the tool is the client's. Of a call from an earlier response only
// news are sent.
func (e *aisdkEncoder) appendTool(ev event.Event, d *event.ToolCallData) {
	k := e.calls.get(ev.RunID, d.ID)
	if k == nil {
		k = e.calls.add(ev.RunID, d.ID)
		k.name = toolName(ev.Agent, d)
		if !child(ev.Agent) {
			e.nextStep()
			e.hush(&e.root)
		}
	}
	if d.Status == event.ToolStarted {
		return
	}
	if d.Ends() {
		e.keep(ev)
	}
	k.client = k.client || d.Client && !k.begun
	e.input(k, d.Arguments)
	if d.Status == event.ToolExecuting {
		return
	}
	e.calls.end(ev.RunID, d.ID)
	if !child(ev.Agent) {
		e.answered = e.step
	}
	if !k.sent {
		e.output(k, d)
	}
}

// introduce begins a call, unless it has begun.
func (e *aisdkEncoder) introduce(k *call) {
	if k.begun {
		return
	}
	k.begun = true
	e.openStep()
	e.call("tool-input-start", k)
	e.end()
}

// call begins a chunk that introduces a call.
func (e *aisdkEncoder) call(typ string, k *call) {
	e.chunk(typ)
	e.field("toolCallId", k.wire)
	e.field("toolName", k.name)
	if !k.client {
		e.buf = append(e.buf, dynamic...)
	}
}

// dynamic marks the server's own calls.
const dynamic = `,"dynamic":true,"providerExecuted":true`

// input sends a call's arguments, unless they were sent.
func (e *aisdkEncoder) input(k *call, raw json.RawMessage) {
	if k.input {
		return
	}
	e.introduce(k)
	k.input = true
	e.call("tool-input-available", k)
	e.buf = append(append(e.buf, `,"input":`...), arguments(raw)...)
	e.end()
}

// output sends a call's result.
func (e *aisdkEncoder) output(k *call, d *event.ToolCallData) {
	switch {
	case d.Status == event.ToolCompleted:
		e.outputChunk("tool-output-available", k)
		e.buf = append(e.buf, `,"output":`...)
		if len(d.Result) > 0 {
			e.buf = append(e.buf, compact(d.Result)...)
		} else {
			e.buf = appendQuoted(e.buf, d.Content)
		}
	case k.request != "" && e.o.Denied != nil && e.o.Denied(k.request):
		e.chunk("tool-output-denied")
		e.field("toolCallId", k.wire)
	default:
		e.outputChunk("tool-output-error", k)
		e.field("errorText", resultText(d))
	}
	e.end()
}

func (e *aisdkEncoder) outputChunk(typ string, k *call) {
	e.chunk(typ)
	e.field("toolCallId", k.wire)
	if !k.client {
		e.buf = append(e.buf, dynamic...)
	}
}

// appendRequest sends a card or a question. An approval is also sent in the SDK's own
// terms, if the client knows its call.
func (e *aisdkEncoder) appendRequest(ev event.Event, d *event.ActionRequestData) error {
	if err := e.data(ev, d.RequestID, false); err != nil {
		return err
	}
	if d.RequestID == "" || d.Kind != event.RequestApproval || d.ToolCallID == "" {
		return nil
	}
	k := e.calls.get(ev.RunID, d.ToolCallID)
	if k == nil || !k.input {
		e.appendTool(ev, &event.ToolCallData{
			Name: d.ToolName, ID: d.ToolCallID, Status: event.ToolExecuting, Arguments: d.Arguments,
		})
		k = e.calls.get(ev.RunID, d.ToolCallID)
	}
	k.request = d.RequestID
	e.chunk("tool-approval-request")
	e.field("approvalId", d.RequestID)
	e.field("toolCallId", k.wire)
	if d.Message != "" {
		e.field("reason", d.Message)
	}
	e.end()
	return nil
}
