package stream

import (
	"encoding/json"
	"strings"

	"github.com/p8-org/p8/event"
)

// framesAnEvent bounds the frames of an event, on average over all events before.
const framesAnEvent = 16

// restart ends the items that the restart voids.
func (e *responsesEncoder) restart(ev event.Event, d *event.RestartData) {
	if !e.o.Stored {
		e.number = max(e.number, framesAnEvent*ev.Seq)
	}
	var first *responseItem // of the messages at the end of the text
	for _, it := range e.items {
		said := event.Event{Type: event.Text, RunID: it.run, Seq: it.seq}
		switch it.kind {
		case itemMessage, itemReasoning:
			it.void = it.void || d.Takes(&said, ev.Seq)
		}
		switch {
		case it.kind != itemMessage:
		case !it.void:
			first = nil
		case first == nil:
			first = it
		}
	}
	for _, it := range e.items {
		switch {
		case !it.void || it.json != nil:
		case it == e.message:
			e.sayMore(strings.TrimRight(beginsAgain, "\n"))
			e.closeMessage(statusIncomplete)
		case it.kind == itemReasoning:
			e.closeThought(it, statusIncomplete)
		}
	}
	if first != nil && e.message == nil {
		e.paragraphs = first.before
	}
}

// fail sends the error that ended the run. Done follows.
func (e *responsesEncoder) fail(d *event.ErrorData) {
	e.err = d
	failed := APIErrorOf(d)
	e.open("error")
	e.field("code", failed.Code)
	e.field("message", failed.Message)
	e.buf = append(e.buf, `,"param":null,`...)
	nested := AppendError(nil, failed) // AI SDK 5 reads the error there
	e.buf = append(e.buf, nested[1:len(nested)-1]...)
	e.close()
}

// end ends the response.
func (e *responsesEncoder) end(d *event.DoneData) error {
	e.done, e.closed = d, true
	status := statusOf(d.Reason)
	if status == statusFailed && e.err == nil {
		e.fail(&event.ErrorData{Code: event.CodeInternal, Message: MessageInternal})
	}
	rest := statusCompleted
	if status != statusCompleted {
		rest = statusIncomplete
	}
	for _, it := range e.items {
		switch {
		case it.json != nil:
		case it.kind == itemReasoning:
			e.closeThought(it, rest)
		case it.kind == itemMessage:
			e.closeMessage(rest)
		case it.kind == itemMCP: // it waits, or was cut off
			it.void = true
			e.finish(it, statusIncomplete, nil)
		}
	}
	if len(d.Output) > 0 && status == statusCompleted && !e.said() {
		_ = e.say(event.Event{Type: event.Text, Text: compact(d.Output)}, false)
		e.closeMessage(statusCompleted)
	}
	if d.Reason == event.ReasonToolCalls {
		for _, call := range e.owed {
			e.functionCall(call)
		}
	}
	typ := "response." + status
	if status == statusCancelled {
		typ = "response.incomplete" // there is no event for it
	}
	return e.lifecycle(typ, status)
}

// said reports whether the root agent's text is in the output.
func (e *responsesEncoder) said() bool {
	for _, it := range e.items {
		if it.kind == itemMessage && !it.void && !child(it.agent) {
			return true
		}
	}
	return false
}

// functionCall asks the client to run its own tool.
func (e *responsesEncoder) functionCall(call ownCall) {
	it := e.add(itemFunction, event.Event{RunID: call.run})
	it.name, it.arguments = call.Name, arguments(call.Arguments)
	it.text.Add(call.ID)
	e.announce(it)
	e.sendArguments("response.function_call_arguments", it)
	e.finish(it, statusCompleted, nil)
}

// statusOf returns the status of a response that ends for this reason.
func statusOf(reason string) string {
	switch reason {
	case event.ReasonError:
		return statusFailed
	case event.ReasonCancelled:
		return statusCancelled
	case event.ReasonLength, event.ReasonFilter:
		return statusIncomplete
	}
	return statusCompleted
}

// lifecycle sends a frame with the whole response.
func (e *responsesEncoder) lifecycle(typ, status string) error {
	e.open(typ)
	e.buf = append(e.buf, `,"response":`...)
	if e.number >= e.o.Skip {
		var err error
		if e.buf, err = e.appendResponse(e.buf, status); err != nil {
			return err
		}
	}
	e.close()
	return nil
}

