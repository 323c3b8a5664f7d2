package openai

import (
	"cmp"
	"strconv"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// responsesWire names the reasoning that the Responses API understands.
const responsesWire = "openai-responses"

// appendResponses writes the body of a request to the Responses API. OpenAI stores
// nothing (store is false), so the conversation contains the encrypted reasoning.
func (m *Model) appendResponses(b []byte, req *llm.Request, without option) []byte {
	if b == nil {
		b = make([]byte, 0, bodySize(req))
	}
	b = append(b, `{"model":`...)
	b = wire.AppendString(b, m.model)
	b = append(b, `,"input":[`...)
	for i := range req.Messages {
		b = m.appendItems(b, &req.Messages[i], without)
	}
	b = append(b, ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i := range req.Tools {
			b = m.appendResponsesTool(separated(b), &req.Tools[i])
		}
		b = append(b, ']')
		b = appendToolChoice(b, req, without, `{"type":"function","name":`, `}`)
	}
	b = m.appendText(b, req, without)
	b = m.appendResponsesSettings(b, &req.Settings, without)
	b = m.appendExtras(b, req, without)
	if key := cacheKeyOf(req, without); key != "" {
		b = append(b, `,"prompt_cache_key":`...)
		b = wire.AppendString(b, key)
	}
	return append(b, `,"store":false,"stream":true}`...)
}

// appendText writes the form of the answer and its verbosity.
func (m *Model) appendText(b []byte, req *llm.Request, without option) []byte {
	start := len(b)
	b = append(b, `,"text":{`...)
	if o := req.Output; o != nil {
		b = append(b, `"format":{"type":"json_schema","name":`...)
		b = wire.AppendString(b, o.Name)
		b = append(b, `,"schema":`...)
		b = append(b, m.schemas.Fit(o.Schema)...)
		b = append(b, `,"strict":false},`...)
	}
	if v := req.Settings.Verbosity; v != "" && m.dialect.takes&llm.TakesVerbosity != 0 && without&optVerbosity == 0 {
		b = append(b, `"verbosity":`...)
		b = append(wire.AppendString(b, v), ',')
	}
	if b[len(b)-1] == '{' {
		return b[:start]
	}
	b[len(b)-1] = '}' // in place of the last comma
	return b
}

func (m *Model) appendResponsesSettings(b []byte, s *llm.Settings, without option) []byte {
	b = appendSampling(b, s, without)
	if limit := s.Limit(m.dialect.thinks); limit > 0 && without&optLimit == 0 {
		b = append(b, `,"max_output_tokens":`...)
		b = strconv.AppendInt(b, int64(limit), 10)
	}
	if without&optReasoning == 0 {
		b = append(b, `,"reasoning":{`...)
		if s.ReasoningEffort != "" && without&optEffort == 0 {
			b = append(b, `"effort":`...)
			b = append(wire.AppendString(b, s.ReasoningEffort), ',')
		}
		if without&optSummary == 0 {
			b = append(b, `"summary":"auto",`...)
		}
		if b[len(b)-1] == ',' {
			b = b[:len(b)-1]
		}
		b = append(b, `},"include":["reasoning.encrypted_content"]`...)
	}
	return b
}

// separated adds a comma unless the list has just been opened.
func separated(b []byte) []byte {
	if b[len(b)-1] == '[' {
		return b
	}
	return append(b, ',')
}

// appendItems writes a message as the items of the Responses API.
func (m *Model) appendItems(b []byte, msg *llm.Message, without option) []byte {
	if msg.Role == llm.ToolRole {
		b = append(separated(b), `{"type":"function_call_output","call_id":`...)
		b = wire.AppendString(b, msg.ToolCallID)
		b = append(b, `,"output":`...)
		if len(msg.Parts) == 0 {
			b = wire.AppendString(b, msg.Content)
		} else {
			b = m.appendInputs(b, msg, without)
		}
		return append(b, '}')
	}
	for i := range msg.Reasoning {
		b = appendReasoning(b, &msg.Reasoning[i])
	}
	switch {
	case msg.Role == llm.Assistant && msg.Content != "":
		b = append(separated(b), `{"role":"assistant","content":`...)
		b = append(wire.AppendString(b, msg.Content), '}')
	case msg.Role != llm.Assistant:
		b = append(separated(b), `{"role":`...)
		b = wire.AppendString(b, string(msg.Role))
		b = append(b, `,"content":`...)
		if len(msg.Parts) == 0 {
			b = wire.AppendString(b, msg.Content)
		} else {
			b = m.appendInputs(b, msg, without)
		}
		b = append(b, '}')
	}
	for _, c := range msg.ToolCalls {
		b = append(separated(b), `{"type":"function_call","call_id":`...)
		b = wire.AppendString(b, c.ID)
		b = append(b, `,"name":`...)
		b = wire.AppendString(b, c.Name)
		b = append(b, `,"arguments":`...)
		b = wire.AppendString(b, wire.SendableArguments(c.Arguments))
		b = append(b, '}')
	}
	return b
}

func appendReasoning(b []byte, r *llm.Reasoning) []byte {
	if r.Provider != responsesWire || r.Signature == "" {
		return b
	}
	b = append(separated(b), `{"type":"reasoning","id":`...)
	b = wire.AppendString(b, r.ID)
	b = append(b, `,"summary":[`...)
	if r.Text != "" {
		b = append(b, `{"type":"summary_text","text":`...)
		b = append(wire.AppendString(b, r.Text), '}')
	}
	b = append(b, `],"encrypted_content":`...)
	return append(wire.AppendString(b, r.Signature), '}')
}

// appendInputs writes a content of text, images and files.
func (m *Model) appendInputs(b []byte, msg *llm.Message, without option) []byte {
	b = append(b, '[')
	text := func(b []byte, s string) []byte {
		b = append(separated(b), `{"type":"input_text","text":`...)
		return append(wire.AppendString(b, s), '}')
	}
	if msg.Content != "" {
		b = text(b, msg.Content)
	}
	for i := range msg.Parts {
		p := &msg.Parts[i]
		switch {
		case !m.reads(p, without):
			b = text(b, wire.Omitted(p))
		case p.Kind == llm.Image:
			b = append(separated(b), `{"type":"input_image","image_url":`...)
			b = appendSource(b, p)
			// Servers that use OpenAI's types refuse an image without it.
			b = append(b, `,"detail":`...)
			b = append(wire.AppendString(b, cmp.Or(p.Detail, "auto")), '}')
		case p.URL != "":
			b = append(separated(b), `{"type":"input_file","file_url":`...)
			b = append(wire.AppendString(b, p.URL), '}')
		default:
			b = append(separated(b), `{"type":"input_file","filename":`...)
			b = wire.AppendString(b, fileName(p))
			b = append(b, `,"file_data":`...)
			b = append(appendSource(b, p), '}')
		}
	}
	return append(b, ']')
}

func (m *Model) appendResponsesTool(b []byte, t *llm.ToolSpec) []byte {
	b = append(b, `{"type":"function","name":`...)
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
	return append(b, `,"strict":false}`...)
}
