package event

import (
	"encoding/json"
	"math"
	"time"
)

// ProgressData is a step of the turn. The first one of a turn also names the
// session and the row that holds the user's message.
type ProgressData struct {
	// Step, of TotalSteps, is what Label calls it.
	Step       int    `json:"step"`
	TotalSteps int    `json:"total_steps"`
	Label      string `json:"label"`
	// Status is in_progress, completed, pending or failed.
	Status string `json:"status"`
	// SessionID is the session, InReplyTo the row of the user's message; of the first
	// event.
	SessionID string `json:"session_id,omitempty"`
	InReplyTo string `json:"in_reply_to,omitempty"`
	// ToolName and ToolID are set when it is a tool that tells how far it is; Step
	// and TotalSteps are then the tool's own.
	ToolName string `json:"tool_name,omitempty"`
	ToolID   string `json:"tool_id,omitempty"`
}

// EventType is Progress.
func (*ProgressData) EventType() Type { return Progress }

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
	// Name is the tool; a chained tool is called after the answer, and has no started.
	Name string `json:"tool_name"`
	// ID is the model's own call id.
	ID string `json:"tool_id"`
	// Status is ToolStarted, ToolExecuting, ToolCompleted or ToolFailed.
	Status ToolStatus `json:"status"`
	// Arguments are the call's arguments, known from executing on.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Result is the tool's result, a JSON value; when completed or failed.
	Result json.RawMessage `json:"result,omitempty"`
	// Content is the result as the model sees it and as it is stored.
	Content string `json:"-"`
	// ErrorMessage says why the call failed, in words fit for a client.
	ErrorMessage string `json:"error_message,omitempty"`
	// MessageID is the stored row: the tool_call row when executing, the
	// tool_response row when completed or failed.
	MessageID string `json:"message_id,omitempty"`
	// Structured marks no call but the answer of a structured agent that was asked:
	// Name is the agent, ID is "<agent>_structured_output" ("…_2" and so on for the
	// later ones of a turn), Arguments are {"input_text"} and Result is the answer.
	Structured bool `json:"structured_output,omitempty"`
	// Client marks a call of a tool that the client brought: it runs it, and sends
	// the result with its next request.
	Client bool `json:"client,omitempty"`
	// More says that another event of a call follows at once: the two can be stored
	// together. Reads says that the tool changes nothing, so that its call need not be
	// stored before it is made.
	More  bool `json:"-"`
	Reads bool `json:"-"`
}

// EventType is ToolCall.
func (*ToolCallData) EventType() Type { return ToolCall }

