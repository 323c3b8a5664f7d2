// Package identity holds the caller's identity: user, tenant, session.
//
// An [Identity] is made once, where a request enters (from a verified token, from
// headers that the deployment trusts, or from the command line). [With] puts it into
// the context and [From] reads it there. No store method works without one, and no
// model can choose one: tools take it from the context, and no tool schema has a user
// id.
//
// A user id is a UUID5 of the e-mail ([UserID]); other opaque ids are accepted. A
// caller without a user id is anonymous and sees shared rows only (user_id IS NULL).
package identity

import (
	"context"
	"errors"
	"strings"
	"time"
)

// DefaultTenant is the tenant of a deployment that does not name any.
const DefaultTenant = "default"

// SystemTenant is the tenant of p8's own rows, such as built-in documents. Every tenant reads them as shared rows; only an identity of
// this tenant writes them. No header or token may choose it.
const SystemTenant = "_"

// ManualTenant is the tenant of the pages of p8's manual. They are a scope of their own:
// a query reads them only if it names them. No header or token may choose it.
const ManualTenant = "_manual"

// Identity is the caller, with the session and agent of the request: REMLight's agent
// context, with its fields and JSON names.
type Identity struct {
	// UserID is "" for anonymous.
	UserID    string `json:"user_id,omitempty"`
	TenantID  string `json:"tenant_id"`
	SessionID string `json:"session_id,omitempty"`
	// DefaultModel is the requested model, "provider:model"; "" leaves it to the
	// document and the settings.
	DefaultModel string `json:"default_model,omitempty"`
	// AgentSchemaURI is the requested agent, by any of its names.
	AgentSchemaURI string `json:"agent_schema_uri,omitempty"`
	// IsEval marks the sessions of an evaluation.
	IsEval bool `json:"is_eval"`
	// ClientID is the kind of client: web, mobile, cli.
	ClientID string `json:"client_id,omitempty"`
	Email    string `json:"user_email,omitempty"`
	Name     string `json:"user_name,omitempty"`
	// Role is what the caller may write; the code that verifies a token sets it.
	Role Role `json:"role,omitempty"`
	// Expires is when the caller's token expires; zero is never. A run that has begun goes on.
	Expires time.Time `json:"-"`
	// KeyID is the id of the API key or the login in the request, [DeploymentKey] for
	// P8_API_KEY, "" for a JSON Web Token and without authentication.
	KeyID string `json:"-"`
	// Shared is the session of another user that the request is about; the zero value for the
	// caller's own sessions. The store fills it, and no header does.
	Shared Shared `json:"shared,omitzero"`
	// UserContext is text about the user for the prompt of nested documents, beside
	// date, time and name.
	UserContext string `json:"user_context,omitempty"`
}

// Shared names a session that its owner has shared with the caller.
type Shared struct {
	// ID is that of the share.
	ID      string `json:"id"`
	Owner   string `json:"owner"`
	Session string `json:"session"`
}

// OwnerOf returns the user whose session the caller knows by that id.
func (id Identity) OwnerOf(session string) string {
	if id.Shared.ID != "" && id.Shared.Session == session {
		return id.Shared.Owner
	}
	return id.UserID
}

// Guest returns the user whose turns in a session of another user are marked as theirs, "" for
// a caller in a session of their own.
func (id Identity) Guest() string {
	if id.Shared.ID != "" {
		return id.UserID
	}
	return ""
}

// VisitorPrefix begins the user ids of visitors: callers without a token, known by a secret.
const VisitorPrefix = "visitor-"

// Visitor reports whether the caller has no token, but a secret of the server's own.
func (id Identity) Visitor() bool { return strings.HasPrefix(id.UserID, VisitorPrefix) }

// Payer returns the user whose quotas count for the caller. It is "" for all visitors together,
// because anybody can be any number of them.
func (id Identity) Payer() string {
	if id.Visitor() {
		return ""
	}
	return id.UserID
}

// Anonymous reports whether there is no user.
func (id Identity) Anonymous() bool { return id.UserID == "" }

// Child returns the identity of a delegated run: the same caller, tenant, session,
// evaluation flag and client, with another agent and model unless they are "".
func (id Identity) Child(agent, model string) Identity {
	if agent != "" {
		id.AgentSchemaURI = agent
	}
	if model != "" {
		id.DefaultModel = model
	}
	return id
}

// ErrMissing means that a context carries no identity: a bug in the calling code,
// never a mistake of a user.
var ErrMissing = errors.New("identity: the context carries none")

type key struct{}

// carrier is a context with an identity in one allocation: every request and turn
// makes some.
type carrier struct {
	context.Context
	id Identity
}

// Value returns the identity for its key, else the parent's value.
func (c *carrier) Value(k any) any {
	if k == (key{}) {
		return &c.id
	}
	return c.Context.Value(k)
}

// With puts the identity into the context.
func With(ctx context.Context, id Identity) context.Context {
	if id.TenantID == "" {
		id.TenantID = DefaultTenant
	}
	if now, ok := ctx.Value(key{}).(*Identity); ok && *now == id {
		return ctx
	}
	return &carrier{ctx, id}
}

// From returns the identity that the context carries.
func From(ctx context.Context) (Identity, error) {
	if id, ok := ctx.Value(key{}).(*Identity); ok {
		return *id, nil
	}
	return Identity{}, ErrMissing
}
