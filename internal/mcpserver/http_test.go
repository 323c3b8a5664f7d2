package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/internal/testkit/sse"
	"github.com/p8-org/p8/tool"
)

// over serves s like the API: the headers name the caller.
func over(t *testing.T, s *mcpserver.Server) string {
	t.Helper()
	handler := s.Handler()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := identity.FromRequest(r, true)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		handler.ServeHTTP(w, r.WithContext(identity.With(r.Context(), id)))
	}))
	t.Cleanup(func() { s.Close(); h.Close() })
	return h.URL
}

// as adds headers to every request; a test may change them between requests.
type as struct{ headers map[string]string }

func (a as) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range a.headers {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, url, version string, a as, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: a}},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestTheCallerIsTheRequests(t *testing.T) {
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{who{spec(t, "who")}}, Resources: shelf{}})
	url := over(t, s)
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			alice := as{map[string]string{"X-User-Id": "alice"}}
			a := dial(t, url, version, alice, nil)
			b := dial(t, url, version, as{map[string]string{"X-User-Id": "bob", "X-Tenant-Id": "acme"}}, nil)
			if got := a.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("negotiated %s", got)
			}
			if (a.ID() == "") != (version == "2026-07-28") {
				t.Errorf("session %q", a.ID())
			}
			for c, want := range map[*sdk.ClientSession]string{a: "default/alice/", b: "acme/bob/"} {
				if got := call(t, c, "who", nil).StructuredContent.(map[string]any)["user"]; got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			// The other headers belong to the request, not to the session.
			alice.headers["X-Session-Id"] = "tea"
			if got := call(t, a, "who", nil).StructuredContent.(map[string]any)["user"]; got != "default/alice/tea" {
				t.Errorf("got %s", got)
			}
			res, err := b.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "user://profile"})
			if err != nil || res.Contents[0].Text != `{"user":"bob"}` {
				t.Errorf("%+v %v", res, err)
			}
		})
	}
}

func post(t *testing.T, url, session, user, body string) (int, string, http.Header) {
	t.Helper()
	return send(t, http.MethodPost, url, body, map[string]string{"X-User-Id": user, "Mcp-Session-Id": session})
}

func send(t *testing.T, method, url, body string, headers map[string]string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	ping       = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
)

func TestSessionsBelongToTheirCaller(t *testing.T) {
	s := newServer(t, mcpserver.Options{MaxSessions: 2})
	url := over(t, s)
	status, _, header := post(t, url, "", "alice", initialize)
	session := header.Get("Mcp-Session-Id")
	if status != http.StatusOK || session == "" {
		t.Fatal(status, header)
	}
	none, absent, _ := post(t, url, "nobody", "alice", ping)
	for _, user := range []string{"bob", ""} {
		if status, body, _ := post(t, url, session, user, ping); status != http.StatusNotFound || status != none || body != absent {
			t.Errorf("%q: %d %q, without a session %d %q", user, status, body, none, absent)
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if status, _, _ := send(t, method, url, "", map[string]string{"X-User-Id": user, "Mcp-Session-Id": session}); status != http.StatusNotFound {
				t.Errorf("%s as %q: %d", method, user, status)
			}
		}
	}
	if status, body, _ := post(t, url, session, "alice", ping); status != http.StatusOK || !strings.Contains(body, `"result":{}`) {
		t.Errorf("%d %q", status, body)
	}

	// The limit is reached; a session that ends makes room.
	post(t, url, "", "alice", initialize)
	if status, _, header := post(t, url, "", "alice", initialize); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Error(status)
	}
	if status, _, _ := send(t, http.MethodDelete, url, "", map[string]string{"X-User-Id": "alice", "Mcp-Session-Id": session}); status != http.StatusNoContent {
		t.Error(status)
	}
	if status, _, _ := post(t, url, "", "alice", initialize); status != http.StatusOK {
		t.Error(status)
	}
	s.Close()
	if status, _, _ := post(t, url, "", "alice", initialize); status != http.StatusServiceUnavailable {
		t.Error(status)
	}
}

