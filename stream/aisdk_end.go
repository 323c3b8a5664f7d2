package stream

import (
	"maps"
	"slices"

	"github.com/p8-org/p8/event"
)

// dataNames are the data parts that are not named after their event's type.
var dataNames = [...]string{
	event.ActionRequest: "request",
	event.ChildRun:      "child",
}

// data sends an event as a data part. The part of a delegated agent names the agent.
// Parts with the same id replace each other.
func (e *aisdkEncoder) data(ev event.Event, id string, transient bool) error {
	object, err := e.object(ev.Data)
	if err != nil {
		return err
	}
	name := ev.Type.String()
	if int(ev.Type) < len(dataNames) && dataNames[ev.Type] != "" {
		name = dataNames[ev.Type]
	}
	e.buf = append(append(append(e.buf, `data: {"type":"data-`...), name...), '"')
	if id != "" {
		e.field("id", id)
	}
	if transient {
		e.buf = append(e.buf, `,"transient":true`...)
	}
	e.buf = append(e.buf, `,"data":`...)
	if child(ev.Agent) {
		e.buf = appendQuoted(append(e.buf, `{"agent":`...), ev.Agent)
		e.field("run_id", ev.RunID)
		if len(object) > len("{}") {
			e.buf = append(e.buf, ',')
		}
		object = object[1:]
	}
	e.buf = append(e.buf, object...)
	e.end()
	return nil
}

// appendState sends the shared state as one part, which each change replaces.
func (e *aisdkEncoder) appendState(d *event.StateData) {
	e.chunk("data-state")
	e.field("id", "state")
	e.raw("data", d.State)
	e.end()
}

// finishMetadata is what the client's message keeps about the end of the run.
type finishMetadata struct {
	Metadata *event.MetadataData `json:"metadata,omitempty"`
	Usage    *event.UsageData    `json:"usage,omitempty"`
	Done     *event.DoneData     `json:"done,omitempty"`
}

// appendDone ends the stream: with finish, or with abort after a stop.
func (e *aisdkEncoder) appendDone(d *event.DoneData) error {
	if d.Reason == event.ReasonError {
		return e.appendError(&event.ErrorData{})
	}
	if !e.said && len(d.Output) > 0 {
		e.appendPart(&e.root, event.Event{Type: event.Text, Text: compact(d.Output)})
	}
	if d.Reason == event.ReasonPaused || d.Reason == event.ReasonToolCalls {
		if err := e.settle(); err != nil {
			return err
		}
	}
	e.closeParts()
	metadata, err := e.object(finishMetadata{e.metadata, e.usage, d})
	if err != nil {
		return err
	}
	if d.Reason == event.ReasonCancelled {
		e.chunk("message-metadata")
		e.raw("messageMetadata", metadata)
		e.end()
		e.chunk("abort") // without a reason, which version 5 does not know
	} else {
		e.chunk("finish")
		e.field("finishReason", finishReason(d.Reason))
		e.raw("messageMetadata", metadata)
	}
	e.end()
	if d.Reason == event.ReasonPaused {
		e.askLast()
	}
	e.buf = append(e.buf, end...)
	e.closed = true
	return nil
}

func (e *aisdkEncoder) appendError(d *event.ErrorData) error {
	e.closeParts()
	e.chunk("error")
	e.field("errorText", APIErrorOf(d).Message)
	e.end()
	e.buf = append(e.buf, end...)
	e.closed = true
	return nil
}

// settle sends the last preliminary outputs again as final ones: a client that waits
// for all calls ignores preliminary outputs.
func (e *aisdkEncoder) settle() error {
	for _, k := range e.calls.left() {
		for _, d := range e.children {
			if d.call != k {
				continue
			}
			if err := e.preliminary(d, event.ChildPaused, false); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *aisdkEncoder) closeParts() {
	e.hush(&e.root)
	for _, run := range slices.Sorted(maps.Keys(e.children)) {
		e.hush(&e.children[run].part)
	}
	e.closeStep()
}

// finishReason returns the reason of a Done event in the SDK's terms, which are a
// closed set.
func finishReason(reason string) string {
	switch reason {
	case event.ReasonLength:
		return "length"
	case event.ReasonFilter:
		return "content-filter"
	case event.ReasonToolCalls, event.ReasonPaused:
		return "tool-calls"
	}
	return "stop"
}
