package api_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/auth"
)

// page is a page of metrics.
func page(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "p8_runs 3\n") }

// TestWhoReadsMetrics: they are of all tenants, so no token of a tenant reads them.
func TestWhoReadsMetrics(t *testing.T) {
	const key = "0123456789abcdef01234567"
	callers, err := auth.New(auth.Options{
		Secret: tokenSecret, Issuer: "https://login.example.com", Key: key, TrustHeaders: true, Visitors: true, Now: now, Logger: slog.New(slog.DiscardHandler),
	})
	must(t, err)
	var closed, open setup
	closed.api.Auth, closed.api.Metrics, closed.noStore = callers, http.HandlerFunc(page), true
	open.api.TrustHeaders, open.api.Metrics, open.noStore = true, http.HandlerFunc(page), true
	bearer := func(role string) string { return "Authorization: Bearer " + tokenOf(t, "default", "rita", role) }
	for _, c := range []struct {
		name    string
		s       setup
		headers []string
		status  int
	}{
		{"the deployment's key", closed, []string{"Authorization: Bearer " + key}, 200},
		{"a user of a gateway", closed, []string{"X-Api-Key: " + key, "X-User-Id: rita"}, 403},
		{"a visitor", closed, nil, 403},
		{"a wrong key", closed, []string{"X-Api-Key: " + key + "0"}, 401},
		{"a reader", closed, []string{bearer("reader")}, 403},
		{"a member", closed, []string{bearer("member")}, 403},
		{"an admin of a tenant", closed, []string{bearer("admin")}, 403},
		{"a server of its own machine", open, nil, 200},
		{"a page of another site", open, []string{"Origin: https://evil.example"}, 403},
		{"a server without metrics here", setup{noStore: true}, nil, 404},
	} {
		w := newServer(t, c.s).do("GET", "/metrics", "", c.headers...)
		if w.Code != c.status || (w.Body.String() == "p8_runs 3\n") != (c.status == 200) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
}

// meter is a Meter that notes all it gets.
type meter struct {
	mu    sync.Mutex
	notes []string
}

func (m *meter) note(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notes = append(m.notes, fmt.Sprintf(format, args...))
}

func (m *meter) Refused(status int, reason string) { m.note("%d %s", status, reason) }
func (m *meter) Streams(protocol string, n int)    { m.note("%s %+d", protocol, n) }

func TestMeter(t *testing.T) {
	callers, err := auth.New(auth.Options{Secret: tokenSecret, Issuer: "https://login.example.com", Now: now, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	var got meter
	var s setup
	s.api.Meter, s.api.Auth, s.noStore = &got, callers, true
	s.api.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Error(w, "full", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": hello\n\n")
		panic(http.ErrAbortHandler)
	})
	h := newServer(t, s)
	bearer := "Authorization: Bearer " + tokenOf(t, "acme", "rita", "member")
	h.do("GET", "/sessions", "")
	h.do("GET", "/v1/models", "", "Authorization: Bearer x")
	h.do("GET", "/health", "", "Origin: https://evil.example")
	h.do("GET", "/health", "")
	h.do("POST", "/mcp", "{}", bearer, "Content-Type: application/json")
	func() {
		defer func() { _ = recover() }()
		h.do("GET", "/v1/mcp", "", bearer)
	}()
	h.Drain()
	h.do("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"hello"}]}`, bearer)
	want := []string{"401 token_required", "401 invalid_token", "403 origin_not_allowed", "503 other", "mcp +1", "mcp -1", "503 shutting_down"}
	if d := cmp.Diff(want, got.notes); d != "" {
		t.Error(d)
	}
}

// TestMeterOfProtocols: a stream counts under its protocol while it is open.
func TestMeterOfProtocols(t *testing.T) {
	const said = `"messages":[{"id":"1","role":"user","content":"hello"}]`
	for _, c := range []struct{ protocol, method, path, body string }{
		{"openai", "POST", "/v1/chat/completions", `{"stream":true,` + said + `}`},
		{"responses", "POST", "/v1/responses", `{"stream":true,"input":"hello"}`},
		{"ag-ui", "POST", "/chat", `{"threadId":"s",` + said + `}`},
		{"ai-sdk", "POST", "/api/chat", `{"id":"s","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hello"}]}]}`},
		{"events", "GET", "/runs/RUN/events", ""},
		{"ag-ui", "GET", "/runs/RUN/events?protocol=ag-ui", ""},
	} {
		f, got := newFake(), new(meter)
		f.say("Hello.", &event.DoneData{Reason: event.ReasonStop})
		s := newTalk(t, f)
		s.Handler = api.New(api.Options{
			Chat: f, Catalog: s.catalog, TrustHeaders: true, Store: listing{f: f}, Meter: got, Logger: slog.New(slog.DiscardHandler), Now: now,
		})
		w := s.do(c.method, strings.Replace(c.path, "RUN", f.run.ID, 1), c.body)
		if d := cmp.Diff([]string{c.protocol + " +1", c.protocol + " -1"}, got.notes); d != "" {
			t.Errorf("%s: %d %s %s", c.path, w.Code, w.Body, d)
		}
	}
}
