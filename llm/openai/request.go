package openai

import (
	"strconv"

	"p8/llm"
	"p8/llm/wire"
)

// appendRequest writes the body of a request. Schemas go out as they came in,
// byte by byte.
func (m *Model) appendRequest(b []byte, req *llm.Request) []byte {
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
		b = appendMessage(b, &req.Messages[i])
	}
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i := range req.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendTool(b, &req.Tools[i])
		}
		b = append(b, ']')
		if req.ToolChoice != "" {
			b = append(b, `,"tool_choice":`...)
			b = wire.AppendString(b, req.ToolChoice)
		}
	}
	if o := req.Output; o != nil {
		// Not strict: strict mode refuses schemas with optional fields and most
		// constraints, and the answer is validated anyway.
		b = append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":`...)
		b = wire.AppendString(b, o.Name)
		b = append(b, `,"schema":`...)
		b = append(b, o.Schema...)
		b = append(b, `,"strict":false}}`...)
	}
	b = m.appendSettings(b, &req.Settings)
	return append(b, `,"stream":true,"stream_options":{"include_usage":true}}`...)
}

// bodySize is enough for the body as long as little needs escaping.
func bodySize(req *llm.Request) int {
	n := 512
	for i := range req.Messages {
		m := &req.Messages[i]
		n += 128 + len(m.Content) + len(m.Content)/8
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

func appendMessage(b []byte, m *llm.Message) []byte {
	b = append(b, `{"role":`...)
	b = wire.AppendString(b, string(m.Role))
	if m.Content == "" && len(m.ToolCalls) > 0 {
		b = append(b, `,"content":null`...)
	} else {
		b = append(b, `,"content":`...)
		b = wire.AppendString(b, m.Content)
	}
	for i, c := range m.ToolCalls {
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
	if len(m.ToolCalls) > 0 {
		b = append(b, ']')
	}
	if m.Role == llm.ToolRole {
		b = append(b, `,"tool_call_id":`...)
		b = wire.AppendString(b, m.ToolCallID)
	}
	return append(b, '}')
}

func appendTool(b []byte, t *llm.ToolSpec) []byte {
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
		b = append(b, t.Parameters...)
	}
	return append(b, `}}`...)
}

func (m *Model) appendSettings(b []byte, s *llm.Settings) []byte {
	if s.Temperature != nil && !m.dialect.fixedSampling {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, *s.Temperature, 'f', -1, 64)
	}
	if s.TopP != nil && !m.dialect.fixedSampling {
		b = append(b, `,"top_p":`...)
		b = strconv.AppendFloat(b, *s.TopP, 'f', -1, 64)
	}
	if s.MaxTokens > 0 {
		if m.dialect.completionTokens {
			b = append(b, `,"max_completion_tokens":`...)
		} else {
			b = append(b, `,"max_tokens":`...)
		}
		b = strconv.AppendInt(b, int64(s.MaxTokens), 10)
	}
	for i, stop := range s.Stop {
		if i == 0 {
			b = append(b, `,"stop":[`...)
		} else {
			b = append(b, ',')
		}
		b = wire.AppendString(b, stop)
	}
	if len(s.Stop) > 0 {
		b = append(b, ']')
	}
	if s.ReasoningEffort != "" {
		b = append(b, `,"reasoning_effort":`...)
		b = wire.AppendString(b, s.ReasoningEffort)
	}
	return b
}
