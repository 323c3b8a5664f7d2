package record

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// Rows makes the rows of one run. One goroutine uses it.
type Rows struct {
	RunID, SessionID string
	// Agent is the name of the agent that answers now.
	Agent string
	Now   func() time.Time
	NewID func() string

	// TraceID and SpanID are those of rows that no agent has a span for; Spans has the spans of
	// agents, nil for none.
	TraceID, SpanID string
	Spans           *Spans

	// asked maps the run of a delegated agent to the id of the call that asked it.
	asked map[string]string
}

// Heard notes which call asked a delegated agent, for the agent's rows.
func (r *Rows) Heard(e event.Event) {
	if d, ok := e.Data.(*event.ChildRunData); ok && d.Status == event.ChildStarted {
		if r.asked == nil {
			r.asked = make(map[string]string)
		}
		r.asked[e.RunID] = d.ToolCallID
	}
}

// LastName returns the name at the end of a path of agents.
func LastName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// User returns the row of the user's message.
func (r *Rows) User(id, text string, parts []llm.Part, at time.Time) (*store.Message, error) {
	row := &store.Message{
		ID: id, SessionID: r.SessionID, Type: store.MessageUser, Content: &text,
		TokenCount: llm.EstimateTokens(text), AgentName: r.Agent, RunID: r.RunID, CreatedAt: at,
		TraceID: r.TraceID, SpanID: r.SpanID,
	}
	return row, memory.Attach(row, parts)
}

// Steering returns the row of a user's message to a run that is under way.
func Steering(r *store.Run, agent, id, text string, at time.Time) *store.Message {
	return &store.Message{
		ID: id, SessionID: r.SessionID, Type: store.MessageUser, Content: &text, AgentName: agent,
		TokenCount: llm.EstimateTokens(text), RunID: r.ID, CreatedAt: at,
	}
}

// ClientResult returns the row of the result of a client's tool.
func (r *Rows) ClientResult(toolCallID, content string, at time.Time) *store.Message {
	return &store.Message{
		SessionID: r.SessionID, Type: store.MessageToolResponse, Content: &content, ToolCalls: callJSON("", toolCallID, nil),
		TokenCount: llm.EstimateTokens(content), AgentName: r.Agent, RunID: r.RunID, CreatedAt: at,
		TraceID: r.TraceID, SpanID: r.SpanID,
	}
}

// FromMessages returns the client's messages as the rows that would store them.
func FromMessages(messages []llm.Message, sessionID string) ([]store.Message, error) {
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

// Call returns the row of a tool call, which has no content.
func (r *Rows) Call(e event.Event, d *event.ToolCallData) *store.Message {
	row := r.of(e, r.NewID(), store.MessageToolCall)
	arguments := d.Arguments
	if d.Written != "" {
		arguments = json.RawMessage(d.Written)
	}
	row.ToolCalls = callJSON(d.Name, d.ID, arguments)
	row.TokenCount = llm.EstimateTokens(d.Name) + llm.EstimateTokens(string(arguments))
	return row
}

// Result returns the row of a tool's result as the model sees it.
func (r *Rows) Result(e event.Event, d *event.ToolCallData) *store.Message {
	row := r.of(e, cmp.Or(d.MessageID, r.NewID()), store.MessageToolResponse)
	row.Content = &d.Content
	row.ToolCalls = callJSON(d.Name, d.ID, nil)
	row.TokenCount = llm.EstimateTokens(d.Content)
	if d.Status == event.ToolFailed {
		row.Status = store.StatusError
	}
	return row
}

// New returns a row of the run. A delegated agent's row carries its path: it is kept for
// audit and is never part of the conversation.
func (r *Rows) New(id, path, kind string) *store.Message {
	row := &store.Message{
		ID: id, SessionID: r.SessionID, Type: kind, AgentName: r.Agent, RunID: r.RunID, CreatedAt: r.Now(),
	}
	if path != r.Agent {
		row.AgentPath, row.AgentName = path, LastName(path)
	}
	row.TraceID, row.SpanID = r.span(r.RunID)
	return row
}

// span returns the ids of the span of an agent's run; those of the rows if it has none.
func (r *Rows) span(runID string) (traceID, spanID string) {
	if traceID, spanID = r.Spans.of(runID); traceID == "" {
		return r.TraceID, r.SpanID
	}
	return traceID, spanID
}

// of returns a row of the agent that emitted an event.
func (r *Rows) of(e event.Event, id, kind string) *store.Message {
	row := r.New(id, e.Agent, kind)
	if e.RunID != "" && e.RunID != r.RunID {
		row.AgentRunID, row.ParentToolCallID = e.RunID, r.asked[e.RunID]
		row.TraceID, row.SpanID = r.span(e.RunID)
	}
	return row
}

// callJSON returns {name, id, arguments}, or {name, id}. Arguments that are not JSON
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
