package event

import (
	"encoding/json"
	"math"
	"time"
)

// ProgressData is a step of the turn. The first one of a turn also names the session
// and the row of the user's message.
type ProgressData struct {
	// Step is the number of the step, of TotalSteps; Label names it.
	Step       int    `json:"step"`
	TotalSteps int    `json:"total_steps"`
	Label      string `json:"label"`
	// Status is in_progress, completed, pending or failed.
	Status string `json:"status"`
	// SessionID and InReplyTo are the session and the row of the user's message; on
	// the first event only.
	SessionID string `json:"session_id,omitempty"`
	InReplyTo string `json:"in_reply_to,omitempty"`
	// ToolName and ToolCallID name the tool call that reports its own progress; Step and
	// TotalSteps are then the tool's.
	ToolName   string `json:"tool_name,omitempty"`
	ToolCallID string `json:"tool_id,omitempty"`
}

// EventType returns Progress.
func (*ProgressData) EventType() Type { return Progress }

// ModelCallData is a request to a model that has ended.
type ModelCallData struct {
	// Model is the model that answered, or that failed last.
	Model string `json:"model,omitempty"`
	// StartedAt, FirstTokenMS and DurationMS: when the request began, and the milliseconds
	// until the model said something and until it ended.
	StartedAt    time.Time `json:"started_at,omitzero"`
	FirstTokenMS int64     `json:"first_token_ms,omitempty"`
	DurationMS   int64     `json:"duration_ms,omitempty"`
	// InputTokens, OutputTokens, CachedTokens, ReasoningTokens and CostUSD are as in usage,
	// of this request.
	InputTokens     int     `json:"input_tokens,omitempty"`
	OutputTokens    int     `json:"output_tokens,omitempty"`
	CachedTokens    int     `json:"cached_tokens,omitempty"`
	ReasoningTokens int     `json:"reasoning_tokens,omitempty"`
	CostUSD         float64 `json:"cost_usd,omitempty"`
	// Failed is true if the model failed.
	Failed bool `json:"failed,omitempty"`
}

// EventType returns ModelCall.
func (*ModelCallData) EventType() Type { return ModelCall }

