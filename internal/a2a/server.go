// Package a2a offers agents to agents of other systems: the Agent2Agent protocol,
// version 1.0, as JSON-RPC over HTTP and as HTTP+JSON.
//
//	s, err := a2a.New(a2a.Options{Chat: chats, Catalog: documents, Agents: []string{"general"}})
//
// Each agent has an address of its own, /a2a/<name>, and its card below that, at
// /.well-known/agent-card.json; the first agent's card is at the root too. The
// request's context carries the caller.
//
// An A2A task is a run, with the same id, and a context is a session. The answer is
// the artifact "answer": text piece by piece, or data. Every other event of the run,
// its delegated agents' included, is a status update with the event in its metadata. A
// run that asks the user is input-required, with the questions as data in the status
// message; the next message of that task answers them: with data such as {"approved":
// true}, or with text.
//
// Clients of version 0.3 work too: they call message/send for SendMessage and get the
// objects of their version.
package a2a

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/outbound"
	"github.com/p8-org/p8/internal/seal"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// Chat runs agents. Implemented by *chat.Service.
type Chat interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
	Open(ctx context.Context, runID string) (*chat.Turn, store.Run, error)
	Stop(ctx context.Context, runID string) (store.Run, error)
	Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error)
	Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, *chat.Turn, error)
}

// Catalog finds agents. Implemented by *catalog.Catalog.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
	List(ctx context.Context, kind string) ([]catalog.Entry, error)
}

// Store has the tasks. Implemented by *store.Store.
type Store interface {
	Runs(ctx context.Context, f store.RunFilter) (page []store.Run, next string, err error)
	CountRuns(ctx context.Context, f store.RunFilter) (int64, error)
	Message(ctx context.Context, id string) (store.Message, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	PutRunHook(ctx context.Context, h store.RunHook, now bool) error
	RunHook(ctx context.Context, runID, id string) (store.RunHook, error)
	RunHooks(ctx context.Context, runID string) ([]store.RunHook, error)
	DeleteRunHook(ctx context.Context, runID, id string) error
}

// Hooks are the due webhooks of all callers. Implemented by store.Maintenance.
type Hooks interface {
	DueHooks(ctx context.Context) ([]store.DueHook, error)
	HookTold(ctx context.Context, h store.DueHook) error
}

// Leases let one of several processes do a piece of work. Implemented by store.Leases.
type Leases interface {
	Take(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name, holder string) error
}

// Queue runs background jobs. Implemented by *jobs.Queue.
type Queue interface {
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
}

// Options describe a server; Chat and Catalog are needed.
type Options struct {
	Chat    Chat
	Catalog Catalog
	// Store has the tasks; without it there are no lists of them and no histories.
	Store Store
	// Hooks, Leases and Queue send push notifications; there are none without a Queue. Seal
	// seals the webhooks in the store; a Queue needs it.
	Hooks  Hooks
	Leases Leases
	Queue  Queue
	Seal   *seal.Ring
	// Client sends notifications to webhooks; one of package outbound when nil.
	// PrivateHooks allows webhooks in private networks.
	Client       *http.Client
	PrivateHooks bool
	// Resumes is true if interrupted runs are resumed without being asked.
	Resumes bool
	// Agents are the exposed agents, by name; "*" is every agent that the caller may
	// use.
	Agents []string
	// BaseURL is the server's public address, without "/a2a"; "" uses the request's
	// host.
	BaseURL string
	// Tokens is true if callers need a token; the cards then declare it.
	Tokens bool
	// Provider is the organization that offers the agents, "" for none.
	Provider string
	// Version is the program's, for agents without a version.
	Version string
	// MaxBody bounds a request in bytes; 4 MiB when 0.
	MaxBody int64
	// SSE are the timeouts of streams.
	SSE stream.SSEOptions
	// Now and NewID are the clock and the source of ids; the real ones when nil.
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

// Prefix leads the paths of the agents.
const Prefix = "/a2a"

// CardPath is the path of a card, below the root and below each agent.
const CardPath = "/.well-known/agent-card.json"

// oldCardPath is the path that clients older than version 0.3 ask.
const oldCardPath = "/.well-known/agent.json"

const defaultMaxBody = 4 << 20

// Server is the protocol over HTTP. It is safe for concurrent use.
type Server struct {
	o        Options
	mux      *http.ServeMux
	webhooks *webhooks
	// id names this server among those that share a store.
	id string
	// closed ends the streams of tasks that wait.
	closed chan struct{}
	close  sync.Once
}

// New returns a server for the paths CardPath, Prefix and all below Prefix.
func New(o Options) (*Server, error) {
	if o.Chat == nil || o.Catalog == nil {
		return nil, errors.New("a2a: Chat and Catalog are needed")
	}
	if o.Queue != nil && o.Seal == nil {
		return nil, errors.New("a2a: push notifications need keys to seal webhooks with")
	}
	if o.MaxBody <= 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Client == nil {
		o.Client = outbound.NewPublicClient(o.PrivateHooks)
	}
	s := &Server{o: o, mux: http.NewServeMux(), webhooks: newWebhooks(o.Client, o.Now), id: uuid.NewString(), closed: make(chan struct{})}
	for _, path := range []string{"", Prefix, Prefix + "/{agent}"} {
		s.mux.HandleFunc("GET "+path+CardPath, s.card)
		s.mux.HandleFunc("GET "+path+oldCardPath, s.card)
	}
	for route, method := range rests {
		verb, path, _ := strings.Cut(route, " ")
		s.mux.HandleFunc(verb+" "+Prefix+"/{agent}"+path, s.callREST(method))
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&exchange{view: view{Server: s, ctx: r.Context()}, w: w, r: r, rest: true}).fail(errNoRoute)
	})
	for _, path := range []string{Prefix, Prefix + "/{$}", Prefix + "/{agent}", Prefix + "/{agent}/{$}"} {
		s.mux.HandleFunc("POST "+path, s.call)
	}
	return s, nil
}

