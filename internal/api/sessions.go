package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/p8-org/p8/store"
)

// message is a row of a session, its tool fields also under REMLight's names.
type message struct {
	store.Message
	Role          string          `json:"role" doc:"The message_type as REMLight knows it: tool_call and tool_response are both tool."`
	ToolCallID    string          `json:"tool_call_id,omitempty"`
	ToolName      string          `json:"tool_name,omitempty"`
	ToolArguments json.RawMessage `json:"tool_arguments,omitempty"`
}

func newMessage(m store.Message) message {
	out := message{Message: m, Role: m.Type}
	switch m.Type {
	case store.MessageToolCall, store.MessageToolResponse:
		out.Role = "tool"
		var call struct {
			Name      string          `json:"name"`
			ID        string          `json:"id"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if json.Unmarshal(m.ToolCalls, &call) == nil {
			out.ToolName, out.ToolCallID, out.ToolArguments = call.Name, call.ID, call.Arguments
		}
	}
	return out
}

type (
	listSessionsInput struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		Agent  string `query:"agent" maxLength:"255" doc:"Only sessions whose last agent it was."`
		Mode   string `query:"mode" maxLength:"50" doc:"Only sessions of this mode: chat, evaluation, …."`
	}
	sessionInput struct {
		ID string `path:"id" doc:"The session's id, as the client chose it."`
	}
	listMessagesInput struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		ID     string `path:"id" doc:"The session's id."`
	}
	messageInput struct {
		ID string `path:"id" doc:"The row's id, as events carried it in message_id."`
	}
	body[T any] struct{ Body T }
)

func (h *Handler) sessionRoutes(api huma.API) {
	huma.Register(api, resource("list-sessions", http.MethodGet, "/sessions", "Your sessions, the last used first", "sessions"), h.listSessions)
	huma.Register(api, resource("get-session", http.MethodGet, "/sessions/{id}", "One session", "sessions"), h.showSession)
	huma.Register(api, resource("list-messages", http.MethodGet, "/sessions/{id}/messages", "The rows of a session, the oldest first", "sessions"), h.listMessages)
	huma.Register(api, resource("get-message", http.MethodGet, "/messages/{id}", "One row of a session", "sessions"), h.showMessage)
}

func (h *Handler) listSessions(ctx context.Context, in *listSessionsInput) (*list[store.Session], error) {
	if h.o.Store == nil {
		return nil, noStore()
	}
	rows, next, err := h.o.Store.Sessions(ctx, store.SessionFilter{Agent: in.Agent, Mode: in.Mode, Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, h.restFailure(ctx, "session", err)
	}
	return newList(rows, query("agent", in.Agent, "mode", in.Mode), in.Limit, next), nil
}

func (h *Handler) showSession(ctx context.Context, in *sessionInput) (*body[store.Session], error) {
	if h.o.Store == nil {
		return nil, noStore()
	}
	s, err := h.o.Store.Session(ctx, in.ID)
	if err != nil {
		return nil, h.restFailure(ctx, "session", err)
	}
	return &body[store.Session]{s}, nil
}

// listMessages pages by the number of the row: the cursor is that of the last.
func (h *Handler) listMessages(ctx context.Context, in *listMessagesInput) (*list[message], error) {
	if h.o.Store == nil {
		return nil, noStore()
	}
	var after int64
	if in.Cursor != "" {
		var err error
		if after, err = strconv.ParseInt(in.Cursor, 10, 64); err != nil || after < 1 {
			return nil, invalid("cursor", "the cursor is not one that this list returned")
		}
	}
	rows, err := h.o.Store.Messages(ctx, in.ID, store.MessageFilter{AfterSeq: after, Limit: in.Limit + 1})
	if err != nil {
		return nil, h.restFailure(ctx, "session", err)
	}
	next := ""
	if len(rows) > in.Limit {
		rows = rows[:in.Limit]
		next = strconv.FormatInt(rows[in.Limit-1].Seq, 10)
	}
	out := make([]message, len(rows))
	for i := range rows {
		out[i] = newMessage(rows[i])
	}
	return newList(out, query(), in.Limit, next), nil
}

func (h *Handler) showMessage(ctx context.Context, in *messageInput) (*body[message], error) {
	if h.o.Store == nil {
		return nil, noStore()
	}
	m, err := h.o.Store.Message(ctx, in.ID)
	if err != nil {
		return nil, h.restFailure(ctx, "message", err)
	}
	return &body[message]{newMessage(m)}, nil
}
