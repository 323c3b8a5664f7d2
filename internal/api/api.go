// Package api is p8 over HTTP.
//
// [New] makes one http.Handler. It has these kinds of routes:
//
//   - OpenAI's: POST /chat/completions and GET /models, each also under /v1 and
//     /api/v1. Their errors are OpenAI's error objects, so that the clients
//     people already have understand them.
//   - Those of AG-UI's and the Vercel AI SDK's clients: POST /chat/{id}, /chat and
//     /api/chat, GET …/stream to come back, POST …/stop. Package stream writes
//     every answer that is streamed.
//   - Runs and what they ask: /runs, /approvals.
//   - p8's own resources: /schemas (documents), /sessions, and knowledge: /query
//     and /ask read it, /content takes files in. Their errors are problem
//     documents (RFC 9457); lists are pages with a Link to the next one.
//     GET /openapi.json describes them.
//   - What is remembered: /moments, /reminders, /notifications, /dream, and what
//     the model sees of a session.
//   - /mcp, the Model Context Protocol, whose handler is another package's.
//   - GET /health (the process lives) and GET /ready (it takes requests).
//
// A request passes, in this order: a request id and the access log, a guard
// against panics, the check of Host and Origin, the bound on the body, the
// identity. What is behind that takes the identity from the context.
//
// A client's connection is only a reader of the run it started. When it goes,
// the run goes on and its answer is stored.
//
// Nothing that a handler did not word itself reaches a client: unknown errors
// are logged with the request's id, and the client gets the id.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Options are what the handler works with. Chat and Catalog are needed.
type Options struct {
	Chat    Chat
	Catalog Catalog
	// Store may be nil: then there are no sessions and schemas to show, and the
	// routes say so.
	Store Store
	// Knowledge answers queries, Asker questions, Ingest takes in files, whose rows
	// are in Files; the routes of one that is nil say that it is not there.
	Knowledge Knowledge
	Asker     Asker
	Ingest    Ingest
	Files     Files
	// Preview shows what a turn would send, Diary what happened, Moments what is
	// remembered of it. Builder sums sessions up, Recorder remembers files that are
	// taken in, with what Pieces has of them, Reminders keeps reminders, Dreams dreams, Jobs tells of the background
	// work. Routes of one that is nil say so; without a Recorder files are taken in all
	// the same.
	Preview   Previewer
	Diary     Diary
	Moments   Moments
	Builder   Builder
	Recorder  Recorder
	Pieces    Pieces
	Reminders Reminders
	Dreams    Dreams
	Jobs      Jobs
	// MCP serves the Model Context Protocol at /mcp; nil does not. It finds the
	// caller in the request's context.
	MCP http.Handler
	// A2A serves the Agent2Agent protocol at /a2a and its cards; nil does not.
	A2A http.Handler
	// MaxUpload bounds a file that is taken in, in bytes; 32 MiB when 0.
	MaxUpload int64
	// Models are the models that GET /models lists beside the agents, as
	// "provider:model"; nil is none.
	Models func(context.Context) []string
	// Tools are the names that documents may declare (tool.Box.Names), to warn of
	// others when one is stored; nil warns of none.
	Tools func(context.Context) []string
	// Ready says why the server cannot take requests; nil is always ready. Its
	// error is logged, not shown.
	Ready func(context.Context) error

	// TrustHeaders believes X-User-Id, X-Tenant-Id, X-User-Email and X-User-Name.
	// It is for a server that only its own machine, or a trusted gateway, reaches.
	TrustHeaders bool
	// Hosts are the names, besides those of loopback, that the Host header may
	// have, without ports; "*" is any. A page of another origin must not reach a
	// server that trusts its own machine.
	Hosts []string
	// Origins are those, besides the server's own, whose pages may send requests, such
	// as https://app.example.com.
	Origins []string
	// MaxBody bounds a request's body, in bytes; 4 MiB when 0.
	MaxBody int64
	// Heartbeat is the silence after which a stream gets a comment; 15 s when 0.
	Heartbeat time.Duration
	// WriteTimeout is how long a response waits for a client that does not read;
	// 30 s when 0.
	WriteTimeout time.Duration

	// Version is the program's.
	Version string
	// Now and NewID are the clock and the source of ids (UUIDs).
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

const (
	defaultMaxBody      = 4 << 20
	defaultMaxUpload    = 32 << 20
	defaultWriteTimeout = 30 * time.Second
)

// Handler is p8's HTTP interface.
type Handler struct {
	o        Options
	mux      *http.ServeMux
	chain    http.Handler
	pages    *http.CrossOriginProtection
	started  time.Time
	draining atomic.Bool
	// drained is closed when draining begins; followers counts the streams of
	// notifications, which end then.
	drained   chan struct{}
	followers atomic.Int64
	// long bounds the requests that have the text of a long answer in memory.
	long chan struct{}
}

// New makes the handler.
func New(o Options) *Handler {
	if o.MaxBody <= 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.MaxUpload <= 0 {
		o.MaxUpload = defaultMaxUpload
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = defaultWriteTimeout
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
	h := &Handler{
		o: o, mux: http.NewServeMux(), pages: http.NewCrossOriginProtection(), started: o.Now(),
		drained: make(chan struct{}), long: make(chan struct{}, maxLong),
	}
	h.origins(o.Origins)
	h.routes()
	h.chain = h.logged(h.recovered(h.guarded(h.bounded(h.rooted(h.identified(h.mux))))))
	return h
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.chain.ServeHTTP(w, r) }

// Drain refuses new turns and makes /ready fail, so that a load balancer sends
// its requests elsewhere. Streams of runs go on to their end; those of notifications,
// which have none, end now.
func (h *Handler) Drain() {
	if h.draining.CompareAndSwap(false, true) {
		close(h.drained)
	}
}

func (h *Handler) routes() {
	h.mux.HandleFunc("POST /chat/completions", h.complete)
	h.mux.HandleFunc("POST /chat/completions/{session_id}", h.complete)
	h.talkRoutes()
	h.mux.HandleFunc("GET /models", h.listModels)
	h.mux.HandleFunc("GET /models/{id...}", h.showModel)
	if h.o.MCP != nil {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			h.mux.Handle(method+" /mcp", h.o.MCP)
		}
	}
	if h.o.A2A != nil {
		for _, route := range []string{
			"GET /.well-known/agent-card.json", "GET /a2a/.well-known/agent-card.json", "GET /a2a/{agent}/.well-known/agent-card.json",
			"POST /a2a", "POST /a2a/{agent}",
		} {
			h.mux.Handle(route, h.o.A2A)
		}
	}
	h.mux.HandleFunc("GET /health", h.health)
	h.mux.HandleFunc("GET /ready", h.ready)
	h.rest()
	h.mux.HandleFunc("/", h.unknown)
}

// prefixes under which every route stands as well, the longer first.
var prefixes = [...]string{"/api/v1", "/v1"}

// rooted takes the prefixes and a trailing slash off the path, so that each
// route is written once.
func (h *Handler) rooted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u := *r.URL
		for _, p := range prefixes {
			if rest, ok := strings.CutPrefix(u.Path, p); ok && strings.HasPrefix(rest, "/") {
				u.Path, u.RawPath = rest, strings.TrimPrefix(u.RawPath, p)
				break
			}
		}
		if escaped := u.EscapedPath(); len(escaped) > 1 && strings.HasSuffix(escaped, "/") {
			u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
		}
		rooted := *r
		rooted.URL = &u
		next.ServeHTTP(w, &rooted)
	})
}
