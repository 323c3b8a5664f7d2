// Package tool is what an agent may call.
//
// A [Tool] has a [llm.ToolSpec] (what the model sees) and a Call. A [Box]
// resolves the tools and resources that a document declares; nothing undeclared
// reaches a model:
//
//	document: tools, resources ─ Box ─┬─ Registry     tools of this process, such as those of tool/builtin
//	                                  ├─ Resources    p8's own resources, read like tools
//	                                  └─ Servers      tools of MCP servers, see tool/mcp
//
// A declared tool that is not available is a warning, not an error. If a server is
// down, the agent runs without its tools, and the model and the client see a warning.
//
// A tool is written once. Agents call it in a run, MCP clients through p8's
// server, structured answers as a chained tool; each way validates by the same
// schema and reports errors in the same words.
//
// The caller comes from the context (package identity), never from an argument.
package tool

import (
	"context"
	"encoding/json"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
)

// Tool is something an agent may call.
type Tool interface {
	// Spec is the tool as the model sees it. It must not change.
	Spec() llm.ToolSpec
	// Call runs the tool. The arguments are a JSON object that the tool's schema
	// accepted. An error is a failure that the model sees: its text must be fit
	// for a model and a client; errors that are not an *Error are replaced by a
	// general sentence and logged.
	Call(ctx context.Context, call Call) (Result, error)
}

// Streamer is a tool with events of its own: a delegated agent. emit may be
// called from any goroutine until Stream returns; it blocks while the reader
// is slow and reports false when nobody reads any more.
type Streamer interface {
	Tool
	Stream(ctx context.Context, call Call, emit func(event.Event) bool) (Result, error)
}

// Call is one call of a tool.
type Call struct {
	// ID is the tool call's id, which the model chose.
	ID        string
	Name      string
	Arguments json.RawMessage
}

// Result is what a tool answered.
type Result struct {
	// Content is the result as the model sees it and as it is stored; JSON
	// wherever the result has structure.
	Content string `json:"content"`
	// Parts are images and documents of the result, for models that read them;
	// Content says in words that they are there.
	Parts []llm.Part `json:"parts,omitempty"`
	// Sources are what the result was taken from, for clients that show it.
	Sources []event.Source `json:"sources,omitempty"`
	// Files are files that models do not read, such as audio, for clients that show them;
	// clients get the images and documents of Parts, too. A journal leaves them out: the
	// call's event has them.
	Files []event.File `json:"-"`
	// Failed marks a result that is an error; the model sees Content.
	Failed bool `json:"failed,omitempty"`
	// Action is emitted as an event of its own.
	Action *event.ActionData `json:"action,omitempty"`
	// Metadata is merged into the final metadata of the run; its SessionName
	// renames the session.
	Metadata *event.MetadataData `json:"metadata,omitempty"`
	// Below is the metadata that a run started by the tool observed. It fills the fields
	// of the final metadata that the calling run leaves empty.
	Below *event.MetadataData `json:"below,omitempty"`
	// Usage is what the tool itself consumed, charged to the run. A run that it
	// starts with the context of its call is charged already.
	Usage event.UsageData `json:"usage,omitzero"`
	// Question is a question to the user in words. It becomes the end of the run's answer:
	// the run ends after this step, and the user's next message answers it.
	Question string `json:"question,omitempty"`
	// Wanted is the JSON Schema of the answer to Question; nil if any text answers it.
	Wanted json.RawMessage `json:"wanted,omitempty"`
	// TransferTo, unless "", ends the run after this step and names the agent that
	// continues the session.
	TransferTo string `json:"transfer_to,omitempty"`
}

// Error is a failure that the model and the client may read word for word.
type Error struct{ Message string }

// Error returns the message.
func (e *Error) Error() string { return e.Message }
