package store

import (
	"encoding/json"
	"time"
)

// The states of a request.
const (
	RequestOpen     = "open"
	RequestAccepted = "accepted"
	RequestDeclined = "declined"
	// RequestCancelled: the user began another turn, or the run was stopped.
	RequestCancelled = "cancelled"
	RequestExpired   = "expired"
)

// RunRequest is a question of a run to its user, with the record of its answer.
type RunRequest struct {
	ID        string `json:"id"`
	TenantID  string `json:"-"`
	UserID    string `json:"user_id,omitempty"`
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	// Kind is event.RequestApproval or event.RequestElicitation.
	Kind string `json:"kind"`
	// AgentPath is the agent that asks, ToolName and ToolCallID the call that waits.
	AgentPath  string          `json:"agent_path"`
	ToolName   string          `json:"tool_name,omitempty"`
	ToolCallID string          `json:"tool_id,omitempty"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Message    string          `json:"message"`
	Schema     json.RawMessage `json:"response_schema,omitempty"`
	// Status is RequestOpen until it is decided.
	Status string `json:"status"`
	// Content is the data of an accepted elicitation, Comment the user's comment.
	Content json.RawMessage `json:"content,omitempty"`
	Comment string          `json:"comment,omitempty"`
	// DecidedBy is the user who decided, "" for an anonymous one; DecidedVia is the way:
	// http, cli, ag-ui, ….
	DecidedBy  string    `json:"decided_by,omitempty"`
	DecidedVia string    `json:"decided_via,omitempty"`
	DecidedAt  time.Time `json:"decided_at,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	ExpiresAt  time.Time `json:"expires_at,omitzero"`
}

// RequestFilter chooses requests; the oldest come first.
type RequestFilter struct {
	RunID, SessionID string
	// Status, "" for all.
	Status string
	Limit  int
	Cursor string
}

// Decision is an answer to a request.
type Decision struct {
	// Status is RequestAccepted, RequestDeclined or RequestCancelled.
	Status  string
	Content json.RawMessage
	Comment string
	Via     string
}

const requestColumns = `id, tenant_id, user_id, run_id, session_id, kind, agent_path, tool_name, tool_id, arguments, message,
	response_schema, status, content, comment, decided_by, decided_via, decided_at, created_at, expires_at`

func (r *RunRequest) columns() []any {
	return []any{&r.ID, &r.TenantID, &r.UserID, &r.RunID, &r.SessionID, &r.Kind, &r.AgentPath, &r.ToolName, &r.ToolCallID, &r.Arguments, &r.Message,
		&r.Schema, &r.Status, &r.Content, &r.Comment, &r.DecidedBy, &r.DecidedVia, &r.DecidedAt, &r.CreatedAt, &r.ExpiresAt}
}
