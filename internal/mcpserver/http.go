package mcpserver

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/identity"
)

// stateless is the first revision without sessions.
const stateless = "2026-07-28"

// identityKey is the SDK's key of the identity, between the request and its handling.
const identityKey = "p8/identity"

// Handler serves streamable HTTP: POST, GET and DELETE of one path. The mounting code
// puts the caller's identity into the request's context, and checks Host and Origin.
//
// The revision that a request names decides: the stateless one is answered from the
// request alone; older ones have a session, which belongs to the caller who began it.
// For others the session does not exist.
func (s *Server) Handler() http.Handler {
	get := func(*http.Request) *sdk.Server { return s.sdk }
	options := sdk.StreamableHTTPOptions{
		Logger: demote(s.o.Logger), SessionTimeout: s.o.SessionTimeout, MaxRequestBodyBytes: s.o.MaxBody,
		DisableLocalhostProtection: true, PropagateRequestCancellation: true,
	}
	withSessions := options
	// A client whose connection broke can fetch the rest of its answer.
	withSessions.EventStore = sdk.NewMemoryEventStore(nil)
	options.Stateless = true
	one, many := sdk.NewStreamableHTTPHandler(get, &options), sdk.NewStreamableHTTPHandler(get, &withSessions)

	// The SDK reads the caller only from a bearer token. The name of the caller stands in
	// for it, and its verifier returns the identity of the request's context.
	known := auth.RequireBearerToken(caller, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	served := known(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Authorization")
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
		id, err := identity.From(r.Context())
		if err != nil {
			s.o.Logger.ErrorContext(r.Context(), "an MCP request has no caller", "error", err)
			http.Error(w, "something went wrong on the server; its log says what", http.StatusInternalServerError)
			return
		}
		// What the SDK and its sessions keep of a request has no token of the caller.
		known := *r
		known.Header = r.Header.Clone()
		known.Header.Del("X-Api-Key")
		known.Header.Set("Authorization", "Bearer "+principal(id))
		served.ServeHTTP(w, &known)
	})
}

// principal names the caller: a session belongs to the principal who began it.
func principal(id identity.Identity) string {
	return url.QueryEscape(id.TenantID) + "/" + url.QueryEscape(id.UserID)
}

// caller returns the identity of the request, in the SDK's form.
func caller(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	return &auth.TokenInfo{UserID: principal(id), Expiration: id.Expires, Extra: map[string]any{identityKey: id}}, nil
}

// full reports whether the limit of sessions is reached.
func (s *Server) full() bool {
	n := 0
	for range s.sdk.Sessions() {
		n++
	}
	return n >= s.o.MaxSessions
}

// writer gives each write its own deadline, because a stream outlasts any common one,
// hides the sessions of other callers, and words the SDK's errors about a body, which name
// its Go types.
type writer struct {
	http.ResponseWriter
	timeout  time.Duration
	deadline time.Time
	hidden   bool
	bad      bool
}

// WriteHeader answers for another caller's session as for an unknown one: the SDK has
// no other reason to forbid.
func (w *writer) WriteHeader(status int) {
	if status == http.StatusForbidden {
		w.hidden, status = true, http.StatusNotFound
	}
	w.bad = status == http.StatusBadRequest
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
	if w.bad && bytes.HasPrefix(b, []byte("malformed payload")) {
		_, err := w.ResponseWriter.Write([]byte("the body is not a message of JSON-RPC 2.0\n"))
		return len(b), err
	}
	if bytes.Contains(b, []byte("invalid params: ")) {
		if _, err := w.ResponseWriter.Write(wrongParams.ReplaceAll(b, []byte(`${1}the params are not as $2 wants them"`))); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// wrongParams matches the SDK's error about params of another form. Within a text of a
// result, its quotes are escaped.
var wrongParams = regexp.MustCompile(`("error":\{"code":-32602,"message":")handling '([^'"\\]*)': invalid params: (?:[^"\\]|\\.)*"`)

// extend moves the deadline of the connection, not more often than needed.
func (w *writer) extend() {
	now := time.Now()
	if w.deadline.Sub(now) > w.timeout/2 {
		return
	}
	w.deadline = now.Add(w.timeout)
	// It fails only on a connection that has no deadlines.
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.deadline)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
