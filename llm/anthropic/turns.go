package anthropic

import (
	"strconv"
	"unicode/utf8"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/internal/wire"
)

// Texts in places where the API requires some and the conversation has none.
const (
	begunEarlier = "[System] The conversation began earlier."
	goOn         = "Continue."
	noResult     = "[no result: the call was interrupted]"
)

// turns writes messages so that users and assistants alternate.
type turns struct {
	b      []byte
	role   string // of the message that is open, "" for none
	blocks int    // in it
	ids    ids
	plan   *plan
	model  string
}

// appendConversation writes everything but the system prompt. The API requires a user's
// message first and last, no empty text, and results of all calls in the next message;
// what is missing is filled in.
func appendConversation(b []byte, messages []llm.Message, model string, p *plan) []byte {
	t := turns{b: append(b, '['), model: model, plan: p, ids: ids{seen: map[string]bool{}}}
	head := headOf(messages)
	for i := 0; i < len(messages); {
		m := &messages[i]
		if m.Role != llm.Assistant {
			if i >= head || m.Role != llm.System {
				t.aside(m)
			}
			i++
			continue
		}
		next := i + 1
		for next < len(messages) && messages[next].Role != llm.Assistant {
			next++
		}
		t.round(m, messages[i+1:next], max(head-i-1, 0))
		i = next
	}
	if t.role != "user" {
		t.open("user")
		t.text(goOn)
	}
	return append(appendMark(t.b, p.ttl), `]}]`...)
}

// open makes sure that a message of the role is open.
func (t *turns) open(role string) {
	if t.role == role {
		return
	}
	switch {
	case t.role != "":
		t.b = append(t.b, `]},`...)
	case role == "assistant":
		t.open("user")
		t.text(begunEarlier)
		t.open(role)
		return
	}
	t.b = append(t.b, `{"role":"`...)
	t.b = append(t.b, role...)
	t.b = append(t.b, `","content":[`...)
	t.role, t.blocks = role, 0
}

// block begins a block of the open message.
func (t *turns) block() {
	if t.blocks > 0 {
		t.b = append(t.b, ',')
	}
	t.blocks++
}

func (t *turns) text(s string) {
	t.block()
	t.b = appendText(t.b, s)
}

// aside writes a message that is not the assistant's and answers no call.
func (t *turns) aside(m *llm.Message) {
	text := m.Content
	switch m.Role {
	case llm.System:
		if blank(text) {
			return
		}
		text = "[System] " + text
	case llm.ToolRole:
		text = "[Result of " + llm.SafeName(m.Name) + "] " + text
	}
	t.open("user")
	if !blank(text) || len(m.Parts) == 0 {
		t.text(orEmpty(text))
	}
	for i := range m.Parts {
		t.block()
		t.b = appendPart(t.b, &m.Parts[i])
	}
}

// round writes an assistant's message and all messages until the next one, the results
// of its calls first. System messages among the first head of them are already in the
// system prompt.
func (t *turns) round(m *llm.Message, rest []llm.Message, head int) {
	t.assistant(m)
	used := make([]bool, len(rest))
	for i := range m.ToolCalls {
		var result *llm.Message
		for n := range rest {
			if !used[n] && rest[n].Role == llm.ToolRole && rest[n].ToolCallID == m.ToolCalls[i].ID {
				used[n], result = true, &rest[n]
				break
			}
		}
		t.open("user")
		t.result(t.ids.of(i), result)
	}
	for n := range rest {
		if !used[n] && (n >= head || rest[n].Role != llm.System) {
			t.aside(&rest[n])
		}
	}
}

// assistant writes reasoning, text and calls, each block of reasoning in its place.
func (t *turns) assistant(m *llm.Message) {
	t.ids.next(m.ToolCalls)
	text, calls := 0, 0
	upTo := func(endText, endCalls int) {
		endText = max(min(endText, len(m.Content)), text)
		for endText > text && endText < len(m.Content) && !utf8.RuneStart(m.Content[endText]) {
			endText-- // the text was changed since
		}
		if piece := m.Content[text:endText]; !blank(piece) {
			t.open("assistant")
			t.text(piece)
		}
		text = endText
		for ; calls < min(endCalls, len(m.ToolCalls)); calls++ {
			t.open("assistant")
			t.block()
			c := &m.ToolCalls[calls]
			t.b = append(t.b, `{"type":"tool_use","id":`...)
			t.b = wire.AppendString(t.b, t.ids.of(calls))
			t.b = append(t.b, `,"name":`...)
			t.b = wire.AppendString(t.b, llm.SafeName(c.Name))
			t.b = append(t.b, `,"input":`...)
			t.b = append(t.b, wire.SendableArguments(c.Arguments)...)
			t.b = append(t.b, '}')
		}
	}
	if t.plan.thoughts {
		for i := range m.Reasoning {
			r := &m.Reasoning[i]
			if !sendable(r, t.model) {
				continue
			}
			upTo(placeOf(r))
			t.open("assistant")
			t.block()
			t.b = appendThought(t.b, r)
		}
	}
	upTo(len(m.Content), len(m.ToolCalls))
}

// result writes the result of a call.
func (t *turns) result(id string, m *llm.Message) {
	t.block()
	t.b = append(t.b, `{"type":"tool_result","tool_use_id":`...)
	t.b = wire.AppendString(t.b, id)
	switch {
	case m == nil:
		t.b = append(t.b, `,"content":`...)
		t.b = wire.AppendString(t.b, noResult)
	case len(m.Parts) > 0:
		t.b = append(t.b, `,"content":[`...)
		if !blank(m.Content) {
			t.b = append(appendText(t.b, m.Content), ',')
		}
		for i := range m.Parts {
			if i > 0 {
				t.b = append(t.b, ',')
			}
			t.b = appendPart(t.b, &m.Parts[i])
		}
		t.b = append(t.b, ']')
	case !blank(m.Content):
		t.b = append(t.b, `,"content":`...)
		t.b = wire.AppendString(t.b, m.Content)
	}
	t.b = append(t.b, '}')
}

// ids maps the ids of calls to ids that the API accepts: of [A-Za-z0-9_-], unique in the
// conversation. Models of other providers, and several runs, may have used one twice.
type ids struct {
	seen    map[string]bool
	message []string
	count   int
}

// next adds the calls of another message.
func (s *ids) next(calls []llm.ToolCall) {
	s.message = s.message[:0]
	for i := range calls {
		s.count++
		id := calls[i].ID
		if id == "" || s.seen[id] || llm.SafeName(id) != id {
			id = "toolu_p8_" + strconv.Itoa(s.count)
		}
		s.seen[id] = true
		s.message = append(s.message, id)
	}
}

// of returns the id of the call with this index.
func (s *ids) of(i int) string { return s.message[i] }
