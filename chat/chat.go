// Package chat is one turn of one session.
//
// [Service.Start] takes a [Request], loads the history that fits the budget,
// assembles the payload, stores the user's message and starts the run, detached
// from the caller. The [Turn] it returns is a live run: any number of readers
// ([Turn.Events]), each from the beginning; a reader that leaves changes
// nothing. Tool rows are stored as they happen, the assistant row before the
// last events: whatever a client has seen the id of can be read back.
//
// The payload has three layers (p8's): the agent's system prompt, the
// instructions of this one request, and the stored conversation. The first two
// are made anew on every turn and never stored.
//
// [Describe] turns any failure into words and a status fit for a client.
package chat

import (
	"context"
	"iter"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Request is one turn that somebody asks for. Who asks, the session, the agent
// and the model come with the context's identity; Agent and Model override it.
type Request struct {
	// Agent is a name; "" takes the identity's, then [DefaultAgent].
	Agent string
	// Document is an inline document; it beats Agent.
	Document *agent.Document
	// Model is "provider:model"; "" takes the identity's.
	Model string
	// Input is the user's message, Parts the images and documents that come with
	// it; one of the two may be empty.
	Input string
	Parts []llm.Part
	// Query is structured input; its prompt replaces Input.
	Query *run.Query
	// History is used when the session is new: the messages that the client
	// itself sent before Input. They are stored when the caller named the session;
	// else it is expected to send them again.
	History []llm.Message
	// Instruction is added to this turn's instructions and never stored.
	Instruction string
	// SessionName and SessionMetadata describe the session.
	SessionName     string
	SessionMetadata map[string]any
	// Settings override the document's and the defaults, where set.
	Settings llm.Settings

	// Busy says what becomes of the message while the session has a run under way:
	// [BusyReject] when "".
	Busy string
	// Key makes a repeated request safe: the same key with the same KeyHash gives the
	// run that the first one began; "" does not.
	Key, KeyHash string
	// Protocol is what the client speaks, by stream.Protocol's names; kept with the
	// run, for readers who come back.
	Protocol string
	// ClientTools are tools that the client runs itself. Where the model calls one, the
	// turn ends with event.ReasonToolCalls.
	ClientTools []llm.ToolSpec
	// Results are those of the client's own tools. With them, and without Input, the
	// session's waiting run goes on; one whose session is new, or was not named, goes
	// on from History.
	Results []ToolResult
	// Answers decide open requests of the session's waiting run, which goes on when
	// none is left open; Results of the same step may come with them. Input must be empty.
	Answers []RequestAnswer
	// Regenerate answers the session's last user message again; the answer that it had
	// is deleted. Input must be empty.
	Regenerate bool
	// Options are those of an agent that is a script, such as the simulator.
	Options map[string]string
	// ResponseFormat is the schema that the client wants this answer to follow; it
	// counts for an agent that has none of its own. Nil leaves the answer free.
	ResponseFormat *llm.Output
}

// What becomes of a message to a session that has a run under way.
const (
	// BusyReject refuses it with ErrBusy.
	BusyReject = "reject"
	// BusyQueue waits until the run is over, in the order of arrival.
	BusyQueue = "queue"
	// BusySteer gives it to the running run, which reads it before its next request
	// to the model; the Turn is that run's.
	BusySteer = "steer"
	// BusyInterrupt stops the run, which keeps what it has said, and then answers.
	BusyInterrupt = "interrupt"
)

// ToolResult is what the client's own tool returned.
type ToolResult struct {
	ToolCallID string
	Content    string
	Failed     bool
}

// RequestAnswer decides one request.
type RequestAnswer struct {
	RequestID string
	store.Decision
}

// Script answers in place of a model: the simulator is one. Its events end with
// Done.
type Script func(ctx context.Context, input string, options map[string]string) iter.Seq2[event.Event, error]
