package gemini

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// The roles of the API.
const (
	roleUser  = "user"
	roleModel = "model"
)

const (
	// systemMark is put before later system messages.
	systemMark = "[System] "
	// opening replaces a missing first message of the user, which the API requires.
	opening = "[Begin.]"
	// unsigned is the API's own mark for a call that none of its models made, as after a
	// change of models.
	unsigned = "skip_thought_signature_validator"
)

// conversation writes the contents of a request: it turns messages in any order into
// alternating turns of user and model.
type conversation struct {
	b    []byte
	role string // of the content that is being written, "" before the first
	// signed models want a signature with the first call of each step.
	signed bool
	// ids: calls and results have them.
	ids       bool
	documents bool
}

// part begins a part in a content of the role.
func (c *conversation) part(role string) {
	switch {
	case c.role == role:
		c.b = append(c.b, ',')
		return
	case c.role != "":
		c.b = append(c.b, `]},`...)
	case role == roleModel:
		c.text(roleUser, opening)
		c.b = append(c.b, `]},`...)
	}
	c.role = role
	c.b = append(c.b, `{"role":"`...)
	c.b = append(c.b, role...)
	c.b = append(c.b, `","parts":[`...)
}

// close ends the last content.
func (c *conversation) close() []byte {
	if c.role == "" {
		c.text(roleUser, opening)
	}
	return append(c.b, `]}`...)
}

// text writes a part of text, unless it is empty, which the API refuses.
func (c *conversation) text(role, text string) {
	if text != "" {
		c.part(role)
		c.b = appendText(c.b, text)
	}
}

func (c *conversation) messages(all []llm.Message) {
	for len(all) > 0 {
		m := &all[0]
		all = all[1:]
		if m.Role != llm.Assistant {
			c.other(m)
			continue
		}
		c.answer(m)
		if len(m.ToolCalls) > 0 {
			n := 0
			for n < len(all) && (all[n].Role == llm.ToolRole || all[n].Role == llm.System) {
				n++
			}
			c.results(m.ToolCalls, all[:n])
			all = all[n:]
		}
	}
}

// other writes a message that is not the model's. A result here belongs to no call and
// becomes text.
func (c *conversation) other(m *llm.Message) {
	switch {
	case m.Role == llm.System && m.Content != "":
		c.text(roleUser, systemMark+m.Content)
	case m.Role == llm.ToolRole:
		c.text(roleUser, "[Result of the tool "+m.Name+"] "+m.Content)
	default:
		c.text(roleUser, m.Content)
	}
	c.parts(m.Parts)
}

// answer writes a message of the model. A signature returns in its part; reasoning
// without a signature is only a summary and is left out.
func (c *conversation) answer(m *llm.Message) {
	signature := ""
	for _, r := range m.Reasoning {
		switch {
		case r.Provider != provider || r.Signature == "":
		case r.Text != "":
			c.said(r.Text, true, r.Signature)
		default:
			signature = r.Signature
		}
	}
	if m.Content != "" || signature != "" {
		c.said(m.Content, false, signature)
	}
	for i := range m.ToolCalls {
		c.call(&m.ToolCalls[i], i == 0)
	}
}

// said writes a text of the model.
func (c *conversation) said(text string, thought bool, signature string) {
	c.part(roleModel)
	c.b = append(c.b, `{"text":`...)
	c.b = wire.AppendString(c.b, text)
	if thought {
		c.b = append(c.b, `,"thought":true`...)
	}
	c.b = append(appendSignature(c.b, signature), '}')
}

// call writes a call that the model made.
func (c *conversation) call(call *llm.ToolCall, first bool) {
	c.part(roleModel)
	c.b = append(c.b, `{"functionCall":{`...)
	c.name(call)
	c.b = append(c.b, `,"args":`...)
	c.b = append(c.b, strings.ToValidUTF8(wire.SendableArguments(call.Arguments), "\ufffd")...)
	signature := call.Signature
	if signature == "" && first && c.signed {
		signature = unsigned
	}
	c.b = append(appendSignature(append(c.b, '}'), signature), '}')
}

func appendSignature(b []byte, signature string) []byte {
	if signature == "" {
		return b
	}
	b = append(b, `,"thoughtSignature":`...)
	return wire.AppendString(b, signature)
}

// name writes the common fields of a call and its result.
func (c *conversation) name(call *llm.ToolCall) {
	if c.ids && call.ID != "" {
		c.b = append(c.b, `"id":`...)
		c.b = append(wire.AppendString(c.b, call.ID), ',')
	}
	c.b = append(c.b, `"name":`...)
	c.b = wire.AppendString(c.b, llm.SafeName(call.Name))
}

// results writes one result for each call, in the order of the calls, as the API
// requires; then their images and documents; then the other messages between them.
func (c *conversation) results(calls []llm.ToolCall, follow []llm.Message) {
	results := make([]*llm.Message, len(calls))
	var rest []*llm.Message
	for i := range follow {
		if n := answered(calls, results, &follow[i]); n >= 0 {
			results[n] = &follow[i]
		} else {
			rest = append(rest, &follow[i])
		}
	}
	for i := range calls {
		c.part(roleUser)
		c.b = append(c.b, `{"functionResponse":{`...)
		c.name(&calls[i])
		c.b = append(c.b, `,"response":`...)
		if m := results[i]; m == nil {
			c.b = append(c.b, `{"error":"this call has no result"}`...)
		} else {
			c.b = appendResponse(c.b, m.Content)
		}
		c.b = append(c.b, `}}`...)
	}
	for i, m := range results {
		if m != nil && len(m.Parts) > 0 {
			c.text(roleUser, "[To the result of the tool "+calls[i].Name+" belongs:]")
			c.parts(m.Parts)
		}
	}
	for _, m := range rest {
		c.other(m)
	}
}

// answered returns the index of the call that a message answers, -1 if it answers no open
// call.
func answered(calls []llm.ToolCall, results []*llm.Message, m *llm.Message) int {
	if m.Role == llm.ToolRole {
		for i := range calls {
			if results[i] == nil && calls[i].ID == m.ToolCallID {
				return i
			}
		}
	}
	return -1
}

// appendResponse writes a result as an object, as the API requires. The API reads $ref
// in an object (such as a schema that a tool returns) as the name of a sent file and
// refuses it, so such a result is sent as text.
func appendResponse(b []byte, content string) []byte {
	text := strings.TrimSpace(content)
	valid := utf8.ValidString(text) && !strings.Contains(text, `"$ref"`) && json.Valid([]byte(text))
	if valid && text[0] == '{' {
		return append(b, text...)
	}
	b = append(b, `{"result":`...)
	if valid {
		b = append(b, text...)
	} else {
		b = wire.AppendString(b, content)
	}
	return append(b, '}')
}
