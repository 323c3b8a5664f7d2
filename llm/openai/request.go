package openai

import (
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// appendRequest writes the body of a request.
func (m *Model) appendRequest(b []byte, req *llm.Request, without option) []byte {
	if b == nil {
		b = make([]byte, 0, bodySize(req))
	}
	b = append(b, `{"model":`...)
	b = wire.AppendString(b, m.model)
	b = append(b, `,"messages":[`...)
	for i := range req.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = m.appendMessage(b, &req.Messages[i], without)
		b = m.appendResultParts(b, req.Messages, i, without)
	}
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.appendTool(b, &req.Tools[i])
		}
		b = append(b, ']')
		b = appendToolChoice(b, req, without, `{"type":"function","function":{"name":`, `}}`)
	}
	if o := req.Output; o != nil {
		// Not strict: strict mode refuses schemas with optional fields and most
		// constraints, and the answer is validated anyway.
		b = append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":`...)
		b = wire.AppendString(b, o.Name)
		b = append(b, `,"schema":`...)
		b = append(b, m.schemas.Fit(o.Schema)...)
		b = append(b, `,"strict":false}}`...)
	}
	b = m.appendSettings(b, &req.Settings, without)
	b = m.appendExtras(b, req, without)
	if key := cacheKeyOf(req, without); key != "" {
		b = append(b, `,"prompt_cache_key":`...)
		b = wire.AppendString(b, key)
	}
	b = append(b, `,"stream":true`...)
	if without&optStreamOptions == 0 {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	return append(b, '}')
}

// bodySize estimates the size of the body with little escaping.
func bodySize(req *llm.Request) int {
	n := 512
	for i := range req.Messages {
		m := &req.Messages[i]
		n += 128 + len(m.Content) + len(m.Content)/8
		for j := range m.Parts {
			n += 128 + len(m.Parts[j].URL) + len(m.Parts[j].Data)*4/3
		}
		for _, c := range m.ToolCalls {
			n += 128 + len(c.Arguments) + len(c.Arguments)/4
		}
	}
	for i := range req.Tools {
		n += 128 + len(req.Tools[i].Description) + len(req.Tools[i].Parameters)
	}
	if req.Output != nil {
		n += len(req.Output.Schema)
	}
	return n
}

func (m *Model) appendMessage(b []byte, msg *llm.Message, without option) []byte {
	b = append(b, `{"role":`...)
	b = wire.AppendString(b, string(msg.Role))
	switch {
	case msg.Content == "" && len(msg.ToolCalls) > 0:
		b = append(b, `,"content":null`...)
	case len(msg.Parts) > 0 && msg.Role == llm.User:
		b = append(b, `,"content":`...)
		b = m.appendParts(b, msg.Content, msg.Parts, without)
	default:
		b = append(b, `,"content":`...)
		b = wire.AppendString(b, msg.Content)
	}
	if msg.Role == llm.Assistant && without&optForget != 0 {
		b = append(b, `,"reasoning_content":`...)
		b = wire.AppendString(b, thoughtOf(msg))
	}
	for i, c := range msg.ToolCalls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = wire.AppendString(b, c.ID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = wire.AppendString(b, c.Name)
		b = append(b, `,"arguments":`...)
		b = wire.AppendString(b, wire.SendableArguments(c.Arguments))
		b = append(b, `}}`...)
	}
	if len(msg.ToolCalls) > 0 {
		b = append(b, ']')
	}
	if msg.Role == llm.ToolRole {
		b = append(b, `,"tool_call_id":`...)
		b = wire.AppendString(b, msg.ToolCallID)
	}
	return append(b, '}')
}

// chatWire names the reasoning of chat completions.
const chatWire = "openai-chat"

// thoughtOf returns the reasoning before a message. If a model wants it back, every
// message must have some, also of earlier turns and other models: a blank is enough.
func thoughtOf(msg *llm.Message) string {
	for i := range msg.Reasoning {
		if r := &msg.Reasoning[i]; r.Provider == chatWire && r.Text != "" {
			return r.Text
		}
	}
	return " "
}

// appendToolChoice writes whether a tool must be called. A tool's name stands between open
// and end.
func appendToolChoice(b []byte, req *llm.Request, without option, open, end string) []byte {
	if req.ToolChoice == "" || without&optToolChoice != 0 {
		return b
	}
	b = append(b, `,"tool_choice":`...)
	if req.ToolName == "" || req.ToolChoice != "required" {
		return wire.AppendString(b, req.ToolChoice)
	}
	b = wire.AppendString(append(b, open...), req.ToolName)
	return append(b, end...)
}

func (m *Model) appendTool(b []byte, t *llm.ToolSpec) []byte {
	b = append(b, `{"type":"function","function":{"name":`...)
	b = wire.AppendString(b, t.Name)
	if t.Description != "" {
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, t.Description)
	}
	b = append(b, `,"parameters":`...)
	if len(t.Parameters) == 0 {
		b = append(b, `{"type":"object","properties":{}}`...)
	} else {
		b = append(b, m.schemas.Fit(t.Parameters)...)
	}
	return append(b, `}}`...)
}
