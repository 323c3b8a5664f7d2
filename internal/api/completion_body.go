package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
)

// completionBody is OpenAI's body of a chat completion and p8's query beside
// it. Fields that p8 has no use for are ignored.
type completionBody struct {
	Model               string          `json:"model"`
	Messages            []bodyMessage   `json:"messages"`
	Query               *run.Query      `json:"query"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	Temperature         *float64        `json:"temperature"`
	TopP                *float64        `json:"top_p"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Stop                stopList        `json:"stop"`
	N                   *int            `json:"n"`
	ResponseFormat      *responseFormat `json:"response_format"`
	ReasoningEffort     string          `json:"reasoning_effort"`
	Tools               []openAITool    `json:"tools"`
	ToolChoice          toolChoice      `json:"tool_choice"`
	IfBusy              string          `json:"if_busy"`
	Functions           []anyValue      `json:"functions"`
	Metadata            map[string]any  `json:"metadata"`
}

type (
	bodyMessage struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCalls  []openAICall    `json:"tool_calls"`
		ToolCallID string          `json:"tool_call_id"`
	}
	openAICall struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	streamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	// anyValue is counted, not read.
	anyValue struct{}
	// stopList is a string or several.
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
		return invalid("stop", "stop must be a string or an array of strings")
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

// request is the turn that the body asks for. Its Agent and Model stay empty:
// what the body's model names is found out elsewhere.
func (b *completionBody) request() (chat.Request, *failure) {
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
	if req.ResponseFormat, f = b.ResponseFormat.output(); f != nil {
		return chat.Request{}, f
	}
	req.Busy = b.IfBusy
	req.SessionMetadata = b.Metadata
	req.Query = b.Query
	req.Settings = llm.Settings{Temperature: b.Temperature, TopP: b.TopP, Stop: b.Stop, ReasoningEffort: b.ReasoningEffort}
	for _, n := range []*int{b.MaxTokens, b.MaxCompletionTokens} {
		if n != nil {
			req.Settings.MaxTokens = *n
		}
	}
	return req, nil
}

// check looks at everything but the messages.
func (b *completionBody) check() *failure {
	between := func(name string, v *float64, most float64) *failure {
		if v != nil && (*v < 0 || *v > most) {
			return invalid(name, "%s is %v; it goes from 0 to %v", name, *v, most)
		}
		return nil
	}
	positive := func(name string, v *int) *failure {
		if v != nil && *v < 1 {
			return invalid(name, "%s is %d; it must be 1 or more", name, *v)
		}
		return nil
	}
	for _, f := range []*failure{
		between("temperature", b.Temperature, 2), between("top_p", b.TopP, 1),
		positive("max_tokens", b.MaxTokens), positive("max_completion_tokens", b.MaxCompletionTokens),
		b.checkMetadata(),
	} {
		if f != nil {
			return f
		}
	}
	switch {
	case b.N != nil && *b.N != 1:
		return invalid("n", "n is %d; one answer is given to a request, so leave it out or send 1", *b.N)
	case len(b.Stop) > maxStops:
		return invalid("stop", "stop has %d entries; %d are the most", len(b.Stop), maxStops)
	case len(b.Functions) > 0:
		return invalid("functions", "functions are not read; send the same in tools: [{type: function, function: {name, description, parameters}}]")
	}
	return nil
}

func (b *completionBody) checkMetadata() *failure {
	if len(b.Metadata) > maxMetadata {
		return invalid("metadata", "metadata has %d keys; %d are the most", len(b.Metadata), maxMetadata)
	}
	for k, v := range b.Metadata {
		s, ok := v.(string)
		switch {
		case !ok:
			return invalid("metadata", "metadata.%s must be a string", cut(k))
		case utf8.RuneCountInString(k) > maxMetadataKey || utf8.RuneCountInString(s) > maxMetadataValue:
			return invalid("metadata", "metadata.%s is too long: a key has at most %d characters, a value %d",
				cut(k), maxMetadataKey, maxMetadataValue)
		}
	}
	return nil
}

// conversation takes the messages apart: system and developer messages are
// instructions for this request, the rest is divided by converse.
func (b *completionBody) conversation() (chat.Request, *failure) {
	var req chat.Request
	if len(b.Messages) == 0 && b.Query == nil {
		return req, missingMessages(`{"role":"user","content":"hello"}`)
	}
	var transcript []said
	users := 0
	for i := range b.Messages {
		m := &b.Messages[i]
		where := "messages[" + strconv.Itoa(i) + "]"
		one, f := m.said(where)
		switch {
		case f != nil:
			return req, f
		case one.role == llm.System:
			if one.text != "" {
				instruct(&req, one.text)
			}
			continue
		case one.role == llm.User:
			users++
		}
		transcript = append(transcript, one)
	}
	switch found := converse(transcript, &req); {
	case found || b.Query != nil:
		return req, nil
	case users == 0:
		return req, invalid("messages", "messages has no message of the user: there is nothing to answer")
	}
	return req, invalid("messages", "the last message of the user is empty: there is nothing to answer")
}

func missingMessages(example string) *failure {
	return &failure{
		status: http.StatusBadRequest, code: "missing_messages", param: "messages",
		message: `messages is missing; send at least one, as in "messages":[` + example + `]`,
	}
}

// said is the message as every protocol has it.
func (m *bodyMessage) said(where string) (said, *failure) {
	text, parts, f := m.read(where)
	out := said{text: text, parts: parts}
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
	case "tool", "function":
		out.role = llm.ToolRole
		if m.ToolCallID != "" {
			out.results = []chat.ToolResult{{CallID: m.ToolCallID, Content: text}}
		}
	default:
		return out, invalid("messages", "%s.role is %q; it must be user, assistant, system, developer or tool", where, cut(m.Role))
	}
	return out, nil
}
