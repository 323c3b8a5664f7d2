package inbound

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/stream"
)

// Response is the body of a request to OpenAI's Responses API. What p8 cannot do is
// refused by name.
type Response struct {
	Model              string          `json:"model"`
	Input              json.RawMessage `json:"input"`
	Instructions       *string         `json:"instructions"`
	PreviousResponseID string          `json:"previous_response_id"`
	Conversation       conversation    `json:"conversation"`
	Stream             bool            `json:"stream"`
	Background         bool            `json:"background"`
	Store              *bool           `json:"store"`
	Tools              []responseTool  `json:"tools"`
	ToolChoice         json.RawMessage `json:"tool_choice"`
	ParallelToolCalls  *bool           `json:"parallel_tool_calls"`
	Text               *responseText   `json:"text"`
	Reasoning          *reasoning      `json:"reasoning"`
	Temperature        *float64        `json:"temperature"`
	TopP               *float64        `json:"top_p"`
	MaxOutputTokens    *int            `json:"max_output_tokens"`
	Metadata           map[string]any  `json:"metadata"`
	User               *string         `json:"user"`
	Include            []string        `json:"include"`
	Truncation         string          `json:"truncation"`
	ServiceTier        string          `json:"service_tier"`
	TopLogprobs        int             `json:"top_logprobs"`
	MaxToolCalls       *int            `json:"max_tool_calls"`
	Prompt             json.RawMessage `json:"prompt"`
	// IfBusy is p8's own.
	IfBusy string `json:"if_busy"`
	// StreamOptions changes nothing: it asks for padding, which p8 does not send.
	StreamOptions        json.RawMessage `json:"stream_options"`
	PromptCacheKey       string          `json:"prompt_cache_key"`
	PromptCacheRetention json.RawMessage `json:"prompt_cache_retention"`
	SafetyIdentifier     string          `json:"safety_identifier"`

	read items
}

type (
	// conversation is an id, or an object with one.
	conversation string
	// responseTool is a tool of the client, in the flat form.
	responseTool struct {
		Type string `json:"type"`
		clientTool
	}
	responseText struct {
		Format *struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
		Verbosity string `json:"verbosity"`
	}
	reasoning struct {
		Effort          string `json:"effort"`
		Summary         string `json:"summary"`
		GenerateSummary string `json:"generate_summary"`
		Context         string `json:"context"`
	}
)

func (c *conversation) UnmarshalJSON(b []byte) error {
	if web.IsObject(b) {
		return json.Unmarshal(b, &struct {
			ID *conversation `json:"id"`
		}{c})
	}
	return json.Unmarshal(b, (*string)(c))
}

// Example answers a client that sent nothing.
func (*Response) Example() string { return `{"model":"general","input":"hello"}` }

// Named reports whether the body names the session, directly or by a response.
func (b *Response) Named() bool { return b.Conversation != "" || b.Previous() != "" }

// Previous returns the id of the response that the body continues, "" for none: the
// previous_response_id, or the response of the last item that the input refers to.
func (b *Response) Previous() string {
	if b.PreviousResponseID != "" {
		return b.PreviousResponseID
	}
	if b.Conversation != "" {
		return ""
	}
	return b.read.previous
}

// Kept reports whether the response is kept for a later request.
func (b *Response) Kept() bool { return b.Store == nil || *b.Store }

// Answers returns the answers to approvals.
func (b *Response) Answers() []Answer { return b.read.answers }

// Left returns the responses whose calls the input answers without continuing them.
func (b *Response) Left() []string {
	if b.Named() {
		return nil
	}
	return b.read.left
}

// Request returns the turn that the body asks for. Its Agent and Model stay empty: the
// body's model may name either.
func (b *Response) Request() (req chat.Request, p *problem.Problem) {
	if p = b.check(); p != nil {
		return req, p
	}
	if b.Instructions != nil && *b.Instructions != "" {
		Instruct(&req, *b.Instructions)
	}
	if p = b.readItems(&req); p != nil {
		return req, p
	}
	if req.ClientTools, p = b.tools(); p != nil {
		return req, p
	}
	if len(b.ToolChoice) > 0 {
		var choice flatChoice
		if p = decode(b.ToolChoice, &choice); p != nil {
			return req, p
		}
		req.ToolChoice = run.ToolChoice(choice)
	}
	req.Settings = llm.Settings{Temperature: b.Temperature, TopP: b.TopP}
	if b.MaxOutputTokens != nil {
		req.Settings.MaxTokens = *b.MaxOutputTokens
	}
	if b.Reasoning != nil {
		req.Settings.ReasoningEffort = b.Reasoning.Effort
	}
	b.like().addParameters(&req.Settings)
	if p = b.text(&req); p != nil {
		return req, p
	}
	req.Busy = b.IfBusy
	return req, about(&req, b.Metadata)
}

// decode reads a field whose type words its own problems.
func decode(raw json.RawMessage, v any) *problem.Problem {
	var p *problem.Problem
	if err := json.Unmarshal(raw, v); err != nil && !errors.As(err, &p) {
		p = problem.Invalid("tool_choice", "tool_choice must be %s", flatForms)
	}
	return p
}

// text reads the form of the answer.
func (b *Response) text(req *chat.Request) (p *problem.Problem) {
	if b.Text == nil {
		return nil
	}
	f := b.Text.Format
	if f == nil {
		return nil
	}
	switch f.Type {
	case "", "text":
	case "json_object":
		req.ResponseFormat = anyObject()
	case "json_schema":
		req.ResponseFormat, p = schemaOutput("text.format", "text.format.schema", f.Name, f.Schema)
	default:
		p = problem.Invalid("text.format", "text.format.type is %q; it is text, json_object or json_schema", web.Cut(f.Type))
	}
	return p
}

// tools returns the client's tools.
func (b *Response) tools() ([]llm.ToolSpec, *problem.Problem) {
	all := make([]clientTool, len(b.Tools))
	for i, t := range b.Tools {
		if t.Type != "function" {
			return nil, problem.Invalid("tools", "tools[%d] is of type %q; p8 has no tools of OpenAI's own: send functions, which the client runs, and name other tools in the agent's document", i, web.Cut(t.Type))
		}
		all[i] = t.clientTool
	}
	return specs(all)
}

// Echo returns the fields that the response repeats.
func (b *Response) Echo() *stream.ResponseRequest {
	out := stream.NewResponseRequest()
	out.Background, out.Store, out.Instructions, out.MaxOutputTokens = b.Background, b.Kept(), b.Instructions, b.MaxOutputTokens
	out.Temperature, out.TopP, out.User = b.Temperature, b.TopP, b.User
	for k, v := range b.Metadata {
		out.Metadata[k], _ = v.(string)
	}
	if b.PreviousResponseID != "" {
		out.PreviousResponseID = &b.PreviousResponseID
	}
	if b.Reasoning != nil && b.Reasoning.Effort != "" {
		out.Reasoning.Effort = &b.Reasoning.Effort
	}
	if b.ParallelToolCalls != nil {
		out.ParallelToolCalls = *b.ParallelToolCalls
	}
	if b.Truncation != "" {
		out.Truncation = b.Truncation
	}
	if choice := bytes.TrimSpace(b.ToolChoice); len(choice) > 0 && string(choice) != "null" {
		out.ToolChoice = b.ToolChoice
	}
	if b.Text != nil && b.Text.Format != nil {
		out.Text, _ = json.Marshal(b.Text) // it was read as JSON
	}
	if len(b.Tools) > 0 {
		out.Tools, _ = json.Marshal(b.Tools) // it was read as JSON
	}
	return out
}