// ActionData is a typed signal of the agent.
type ActionData struct {
	// ActionType is observation, elicit, delegate or any name of the agent's own.
	ActionType string `json:"action_type"`
	// Payload is a JSON object.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// EventType returns Action.
func (*ActionData) EventType() Type { return Action }

// The kinds of a request to the user.
const (
	// RequestApproval asks whether a tool may be called.
	RequestApproval = "approval"
	// RequestElicitation asks for an answer of a certain form.
	RequestElicitation = "elicitation"
)

// ActionRequestData asks the user for something. A request with a RequestID is stored,
// and the run waits for its answer: a decision, or data that follow Schema. A request
// without one is a card that is only shown.
type ActionRequestData struct {
	// RequestID is the id that an answer names.
	RequestID string `json:"request_id,omitempty"`
	// Kind is RequestApproval, RequestElicitation, or "" for a card.
	Kind string `json:"kind,omitempty"`
	// Message is the question, worded for the user.
	Message string `json:"message,omitempty"`
	// ToolName and ToolCallID name the call that waits, Arguments are its arguments.
	ToolName   string          `json:"tool_name,omitempty"`
	ToolCallID string          `json:"tool_id,omitempty"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	// Schema is the JSON Schema of the answer, an object; nil for an approval.
	Schema json.RawMessage `json:"response_schema,omitempty"`
	// ExpiresAt is when the request counts as declined; zero is never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Card is {id, prompt, display_style, actions[], inputs[], timeout_ms?,
	// fallback_text?} (REM's action request card); every request has one.
	Card json.RawMessage `json:"card"`
}

// EventType returns ActionRequest.
func (*ActionRequestData) EventType() Type { return ActionRequest }

// MetadataData describes the answer: its stored row, and the agent's observations
// (action with type "observation").
type MetadataData struct {
	// MessageID is the stored answer, InReplyTo the user's message, both in the
	// session SessionID.
	MessageID string `json:"message_id,omitempty"`
	InReplyTo string `json:"in_reply_to,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	// AgentSchema is the agent that began the turn, RespondingAgent the one that spoke
	// last.
	AgentSchema     string `json:"agent_schema,omitempty"`
	RespondingAgent string `json:"responding_agent,omitempty"`
	// SessionName, Confidence (0 to 1), Sources, References and Flags are observations
	// of the agent.
	SessionName string   `json:"session_name,omitempty"`
	Confidence  *float64 `json:"confidence,omitempty"`
	Sources     []string `json:"sources,omitempty"`
	References  []string `json:"references,omitempty"`
	Flags       []string `json:"flags,omitempty"`
	// RiskLevel, RiskScore, RiskReasoning and RecommendedAction are the agent's
	// assessment of a risk.
	RiskLevel         string `json:"risk_level,omitempty"`
	RiskScore         *int   `json:"risk_score,omitempty"`
	RiskReasoning     string `json:"risk_reasoning,omitempty"`
	RecommendedAction string `json:"recommended_action,omitempty"`
	// ModelVersion is the model that answered; LatencyMS and TokenCount are the answer's.
	// CostUSD is the whole run's, of the models with a known price.
	ModelVersion string  `json:"model_version,omitempty"`
	LatencyMS    int64   `json:"latency_ms,omitempty"`
	TokenCount   int     `json:"token_count,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
	// TraceID and SpanID identify the run in tracing.
	TraceID string `json:"trace_id,omitempty"`
	SpanID  string `json:"span_id,omitempty"`
	// Hidden means that the user need not see this.
	Hidden bool `json:"hidden,omitempty"`
	// Extra are all other observations.
	Extra map[string]any `json:"extra,omitempty"`
}

// EventType returns Metadata.
func (*MetadataData) EventType() Type { return Metadata }

// UsageData is the usage of a run, its children included.
type UsageData struct {
	// InputTokens and OutputTokens are the tokens that the models read and wrote.
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	// CachedTokens is the part of InputTokens that the provider had cached.
	CachedTokens int `json:"cached_tokens,omitempty"`
	// ReasoningTokens is the part of OutputTokens spent on reasoning.
	ReasoningTokens int `json:"reasoning_tokens,omitempty"`
	// Requests counts requests to the model, ToolCalls tool calls.
	Requests  int `json:"requests"`
	ToolCalls int `json:"tool_calls"`
	// CostUSD is the cost of the tokens of models with a known price.
	CostUSD float64 `json:"cost_usd,omitempty"`
}

// EventType returns Usage.
func (*UsageData) EventType() Type { return Usage }

// Add adds the usage o.
func (u *UsageData) Add(o UsageData) {
	u.InputTokens += o.InputTokens
	u.OutputTokens += o.OutputTokens
	u.CachedTokens += o.CachedTokens
	u.ReasoningTokens += o.ReasoningTokens
	u.Requests += o.Requests
	u.ToolCalls += o.ToolCalls
	u.CostUSD = math.Round((u.CostUSD+o.CostUSD)*1e12) / 1e12 // no price is finer
}

// WarningData is a problem that did not end the run: a declared tool that is not
// available, a model option that was dropped.
type WarningData struct {
	// Code is a stable name such as tool_unavailable.
	Code string `json:"code"`
	// Message words it for the user.
	Message string `json:"message"`
	// Model is the model that answers from here on, if Code is [CodeModelFallback].
	// Chunks of OpenAI have another field "model".
	Model string `json:"model_name,omitempty"`
}

// CodeModelFallback is the code of a warning that another model took over.
const CodeModelFallback = "model_fallback"

// CodeEmptyAnswer is the code of a warning that a run ended without text.
const CodeEmptyAnswer = "empty_answer"

// CodeAnswerCut is the code of a warning that the model may not write more in one answer.
const CodeAnswerCut = "answer_cut"

// CodeFilesLeftOut is the code of a warning that a client is not sent all files of a call.
const CodeFilesLeftOut = "files_left_out"

// CodeToolCallsLeftOut is the code of a warning that an answer of the model had more
// tool calls than are allowed.
const CodeToolCallsLeftOut = "tool_calls_left_out"

// EventType returns Warning.
func (*WarningData) EventType() Type { return Warning }

// CodeInternal is the code of a failure without a more specific one.
const CodeInternal = "internal_error"

// ErrorData is the error that ended the run, fit for a client.
type ErrorData struct {
	// Code is a stable name such as rate_limit_exceeded.
	Code string `json:"code"`
	// Message words it for the user, Details are for programs.
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
	// Recoverable is true if a retry may succeed.
	Recoverable bool `json:"recoverable"`
	// HTTPStatus is the status of the response if the failure precedes its first byte.
	HTTPStatus int `json:"-"`
}

// EventType returns Error.
func (*ErrorData) EventType() Type { return Error }

// The reasons why a run ends.
const (
	ReasonStop      = "stop"
	ReasonLength    = "length"
	ReasonError     = "error"
	ReasonCancelled = "cancelled"
	ReasonFilter    = "content_filter"
	// ReasonPaused means that the run waits for answers of the user (ActionRequest)
	// and resumes with them, on any process.
	ReasonPaused = "paused"
	// ReasonToolCalls means that the run waits for the results of the client's own
	// tools.
	ReasonToolCalls = "tool_calls"
)

// The limits that end a run. The first five are a document's, under its names.
const (
	LimitRequests     = "request_limit"
	LimitToolCalls    = "tool_calls_limit"
	LimitInputTokens  = "input_tokens_limit"
	LimitOutputTokens = "output_tokens_limit"
	LimitTotalTokens  = "total_tokens_limit"
	// LimitTime is the wall clock.
	LimitTime = "time_limit"
	// LimitAnswer is the model's limit of one answer, or p8's.
	LimitAnswer = "max_tokens"
	// LimitEvents bounds the events of a live turn.
	LimitEvents = "event_limit"
	// LimitMemory bounds the memory of all turns of a process together; the largest
	// turn ends.
	LimitMemory = "memory_limit"
	// LimitTokensQuota and LimitCostQuota are the tokens and the money that the caller may
	// spend a day.
	LimitTokensQuota = "tokens_quota"
	LimitCostQuota   = "cost_quota"
)

// The stages of a delegated run. A paused one resumes with its parent.
const (
	ChildStarted   = "started"
	ChildCompleted = "completed"
	ChildFailed    = "failed"
	ChildPaused    = "paused"
)

// ChildRunData is the beginning or the end of a delegated run.
type ChildRunData struct {
	// Status is one of ChildStarted, ChildCompleted, ChildFailed and ChildPaused.
	Status string `json:"status"`
	// ToolCallID is the parent's tool call, ParentRunID the parent's run.
	ToolCallID  string `json:"tool_id,omitempty"`
	ParentRunID string `json:"parent_run_id,omitempty"`
	// Input is the message to the child; with ChildStarted.
	Input string `json:"input,omitempty"`
	// ErrorMessage says why it failed, worded for a client.
	ErrorMessage string `json:"error_message,omitempty"`
	// Consumed is what the run and those below it consumed so far, as in usage; at its end.
	Consumed *UsageData `json:"consumed,omitempty"`
}

// EventType returns ChildRun.
func (*ChildRunData) EventType() Type { return ChildRun }

// RestartData says which events are void. A reader removes them from its screen: all
// events numbered above LastSeq and below this event, and the events of each of Runs
// after its After.
type RestartData struct {
	// LastSeq is the number of the last event that was stored before the interruption.
	// A reader may have later ones, which the process lost.
	LastSeq int64 `json:"last_seq"`
	// Runs are the runs whose step was cut: RunID, Agent and "after", the number of the
	// event after which their text is void.
	Runs []CutRun `json:"runs,omitempty"`
	// Keep is how many characters (code points) of the content of a stream of
	// chat completions count at this point; other protocols do not use it.
	Keep *int `json:"keep,omitempty"`
}

// EventType returns Restart.
func (*RestartData) EventType() Type { return Restart }

// CutRun is a run whose step was cut.
type CutRun struct {
	// RunID and Agent are the run's, as in its events.
	RunID string `json:"run_id"`
	Agent string `json:"agent"`
	// After is the number of an event. The run's later text, reasoning, started calls
	// (tool_call, started) and arguments are void.
	After int64 `json:"after"`
}

// DoneData ends a run.
type DoneData struct {
	// Reason is stop, length (a limit was reached), content_filter, error, cancelled,
	// paused or tool_calls. After the last two the run resumes once it has its
	// answers.
	Reason string `json:"reason"`
	// Limit names the limit that was reached, such as LimitRequests.
	Limit string `json:"limit,omitempty"`
	// Output is the validated answer of a structured agent.
	Output json.RawMessage `json:"output,omitempty"`
	// ChainedTool is the tool that was called with Output, ChainedResult its result, a
	// JSON object.
	ChainedTool   string          `json:"chained_tool,omitempty"`
	ChainedResult json.RawMessage `json:"chained_tool_result,omitempty"`
	// TransferTo is the agent that answers from here on.
	TransferTo string `json:"transfer_to,omitempty"`
	// Wanted is the JSON Schema of the user's next message, if the run ends with a
	// question in words.
	Wanted json.RawMessage `json:"-"`
}

// EventType returns Done.
func (*DoneData) EventType() Type { return Done }
