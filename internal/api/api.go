// Package api is p8 over HTTP.
//
// [New] makes one http.Handler. Its routes are packages of their own below
// internal/, one for each thing that they are about:
//
//   - chats: OpenAI's POST /chat/completions, /responses and GET /models, and the chats of
//     AG-UI's and the Vercel AI SDK's clients. OpenAI's routes answer with OpenAI's error
//     objects, every other one with problem documents (RFC 9457).
//   - embeddings: OpenAI's POST /embeddings.
//   - runs: what a run did, and the requests that it makes of its user.
//   - access: API keys, local users and their logins, and the audit log.
//   - sessions, documents, knowledge, moments, reminders, dreams, privacy: p8's own resources,
//     which GET /openapi.json describes.
//
// They stand on rest (one way to register and to answer), inbound (what chat clients
// send, as a chat.Request), body and field (a request is read and checked once), and
// problem (every error fit for a client). /mcp and /a2a are other packages' handlers.
//
// Every request first passes package middleware. Routes take the caller's identity
// from the context.
//
// A client's connection only reads the run that it started. When the connection drops,
// the run goes on and its answer is stored.
//
// No error that a handler did not word itself reaches a client: it is logged with the
// request's id, and the client gets the id.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/internal/api/internal/access"
	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/api/internal/chats"
	"github.com/p8-org/p8/internal/api/internal/documents"
	"github.com/p8-org/p8/internal/api/internal/dreams"
	"github.com/p8-org/p8/internal/api/internal/embeddings"
	"github.com/p8-org/p8/internal/api/internal/feedback"
	"github.com/p8-org/p8/internal/api/internal/knowledge"
	"github.com/p8-org/p8/internal/api/internal/middleware"
	"github.com/p8-org/p8/internal/api/internal/moments"
	"github.com/p8-org/p8/internal/api/internal/privacy"
	"github.com/p8-org/p8/internal/api/internal/quotas"
	"github.com/p8-org/p8/internal/api/internal/reminders"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/runs"
	"github.com/p8-org/p8/internal/api/internal/sessions"
	"github.com/p8-org/p8/internal/api/internal/traces"
	"github.com/p8-org/p8/internal/api/internal/usage"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/stream"
	"github.com/p8-org/p8/telemetry"
)