// ActionData is a typed signal of the agent.
type ActionData struct {
	// ActionType is observation, elicit, delegate or any name of the agent's own.
	ActionType string `json:"action_type"`
	// Payload is a JSON object.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// EventType is Action.
func (*ActionData) EventType() Type { return Action }

// The kinds of a request to the user.
const (
	// RequestApproval asks whether a tool may be called.
	RequestApproval = "approval"
	// RequestElicitation asks for an answer of a certain form.
	RequestElicitation = "elicitation"
)

// ActionRequestData asks the user for something. One with a RequestID is
// stored, and the run waits for its answer: a decision, or data that follows
// Schema. One without is a card to show, and nobody waits.
type ActionRequestData struct {
	// RequestID is what an answer names.
	RequestID string `json:"request_id,omitempty"`
	// Kind is RequestApproval, RequestElicitation, or "" for a card.
	Kind string `json:"kind,omitempty"`
	// Message is the question, in words for the user.
	Message string `json:"message,omitempty"`
	// ToolName and ToolID are the call that waits, Arguments what it would be
	// called with.
	ToolName  string          `json:"tool_name,omitempty"`
	ToolID    string          `json:"tool_id,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Schema is the JSON Schema of the answer, an object; nil for an approval.
	Schema json.RawMessage `json:"response_schema,omitempty"`
	// ExpiresAt is when the question is taken for declined; zero is never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Card is {id, prompt, display_style, actions[], inputs[], timeout_ms?,
	// fallback_text?} (REM's action request card); always there.
	Card json.RawMessage `json:"card"`
}

// EventType is ActionRequest.
func (*ActionRequestData) EventType() Type { return ActionRequest }

// MetadataData describes the answer: where it is stored, and what the agent
// observed about it with action(type="observation").
type MetadataData struct {
	// MessageID is the stored answer, InReplyTo the user's message, both in the
	// session SessionID.
	MessageID string `json:"message_id,omitempty"`
	InReplyTo string `json:"in_reply_to,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	// AgentSchema is the agent that was asked, RespondingAgent the one that spoke last.
	AgentSchema     string `json:"agent_schema,omitempty"`
	RespondingAgent string `json:"responding_agent,omitempty"`
	// SessionName, Confidence (0 to 1), Sources, References and Flags are what the agent
	// observed.
	SessionName string   `json:"session_name,omitempty"`
	Confidence  *float64 `json:"confidence,omitempty"`
	Sources     []string `json:"sources,omitempty"`
	References  []string `json:"references,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	// RiskLevel, RiskScore, RiskReasoning and RecommendedAction are the agent's view of
	// a risk.
	RiskLevel         string `json:"risk_level,omitempty"`
	RiskScore         *int   `json:"risk_score,omitempty"`
	RiskReasoning     string `json:"risk_reasoning,omitempty"`
	RecommendedAction string `json:"recommended_action,omitempty"`
	// ModelVersion is the model that answered; LatencyMS, TokenCount and CostUSD are
	// what the answer took, the cost as far as prices are known.
	ModelVersion string  `json:"model_version,omitempty"`
	LatencyMS    int64   `json:"latency_ms,omitempty"`
	TokenCount   int     `json:"token_count,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
	// TraceID and SpanID are where tracing has the run.
	TraceID string `json:"trace_id,omitempty"`
	SpanID  string `json:"span_id,omitempty"`
	// Hidden says that the user need not see this.
	Hidden bool `json:"hidden,omitempty"`
	// Extra is whatever else the agent observed.
	Extra map[string]any `json:"extra,omitempty"`
}

// EventType is Metadata.
func (*MetadataData) EventType() Type { return Metadata }

// UsageData is what a run consumed, its children included.
type UsageData struct {
	// InputTokens and OutputTokens are what the models read and wrote.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// CachedTokens is the part of InputTokens that the provider had cached.
	CachedTokens int `json:"cached_tokens,omitempty"`
	// ReasoningTokens is the part of OutputTokens spent on reasoning.
	ReasoningTokens int `json:"reasoning_tokens,omitempty"`
	// Requests counts calls of the model, ToolCalls calls of tools.
	Requests  int `json:"requests"`
	ToolCalls int `json:"tool_calls"`
	// CostUSD is what the tokens cost, as far as prices are known.
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// EventType is Usage.
func (*UsageData) EventType() Type { return Usage }

// Add counts o in.
func (u *UsageData) Add(o UsageData) {
	u.InputTokens += o.InputTokens
	u.OutputTokens += o.OutputTokens
	u.CachedTokens += o.CachedTokens
	u.ReasoningTokens += o.ReasoningTokens
	u.Requests += o.Requests
	u.ToolCalls += o.ToolCalls
	u.CostUSD = math.Round((u.CostUSD+o.CostUSD)*1e12) / 1e12 // no prices are finer
}

// WarningData is something that the run survived: a declared tool that this
// build does not have, a model option that was dropped.
type WarningData struct {
	// Code is a stable name such as tool_unavailable.
	Code string `json:"code"`
	// Message says it in words for the user.
	Message string `json:"message"`
	// Model is the model that answers from here on, where Code is
	// [CodeModelFallback]. A chunk of OpenAI's has another field "model".
	Model string `json:"model_name,omitempty"`
}

// CodeModelFallback is the code of a warning that another model took over.
const CodeModelFallback = "model_fallback"

// CodeEmptyAnswer is the code of a warning that a run ended without having said anything.
const CodeEmptyAnswer = "empty_answer"

// CodeToolCallsLeftOut is the code of a warning that an answer of the model asked for
// more tool calls than are made of one.
const CodeToolCallsLeftOut = "tool_calls_left_out"

// EventType is Warning.
func (*WarningData) EventType() Type { return Warning }

// CodeInternal is the code of a failure that has no better name.
const CodeInternal = "internal_error"

// ErrorData is what ended the run, in words fit for a client.
type ErrorData struct {
	// Code is a stable name such as rate_limit_exceeded.
	Code string `json:"code"`
	// Message says it in words for the user, Details is what a program may want of it.
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
	// Recoverable: it may go better when it is tried again.
	Recoverable bool `json:"recoverable"`
	// HTTPStatus is the status that the failure has when it comes before the
	// first byte of a response.
	HTTPStatus int `json:"-"`
}

// EventType is Error.
func (*ErrorData) EventType() Type { return Error }

// The reasons for which a run ends.
const (
	ReasonStop      = "stop"
	ReasonLength    = "length"
	ReasonError     = "error"
	ReasonCancelled = "cancelled"
	ReasonFilter    = "content_filter"
	// ReasonPaused: the run waits for answers of the user (ActionRequest) and goes
	// on with them, in this process or another.
	ReasonPaused = "paused"
	// ReasonToolCalls: the run waits for the results of the client's own tools.
	ReasonToolCalls = "tool_calls"
)

// The limits that end a run. The first five are those of a document, by the
// names that documents give them.
const (
	LimitRequests     = "request_limit"
	LimitToolCalls    = "tool_calls_limit"
	LimitInputTokens  = "input_tokens_limit"
	LimitOutputTokens = "output_tokens_limit"
	LimitTotalTokens  = "total_tokens_limit"
	// LimitTime is the wall clock.
	LimitTime = "time_limit"
	// LimitAnswer is the model's own bound on one answer, or p8's.
	LimitAnswer = "max_tokens"
	// LimitEvents is what a live turn may say altogether.
	LimitEvents = "event_limit"
	// LimitMemory is what all turns of a process may hold in memory together; the
	// turn that holds most ends.
	LimitMemory = "memory_limit"
)

// The stages of a delegated run; a paused one goes on with its parent.
const (
	ChildStarted   = "started"
	ChildCompleted = "completed"
	ChildFailed    = "failed"
	ChildPaused    = "paused"
)

// ChildRunData says that a delegated run begins or ends.
type ChildRunData struct {
	// Status is one of ChildStarted, ChildCompleted, ChildFailed and ChildPaused.
	Status string `json:"status"`
	// ToolID is the parent's call that asked, ParentRunID the parent's run.
	ToolID      string `json:"tool_id,omitempty"`
	ParentRunID string `json:"parent_run_id,omitempty"`
	// Input is what the child was asked; with ChildStarted.
	Input string `json:"input,omitempty"`
	// ErrorMessage says why it failed, in words fit for a client.
	ErrorMessage string `json:"error_message,omitempty"`
}

// EventType is ChildRun.
func (*ChildRunData) EventType() Type { return ChildRun }

// RestartData says which events do not count. A reader drops them from its screen:
// the events numbered above LastSeq and below this event, whatever their type, and
// what each of Runs said after its event After.
type RestartData struct {
	// LastSeq is the number of the last event that was stored before the interruption:
	// a reader may have seen later ones, which were lost with the process.
	LastSeq int64 `json:"last_seq"`
	// Runs are the runs whose step was cut: their RunID and Agent, and "after", the number
	// of the event after which what they said is void.
	Runs []CutRun `json:"runs,omitempty"`
	// Keep is how many characters (code points) of the content of an OpenAI stream count
	// at this point; other protocols have none.
	Keep *int `json:"keep,omitempty"`
}

// EventType is Restart.
func (*RestartData) EventType() Type { return Restart }

// CutRun is a run whose step was cut.
type CutRun struct {
	// RunID and Agent are the run's, as in its events.
	RunID string `json:"run_id"`
	Agent string `json:"agent"`
	// After is the number of an event: the text, the reasoning and the calls that only
	// started (tool_call, started) which the run emitted after it are void.
	After int64 `json:"after"`
}

// DoneData ends a run.
type DoneData struct {
	// Reason is stop, length (a limit was reached), content_filter, error,
	// cancelled, paused or tool_calls; after the last two the run goes on when it
	// has what it waits for.
	Reason string `json:"reason"`
	// Limit names the limit that was reached, such as LimitRequests.
	Limit string `json:"limit,omitempty"`
	// Output is the validated answer of a structured agent.
	Output json.RawMessage `json:"output,omitempty"`
	// ChainedTool is the tool that was called with Output, ChainedResult what it
	// said, a JSON object.
	ChainedTool   string          `json:"chained_tool,omitempty"`
	ChainedResult json.RawMessage `json:"chained_tool_result,omitempty"`
	// TransferTo is the agent that answers from here on.
	TransferTo string `json:"transfer_to,omitempty"`
}

// EventType is Done.
func (*DoneData) EventType() Type { return Done }
