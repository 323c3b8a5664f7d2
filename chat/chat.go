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
// [MemoryStore] keeps sessions in the process: for programs that embed p8, for
// tests, and for a chat that shall leave nothing behind.
package chat

import (
	"p8/agent"
	"p8/llm"
	"p8/run"
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
}