// appendResponse appends the response object as far as it is known.
func (e *responsesEncoder) appendResponse(dst []byte, status string) ([]byte, error) {
	dst = appendQuoted(append(dst, `{"id":`...), e.o.ID)
	dst = appendInt(append(dst, `,"object":"response","created_at":`...), e.o.Created.Unix())
	dst = appendQuoted(append(dst, `,"status":`...), status)
	dst = appendQuoted(append(dst, `,"model":`...), e.o.Model)
	dst = append(dst, `,"error":`...)
	if status == statusFailed && e.err != nil {
		failed := APIErrorOf(e.err)
		dst = appendQuoted(append(dst, `{"code":`...), failed.Code)
		dst = append(appendQuoted(append(dst, `,"message":`...), failed.Message), '}')
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"incomplete_details":`...)
	dst = append(dst, incomplete(status, e.done)...)
	dst = append(dst, `,"output":[`...)
	dst = append(e.appendOutput(dst), `],"usage":`...)
	if e.done != nil {
		dst = appendResponseUsage(dst, e.usage)
	} else {
		dst = append(dst, "null"...)
	}
	object, err := e.object(e.o.Request)
	if err != nil {
		return nil, err
	}
	dst = append(append(dst, ','), object[1:len(object)-1]...)
	dst = append(dst, `,"conversation":`...)
	if e.o.SessionID == "" {
		dst = append(dst, "null"...)
	} else {
		dst = append(appendQuoted(append(dst, `{"id":`...), e.o.SessionID), '}')
	}
	if e.o.Plain {
		return append(dst, '}'), nil
	}
	if object, err = e.object(e.own()); err != nil {
		return nil, err
	}
	return append(append(append(dst, `,"p8":`...), object...), '}'), nil
}

// appendOutput appends the items that count, with what is known of those that are open.
func (e *responsesEncoder) appendOutput(dst []byte) []byte {
	empty := true
	for _, it := range e.items {
		if it.void || e.o.Plain && (it.kind == itemMCP || it.kind == itemApproval) {
			continue
		}
		if !empty {
			dst = append(dst, ',')
		}
		empty = false
		if it.json == nil {
			dst = it.append(dst, statusInProgress, nil)
			continue
		}
		dst = append(dst, it.json...)
	}
	return dst
}

// responseOwn is the field "p8": what has no term in OpenAI's response.
type responseOwn struct {
	Done     *event.DoneData            `json:"done,omitempty"`
	Metadata *event.MetadataData        `json:"metadata,omitempty"`
	Requests []*event.ActionRequestData `json:"requests,omitempty"`
}

func (e *responsesEncoder) own() responseOwn {
	own := responseOwn{Done: e.done, Metadata: e.metadata}
	if e.done != nil && e.done.Reason == event.ReasonPaused {
		own.Requests = e.requests
	}
	return own
}

// incomplete returns why a response is not complete, as JSON. OpenAI's reasons are a
// closed set: every limit is max_output_tokens.
func incomplete(status string, d *event.DoneData) string {
	switch {
	case d == nil || status != statusIncomplete:
		return "null"
	case d.Reason == event.ReasonFilter:
		return `{"reason":"content_filter"}`
	}
	return `{"reason":"max_output_tokens"}`
}

// appendResponseUsage appends the usage object, with the cost if it is known.
func appendResponseUsage(dst []byte, u *event.UsageData) []byte {
	if u == nil {
		u = new(event.UsageData)
	}
	number := func(name string, n int) { dst = appendInt(append(dst, name...), int64(n)) }
	number(`{"input_tokens":`, u.InputTokens)
	number(`,"input_tokens_details":{"cached_tokens":`, u.CachedTokens)
	number(`},"output_tokens":`, u.OutputTokens)
	number(`,"output_tokens_details":{"reasoning_tokens":`, u.ReasoningTokens)
	number(`},"total_tokens":`, u.InputTokens+u.OutputTokens)
	if u.CostUSD > 0 {
		cost, _ := json.Marshal(u.CostUSD)
		dst = append(append(dst, `,"cost_usd":`...), cost...)
	}
	return append(dst, '}')
}
