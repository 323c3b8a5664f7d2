// Package sessions serves the caller's sessions: their messages, timeline and context,
// their summary on demand, and their deletion.
package sessions

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// Store has the caller's sessions. Implemented by *store.Store.
type Store interface {
	runs.Store
	Finder
	Sessions(ctx context.Context, f store.SessionFilter) (page []store.Session, next string, err error)
	DeleteSession(ctx context.Context, id string) error
	PatchSession(ctx context.Context, id string, p store.SessionPatch) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	Message(ctx context.Context, id string) (store.Message, error)
	Branches(ctx context.Context, sessionID string) ([]store.Branch, error)
	SharedSessions(ctx context.Context, limit int, cursor string) (page []store.Session, next string, err error)
	PutShare(ctx context.Context, x *store.Share) error
	Shares(ctx context.Context, sessionID string) ([]store.Share, error)
	DeleteShare(ctx context.Context, sessionID, id string) error
}

// Finder reads one session. Implemented by *store.Store.
type Finder interface {
	Session(ctx context.Context, id string) (store.Session, error)
}

// Timeline reads what happened in a session. Implemented by store.Diary.
type Timeline interface {
	Timeline(ctx context.Context, sessionID string, f store.TimelineFilter) ([]store.TimelineEvent, string, error)
}

// Previewer returns what the next turn of a session sends to the model. Implemented by
// *chat.Service.
type Previewer interface {
	// Preview fails with store.ErrNotFound for a session that is not the caller's.
	Preview(ctx context.Context, sessionID, agent string) (chat.Preview, error)
}

// Builder makes moments of a session's messages. Implemented by *memory.Builder.
type Builder interface {
	Build(ctx context.Context, sessionID string, threshold int) (memory.Built, error)
}

// Options are what the routes work with. Routes whose part is nil answer that the
// server has none.
type Options struct {
	Chat     runs.Chat
	Store    Store
	Timeline Timeline
	Preview  Previewer
	Brancher Brancher
	Builder  Builder
	// PublicURL is the server's address for clients; "" takes that of the request.
	PublicURL string
}

type handlers struct {
	api     *rest.API
	o       Options
	stopper *runs.Stopper
}

// Routes adds /sessions, /messages and /moments/session.
func Routes(api *rest.API, o Options) {
	h := &handlers{api: api, o: o, stopper: &runs.Stopper{Chat: o.Chat, Store: o.Store}}
	rest.Register(api, rest.Resource("list-sessions", http.MethodGet, "/sessions", "Your sessions, the most recently used first", "sessions"), h.list)
	rest.Register(api, rest.Resource("get-session", http.MethodGet, "/sessions/{id}", "One session", "sessions"), h.show)
	rest.Register(api, rest.Resource("list-messages", http.MethodGet, "/sessions/{id}/messages", "The rows of a session, the oldest first", "sessions"), h.listMessages)
	rest.Register(api, rest.Resource("get-message", http.MethodGet, "/messages/{id}", "One row of a session", "sessions"), h.showMessage)
	h.memoryRoutes()
	h.branchRoutes()
	h.shareRoutes()
}

type (
	listSessionsInput struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		Agent  string `query:"agent" maxLength:"255" doc:"Only sessions with this last agent."`
		Query  string `query:"q" maxLength:"500" doc:"Only sessions with all of these words in their title or in one message of yours or of an agent. Each then has a match with an excerpt."`
		Mode   string `query:"mode" maxLength:"128" doc:"Only sessions of this mode: chat, evaluation, or a client's own from X-Session-Type."`

		Shared string `query:"shared" enum:"with-me" doc:"with-me: the sessions that others have shared with you, each with its share; no other filter counts."`

		Archived   bool `query:"archived" doc:"The archived sessions instead of the others."`
		Background bool `query:"background" doc:"With sessions of p8's background work, such as dreams. They are left out by default, unless mode asks for them."`
	}
	sessionInput struct {
		ID string `path:"id" doc:"The session's id, which the client chose."`
	}
	listMessagesInput struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"How many rows to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		ID     string `path:"id" doc:"The session's id."`
		Branch string `query:"branch" maxLength:"255" doc:"A message: the rows of the newest branch that has it, instead of those of the current branch."`
	}
	messageInput struct {
		ID string `path:"id" doc:"The row's id, from message_id of an event."`
	}
)