// TestStreamsAreSSE: each event of a response is JSON. The first may have an id alone, for a
// client that comes back.
func TestStreamsAreSSE(t *testing.T) {
	url := over(t, newServer(t, mcpserver.Options{}))
	_, first, header := post(t, url, "", "alice", initialize)
	_, second, _ := post(t, url, header.Get("Mcp-Session-Id"), "alice", ping)
	for _, body := range []string{first, second} {
		events, rest := sse.Parse(body)
		for i, e := range events {
			if primes := i == 0 && e.Data == "" && e.ID != ""; !primes && !json.Valid([]byte(e.Data)) || e.Name != "message" && !primes {
				t.Errorf("%+v", e)
			}
		}
		if len(events) == 0 || rest != "" {
			t.Errorf("%q", body)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	url := over(t, newServer(t, mcpserver.Options{MaxBody: 1000}))
	big := strings.Replace(initialize, `"x"`, `"`+strings.Repeat("x", 2000)+`"`, 1)
	for _, version := range []string{"", "2026-07-28"} {
		status, _, _ := send(t, http.MethodPost, url, big, map[string]string{"MCP-Protocol-Version": version})
		if status != http.StatusRequestEntityTooLarge {
			t.Errorf("%q: %d", version, status)
		}
	}
}

// An error of the SDK about a body names its Go types; the client gets p8's words.
func TestBodiesThatAreNoMessages(t *testing.T) {
	url := over(t, newServer(t, mcpserver.Options{}))
	_, _, header := post(t, url, "", "alice", initialize)
	_, text, _ := post(t, url, header.Get("Mcp-Session-Id"), "alice", `{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":{"a\"b":1}}}`)
	if !strings.Contains(text, `"error":{"code":-32602,"message":"the params are not as prompts/get wants them"}`) {
		t.Error(text)
	}
	for _, body := range []string{`true`, `{"jsonrpc":-1,"method":"ping"}`, `{"jsonrpc":"2.0","method":{}}`, `{`} {
		for _, version := range []string{"", "2026-07-28"} {
			status, text, _ := send(t, http.MethodPost, url, body, map[string]string{"MCP-Protocol-Version": version})
			if status != http.StatusBadRequest || text != "the body is not a message of JSON-RPC 2.0\n" {
				t.Errorf("%s %s: %d %s", version, body, status, text)
			}
		}
	}
}

func TestListeningOverHTTP(t *testing.T) {
	s := newServer(t, mcpserver.Options{Resources: shelf{}})
	url := over(t, s)
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		heard := make(chan string, 10)
		c := dial(t, url, version, as{map[string]string{"X-User-Id": "alice"}}, &sdk.ClientOptions{
			ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { heard <- r.Params.URI },
		})
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "user://profile"}); err != nil {
			t.Fatal(err)
		}
		s.Changed(identity.With(t.Context(), identity.Identity{UserID: "bob"}), "user://profile")
		s.Changed(identity.With(t.Context(), identity.Identity{UserID: "alice"}), "user://profile")
		if uri := <-heard; uri != "user://profile" || len(heard) != 0 {
			t.Error(version, uri)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A client that leaves the stateless revision cancels its call.
func TestLeavingCancels(t *testing.T) {
	began, ended := make(chan bool), make(chan bool)
	s := newServer(t, mcpserver.Options{Tools: []tool.Tool{
		streaming{spec(t, "waits"), func(ctx context.Context, _ func(event.Event) bool) (tool.Result, error) {
			began <- true
			<-ctx.Done()
			ended <- true
			return tool.Result{}, ctx.Err()
		}},
	}})
	c := dial(t, over(t, s), "", as{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "waits"}); err == nil {
		t.Error("the call went on")
	}
	<-ended
}

// The SDK, and what a server adds to it, gets the verified caller and the end of the token,
// and no token.
func TestThePrincipalIsCarried(t *testing.T) {
	expires := time.Now().Add(time.Hour).UTC()
	seen := make(chan *sdk.RequestExtra, 1)
	s := newServer(t, mcpserver.Options{Extend: func(server *sdk.Server) {
		sdk.AddTool(server, &sdk.Tool{Name: "look"}, func(_ context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			seen <- req.Extra
			return &sdk.CallToolResult{}, nil, nil
		})
	}})
	handler := s.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := identity.Identity{TenantID: "acme / x", UserID: "rita", Expires: expires}
		handler.ServeHTTP(w, r.WithContext(identity.With(r.Context(), id)))
	}))
	t.Cleanup(func() { s.Close(); server.Close() })
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		c := dial(t, server.URL, version, as{map[string]string{"Authorization": "Bearer secret-token", "X-Api-Key": "secret-key"}}, nil)
		call(t, c, "look", nil)
		extra := <-seen
		if got := extra.TokenInfo; got.UserID != "acme+%2F+x/rita" || !got.Expiration.Equal(expires) {
			t.Errorf("%s: %+v", version, got)
		}
		for name, values := range extra.Header {
			if strings.Contains(strings.Join(values, " "), "secret") || name == "Authorization" {
				t.Errorf("%s: the header %s is %q", version, name, values)
			}
		}
	}
	// A request without a caller is a mistake of the mounting code.
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("POST", "/mcp", nil))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("without a caller: %d", w.Code)
	}
}
