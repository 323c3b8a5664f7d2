// Package event holds the one kind of thing that flows through p8: the typed
// events of a run.
//
// A model speaks, a tool is called, a child agent answers: each becomes an
// [Event], in order, once. The same value goes to the client (package stream
// turns it into bytes), to the database (package chat writes the rows) and to
// the trace; no layer parses what another layer printed.
//
// A run is consumed as an iter.Seq2[Event, error]: events until the run is
// over, or one error that says why it failed. An Event is a small value, so that
// passing on a chunk of text allocates nothing; whatever is rarer than text
// travels behind [Data].
package event

import "encoding/json"

// Event is one thing that happened in a run.
type Event struct {
	// Type says what happened and which of Text and Data is set.
	Type Type
	// RunID is the run that emitted the event; a delegated agent has its own.
	RunID string
	// Seq orders the events of the root run, from 1; a run that is taken up again
	// leaves numbers out. It is assigned before the event is sent anywhere.
	Seq int64
	// Agent is the path of agent names from the root to the emitter, joined by
	// "/": "general", "general/researcher".
	Agent string
	// Text is the delta of a text or reasoning event.
	Text string
	// Data is the payload of every other type.
	Data Data
	// Void is the number of the Restart that takes the event back, where the reader began
	// after it; 0 for an event that counts. It is no part of the JSON.
	Void int64
}

// Data is the payload of an event that is not plain text. The types of this
// package implement it; each is used by pointer.
type Data interface {
	// EventType is the type that an event with this payload has.
	EventType() Type
}

// New wraps a payload into an event of its type.
func New(d Data) Event { return Event{Type: d.EventType(), Data: d} }

// NewText is a piece of the answer.
func NewText(delta string) Event { return Event{Type: Text, Text: delta} }

// NewReasoning is a piece of the model's reasoning.
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
