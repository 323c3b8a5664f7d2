// Package llm puts every chat model behind one interface.
//
// A [Model] takes a [Request] (messages, tools, perhaps an output schema) and
// streams [Chunk]s: text, reasoning, tool calls, usage, the reason to stop.
// Models are named "provider:model", as in "openai:gpt-4.1"; a [Registry] makes
// a model from its name. The providers are sub-packages: openai (and every
// server that speaks its protocol), anthropic, gemini, offline (no network: it
// quotes what it finds) and scripted (for tests).
//
// A provider's failure is an [*Error]: a kind to decide by and a message fit for
// a client. The provider's own words stay out of it.
//
// [NewFallback] tries other models if the first one fails before its first
// chunk, never after it. The registry has a circuit breaker for each endpoint,
// which keeps requests from a server that is down; a rate limit does not open
// it.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"strings"
)

// Model is one chat model.
type Model interface {
	// Name is "provider:model".
	Name() string
	// Capabilities says what the model can do natively.
	Capabilities() Capabilities
	// Stream runs one request. The sequence yields chunks in order and ends, or
	// yields one error, an *Error if the provider failed. Stream does not change the
	// request, and does not read it after the sequence has ended.
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// Capabilities says what a model can do natively.
type Capabilities struct {
	// NativeOutput: the model can be bound to a JSON Schema (response_format).
	NativeOutput bool
	// Images and Documents: the model reads pictures, and PDF files. Parts that a
	// model cannot read become a line of text that names them.
	Images    bool
	Documents bool
	// Takes are those of the [Setting]s that this model takes.
	Takes Setting
}

// Role is who a message is from.
type Role string

// The roles of a conversation.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one message of a conversation.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`
	// Parts are the images and documents of a user's message or of a tool's
	// result; they come after Content.
	Parts []Part `json:"parts,omitempty"`
	// Reasoning is the model's reasoning before an assistant message, in the form
	// that its provider expects back during the run.
	Reasoning []Reasoning `json:"reasoning,omitempty"`
	// ToolCalls are the calls of an assistant message.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID is the call that a tool message answers; Name is the tool's name.
	ToolCallID string `json:"tool_call_id,omitempty"`
	Name       string `json:"name,omitempty"`
}

// ToolCall is a call as the model wrote it; Arguments may not be valid JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// Signature is the provider's signature of the reasoning for the call (Gemini). It
	// is sent back unchanged, to that provider only.
	Signature string `json:"signature,omitempty"`
}

// SafeName returns a name that every provider accepts, [A-Za-z0-9_-]{1,64}. A model
// may have called a tool with an invalid name, and a provider would refuse the whole
// conversation for it.
func SafeName(name string) string {
	const most = 64
	if name == "" {
		return "unnamed"
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), most)]
}

// ToolSpec is a tool as the model sees it.
type ToolSpec struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments, an object.
	Parameters json.RawMessage `json:"parameters"`
}

// Request is one call of a model.
type Request struct {
	Messages []Message
	Tools    []ToolSpec
	// Output binds the answer to a schema; only for models with NativeOutput.
	Output *Output
	// ToolChoice is "" (the model decides), "none" or "required".
	ToolChoice string
	// ToolName is the tool that must be called if ToolChoice is "required"; "" is any.
	ToolName string
	// Settings are sent when set; 0 is a temperature.
	Settings Settings
	// CacheKey groups requests with the same beginning, for providers that route by
	// it, such as the agent's name. It holds nothing of a user.
	CacheKey string
	// Once disables retries, because another model takes over.
	Once bool
}

// Settings configure the answer of a model.
type Settings struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	// ReasoningEffort is none, minimal, low, medium or high.
	ReasoningEffort string `json:"reasoning_effort,omitempty"`
	// PromptCache is the time for which a provider with explicit caching keeps the
	// beginning of the conversation: "" (its shortest time), off, 5m or 1h.
	PromptCache string `json:"prompt_cache,omitempty"`

	// Not every model takes these: see [Settings.Beyond].
	Seed             *int64          `json:"seed,omitempty"`
	FrequencyPenalty *float64        `json:"frequency_penalty,omitempty"`
	PresencePenalty  *float64        `json:"presence_penalty,omitempty"`
	LogitBias        json.RawMessage `json:"logit_bias,omitempty"` // an object
	// SerialCalls allows at most one tool call a response.
	SerialCalls bool   `json:"serial_calls,omitempty"`
	ServiceTier string `json:"service_tier,omitempty"`
	// Verbosity is low, medium or high.
	Verbosity string `json:"verbosity,omitempty"`
	// CacheKey replaces Request.CacheKey, and SafetyID names the end user to the provider;
	// providers without them ignore both.
	CacheKey string `json:"prompt_cache_key,omitempty"`
	SafetyID string `json:"safety_identifier,omitempty"`

	// DefaultTemperature marks the Temperature as a default: if a model refuses it,
	// there is no warning.
	DefaultTemperature bool `json:"-"`
	// DefaultMaxTokens marks MaxTokens as a default; see [Settings.Limit].
	DefaultMaxTokens bool `json:"-"`
}

