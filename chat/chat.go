// Package chat runs turns of sessions. A turn takes a user's message, produces an agent's
// answer, and stores both.
//
// A turn goes through four stages, each made from the one before and never changed:
//
//	request    the checked request; nothing has been read yet            request.go
//	prepared   the agent, the user's message and the model's payload    prepared.go
//	begun      the run is stored, and this process executes it          begun.go
//	ended      why the run is over, and the text of the answer          ended.go
//
// [Service.Start] makes the first three and returns; a goroutine executes the run
// (execute.go), and continues if the caller leaves. The rows of tool calls are stored during
// the run, the answer's row before the last events: each row whose id a client has seen can
// be read back.
//
// A [Turn] is a run for a reader. Behind it is a run that this process executes
// (running.go), or one in the store that has ended or that another process executes
// (kept.go). Any number of readers may read, each from any event on ([Turn.EventsAfter]).
//
// The payload of the model has three layers: the agent's system prompt, the instructions
// of this one request, and the stored conversation. The first two are made anew on every
// turn and never stored.
//
// [Describe] turns any error into words and a status for a client.
//
// The rooms below, in internal, from the top: delegate (agents that ask agents), recovery
// (runs whose process died), route (the agent of a session), prompt (the payload), cast
// (agent, model and tools), record (what a run leaves in the store), sessions (which
// sessions have a turn under way), state (what agent and client share in a session).
package chat

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Request asks for one turn. The caller, the session, the agent and the model come with the
// context's identity; Agent and Model override it.
type Request struct {
	// Agent is a name; "" takes the identity's, then [DefaultAgent].
	Agent string
	// Document is an inline document; it takes precedence over Agent.
	Document *agent.Document
	// Model is "provider:model"; "" takes the identity's.
	Model string
	// Input is the user's message, Parts are its images and documents; one of the two may
	// be empty.
	Input string
	Parts []llm.Part
	// Query is structured input; its prompt replaces Input.
	Query *run.Query
	// History is used if the session is new: the messages that the client sent before
	// Input. They are stored if the caller named the session; else the client is expected
	// to send them again.
	History []llm.Message
	// State is the state of the client's application, a JSON object; nil for none. An agent
	// that declares a state shares it; others only read it.
	State json.RawMessage
	// Instruction is added to this turn's instructions and never stored.
	Instruction string
	// SessionName, SessionMode and SessionMetadata describe the session. The mode of a
	// session of background work stays.
	SessionName     string
	SessionMode     string
	SessionMetadata map[string]any
	// Settings override the document's and the defaults, where set.
	Settings llm.Settings

	// Thread is the client's own id of the conversation, as AG-UI's clients send it; "" is
	// the context's session. If the context names a session, the first thread that writes
	// to it has it; each other thread is a session with its own id.
	Thread string
	// Warnings are about the request itself; the run begins with them.
	Warnings []event.WarningData

	// Busy says what becomes of the message if the session has a run under way:
	// [BusyReject] when "".
	Busy string
	// Key makes it safe to repeat the request: the same Key with the same KeyHash returns
	// the run that the first request began. "" begins a run each time.
	Key, KeyHash string
	// Protocol is the client's wire protocol, a stream.Protocol. It is stored with the run
	// for readers that reconnect.
	Protocol string
	// ClientTools are tools that the client runs itself. If the model calls one, the turn
	// ends with event.ReasonToolCalls.
	ClientTools []llm.ToolSpec
	// ToolChoice says which of the agent's and the client's tools the model may call. A
	// call is required of the first response after this request.
	ToolChoice run.ToolChoice
	// Results are the results of the client's own tools. They resume the session's waiting
	// run; if the session is new, or was not named, a new run continues History with them.
	Results []ToolResult
	// Answers decide open requests of the session's waiting run. The run is resumed when
	// all its requests are decided. Results of the same step may come with them. Input must
	// be empty.
	Answers []RequestAnswer
	// Regenerate answers a message of the session again, without Input; the answer that it
	// had is kept as a branch. It is the message of Path, else the last one of the user.
	Regenerate bool
	// MessageID is the id that the client gave the message; "" for none.
	MessageID string
	// Path are ids of messages, the newest first: rows' or clients'. The first one is the
	// message that Input replaces, or the one to answer again, which may be the answer. If
	// the session does not have it, the turn follows the next one that it has. What came
	// after it is kept as a branch (store.Branch). Without a Path, the turn follows the
	// session's newest message.
	Path []string
	// Options are passed to an agent that is a script, such as the simulator.
	Options map[string]string
	// ResponseFormat is the schema that this answer must follow, unless the agent has an
	// output schema of its own; nil for free text.
	ResponseFormat *llm.Output
}

// The values of Request.Busy.
const (
	// BusyReject refuses the message with ErrBusy.
	BusyReject = "reject"
	// BusyQueue waits until the run is over, in the order of arrival.
	BusyQueue = "queue"
	// BusySteer gives the message to the run, which reads it before its next request to the
	// model; the Turn is that run's.
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

// Script answers in place of a model, as the simulator does. Its events end with Done.
type Script func(ctx context.Context, input string, options map[string]string) iter.Seq2[event.Event, error]
