package middleware

import (
	"net/http"
	"slices"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/stream"
)

// anyOrigin, as the only one of Options.CORS, is every origin.
const anyOrigin = "*"

// corsMethods are the methods of all routes.
const corsMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

// corsAge is how long a browser may remember the answer to a preflight, in seconds: two
// hours, Chromium's most.
const corsAge = "7200"

// corsHeaders are the headers that p8 and the SDKs of its protocols send, in lower case;
// those that begin with one of corsPrefixes, too.
var (
	corsHeaders = [...]string{
		"accept", "authorization", "cache-control", "content-type", "last-event-id", "user-agent",
		"idempotency-key", "x-added-instruction", "x-agent-schema", "x-agent-schema-name", "x-api-key", "x-client-id",
		"x-event-format", "x-if-busy", "x-is-eval", "x-model-name", "x-protocol", "x-request-id", "x-session-id", "x-session-name",
		"x-session-secret", "x-session-type", "x-tenant-id", "x-user-email", "x-user-id", "x-user-name",
		"openai-beta", "openai-organization", "openai-project", "x-client-request-id", "x-requested-with",
		"traceparent", "tracestate", "baggage",
	}
	corsPrefixes = [...]string{"x-stainless-", "mcp-", "a2a-"}
)

// corsExposed are the headers of responses that a page may read.
const corsExposed = web.HeaderRequestID + ", " + web.HeaderRunID + ", " + identity.HeaderSessionID + ", " + auth.HeaderSecret + ", " + stream.HeaderAISDK +
	", Mcp-Session-Id, MCP-Protocol-Version, Content-Disposition, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate"

// shared lets pages of the allowed origins read responses, errors included, and answers the
// preflights of their browsers. A page of another origin gets no header of CORS. Without
// allowed origins, nothing changes.
func (c *chain) shared(next http.Handler) http.Handler {
	if len(c.CORS) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, origin := w.Header(), r.Header.Get("Origin")
		if !c.any() {
			header.Add("Vary", "Origin") // caches must not give one origin the response of another
		}
		if !c.shares(origin) {
			next.ServeHTTP(w, r)
			return
		}
		if c.any() {
			// Any page may read what p8 says to everybody, not what it says to a browser's user.
			header.Set("Access-Control-Allow-Origin", anyOrigin)
		} else {
			header.Set("Access-Control-Allow-Origin", origin)
			header.Set("Access-Control-Allow-Credentials", "true")
		}
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" && c.known(r.Host) {
			preflight(w, r)
			return
		}
		header.Set("Access-Control-Expose-Headers", corsExposed)
		next.ServeHTTP(w, r)
	})
}

// any reports whether pages of all origins may read responses.
func (c *chain) any() bool { return slices.Contains(c.CORS, anyOrigin) }

// shares reports whether pages of an origin may read responses.
func (c *chain) shares(origin string) bool {
	return origin != "" && (c.any() || slices.ContainsFunc(c.CORS, func(allowed string) bool { return strings.EqualFold(allowed, origin) }))
}

// preflight tells a browser what a page may send: of the headers that it asked for, those
// that p8 knows.
func preflight(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
	header.Set("Access-Control-Allow-Methods", corsMethods)
	header.Set("Access-Control-Max-Age", corsAge)
	var allowed []string
	for _, list := range r.Header.Values("Access-Control-Request-Headers") {
		for name := range strings.SplitSeq(list, ",") {
			if name = strings.ToLower(strings.TrimSpace(name)); takesHeader(name) {
				allowed = append(allowed, name)
			}
		}
	}
	if len(allowed) > 0 {
		header.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	}
	w.WriteHeader(http.StatusNoContent)
}

// takesHeader reports whether a page may send a header.
func takesHeader(name string) bool {
	return slices.Contains(corsHeaders[:], name) ||
		slices.ContainsFunc(corsPrefixes[:], func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
