package telemetry

import (
	"encoding/json"
	"strconv"
)

// Message is a message of a conversation, for Op.Messages.
type Message struct {
	// Role is system, user, assistant or tool.
	Role string
	Text string
	// CallID is the call that a tool's message answers.
	CallID string
	// Calls are the tool calls of an assistant's message.
	Calls []Call
}

// Call is a tool call in a Message.
type Call struct{ ID, Name, Arguments string }

// maxMessages bounds the messages of a span that are attributes of their own, so that others find
// room. A span has the newest.
const maxMessages = 24

// Messages sets InputMessages or OutputMessages, which are contents: as JSON, and one by one as
// Phoenix shows them. It does nothing unless Content reports true.
func (o *Op) Messages(key string, list []Message) {
	if !o.Content() || len(list) == 0 {
		return
	}
	o.String(key, encode(list))
	prefix, whole := "llm.input_messages.", Input
	if key == OutputMessages {
		prefix, whole = "llm.output_messages.", Output
	}
	for i, m := range list[max(0, len(list)-maxMessages):] {
		at := prefix + strconv.Itoa(i) + ".message."
		o.String(at+"role", m.Role)
		o.String(at+"content", m.Text)
		o.String(at+"tool_call_id", m.CallID)
		for j, c := range m.Calls {
			if j == maxMessages {
				break
			}
			call := at + "tool_calls." + strconv.Itoa(j) + ".tool_call."
			o.String(call+"id", c.ID)
			o.String(call+"function.name", c.Name)
			o.String(call+"function.arguments", c.Arguments)
		}
	}
	o.String(whole, list[len(list)-1].Text)
}

// message is a message as the conventions for generative AI write it.
type message struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
}

// encode returns messages as JSON, without those that would not be kept.
func encode(list []Message) string {
	raw := []byte{'['}
	for i := range list {
		if len(raw) > maxText {
			break
		}
		if i > 0 {
			raw = append(raw, ',')
		}
		one, err := json.Marshal(list[i].parts())
		if err != nil {
			return ""
		}
		raw = append(raw, one...)
	}
	return string(append(raw, ']'))
}

// parts leaves out texts and calls that would not be kept.
func (m *Message) parts() message {
	out := message{Role: m.Role}
	text := cut(m.Text, maxText)
	if m.CallID != "" {
		out.Parts = append(out.Parts, part{Type: "tool_call_response", ID: m.CallID, Response: text})
	} else if text != "" {
		out.Parts = append(out.Parts, part{Type: "text", Content: text})
	}
	held := len(text)
	for _, c := range m.Calls {
		if held > maxText {
			break
		}
		arguments := cut(c.Arguments, maxText)
		out.Parts = append(out.Parts, part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: arguments})
		held += len(c.Name) + len(arguments)
	}
	return out
}
