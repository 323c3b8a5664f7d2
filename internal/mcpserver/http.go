package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/identity"
)

// stateless is the first revision without sessions.
const stateless = "2026-07-28"

// identityKey is where the SDK carries the caller from a request to its
// handling.
const identityKey = "p8/identity"

// Handler serves streamable HTTP: POST, GET and DELETE of one path. Whoever
// mounts it puts the caller's identity into the request's context, and checks
// Host and Origin.
//
// The revision that a request names decides: one without sessions is answered
// from that request alone, older ones have a session, which belongs to the
// caller who began it; to others it does not exist.
func (s *Server) Handler() http.Handler {
	get := func(*http.Request) *sdk.Server { return s.sdk }
	options := sdk.StreamableHTTPOptions{
		Logger: demote(s.o.Logger), SessionTimeout: s.o.SessionTimeout, MaxRequestBodyBytes: s.o.MaxBody,
		DisableLocalhostProtection: true, PropagateRequestCancellation: true,
	}
	withSessions := options
	// A client whose connection broke gets the rest of its answer.
	withSessions.EventStore = sdk.NewMemoryEventStore(nil)
	options.Stateless = true
	one, many := sdk.NewStreamableHTTPHandler(get, &options), sdk.NewStreamableHTTPHandler(get, &withSessions)

	// The SDK takes the caller from a bearer token and nowhere else; the one that
	// it finds here stands for the identity that the request has already.
	known := auth.RequireBearerToken(caller, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	served := known(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = &writer{ResponseWriter: w, timeout: s.o.WriteTimeout}
		alone := r.Header.Get("MCP-Protocol-Version") >= stateless
		begins := alone || r.Header.Get("Mcp-Session-Id") == ""
		switch {
		case s.closing.Err() != nil:
			http.Error(w, "the server is shutting down", http.StatusServiceUnavailable)
		case begins && s.full():
			w.Header().Set("Retry-After", "60")
			http.Error(w, "there are as many sessions as this server takes; try again later", http.StatusServiceUnavailable)
		case alone:
			one.ServeHTTP(w, r)
		default:
			many.ServeHTTP(w, r)
		}
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := *r
		known.Header = r.Header.Clone()
		known.Header.Set("Authorization", "Bearer p8")
		served.ServeHTTP(w, &known)
	})
}

// caller is the identity of the request, in the form that the SDK carries.
func caller(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	return &auth.TokenInfo{
		UserID: fmt.Sprintf("%q %q", id.TenantID, id.UserID),
		Extra:  map[string]any{identityKey: id},
	}, nil
}

// full reports whether there are as many sessions as may be.
func (s *Server) full() bool {
	n := 0
	for range s.sdk.Sessions() {
		n++
	}
	return n >= s.o.MaxSessions
}

// writer bounds each write by a time of its own, for a stream lasts longer than
// any answer may, and hides the sessions of others.
type writer struct {
	http.ResponseWriter
	timeout  time.Duration
	deadline time.Time
	hidden   bool
}

// WriteHeader says of another's session what it says of none: the SDK has no
// other reason to forbid.
func (w *writer) WriteHeader(status int) {
	if status == http.StatusForbidden {
		w.hidden, status = true, http.StatusNotFound
	}
	w.ResponseWriter.WriteHeader(status)
	w.extend()
	if w.hidden {
		_, _ = w.ResponseWriter.Write([]byte("session not found\n"))
	}
}

func (w *writer) Write(b []byte) (int, error) {
	if w.hidden {
		return len(b), nil
	}
	w.extend()
	return w.ResponseWriter.Write(b)
}

// extend moves the deadline of the connection, not more often than needed.
func (w *writer) extend() {
	now := time.Now()
	if w.deadline.Sub(now) > w.timeout/2 {
		return
	}
	w.deadline = now.Add(w.timeout)
	// A connection without deadlines has none to move.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.deadline)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
