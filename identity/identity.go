// Package identity says who is asking.
//
// An [Identity] is made once, where a request enters (from a verified token,
// from headers that the deployment trusts, or from the command line), put into
// the context.Context with [With] and read from there by whoever needs it. No
// store method works without one, and no model can choose one: tools take it
// from the context, and no tool schema has a user id.
//
// A user id is a UUID5 of the e-mail ([UserID]); other opaque ids are accepted.
// No user id means anonymous: shared rows only (user_id IS NULL).
package identity

import (
	"context"
	"errors"
)

// DefaultTenant is the tenant of a deployment that does not name any.
const DefaultTenant = "default"

// SystemTenant is the tenant of p8's own rows: built-in documents, user
// documentation. Every tenant reads them as shared rows; only an identity of
// this tenant writes them. No header or token may choose it.
const SystemTenant = "_"

// Identity is who is asking, and for which session and agent: REMLight's agent
// context, field by field and by its JSON names.
type Identity struct {
	// UserID is "" for anonymous.
	UserID    string `json:"user_id,omitempty"`
	TenantID  string `json:"tenant_id"`
	SessionID string `json:"session_id,omitempty"`
	// DefaultModel is the model asked for, "provider:model"; "" leaves it to the
	// document and the settings.
	DefaultModel string `json:"default_model,omitempty"`
	// AgentSchemaURI is the agent asked for, by any of its names.
	AgentSchemaURI string `json:"agent_schema_uri,omitempty"`
	// IsEval marks the sessions of an evaluation.
	IsEval bool `json:"is_eval"`
	// ClientID is the kind of client: web, mobile, cli.
	ClientID string `json:"client_id,omitempty"`
	Email    string `json:"user_email,omitempty"`
	Name     string `json:"user_name,omitempty"`
	// SharedReadOnly takes the right to write rows that everybody of the tenant sees:
	// shared documents, resources, ontologies and files. The caller's own rows are not
	// concerned. Whoever verifies a token sets it from the token's roles, and no header
	// does; without authentication there are no roles, and every caller has the right.
	// The store decides by it, for every way of writing.
	SharedReadOnly bool `json:"shared_read_only,omitempty"`
	// UserContext is text about the user for the prompt of nested documents,
	// besides date, time and name.
	UserContext string `json:"user_context,omitempty"`
}

// Anonymous reports whether there is no user.
func (id Identity) Anonymous() bool { return id.UserID == "" }

// Child is the identity of a delegated run: the same caller, tenant, session,
// evaluation flag and client, with another agent and model where given.
func (id Identity) Child(agent, model string) Identity {
	if agent != "" {
		id.AgentSchemaURI = agent
	}
	if model != "" {
		id.DefaultModel = model
	}
	return id
}

// ErrMissing says that a context carries no identity. It is a bug of the
// caller, never of a user.
var ErrMissing = errors.New("identity: the context carries none")

type key struct{}

// carrier is a context with an identity, in one piece: every request and every
// turn makes some.
type carrier struct {
	context.Context
	id Identity
}

// Value is the identity, or what the context below has.
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

// From is the identity that the context carries.
func From(ctx context.Context) (Identity, error) {
	if id, ok := ctx.Value(key{}).(*Identity); ok {
		return *id, nil
	}
	return Identity{}, ErrMissing
}
