package api

import (
	"context"

	"p8/agent"
	"p8/catalog"
	"p8/chat"
	"p8/store"
)

// Chat starts turns; *chat.Service is one.
type Chat interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
}

// Catalog finds agents; *catalog.Catalog is one.
type Catalog interface {
	// Agent is a *catalog.NotFoundError when no document has the name.
	Agent(ctx context.Context, name string) (*agent.Agent, error)
	// Has is cheap whether a document has that very name or not.
	Has(ctx context.Context, name string) (bool, error)
	// List is the documents that the caller may use, by name; kind "" is all.
	List(ctx context.Context, kind string) ([]catalog.Entry, error)
}

// Store is what the REST routes read and write; *store.Store is one. Every
// method takes the caller's identity from ctx.
type Store interface {
	Sessions(ctx context.Context, f store.SessionFilter) (page []store.Session, next string, err error)
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	Message(ctx context.Context, id string) (store.Message, error)
	Schemas(ctx context.Context, f store.SchemaFilter) (page []store.Schema, next string, err error)
	Schema(ctx context.Context, nameOrID string) (store.Schema, error)
	PutSchema(ctx context.Context, s *store.Schema) error
	DeleteSchema(ctx context.Context, nameOrID string) error
}
