package openai

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"p8/llm"
)

// appendRequest writes the body of a request. Schemas go out as they came in,
// byte by byte.
func (m *Model) appendRequest(b []byte, req *llm.Request) []byte {
	if b == nil {
		b = make([]byte, 0, bodySize(req))
	}
	b = append(b, `{"model":`...)
	b = appendString(b, m.model)
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
			b = appendString(b, req.ToolChoice)
		}
	}
	if o := req.Output; o != nil {
		// Not strict: strict mode refuses schemas with optional fields and most
		// constraints, and the answer is validated anyway.
		b = append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":`...)
		b = appendString(b, o.Name)
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
	b = appendString(b, string(m.Role))
	if m.Content == "" && len(m.ToolCalls) > 0 {
		b = append(b, `,"content":null`...)
	} else {
		b = append(b, `,"content":`...)
		b = appendString(b, m.Content)
	}
	for i, c := range m.ToolCalls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = appendString(b, c.ID)
		b = append(b, `,"type":"function","function":{"name":`...)
		b = appendString(b, c.Name)
		b = append(b, `,"arguments":`...)
		b = appendString(b, sendable(c.Arguments))
		b = append(b, `}}`...)
	}
	if len(m.ToolCalls) > 0 {
		b = append(b, ']')
	}
	if m.Role == llm.ToolRole {
		b = append(b, `,"tool_call_id":`...)
		b = appendString(b, m.ToolCallID)
	}
	return append(b, '}')
}

// sendable is the arguments of an earlier call as every server takes them back:
// an object. A model may have written what is none, or no JSON at all; Ollama
// and vLLM parse the history and would refuse the whole conversation for it.
func sendable(arguments string) string {
	switch text := strings.TrimSpace(arguments); {
	case text == "" || text == "null":
		return "{}"
	case text[0] != '{' || !json.Valid([]byte(text)):
		return string(append(appendString([]byte(`{"not_an_object":`), arguments), '}'))
	}
	return arguments
}

func appendTool(b []byte, t *llm.ToolSpec) []byte {
	b = append(b, `{"type":"function","function":{"name":`...)
	b = appendString(b, t.Name)
	if t.Description != "" {
		b = append(b, `,"description":`...)
		b = appendString(b, t.Description)
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
		b = appendString(b, stop)
	}
	if len(s.Stop) > 0 {
		b = append(b, ']')
	}
	if s.ReasoningEffort != "" {
		b = append(b, `,"reasoning_effort":`...)
		b = appendString(b, s.ReasoningEffort)
	}
	return b
}

// appendString writes a JSON string. Unlike encoding/json it leaves <, > and &
// alone, which a model reads better, and it allocates nothing.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[start:i]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ':
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		default: // a byte that is no UTF-8
			b = append(b, `\ufffd`...)
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}
