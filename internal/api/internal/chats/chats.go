// Package chats serves the routes that take a message and stream its answer: OpenAI's
// chat completions and responses, the chats of AG-UI's and the Vercel AI SDK's clients, and the
// models that a client may name.
package chats

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api/internal/embeddings"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/store"
)

// Chat starts turns. Implemented by *chat.Service.
type Chat interface {
	runs.Chat
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
}

// Catalog finds agents. Implemented by *catalog.Catalog.
type Catalog interface {
	// Agent fails with a *catalog.NotFoundError if no document has the name.
	Agent(ctx context.Context, name string) (*agent.Agent, error)
	// Has reports whether a document has exactly that name. It loads none.
	Has(ctx context.Context, name string) (bool, error)
	// List returns the documents that the caller may use, by name; kind "" is all.
	List(ctx context.Context, kind string) ([]catalog.Entry, error)
}

// Store has the caller's runs and the rows of their sessions. Implemented by *store.Store.
type Store interface {
	runs.Store
	// Session fails with store.ErrNotFound if the caller may see no such session.
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	Message(ctx context.Context, id string) (store.Message, error)
	// RunByKey fails with store.ErrNotFound if no run of the caller has the key.
	RunByKey(ctx context.Context, key string) (store.Run, error)
}

// Options are what the routes work with.
type Options struct {
	Chat    Chat
	Catalog Catalog
	// Store finds runs to stop, and what a response continues; it may be nil.
	Store Store
	// Models are the models that GET /models lists beside the agents; nil lists no models.
	Models func(context.Context) []string
	// Embeddings is the embedding model; nil for none.
	Embeddings embeddings.Model
	// Started is the creation time of agents in the list of models.
	Started time.Time
}

type handlers struct {
	api      *rest.API
	o        Options
	streamer *runs.Streamer
	stopper  *runs.Stopper
	// long holds a place for each request that has the text of a long answer in memory.
	long chan struct{}
}

// talkRoots lead the paths of AG-UI's and the AI SDK's clients. The two share their paths;
// the body shows which client sent it. By default, AI SDK clients post to the second one.
var talkRoots = [...]struct{ path, id string }{{"/chat", "talk"}, {uiPath, "ui"}}

const uiPath = "/api/chat"

// isUIPath reports whether only AI SDK clients use the path.
func isUIPath(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, uiPath) }

// Routes adds /chat/completions, /responses, /chat, /api/chat and /models.
func Routes(api *rest.API, o Options) {
	h := &handlers{
		api: api, o: o, streamer: &runs.Streamer{API: api, Chat: o.Chat}, stopper: &runs.Stopper{Chat: o.Chat, Store: o.Store},
		long: make(chan struct{}, maxLong),
	}
	api.Handle("POST /chat/completions", h.complete)
	api.Handle("POST /chat/completions/{session_id}", h.complete)
	for _, root := range talkRoots {
		api.Handle("POST "+root.path, h.talk)
		api.Handle("POST "+root.path+"/{chat_id}", h.talk)
		api.Handle("GET "+root.path+"/{chat_id}/stream", h.rejoin)
		// The last segment is a variable, for /chat/completions/{session_id} has one.
		api.Handle("POST "+root.path+"/{chat_id}/{verb}", h.command)
	}
	api.Handle("GET /models", h.listModels)
	api.Handle("GET /models/{id...}", h.showModel)
	h.responseRoutes()
	document(api)
}
