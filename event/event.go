// Package event holds the typed events of a run, the one kind of value that flows
// through p8.
//
// A model speaks, a tool is called, a child agent answers: each becomes one [Event],
// in order. The same value goes to the client (package stream encodes it), to the
// database (package chat writes the rows) and to the trace; no layer parses another
// layer's output.
//
// A run is an iter.Seq2[Event, error]: its events until it ends, or one error that
// says why it failed. An Event is a small value, so that passing on a chunk of text
// allocates nothing; rarer payloads are behind [Data].
package event

import "encoding/json"

// Event is one thing that happened in a run.
type Event struct {
	// Type says what happened, and which of Text and Data is set.
	Type Type
	// RunID is the run that emitted the event; a delegated agent has its own.
	RunID string
	// Seq orders the events of the root run, from 1; a resumed run leaves numbers out.
	// It is assigned before the event is sent anywhere.
	Seq int64
	// Agent is the path of agent names from the root to the emitter, joined by
	// "/": "general", "general/researcher".
	Agent string
	// Text is the delta of a text, reasoning or tool_arguments event.
	Text string
	// Data is the payload of every type but text and reasoning.
	Data Data
	// Void is the number of the Restart that voids the event, if the reader began
	// after that Restart; 0 for an event that counts. It is not in the JSON.
	Void int64
}

// Data is the payload of an event that is not plain text. The types of this
// package implement it; each is used by pointer.
type Data interface {
	// EventType returns the type of an event with this payload.
	EventType() Type
}

// New wraps a payload into an event of its type.
func New(d Data) Event { return Event{Type: d.EventType(), Data: d} }

// NewText returns a piece of the answer.
func NewText(delta string) Event { return Event{Type: Text, Text: delta} }

// NewReasoning returns a piece of the model's reasoning.
func NewReasoning(delta string) Event { return Event{Type: Reasoning, Text: delta} }

// envelope is the JSON form of an Event.
type envelope struct {
	Type  Type   `json:"type"`
	RunID string `json:"run_id,omitempty"`
	Seq   int64  `json:"seq,omitempty"`
	Agent string `json:"agent,omitempty"`
	Text  string `json:"text,omitempty"`
	Data  any    `json:"data,omitempty"`
}

// MarshalJSON writes the event as {"type","run_id","seq","agent","text","data"},
// absent fields left out.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(envelope{e.Type, e.RunID, e.Seq, e.Agent, e.Text, e.Data})
}

// UnmarshalJSON reads what MarshalJSON wrote; the payload gets its own type.
func (e *Event) UnmarshalJSON(b []byte) error {
	var raw struct {
		envelope
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	*e = Event{Type: raw.Type, RunID: raw.RunID, Seq: raw.Seq, Agent: raw.Agent, Text: raw.Text}
	if e.Data = raw.Type.newData(); e.Data == nil || raw.Data == nil {
		e.Data = nil
		return nil
	}
	return json.Unmarshal(raw.Data, e.Data)
}
