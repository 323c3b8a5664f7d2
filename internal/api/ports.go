package api

import (
	"context"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// Chat starts turns and knows what became of them; *chat.Service is one. Every
// method takes the caller's identity from ctx.
type Chat interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
	// Active is nil when the session has no run under way.
	Active(ctx context.Context, sessionID string) (*chat.Turn, error)
	Open(ctx context.Context, runID string) (*chat.Turn, store.Run, error)
	Stop(ctx context.Context, runID string) (store.Run, error)
	Resume(ctx context.Context, runID string) (*chat.Turn, error)
	Delete(ctx context.Context, runID string) error
	Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error)
	Request(ctx context.Context, id string) (store.RunRequest, error)
	Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, *chat.Turn, error)
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
	DeleteSession(ctx context.Context, id string) error
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	Message(ctx context.Context, id string) (store.Message, error)
	Schemas(ctx context.Context, f store.SchemaFilter) (page []store.Schema, next string, err error)
	Schema(ctx context.Context, nameOrID string) (store.Schema, error)
	PutSchema(ctx context.Context, s *store.Schema) error
	DeleteSchema(ctx context.Context, nameOrID string) error
	Runs(ctx context.Context, f store.RunFilter) (page []store.Run, next string, err error)
}

// Knowledge answers queries for the caller in ctx; *rem.Engine is one.
type Knowledge interface {
	// Run answers a query as it is written; what is wrong with it is a
	// *rem.SyntaxError.
	Run(ctx context.Context, text string) (rem.Result, error)
}

// Asker answers questions for the caller in ctx; *ask.Asker is one.
type Asker interface {
	Ask(ctx context.Context, question string, req ask.Request) (ask.Answer, error)
	Run(ctx context.Context, p ask.Plan) ([]ask.StageResult, error)
}

// Ingest takes in files for the caller in ctx; *ingest.Ingester is one.
type Ingest interface {
	// Upload fails with ingest.ErrTooLarge, ErrUnsupported or ErrUnreadable for
	// what is wrong with the file.
	Upload(ctx context.Context, u ingest.Upload) (ingest.Result, error)
}

// Files reads the rows of files; store.Repository[store.File] is one.
type Files interface {
	Get(ctx context.Context, id string) (store.File, error)
}