// ServeHTTP answers a request; its context carries the identity.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends the streams of tasks that wait, so that their clients subscribe to another
// server.
func (s *Server) Close() { s.close.Do(func() { close(s.closed) }) }

// exposed is an agent that clients may use.
type exposed struct {
	name, description, version string
	structured                 bool
}

// errNoAgent means that there is no such agent, or that it is not exposed.
var errNoAgent = errors.New("a2a: no such agent")

// agent returns the exposed agent of that name; "" is the first one.
func (s *Server) agent(ctx context.Context, name string) (exposed, error) {
	if name == "" {
		return s.first(ctx)
	}
	a, err := s.o.Catalog.Agent(ctx, name)
	var missing *catalog.NotFoundError
	var bad *catalog.NameError
	switch {
	case errors.As(err, &missing), errors.As(err, &bad):
		return exposed{}, errNoAgent
	case err != nil:
		return exposed{}, err
	case a.Document.Kind != "" && a.Document.Kind != "agent", !s.exposes(a.Name) && !s.exposes(name):
		return exposed{}, errNoAgent
	}
	return exposed{a.Name, a.Document.Summary(), a.Document.Version, a.Structured}, nil
}

// exposes reports whether the setting names the agent.
func (s *Server) exposes(name string) bool {
	return slices.Contains(s.o.Agents, name) || slices.Contains(s.o.Agents, "*")
}

// first returns the agent of the root: the first that the setting names, and for "*"
// the default agent.
func (s *Server) first(ctx context.Context) (exposed, error) {
	if len(s.o.Agents) == 0 {
		return exposed{}, errNoAgent
	}
	if name := s.o.Agents[0]; name != "*" {
		return s.agent(ctx, name)
	}
	if a, err := s.agent(ctx, chat.DefaultAgent); !errors.Is(err, errNoAgent) {
		return a, err
	}
	list, err := s.o.Catalog.List(ctx, "agent")
	if err != nil {
		return exposed{}, err
	}
	if len(list) == 0 {
		return exposed{}, errNoAgent
	}
	return s.agent(ctx, list[0].Name)
}
