package event

import "encoding/json"

// ToolStatus is the stage of a tool call.
type ToolStatus string

// A call is started when the model begins to write it, executing when its
// arguments are complete, then completed or failed.
const (
	ToolStarted   ToolStatus = "started"
	ToolExecuting ToolStatus = "executing"
	ToolCompleted ToolStatus = "completed"
	ToolFailed    ToolStatus = "failed"
)

// ToolCallData is a stage in the life of one tool call.
type ToolCallData struct {
	// Name is the tool. A chained tool is called after the answer and is never
	// started.
	Name string `json:"tool_name"`
	// ID is the tool call's id, which the model chose.
	ID string `json:"tool_id"`
	// Status is ToolStarted, ToolExecuting, ToolCompleted or ToolFailed.
	Status ToolStatus `json:"status"`
	// Arguments are the call's arguments, known from executing on.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Written are the arguments as the model wrote them, if they are no JSON object; the
	// stored row has them.
	Written string `json:"-"`
	// Result is the tool's result, a JSON value; when completed or failed.
	Result json.RawMessage `json:"result,omitempty"`
	// Content is the result as the model sees it and as it is stored.
	Content string `json:"-"`
	// ErrorMessage says why the call failed, in words fit for a client.
	ErrorMessage string `json:"error_message,omitempty"`
	// MessageID is the stored row: the tool_call row when executing, the
	// tool_response row when completed or failed.
	MessageID string `json:"message_id,omitempty"`
	// Structured marks the answer of a delegated structured agent, which is not a
	// call: Name is the agent, ID is "<agent>_structured_output" ("…_2" and so on for
	// later ones of a turn), Arguments are {"input_text"} and Result is the answer.
	Structured bool `json:"structured_output,omitempty"`
	// Sources are what the result was taken from, when completed.
	Sources []Source `json:"sources,omitempty"`
	// Files are images and other files of the result, when completed: media_type,
	// filename, size and data (base64), or omitted.
	Files []File `json:"files,omitempty"`
	// Client marks a call of the client's own tool: the client runs it and sends the
	// result with its next request. A started one is not the client's after all if its
	// arguments turn out to be wrong.
	Client bool `json:"client,omitempty"`
	// More is true if another event of a call follows at once, so that the two can be
	// stored together. Reads is true if the tool changes nothing, so that its call
	// need not be stored before it is made.
	More  bool `json:"-"`
	Reads bool `json:"-"`
}

// EventType returns ToolCall.
func (*ToolCallData) EventType() Type { return ToolCall }

// Source is a page or a document that a tool read or found.
type Source struct {
	// ID is the same for the same source: its key, or its URL.
	ID string `json:"id"`
	// URL is an http or https address, "" for a document that has none.
	URL   string `json:"url,omitempty"`
	Title string `json:"title,omitempty"`
	// Name is a document's file name, "" if it is not known.
	Name string `json:"filename,omitempty"`
}

// ToolArgumentsData names the call to whose arguments a piece belongs. The piece is the
// event's Text. Joined, the pieces of a call are the Arguments of its next stage, apart from
// blanks; if they are no JSON object, the call fails. Arguments that the model wrote at
// once, and those that p8 had to mend, come with that stage alone. All pieces of a call may
// share one payload.
type ToolArgumentsData struct {
	// ID is the tool call's id. The call has started.
	ID string `json:"tool_id"`
}

// EventType returns ToolArguments.
func (*ToolArgumentsData) EventType() Type { return ToolArguments }
