package stream

import (
	"encoding/json"

	"github.com/p8-org/p8/event"
)

// appendTool sends a stage of a call. A call begins with the first piece of its
// arguments. For a call from an earlier response, only later stages are sent.
func (e *aisdkEncoder) appendTool(ev event.Event, d *event.ToolCallData) error {
	k := e.calls.get(ev.RunID, d.ID)
	if k == nil {
		k = e.calls.add(ev.RunID, d.ID)
		k.name, k.below = toolName(ev.Agent, d), child(ev.Agent)
		if !k.below {
			e.nextStep()
			e.hush(&e.root)
		}
	}
	if d.Status == event.ToolStarted {
		k.client = d.Client
		return nil
	}
	if d.Ends() {
		e.keep(ev)
	}
	if !k.begun && !k.whole {
		k.client = d.Client
	}
	k.whole = true
	// A client runs a call of its own tool as soon as the arguments are available: not if
	// they are wrong, or were cut.
	refused := k.begun && !k.input && (d.Status == event.ToolFailed || k.client && !d.Client)
	if !refused {
		e.input(k, d.Arguments)
	}
	if d.Status == event.ToolExecuting {
		return nil
	}
	e.calls.end(ev.RunID, d.ID)
	if !child(ev.Agent) {
		e.answered = e.step
	}
	switch {
	case refused:
		e.inputError(k, d.Arguments, resultText(d))
	case !k.sent:
		e.output(k, d)
		for _, s := range d.Sources {
			e.source(s)
		}
		return e.files(ev, d)
	}
	return nil
}

// appendArguments sends a piece of a call's arguments. It is a hot path: it allocates only
// at the beginning of a call.
func (e *aisdkEncoder) appendArguments(ev event.Event, d *event.ToolArgumentsData) {
	k := e.calls.get(ev.RunID, d.ID)
	if k == nil || k.input {
		return
	}
	if !child(ev.Agent) {
		e.fresh = true
	}
	e.introduce(k)
	e.chunk("tool-input-delta")
	e.field("toolCallId", k.wire)
	e.field("inputTextDelta", ev.Text)
	e.end()
}

// inputError ends a call whose arguments were begun and are wrong, or were cut. The client
// does not run it.
func (e *aisdkEncoder) inputError(k *call, raw json.RawMessage, text string) {
	k.input = true
	e.chunk("tool-input-error")
	e.field("toolCallId", k.wire)
	e.field("toolName", k.name)
	if k.client {
		e.buf = append(e.buf, `,"providerExecuted":true`...)
	} else {
		e.buf = append(e.buf, dynamic...)
	}
	e.buf = append(append(e.buf, `,"input":`...), arguments(raw)...)
	e.field("errorText", text)
	e.end()
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
	case k.request != "" && e.knowsApprovals() && e.o.Denied != nil && e.o.Denied(k.request):
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
