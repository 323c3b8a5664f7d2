package anthropic

import (
	"strconv"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// appendRequest writes the body of a request.
//
// The order is that of the provider's cache: tools, system, messages. A mark at the end
// of each lets the next request read this one's cache. Another mark after the first
// system message, the agent's prompt, serves conversations that differ after it.
func (m *Model) appendRequest(b []byte, req *llm.Request, p *plan) []byte {
	if b == nil {
		b = make([]byte, 0, bodySize(req))
	}
	b = append(b, `{"model":`...)
	b = wire.AppendString(b, m.model)
	b = append(b, `,"max_tokens":`...)
	b = strconv.AppendInt(b, int64(p.maxTokens), 10)
	b = m.appendTools(b, p)
	head := headOf(req.Messages)
	b = appendSystem(b, req.Messages[:head], p)
	b = append(b, `,"messages":`...)
	b = appendConversation(b, req.Messages, m.model, p)
	b = appendSettings(b, p)
	return append(b, `,"stream":true}`...)
}

// bodySize estimates the size of the body with little escaping.
func bodySize(req *llm.Request) int {
	n := 1024
	for i := range req.Messages {
		m := &req.Messages[i]
		n += 128 + len(m.Content) + len(m.Content)/8
		for _, c := range m.ToolCalls {
			n += 128 + len(c.Arguments)
		}
		for _, p := range m.Parts {
			n += 128 + len(p.Data)*4/3
		}
		for _, r := range m.Reasoning {
			n += 64 + len(r.Text) + len(r.Signature)
		}
	}
	for i := range req.Tools {
		n += 128 + len(req.Tools[i].Description) + len(req.Tools[i].Parameters)
	}
	return n
}

// appendMark adds the cache mark to the JSON object at the end of b.
func appendMark(b []byte, ttl string) []byte {
	if ttl == "" {
		return b
	}
	b = append(b[:len(b)-1], `,"cache_control":{"type":"ephemeral"`...)
	if ttl == "1h" {
		b = append(b, `,"ttl":"1h"`...)
	}
	return append(b, `}}`...)
}

func (m *Model) appendTools(b []byte, p *plan) []byte {
	if len(p.tools) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i := range p.tools {
		t := &p.tools[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = wire.AppendString(b, t.Name)
		if t.Description != "" {
			b = append(b, `,"description":`...)
			b = wire.AppendString(b, t.Description)
		}
		b = append(b, `,"input_schema":`...)
		if len(t.Parameters) == 0 {
			b = append(b, `{"type":"object","properties":{}}`...)
		} else {
			b = append(b, m.schemas.Fit(t.Parameters)...)
		}
		b = append(b, '}')
	}
	b = append(appendMark(b, p.ttl), ']')
	if p.choice != "" {
		b = append(b, `,"tool_choice":{"type":`...)
		b = wire.AppendString(b, p.choice)
		if p.toolName != "" {
			b = append(b, `,"name":`...)
			b = wire.AppendString(b, p.toolName)
		}
		if p.serial {
			b = append(b, `,"disable_parallel_tool_use":true`...)
		}
		b = append(b, '}')
	}
	return b
}

// headOf returns the number of messages before the first one of a user. The system
// messages among them are the system prompt.
func headOf(messages []llm.Message) int {
	for i := range messages {
		if messages[i].Role == llm.User {
			return i
		}
	}
	return len(messages)
}

func appendSystem(b []byte, head []llm.Message, p *plan) []byte {
	first, last := 0, 0
	for i := range head {
		if head[i].Role != llm.System || blank(head[i].Content) {
			continue
		}
		if last == 0 {
			b = append(b, `,"system":[`...)
		} else {
			if last == first {
				b = appendMark(b, p.ttl)
			}
			b = append(b, ',')
		}
		b = appendText(b, head[i].Content)
		last = len(b)
		if first == 0 {
			first = last
		}
	}
	if last == 0 {
		return b
	}
	return append(appendMark(b, p.ttl), ']')
}

func appendSettings(b []byte, p *plan) []byte {
	if p.temperature != nil {
		b = append(b, `,"temperature":`...)
		b = strconv.AppendFloat(b, *p.temperature, 'f', -1, 64)
	}
	if p.topP != nil {
		b = append(b, `,"top_p":`...)
		b = strconv.AppendFloat(b, *p.topP, 'f', -1, 64)
	}
	for i, stop := range p.stop {
		if i == 0 {
			b = append(b, `,"stop_sequences":[`...)
		} else {
			b = append(b, ',')
		}
		b = wire.AppendString(b, stop)
	}
	if len(p.stop) > 0 {
		b = append(b, ']')
	}
	if p.thinking != "" {
		b = append(b, `,"thinking":{"type":`...)
		b = wire.AppendString(b, p.thinking)
		switch {
		case p.thinking == "enabled":
			b = append(b, `,"budget_tokens":`...)
			b = strconv.AppendInt(b, int64(p.budget), 10)
		case p.thinking == "adaptive" && !p.silent:
			// Newer models send the text of their reasoning only on request.
			b = append(b, `,"display":"summarized"`...)
		}
		b = append(b, '}')
	}
	if p.effort != "" {
		b = append(b, `,"output_config":{"effort":`...)
		b = append(wire.AppendString(b, p.effort), '}')
	}
	return b
}