// Options are what the handler works with. Chat and Catalog are needed. Routes whose
// part is nil answer that the server has none.
type Options struct {
	Chat    Chat
	Catalog Catalog
	Store   Store
	// Knowledge, Asker, Ingest and Files serve /query, /ask and /content.
	Knowledge Knowledge
	Asker     Asker
	Ingest    Ingest
	Files     Files
	// Recorder and Pieces make the moment of an uploaded file; without a Recorder it has
	// none.
	Recorder Recorder
	Pieces   Pieces
	// Preview, Diary and Builder serve the memory of a session, Brancher its branches.
	Preview  Previewer
	Brancher Brancher
	Diary    Diary
	Builder  Builder
	Moments  Moments
	// Zone returns the time zone of the caller's profile, nil if it names none; a nil Zone
	// means that there are no profiles.
	Zone      func(ctx context.Context) (*time.Location, error)
	Reminders Reminders
	Dreams    Dreams
	Jobs      Jobs
	// Accounts serves /keys, /auth/users and /audit, and with Logins also /auth/login.
	Accounts Accounts
	Logins   bool
	Privacy  Privacy
	// MCP serves the Model Context Protocol at /mcp, A2A the Agent2Agent protocol at /a2a
	// and its cards. Both find the caller in the request's context.
	MCP, A2A http.Handler
	// Models are the models that GET /models lists beside the agents, as
	// "provider:model"; nil lists no models.
	Models func(context.Context) []string
	// Embeddings serves POST /embeddings; nil has no model.
	Embeddings Embedder
	// Feedback serves /feedback.
	Feedback Feedback
	// Traces serves /sessions/{id}/trace and /runs/{id}/trace.
	Traces Traces
	// Usage serves /usage.
	Usage Usage
	// Quotas serves /quotas. Admit counts a request of the caller in ctx, or refuses it; nil
	// counts none.
	Quotas Quotas
	Admit  func(context.Context) (quota.Standing, error)
	// AdmitStranger is Admit for a request whose caller is not known, by its address; nil counts
	// none. Proxies are networks whose X-Forwarded-For names the address of the client.
	AdmitStranger func(context.Context) (quota.Standing, error)
	Proxies       []netip.Prefix
	// Tools are the names that documents may declare (tool.Box.Names). A stored document
	// gets a warning about others; nil warns of none.
	Tools func(context.Context) []string
	// Telemetry records requests; nil records none.
	Telemetry *telemetry.Telemetry
	// Meter counts refused requests and open streams; nil counts none. Metrics serves GET /metrics
	// to the operator of the server.
	Meter   Meter
	Metrics http.Handler
	// Ready returns why the server cannot take requests; nil is always ready. Its error is
	// logged, not shown.
	Ready func(context.Context) error

	// Auth verifies callers. If it is nil, TrustHeaders believes X-User-Id, X-Tenant-Id,
	// X-User-Email and X-User-Name: that is for a server that only its own machine reaches.
	Auth         *auth.Authenticator
	TrustHeaders bool
	// Shares opens shared sessions; nil without a database. ShareLinks opens the links among
	// them to whoever has one, without a token.
	Shares     middleware.Shares
	ShareLinks bool
	// ShareCheck is how often an open request asks whether its share is over; 2 s when 0.
	ShareCheck time.Duration
	// PublicURL is the server's address for clients; "" takes that of the request.
	PublicURL string
	// Hosts are the names, besides those of loopback, that the Host header may have,
	// without ports; "*" is any. A page of another origin must not reach a server that
	// trusts its own machine.
	Hosts []string
	// Origins are those, besides the server's own, whose pages may send requests, such as
	// https://app.example.com.
	Origins []string
	// CORS are the origins whose pages may also read the responses; "*", alone, is any.
	CORS []string
	// MaxBody bounds a request's body, in bytes; 4 MiB when 0.
	MaxBody int64
	// MaxUpload bounds an uploaded file, in bytes; 32 MiB when 0.
	MaxUpload int64
	// Heartbeat is the silence after which a stream gets a comment; 15 s when 0.
	Heartbeat time.Duration
	// WriteTimeout is how long a response waits for a client that does not read; 30 s
	// when 0.
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

func (o *Options) setDefaults() {
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
	if o.Auth == nil {
		o.Auth = auth.Open(o.TrustHeaders)
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
}

// Handler is p8's HTTP interface.
type Handler struct {
	chain http.Handler
	mux   *rest.Mux
	// draining is closed by Drain.
	draining chan struct{}
	drain    sync.Once
}

// New makes the handler.
func New(o Options) *Handler {
	o.setDefaults()
	limits := body.Limits{JSON: o.MaxBody, Upload: o.MaxUpload}
	mux, draining := &rest.Mux{}, make(chan struct{})
	api := rest.New(rest.Options{
		Mux: mux, Version: o.Version, Stored: o.Store != nil, Limits: limits, Draining: draining, Now: o.Now, Logger: o.Logger,
		Stream: stream.SSEOptions{Heartbeat: o.Heartbeat, WriteTimeout: o.WriteTimeout},
	})
	routes(api, mux, &o)
	base := (func(*http.Request) string)(nil)
	if o.Auth.Issuer() != "" {
		base = func(r *http.Request) string { return auth.Address(r, o.PublicURL) }
		mux.Handle("GET "+auth.MetadataPath, o.Auth.Metadata(base, ""))
		mux.Handle("GET "+auth.MetadataPath+"/mcp", o.Auth.Metadata(base, "/mcp"))
	}
	return &Handler{mux: mux, draining: draining, chain: middleware.New(middleware.Options{
		Identify: o.Auth.Identify, Bound: o.Auth.Bound, Admit: o.Admit, AdmitStranger: o.AdmitStranger, Proxies: o.Proxies, Telemetry: o.Telemetry, Meter: o.Meter, Visit: o.visit, Shares: o.Shares, ShareLinks: o.ShareLinks, ShareCheck: o.ShareCheck, Base: base, Hosts: o.Hosts, Origins: o.Origins, CORS: o.CORS, Limits: limits, WriteTimeout: o.WriteTimeout,
		Now: o.Now, NewID: o.NewID, Logger: o.Logger,
	}, mux)}
}

// visit gives a secret to a caller without a token.
func (o *Options) visit(w http.ResponseWriter, r *http.Request) {
	o.Auth.Visit(w, r, strings.HasPrefix(auth.Address(r, o.PublicURL), "https:"))
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.chain.ServeHTTP(w, r) }

// Routes returns the patterns of all routes, for tests that must not forget any.
func (h *Handler) Routes() []string { return h.mux.Patterns() }

// Drain refuses new turns and makes /ready fail, so that a load balancer sends its
// requests elsewhere. Streams of runs continue to the end of the run; streams of
// notifications, which have no end, are closed.
func (h *Handler) Drain() {
	h.drain.Do(func() { close(h.draining) })
}

func routes(api *rest.API, mux *rest.Mux, o *Options) {
	started := o.Now()
	chats.Routes(api, chats.Options{Chat: o.Chat, Catalog: o.Catalog, Store: o.Store, Models: o.Models, Embeddings: o.Embeddings, Started: started})
	embeddings.Routes(api, o.Embeddings)
	runs.Routes(api, runs.Options{Chat: o.Chat, Store: o.Store})
	sessions.Routes(api, sessions.Options{Chat: o.Chat, Store: o.Store, Timeline: o.Diary, Preview: o.Preview, Brancher: o.Brancher, Builder: o.Builder, PublicURL: o.PublicURL})
	documents.Routes(api, documents.Options{Catalog: o.Catalog, Store: o.Store, Tools: o.Tools, Started: started})
	knowledge.Routes(api, knowledge.Options{
		Engine: o.Knowledge, Asker: o.Asker, Ingest: o.Ingest, Files: o.Files, Recorder: o.Recorder, Pieces: o.Pieces,
	})
	moments.Routes(api, moments.Options{Moments: o.Moments, Feed: o.Diary, Zone: o.Zone, Sessions: o.Store, Engine: o.Knowledge, Reminders: o.Reminders})
	reminders.Routes(api, o.Reminders)
	quotas.Routes(api, o.Quotas)
	feedback.Routes(api, o.Feedback)
	traces.Routes(api, o.Traces)
	usage.Routes(api, o.Usage, o.Now)
	dreams.Routes(api, dreams.Options{Catalog: o.Catalog, Dreams: o.Dreams, Jobs: o.Jobs})
	meRoute(api, o.Auth.Required())
	access.Routes(api, access.Options{Accounts: o.Accounts, Logins: o.Logins})
	privacy.Routes(api, o.Privacy)
	serverRoutes(api, o.Version, o.Ready)
	metricsRoute(api, o.Metrics)
	if o.MCP != nil {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			mux.Handle(method+" /mcp", o.MCP)
		}
	}
	if o.A2A != nil {
		for _, route := range []string{
			"GET /.well-known/agent-card.json", "GET /.well-known/agent.json", "GET /a2a/", "POST /a2a", "POST /a2a/", "DELETE /a2a/",
		} {
			mux.Handle(route, o.A2A)
		}
	}
	api.ServeDescription()
	mux.HandleFunc("/", unknown(mux, o.Version))
}
