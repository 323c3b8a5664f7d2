package run

import (
	"context"

	"p8/llm"
	"p8/tool"
)

// Journal keeps what a run must not do twice. A run that is taken up again,
// after a pause or a crash, finds in it what the model said and what its calls
// returned, and goes on from there; a call whose result is there is not made
// again.
//
// Every run of a tree has a thread of its own: "" is the root's, "call_1" that of
// the agent which the root's call call_1 asked, "call_1/call_7" that of one below.
type Journal interface {
	// Entries are those of a thread from before, oldest first; none for a new run.
	Entries(thread string) []Entry
	// Record adds an entry. It is durable when the next event of a tool call or of a
	// question has been yielded, so before it is used.
	Record(ctx context.Context, e Entry) error
	// Answer is what the user said to a request; false when nobody has.
	Answer(requestID string) (tool.Answer, bool)
	// Result is what the client returned for a call of its own tool; false when it
	// has not.
	Result(thread, callID string) (tool.Result, bool)
}

// Entry is one thing that a run has done: a step (Message) or a call (Result).
type Entry struct {
	Thread string `json:"thread,omitempty"`
	// Message is a response of the model, with its calls and thoughts.
	Message *llm.Message `json:"message,omitempty"`
	// CallID and Result are the answer to a call of the last step.
	CallID string       `json:"call_id,omitempty"`
	Result *tool.Result `json:"result,omitempty"`
	// Usage, with Message, is what the step consumed.
	Usage *llm.Usage `json:"usage,omitempty"`
}