func (h *handlers) list(ctx context.Context, in *listSessionsInput) (*rest.List[store.Session], error) {
	if h.o.Store == nil {
		return nil, problem.NoStore()
	}
	if in.Shared != "" {
		rows, next, err := h.o.Store.SharedSessions(ctx, in.Limit, in.Cursor)
		if err != nil {
			return nil, h.api.About(ctx, "session", err)
		}
		return rest.NewList(rows, rest.Query("shared", in.Shared), in.Limit, next), nil
	}
	if in.Query != "" && len(store.KeywordTerms(in.Query)) == 0 {
		return nil, problem.Invalid("q", "q has no word to search for; send words of the title, or of what was said")
	}
	rows, next, err := h.o.Store.Sessions(ctx, store.SessionFilter{
		Words: in.Query, Agent: in.Agent, Mode: in.Mode, Background: in.Background, Archived: in.Archived, Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return nil, h.api.About(ctx, "session", err)
	}
	query := rest.Query("q", in.Query, "agent", in.Agent, "mode", in.Mode, "background", rest.Yes(in.Background), "archived", rest.Yes(in.Archived))
	for i := range rows {
		_, rows[i].Metadata = memory.SplitState(rows[i].Metadata)
	}
	return rest.NewList(rows, query, in.Limit, next), nil
}

// sessionDetail is a session with the state that its agent and the client share.
type sessionDetail struct {
	store.Session
	State json.RawMessage `json:"state,omitempty" doc:"The state that the agent and the user's application share."`
}

func newDetail(s store.Session) sessionDetail {
	out := sessionDetail{Session: s}
	out.State, out.Metadata = memory.SplitState(s.Metadata)
	return out
}

func (h *handlers) show(ctx context.Context, in *sessionInput) (*rest.Body[sessionDetail], error) {
	if h.o.Store == nil {
		return nil, problem.NoStore()
	}
	s, err := h.o.Store.Session(ctx, in.ID)
	if err != nil {
		return nil, h.api.About(ctx, "session", err)
	}
	out := newDetail(s)
	if who, err := identity.From(ctx); err != nil || who.Shared.ID != "" {
		out.Metadata = nil // the owner's, and p8's own
	}
	return &rest.Body[sessionDetail]{Body: out}, nil
}

// message is a row of a session. Its tool fields also stand under REMLight's names.
type message struct {
	store.Message
	Role          string          `json:"role" doc:"The message_type in REMLight's terms: tool_call and tool_response are both tool."`
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

// listMessages pages by sequence number: the cursor is that of the page's last row.
func (h *handlers) listMessages(ctx context.Context, in *listMessagesInput) (*rest.List[message], error) {
	if h.o.Store == nil {
		return nil, problem.NoStore()
	}
	var after int64
	if in.Cursor != "" {
		var err error
		if after, err = strconv.ParseInt(in.Cursor, 10, 64); err != nil || after < 1 {
			return nil, problem.Invalid("cursor", "the cursor is not one that this list returned")
		}
	}
	rows, err := h.o.Store.Messages(ctx, in.ID, store.MessageFilter{AfterSeq: after, Limit: in.Limit + 1, Branch: in.Branch})
	if err != nil {
		noun := "session"
		if in.Branch != "" {
			noun = "session of yours, or no such message in it"
		}
		return nil, h.api.About(ctx, noun, err)
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
	return rest.NewList(out, rest.Query("branch", in.Branch), in.Limit, next), nil
}

func (h *handlers) showMessage(ctx context.Context, in *messageInput) (*rest.Body[message], error) {
	if h.o.Store == nil {
		return nil, problem.NoStore()
	}
	m, err := h.o.Store.Message(ctx, in.ID)
	if err != nil {
		return nil, h.api.About(ctx, "message", err)
	}
	return &rest.Body[message]{Body: newMessage(m)}, nil
}
