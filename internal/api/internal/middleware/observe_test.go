package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/body"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/testkit/observed"
	"github.com/p8-org/p8/telemetry"
)

// TestTraces: only a known caller's request goes on in the caller's trace, and one that is refused
// before its caller is known has no span.
func TestTraces(t *testing.T) {
	const theirs = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, c := range []struct {
		name, path       string
		id               identity.Identity
		err              error
		spans            int
		continues, links bool
	}{
		{name: "known", path: "/moments/by-name/my-secret", id: identity.Identity{TenantID: "acme", UserID: "alice"}, spans: 1, continues: true},
		{name: "visitor", path: "/moments/by-name/my-secret", id: identity.Identity{TenantID: "acme", UserID: identity.VisitorPrefix + "1"}, spans: 1, links: true},
		{name: "public", path: "/openapi.json", spans: 1, links: true},
		{name: "refused", path: "/moments/by-name/my-secret", err: &auth.Refused{Message: "no"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := observed.New(t, telemetry.Options{})
			routes := http.NewServeMux()
			routes.HandleFunc("GET /moments/by-name/{name}", func(http.ResponseWriter, *http.Request) {})
			log := new(strings.Builder)
			h := New(Options{
				Telemetry: r.Telemetry, Logger: slog.New(slog.NewTextHandler(log, nil)), Hosts: []string{"*"}, Now: time.Now,
				NewID:    func() string { return "r1" },
				Limits:   body.Limits{},
				Visit:    func(http.ResponseWriter, *http.Request) {},
				Identify: func(*http.Request) (identity.Identity, error) { return c.id, c.err },
				Bound: func(r *http.Request, _ identity.Identity) (context.Context, context.CancelFunc) {
					return context.WithCancel(r.Context())
				},
			}, routes)
			req := httptest.NewRequest(http.MethodGet, c.path, nil)
			req.Header.Set("Traceparent", "00-"+theirs+"-00f067aa0ba902b7-01")
			req.Header.Set("Tracestate", "vendor=chosen-by-the-client")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			spans := r.Spans()
			if len(spans) != c.spans {
				t.Fatalf("%d spans, status %d", len(spans), w.Code)
			}
			if !strings.Contains(r.Metrics(t), "http.server.request.duration") {
				t.Error("the request is not in the metrics")
			}
			if c.spans == 0 {
				return
			}
			span := spans[0]
			trace := span.SpanContext.TraceID().String()
			if (trace == theirs) != c.continues || span.SpanContext.TraceState().Len() > 0 || !strings.Contains(log.String(), "trace_id="+trace) {
				t.Errorf("the trace is %s, the log %s", trace, log)
			}
			if linked := len(span.Links) == 1 && span.Links[0].SpanContext.TraceID().String() == theirs && span.Links[0].SpanContext.TraceState().Len() == 0; linked != c.links {
				t.Errorf("the links are %v", span.Links)
			}
			if tree := r.Tree(nil); strings.Contains(tree, "my-secret") {
				t.Errorf("a name is in %s", tree)
			}
		})
	}
}
