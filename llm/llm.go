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
	// Capabilities tells what the model can do natively.
	Capabilities() Capabilities
	// Stream runs one request. The sequence yields chunks in order and ends, or
	// yields one error, an *Error wherever the provider failed. The request is
	// only read, and not after the sequence has ended.
	Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error]
}

// Capabilities tells what a model can do natively.
type Capabilities struct {
	// NativeOutput: the model can be bound to a JSON Schema (response_format).
	NativeOutput bool
	// Images and Documents: the model reads pictures, and PDF files. Parts that a
	// model cannot read become a line of text that says so.
	Images    bool
	Documents bool
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
	// Reasoning is what the model thought before an assistant message, as its
	// provider wants it back while the run goes on.
	Reasoning []Reasoning `json:"reasoning,omitempty"`
	// ToolCalls are the calls of an assistant message.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	// ToolCallID says which call a tool message answers; Name is the tool's.
	ToolCallID string `json:"tool_call_id,omitempty"`
	Name       string `json:"name,omitempty"`
}

// ToolCall is a call as the model wrote it; Arguments may not be valid JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// Signature is a provider's own proof of the thought behind the call (Gemini);
	// it goes back unchanged, to that provider only.
	Signature string `json:"signature,omitempty"`
}

// SafeName is a name as every provider takes it: of [A-Za-z0-9_-]{1,64}. A
// model may have called a tool that nobody offered, and a provider would refuse
// the whole conversation for that name.
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
	// Settings are sent when set; 0 is a temperature.
	Settings Settings
	// CacheKey groups requests that begin alike, for providers that route by it;
	// the agent's name is one. It holds nothing of a user.
	CacheKey string
	// Once forbids the client to try again: somebody else takes over.
	Once bool
}

// Settings are the dials of a model.
type Settings struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	// ReasoningEffort is none, minimal, low, medium or high.
	ReasoningEffort string `json:"reasoning_effort,omitempty"`
	// PromptCache is how long a provider that must be asked keeps the beginning of
	// the conversation: "" (its shortest time), off, 5m or 1h.
	PromptCache string `json:"prompt_cache,omitempty"`
	// DefaultTemperature says that nobody asked for the Temperature: a model that
	// has none is no reason for a warning.
	DefaultTemperature bool `json:"-"`
	// DefaultMaxTokens says the same of MaxTokens; see [Settings.Limit].
	DefaultMaxTokens bool `json:"-"`
}

// thoughtRoom is what thought may take besides a default limit, in tokens. The two
// together are no more than any model that thinks can write.
const thoughtRoom = 28_000

// Limit is the most that a model may write; 0 is its own limit. What a model thinks
// counts towards it, so that a default that is meant for answers would cut them
// short: thought has room of its own then.
func (s *Settings) Limit(thinks bool) int {
	if thinks && s.DefaultMaxTokens && s.MaxTokens > 0 {
		return s.MaxTokens + thoughtRoom
	}
	return s.MaxTokens
}

// Or is s with what it leaves unset taken from other.
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
	return s
}

// Output is a schema that the answer must follow.
type Output struct {
	// Name is one that [SafeName] leaves alone.
	Name   string
	Schema json.RawMessage
}

// OutputTool is the tool through which a model without NativeOutput gives a
// structured answer: its parameters are the schema.
const OutputTool = "final_result"

// ChunkKind says what a chunk carries.
type ChunkKind uint8

// The kinds of chunk.
const (
	// ChunkText: Text is a piece of the answer.
	ChunkText ChunkKind = iota + 1
	// ChunkReasoning: Text is a piece of the model's reasoning.
	ChunkReasoning
	// ChunkToolCall: Call is the index of a tool call in this response. Its
	// first chunk has ID and Name; Text is the next piece of its arguments.
	// Providers that leave out index, id or type are put right by the client.
	ChunkToolCall
	// ChunkUsage: Usage is what the request consumed; the last one counts.
	ChunkUsage
	// ChunkFinish: Finish says why the model stopped.
	ChunkFinish
	// ChunkThought: Thought is a whole block of reasoning, after its pieces; it
	// goes back in Message.Reasoning.
	ChunkThought
	// ChunkWarning: the answer goes on without something that was asked for. Name
	// is a stable code such as setting_dropped, Text a sentence.
	ChunkWarning
	// ChunkModel: Name is the model that answers from here on, in place of the one
	// that was asked; Text says why. It comes before anything of the answer.
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

// Finish is why a model stopped.
type Finish string

// The reasons for which a model stops.
const (
	FinishStop      Finish = "stop"
	FinishLength    Finish = "length"
	FinishToolCalls Finish = "tool_calls"
	FinishFilter    Finish = "content_filter"
)

// Usage is what one request consumed, in tokens.
type Usage struct {
	// Input is all that was sent, Cached the part of it that the provider had
	// kept, CacheWrite the part that it keeps from now on; CacheHour is what of the
	// latter is kept for an hour, at another price.
	Input      int
	Cached     int
	CacheWrite int
	CacheHour  int
	// Output is all that was written, Reasoning the part of it spent on thought.
	Output    int
	Reasoning int
}
