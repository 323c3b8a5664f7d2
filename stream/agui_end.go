package stream

import (
	"encoding/json"
	"iter"

	"github.com/p8-org/p8/event"
)

// request is a question that the run waits for.
type request struct {
	*event.ActionRequestData
	voice *voice
	call  callKey
}

// ask keeps a question for the end of the response.
func (e *aguiEncoder) ask(v *voice, run string, d *event.ActionRequestData) {
	r := request{d, v, callKey{run, d.ToolCallID}}
	for i := range e.requests {
		if e.requests[i].RequestID == d.RequestID {
			e.requests[i] = r
			return
		}
	}
	e.requests = append(e.requests, r)
}

// waiting returns the questions that are still open: their calls have no result.
func (e *aguiEncoder) waiting() iter.Seq[request] {
	return func(yield func(request) bool) {
		for _, r := range e.requests {
			answered := r.ToolCallID != "" && e.calls.open[r.call] == nil
			if answered || e.o.Decided != nil && e.o.Decided(r.RequestID) {
				continue
			}
			if !yield(r) {
				return
			}
		}
	}
}

// approvalSchema is the schema of the answer to an approval.
const approvalSchema = `{"type":"object","properties":{"approved":{"type":"boolean"},"reason":{"type":"string"}},"required":["approved"]}`

// interrupt is a question in RUN_FINISHED.
type interrupt struct {
	ID             string          `json:"id"`
	Reason         string          `json:"reason"`
	Message        string          `json:"message,omitempty"`
	ToolCallID     string          `json:"toolCallId,omitempty"`
	ResponseSchema json.RawMessage `json:"responseSchema,omitempty"`
	ExpiresAt      string          `json:"expiresAt,omitempty"`
	SubagentRunID  string          `json:"subagentRunId,omitempty"`
	Metadata       struct {
		ToolName  string          `json:"tool_name,omitempty"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Card      json.RawMessage `json:"card,omitempty"`
	} `json:"metadata"`
}

func (e *aguiEncoder) interrupts() []interrupt {
	var list []interrupt
	for r := range e.waiting() {
		to := interrupt{ID: r.RequestID, Reason: r.Kind, Message: r.Message, ResponseSchema: r.Schema}
		if k := e.calls.open[r.call]; k != nil {
			to.ToolCallID = k.wire
		}
		if len(r.Schema) == 0 && r.Kind == event.RequestApproval {
			to.ResponseSchema = json.RawMessage(approvalSchema)
		}
		if !r.ExpiresAt.IsZero() {
			to.ExpiresAt = r.ExpiresAt.UTC().Format("2006-01-02T15:04:05.000Z07:00")
		}
		if e.native(r.voice) {
			to.SubagentRunID = r.voice.run
		}
		to.Metadata.ToolName, to.Metadata.Arguments, to.Metadata.Card = r.ToolName, r.Arguments, r.Card
		list = append(list, to)
	}
	return list
}

// outcome says why the run ended, in AG-UI's terms.
type outcome struct {
	Type       string      `json:"type"`
	Interrupts []interrupt `json:"interrupts,omitempty"`
	// Pending are calls that the client runs.
	Pending []string `json:"pendingToolCallIds,omitempty"`
}

func (e *aguiEncoder) outcome(reason string) outcome {
	switch reason {
	case event.ReasonCancelled:
		return outcome{Type: "cancelled"}
	case event.ReasonPaused:
		// With all of them decided, the run continues by itself in another response.
		if open := e.interrupts(); len(open) > 0 {
			return outcome{Type: "interrupt", Interrupts: open}
		}
	}
	out := outcome{Type: "success"}
	if reason == event.ReasonToolCalls {
		for _, k := range e.calls.left() {
			if k.client {
				out.Pending = append(out.Pending, k.wire)
			}
		}
	}
	return out
}

// appendDone ends the stream. A structured answer that was not streamed is sent as a
// message first.
func (e *aguiEncoder) appendDone(d *event.DoneData) error {
	if d.Reason == event.ReasonError {
		e.appendError(&event.ErrorData{})
		return nil
	}
	if !e.said && len(d.Output) > 0 {
		e.appendText(e.root, compact(d.Output))
	}
	e.closeAll(d.Reason)
	e.event("RUN_FINISHED")
	e.field("threadId", e.o.ThreadID)
	e.field("runId", e.o.RunID)
	if how, ok := e.spoken(e.outcome(d.Reason)); ok {
		raw, err := e.object(how)
		if err != nil {
			return err
		}
		e.raw("outcome", raw)
	}
	if d.Reason != event.ReasonCancelled && d.Reason != event.ReasonPaused {
		result, err := e.object(d)
		if err != nil {
			return err
		}
		e.raw("result", result)
	}
	e.tokens()
	e.end(e.root)
	e.closed = true
	return nil
}

func (e *aguiEncoder) appendError(d *event.ErrorData) {
	e.closeAll(event.ReasonError)
	api := APIErrorOf(d)
	e.event("RUN_ERROR")
	e.field("message", api.Message)
	e.field("code", api.Code)
	e.tokens()
	e.end(e.root)
	e.closed = true
}

// closeAll closes everything that is open.
func (e *aguiEncoder) closeAll(reason string) {
	over := reason == event.ReasonStop || reason == event.ReasonLength || reason == event.ReasonFilter
	for _, v := range e.order {
		switch {
		case !v.begun || v.ended:
		case reason == event.ReasonPaused || reason == event.ReasonToolCalls:
			e.subagentEnd(v, e.suspended(v))
		case over:
			e.subagentEnd(v, "")
		default:
			e.subagentError(v, "the run has ended before it")
		}
	}
	e.rest(e.root, over)
	e.stepEnds()
}

// rest closes what a voice left open. If its run has ended, that includes calls
// without a result: a client would take them for calls of its own tools.
func (e *aguiEncoder) rest(v *voice, over bool) {
	e.hush(v)
	for _, k := range e.calls.left() {
		if k.voice != v || !k.begun {
			continue
		}
		if !k.input {
			k.input = true
			e.callArgs(k, "{}")
		}
		if over && !k.client {
			e.callFailed(k, "the call has no result")
		}
	}
}

// tokens adds the run's usage, its children's included.
func (e *aguiEncoder) tokens() {
	if e.usage == nil {
		return
	}
	u := e.usage
	number := func(name string, n int) {
		e.buf = appendInt(append(e.buf, name...), int64(n))
	}
	number(`,"usage":[{"inputTokens":`, u.InputTokens)
	number(`,"outputTokens":`, u.OutputTokens)
	number(`,"totalTokens":`, u.InputTokens+u.OutputTokens)
	number(`,"reasoningTokens":`, u.ReasoningTokens)
	number(`,"cachedInputTokens":`, u.CachedTokens)
	e.buf = append(e.buf, "}]"...)
}
