package chat

import (
	"cmp"
	"encoding/json"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// inputRow is the row of the user's message.
func (j *job) inputRow() (*store.Message, error) {
	row := &store.Message{
		ID: j.InReplyTo, SessionID: j.SessionID, Type: store.MessageUser, Content: &j.input,
		TokenCount: llm.EstimateTokens(j.input), AgentName: j.name, RunID: j.RunID, CreatedAt: j.started,
	}
	return row, memory.Attach(row, j.req.Parts)
}

// resultRows are the rows of what the client's tools returned.
func (j *job) resultRows() []*store.Message {
	rows := make([]*store.Message, len(j.req.Results))
	for i := range rows {
		r := &j.req.Results[i]
		rows[i] = &store.Message{
			SessionID: j.SessionID, Type: store.MessageToolResponse, Content: &r.Content, ToolCalls: callJSON("", r.ToolCallID, nil),
			TokenCount: llm.EstimateTokens(r.Content), AgentName: j.name, RunID: j.RunID, CreatedAt: j.started,
		}
	}
	return rows
}

// clientRows are the rows that a client's own messages would have been.
func clientRows(messages []llm.Message, sessionID string) ([]store.Message, error) {
	rows := make([]store.Message, 0, len(messages))
	add := func(kind, content string, call json.RawMessage) {
		row := store.Message{SessionID: sessionID, Type: kind, ToolCalls: call}
		if kind != store.MessageToolCall {
			row.Content, row.TokenCount = &content, llm.EstimateTokens(content)
		}
		rows = append(rows, row)
	}
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case llm.User:
			add(store.MessageUser, m.Content, nil)
			if err := memory.Attach(&rows[len(rows)-1], m.Parts); err != nil {
				return nil, err
			}
		case llm.System:
			add(store.MessageSystem, m.Content, nil)
		case llm.ToolRole:
			add(store.MessageToolResponse, m.Content, callJSON(m.Name, m.ToolCallID, nil))
		case llm.Assistant:
			if m.Content != "" {
				add(store.MessageAssistant, m.Content, nil)
			}
			for _, c := range m.ToolCalls {
				add(store.MessageToolCall, "", callJSON(c.Name, c.ID, json.RawMessage(c.Arguments)))
			}
		}
	}
	return rows, nil
}

// callRow is the row of a tool call, which has no content.
func (r *recorder) callRow(path string, d *event.ToolCallData) *store.Message {
	row := r.row(r.o.NewID(), path, store.MessageToolCall)
	row.ToolCalls = callJSON(d.Name, d.ID, d.Arguments)
	row.TokenCount = llm.EstimateTokens(d.Name) + llm.EstimateTokens(string(d.Arguments))
	return row
}

// resultRow is the row of a tool's result as the model sees it.
func (r *recorder) resultRow(path string, d *event.ToolCallData) *store.Message {
	row := r.row(cmp.Or(d.MessageID, r.o.NewID()), path, store.MessageToolResponse)
	row.Content = &d.Content
	row.ToolCalls = callJSON(d.Name, d.ID, nil)
	row.TokenCount = llm.EstimateTokens(d.Content)
	if d.Status == event.ToolFailed {
		row.Status = store.StatusError
	}
	return row
}

// row is a new row of this run. A delegated agent's carries its path: it is
// kept for audit and never part of the conversation.
func (r *recorder) row(id, path, kind string) *store.Message {
	row := &store.Message{
		ID: id, SessionID: r.SessionID, Type: kind, AgentName: r.name, RunID: r.RunID, CreatedAt: r.o.Now(),
	}
	if path != r.name {
		row.AgentPath, row.AgentName = path, lastName(path)
	}
	return row
}

// callJSON is {name, id, arguments}, or {name, id}. Arguments that are not JSON
// are kept as text.
func callJSON(name, id string, arguments json.RawMessage) json.RawMessage {
	const most = 48
	b := make([]byte, 0, most+len(name)+len(id)+len(arguments))
	b = appendQuoted(append(b, `{"name":`...), name)
	b = appendQuoted(append(b, `,"id":`...), id)
	if arguments != nil {
		b = append(b, `,"arguments":`...)
		if json.Valid(arguments) {
			b = append(b, arguments...)
		} else {
			b = appendQuoted(b, string(arguments))
		}
	}
	return append(b, '}')
}

// appendQuoted writes a JSON string; names and ids rarely need an escape.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			if quoted, err := json.Marshal(s); err == nil {
				return append(b, quoted...)
			}
			return append(b, `""`...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
