package gemini

import (
	"bytes"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// body returns the body of a request, without the given options.
func (m *Model) body(req *llm.Request, without option) []byte {
	if m.family.gemma {
		without |= optSystem
	}
	system, messages := m.system(req)
	b := append(make([]byte, 0, bodySize(req)), '{')
	if len(system) > 0 && without&optSystem == 0 {
		b = append(b, `"systemInstruction":{"parts":[`...)
		for _, text := range system {
			b = append(appendText(b, text), ',')
		}
		b = append(b[:len(b)-1], `]},`...)
		system = nil
	}
	b = append(b, `"contents":[`...)
	c := conversation{b: b, signed: m.family.signed() || without&optUnsigned != 0, ids: without&optIDs == 0, documents: !m.family.gemma}
	for _, text := range system {
		c.text(roleUser, systemMark+text)
	}
	c.messages(messages)
	b = append(c.close(), ']')
	if len(req.Tools) > 0 {
		b = append(b, `,"tools":[{"functionDeclarations":[`...)
		for i := range req.Tools {
			b = append(m.appendTool(b, &req.Tools[i], without), ',')
		}
		b = append(b[:len(b)-1], `]}]`...)
		switch req.ToolChoice {
		case "none":
			b = append(b, `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`...)
		case "required":
			b = append(b, `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"`...)
			if req.ToolName != "" {
				b = append(b, `,"allowedFunctionNames":[`...)
				b = append(wire.AppendString(b, req.ToolName), ']')
			}
			b = append(b, `}}`...)
		}
	}
	return append(m.appendConfig(b, req, without), '}')
}

// bodySize estimates the size of the body with little escaping.
func bodySize(req *llm.Request) int {
	n := 512
	for i := range req.Messages {
		m := &req.Messages[i]
		n += 128 + len(m.Content) + len(m.Content)/8
		for _, c := range m.ToolCalls {
			n += 256 + len(c.Arguments) + len(c.Signature)
		}
		for _, p := range m.Parts {
			n += 128 + len(p.Data)*4/3
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

// bindsAnswer reports whether the request sends the schema of its answer. Earlier models
// refuse it together with tools, so their prompt describes it.
func (m *Model) bindsAnswer(req *llm.Request) bool {
	return req.Output != nil && (len(req.Tools) == 0 || m.family.schemaWithTools())
}

// system returns the texts of the first system messages, and the other messages.
func (m *Model) system(req *llm.Request) (texts []string, rest []llm.Message) {
	rest = req.Messages
	for len(rest) > 0 && rest[0].Role == llm.System {
		if text := rest[0].Content; text != "" {
			texts = append(texts, text)
		}
		rest = rest[1:]
	}
	if req.Output != nil && !m.bindsAnswer(req) {
		texts = append(texts, "Give your final answer as JSON alone, which follows this JSON Schema:\n"+string(req.Output.Schema))
	}
	return texts, rest
}

func (m *Model) appendTool(b []byte, t *llm.ToolSpec, without option) []byte {
	b = append(b, `{"name":`...)
	b = wire.AppendString(b, t.Name)
	if t.Description != "" {
		b = append(b, `,"description":`...)
		b = wire.AppendString(b, t.Description)
	}
	switch {
	case len(t.Parameters) == 0:
	case without&optJSONSchema == 0:
		b = append(append(b, `,"parametersJsonSchema":`...), m.schemas.Fit(t.Parameters)...)
	default:
		schema := m.openAPI.Fit(t.Parameters)
		if bytes.Contains(schema, []byte(`"properties":{"`)) { // the API refuses an object without properties
			b = append(append(b, `,"parameters":`...), schema...)
		}
	}
	return append(b, '}')
}