// thoughtRoom is added to a default limit for reasoning, in tokens. Every reasoning
// model can write that much.
const thoughtRoom = 28_000

// Limit returns the most tokens that a model may write; 0 is the model's own limit.
// Reasoning counts towards it. A default is meant for answers, so it is raised for
// models that think.
func (s *Settings) Limit(thinks bool) int {
	if thinks && s.DefaultMaxTokens && s.MaxTokens > 0 {
		return s.MaxTokens + thoughtRoom
	}
	return s.MaxTokens
}

// Or returns s with its unset fields taken from other.
func (s Settings) Or(other Settings) Settings {
	if s.Temperature == nil {
		s.Temperature, s.DefaultTemperature = other.Temperature, other.DefaultTemperature
	}
	if s.TopP == nil {
		s.TopP = other.TopP
	}
	if s.Stop == nil {
		s.Stop = other.Stop
	}
	if s.MaxTokens == 0 {
		s.MaxTokens, s.DefaultMaxTokens = other.MaxTokens, other.DefaultMaxTokens
	}
	s.ReasoningEffort = cmp.Or(s.ReasoningEffort, other.ReasoningEffort)
	s.PromptCache = cmp.Or(s.PromptCache, other.PromptCache)
	if s.Seed == nil {
		s.Seed = other.Seed
	}
	if s.FrequencyPenalty == nil {
		s.FrequencyPenalty = other.FrequencyPenalty
	}
	if s.PresencePenalty == nil {
		s.PresencePenalty = other.PresencePenalty
	}
	if s.LogitBias == nil {
		s.LogitBias = other.LogitBias
	}
	s.SerialCalls = s.SerialCalls || other.SerialCalls
	s.ServiceTier = cmp.Or(s.ServiceTier, other.ServiceTier)
	s.Verbosity = cmp.Or(s.Verbosity, other.Verbosity)
	s.CacheKey = cmp.Or(s.CacheKey, other.CacheKey)
	s.SafetyID = cmp.Or(s.SafetyID, other.SafetyID)
	return s
}

// Output is a schema that the answer must follow.
type Output struct {
	// Name is unchanged by [SafeName].
	Name   string
	Schema json.RawMessage
}

// OutputTool is the tool that a model without NativeOutput calls with its structured
// answer: its parameters are the schema.
const OutputTool = "final_result"

// ChunkKind is the kind of a chunk.
type ChunkKind uint8

// The kinds of chunk.
const (
	// ChunkText: Text is a piece of the answer.
	ChunkText ChunkKind = iota + 1
	// ChunkReasoning: Text is a piece of the model's reasoning.
	ChunkReasoning
	// ChunkToolCall: Call is the index of a tool call in this response. Its
	// first chunk has ID and Name; Text is the next piece of its arguments.
	// The client completes calls of providers that leave out index, id or type.
	ChunkToolCall
	// ChunkUsage: Usage is the consumption of the request; the last one counts.
	ChunkUsage
	// ChunkFinish: Finish says why the model stopped.
	ChunkFinish
	// ChunkThought: Thought is a whole block of reasoning, after its pieces; it
	// goes back in Message.Reasoning.
	ChunkThought
	// ChunkWarning: a part of the request was left out. Name is a stable code such as
	// setting_dropped, Text a sentence.
	ChunkWarning
	// ChunkModel: Name is the model that answers in place of the requested one; Text
	// is the reason. It comes before the answer.
	ChunkModel
)

// Chunk is one piece of a model's response.
type Chunk struct {
	Kind   ChunkKind
	Text   string
	Call   int
	ID     string
	Name   string
	Finish Finish
	Usage  Usage
	// Signature belongs to a tool call (ToolCall.Signature), with its first chunk.
	Signature string
	Thought   *Reasoning
}

// Finish is the reason why a model stopped.
type Finish string

// The reasons for which a model stops.
const (
	FinishStop      Finish = "stop"
	FinishLength    Finish = "length"
	FinishToolCalls Finish = "tool_calls"
	FinishFilter    Finish = "content_filter"
)

// Usage is the consumption of one request, in tokens.
type Usage struct {
	// Input counts everything that was sent, Cached its part from the provider's
	// cache, CacheWrite its part that was written to the cache; CacheHour is the part of
	// CacheWrite that is cached for an hour, at another price.
	Input      int
	Cached     int
	CacheWrite int
	CacheHour  int
	// Output counts everything that was written, Reasoning its part for reasoning.
	Output    int
	Reasoning int
}
