package inbound

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
)

// Completion is OpenAI's body of a chat completion, with p8's query and if_busy.
type Completion struct {
	Model               string          `json:"model"`
	Messages            []openAIMessage `json:"messages"`
	Query               *run.Query      `json:"query"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Stop                stopList        `json:"stop"`
	ResponseFormat      *responseFormat `json:"response_format"`
	ReasoningEffort     string          `json:"reasoning_effort"`
	Tools               []openAITool    `json:"tools"`
	ToolChoice          toolChoice      `json:"tool_choice"`
	IfBusy              string          `json:"if_busy"`
	Metadata            map[string]any  `json:"metadata"`

	// Not every model takes these.
	Seed              *int64             `json:"seed"`
	FrequencyPenalty  *float64           `json:"frequency_penalty"`
	PresencePenalty   *float64           `json:"presence_penalty"`
	LogitBias         map[string]float64 `json:"logit_bias"`
	ParallelToolCalls *bool              `json:"parallel_tool_calls"`
	ServiceTier       string             `json:"service_tier"`
	Verbosity         string             `json:"verbosity"`
	PromptCacheKey    string             `json:"prompt_cache_key"`
	SafetyIdentifier  string             `json:"safety_identifier"`

	// These are refused, but for the values that change nothing.
	N                    *int            `json:"n"`
	Logprobs             bool            `json:"logprobs"`
	TopLogprobs          int             `json:"top_logprobs"`
	Modalities           []string        `json:"modalities"`
	Audio                json.RawMessage `json:"audio"`
	Prediction           json.RawMessage `json:"prediction"`
	WebSearchOptions     json.RawMessage `json:"web_search_options"`
	PromptCacheRetention json.RawMessage `json:"prompt_cache_retention"`
	Functions            []anyValue      `json:"functions"`
	FunctionCall         json.RawMessage `json:"function_call"`

	// User and Store are ignored: the headers name the caller, and the session decides what
	// is stored.
	User  anyValue `json:"user"`
	Store anyValue `json:"store"`
}

type (
	openAIMessage struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCalls  []toolCall      `json:"tool_calls"`
		ToolCallID string          `json:"tool_call_id"`
	}
	toolCall struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	// anyValue is any JSON value; only the number of them matters.
	anyValue struct{}
	// stopList is a string, or an array of strings.
	stopList []string
)

func (anyValue) UnmarshalJSON([]byte) error { return nil }

func (s *stopList) UnmarshalJSON(b []byte) error {
	var one string
	var many []string
	switch {
	case string(b) == "null":
	case json.Unmarshal(b, &one) == nil:
		*s = stopList{one}
	case json.Unmarshal(b, &many) == nil:
		*s = many
	default:
		return problem.Invalid("stop", "stop must be a string or an array of strings")
	}
	return nil
}

// OpenAI's bounds.
const (
	maxStops         = 4
	maxMetadata      = 16
	maxMetadataKey   = 64
	maxMetadataValue = 512
)

// Request returns the turn that the body asks for. Its Agent and Model stay empty: the
// body's model may name either, and only the catalog knows which.
func (b *Completion) Request() (chat.Request, *problem.Problem) {
	if f := b.check(); f != nil {
		return chat.Request{}, f
	}
	req, f := b.conversation()
	if f != nil {
		return chat.Request{}, f
	}
	if req.ClientTools, f = b.tools(); f != nil {
		return chat.Request{}, f
	}
	req.ToolChoice = run.ToolChoice(b.ToolChoice)
	if req.ResponseFormat, f = b.ResponseFormat.output(); f != nil {
		return chat.Request{}, f
	}
	if f := about(&req, b.Metadata); f != nil {
		return chat.Request{}, f
	}
	req.Busy = b.IfBusy
	req.Query = b.Query
	req.Settings = llm.Settings{Temperature: b.Temperature, TopP: b.TopP, Stop: b.Stop, ReasoningEffort: b.ReasoningEffort}
	b.addParameters(&req.Settings)
	for _, n := range []*int{b.MaxTokens, b.MaxCompletionTokens} {
		if n != nil {
			req.Settings.MaxTokens = *n
		}
	}
	return req, nil
}

// check refuses wrong values of every field but the messages and the tools.
func (b *Completion) check() *problem.Problem {
	positive := func(name string, v *int) *problem.Problem {
		if v != nil && *v < 1 {
			return problem.Invalid(name, "%s is %d; it must be 1 or more", name, *v)
		}
		return nil
	}
	for _, f := range []*problem.Problem{
		between("temperature", b.Temperature, 0, 2), between("top_p", b.TopP, 0, 1),
		positive("max_tokens", b.MaxTokens), positive("max_completion_tokens", b.MaxCompletionTokens),
		b.checkMetadata(), b.checkParameters(),
	} {
		if f != nil {
			return f
		}
	}
	if len(b.Stop) > maxStops {
		return problem.Invalid("stop", "stop has %d entries; %d are the most", len(b.Stop), maxStops)
	}
	return nil
}

func (b *Completion) checkMetadata() *problem.Problem {
	if len(b.Metadata) > maxMetadata {
		return problem.Invalid("metadata", "metadata has %d keys; %d are the most", len(b.Metadata), maxMetadata)
	}
	for k, v := range b.Metadata {
		s, ok := v.(string)
		switch {
		case !ok:
			return problem.Invalid("metadata", "metadata.%s must be a string", web.Cut(k))
		case utf8.RuneCountInString(k) > maxMetadataKey || utf8.RuneCountInString(s) > maxMetadataValue:
			return problem.Invalid("metadata", "metadata.%s is too long: a key has at most %d characters, a value %d",
				web.Cut(k), maxMetadataKey, maxMetadataValue)
		}
	}
	return nil
}

// conversation reads the messages: those of the system and the developer are
// instructions for this request, divide splits the others.
func (b *Completion) conversation() (chat.Request, *problem.Problem) {
	var req chat.Request
	if len(b.Messages) == 0 && b.Query == nil {
		return req, missingMessages(`{"role":"user","content":"hello"}`)
	}
	var transcript []message
	users := 0
	for i := range b.Messages {
		m := &b.Messages[i]
		where := "messages[" + strconv.Itoa(i) + "]"
		one, f := m.message(where)
		switch {
		case f != nil:
			return req, f
		case one.role == llm.System:
			if one.text != "" {
				Instruct(&req, one.text)
			}
			continue
		case one.role == llm.User:
			users++
		case one.role == llm.ToolRole && len(one.results) == 0:
			return req, problem.Invalid("messages", "%s.tool_call_id is missing; it is the id of the call that the message answers", where)
		}
		transcript = append(transcript, one)
	}
	switch found := divide(transcript, &req); {
	case found || b.Query != nil:
		return req, nil
	case users == 0:
		return req, problem.Invalid("messages", "messages has no message of the user: there is nothing to answer")
	}
	return req, problem.Invalid("messages", "the last message of the user is empty: there is nothing to answer")
}

// message reads the message.
func (m *openAIMessage) message(where string) (message, *problem.Problem) {
	text, parts, f := m.content(where)
	out := message{text: text, parts: parts}
	if f != nil {
		return out, f
	}
	switch m.Role {
	case "system", "developer":
		out.role = llm.System
	case "user":
		out.role = llm.User
	case "assistant":
		out.role = llm.Assistant
		for _, c := range m.ToolCalls {
			if call, ok := newCall(c.ID, c.Function.Name, c.Function.Arguments); ok {
				out.calls = append(out.calls, call)
			}
		}
	case "tool":
		out.role = llm.ToolRole
		if m.ToolCallID != "" {
			out.results = []chat.ToolResult{{ToolCallID: m.ToolCallID, Content: text}}
		}
	case "function":
		return out, problem.Invalid("messages", "%s.role is function; send the result with the role tool and the tool_call_id of the call", where)
	default:
		return out, problem.Invalid("messages", "%s.role is %q; it must be user, assistant, system, developer or tool", where, web.Cut(m.Role))
	}
	return out, nil
}
