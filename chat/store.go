package chat

import (
	"context"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// Catalog finds agents by name; *catalog.Catalog implements it.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
}

// Giver has documents that other processes do not have. If the Catalog implements it, as
// *catalog.Catalog does, runs are stored with these documents, so that any process can
// resume them.
type Giver interface {
	Given(name string) bool
}

// Keeper keeps the earlier versions of documents. If the Catalog implements it, as
// *catalog.Catalog does, a run that is resumed goes on with the version that it began with.
type Keeper interface {
	// Version returns an agent as it was when its text had that hash.
	Version(ctx context.Context, name, hash string) (*agent.Agent, error)
}

// Lister lists the agents that a session may be routed to. If the Catalog implements it,
// as *catalog.Catalog does, clients may leave the choice of the agent to p8.
type Lister interface {
	Routable(ctx context.Context) ([]catalog.Routable, error)
}

// Models finds models by "provider:model"; *llm.Registry implements it.
type Models interface {
	Resolve(name string) (llm.Model, error)
}

// Tools finds the tools that a document declares, and which of them are missing;
// *tool.Box implements it.
type Tools interface {
	Resolve(ctx context.Context, a *agent.Agent) tool.Resolved
}

// Store keeps sessions and runs; *store.Store implements it. Every method takes the
// caller's identity from ctx.
type Store interface {
	Conversations
	Runs
}

// Conversations are sessions and their messages.
type Conversations interface {
	// Session fails with store.ErrNotFound if the caller may see no such session.
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	Message(ctx context.Context, id string) (store.Message, error)
	// FindMessage finds a message of the current branch by its id or its client's, and the
	// number of the one before it.
	FindMessage(ctx context.Context, sessionID, id string) (m store.Message, before int64, err error)
	SwitchBranch(ctx context.Context, sessionID, messageID string) error
	// Recall reads, in one round trip, what the next turn of a session may be shown.
	Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error)
}

// Runs are what runs leave behind: their logs, their journals, and their requests to the
// user. See package store for what each method promises.
type Runs interface {
	// WriteRun stores events and what belongs to them, all or nothing.
	WriteRun(ctx context.Context, w store.RunWrite) (stop bool, err error)
	Run(ctx context.Context, id string) (store.Run, error)
	// RunEvents reads whole pieces of the log that hold events after a number.
	RunEvents(ctx context.Context, id string, after int64, most int) ([]store.RunEvents, error)
	BeginRun(ctx context.Context, r store.RunStart) error
	RunByKey(ctx context.Context, key string) (store.Run, error)
	Runs(ctx context.Context, f store.RunFilter) (page []store.Run, next string, err error)
	RunJournal(ctx context.Context, id string) ([]store.JournalEntry, error)
	ClaimRun(ctx context.Context, id, process string, allowed store.RunsAllowed) (store.Run, error)
	StopRun(ctx context.Context, id string) (store.Run, error)
	DeleteRun(ctx context.Context, id string) error
	Request(ctx context.Context, id string) (store.RunRequest, error)
	Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error)
	Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, error)
}
