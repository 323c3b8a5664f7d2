package api_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/llm/scripted"
)

// cors returns the headers of CORS in a response.
func cors(w *httptest.ResponseRecorder) map[string]string {
	out := map[string]string{}
	for name, values := range w.Header() {
		if rest, ok := strings.CutPrefix(name, "Access-Control-"); ok {
			out[rest] = strings.Join(values, "; ")
		}
	}
	return out
}

// shared returns a server that shares its responses with these origins.
func shared(t *testing.T, origins ...string) *server {
	t.Helper()
	seen := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Mcp-Session-Id", "m") })
	return newServer(t, setup{noStore: true, api: api.Options{MCP: seen, A2A: seen, CORS: origins, Hosts: []string{"p8.example"}}},
		scripted.Text("Hi."), scripted.Text("Hi."), scripted.Text("Hi."))
}

// TestCORS: a page of an allowed origin may call every protocol and read what it says,
// errors included.
func TestCORS(t *testing.T) {
	const origin = "Origin: https://app.example"
	s := shared(t, "https://other.example", "https://App.example")
	talk := `{"messages":[{"id":"1","role":"user","content":"x"}]}`
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/v1/chat/completions", hello, 200}, {"POST", "/chat/s1", talk, 200}, {"POST", "/api/chat/s2", talk, 200},
		{"GET", "/v1/models", "", 200}, {"GET", "/health", "", 200}, {"POST", "/mcp", "", 200}, {"POST", "/a2a/general", "", 200},
		{"GET", "/.well-known/agent-card.json", "", 200}, {"GET", "/nowhere", "", 404}, {"PUT", "/v1/models", "", 405},
		{"POST", "/v1/chat/completions", "{", 400}, {"GET", "/sessions", "", 501},
	} {
		w := s.do(c.method, c.path, c.body, origin, "Sec-Fetch-Site: cross-site")
		got := cors(w)
		if w.Code != c.status || got["Allow-Origin"] != "https://app.example" || got["Allow-Credentials"] != "true" || len(got) != 3 ||
			!slices.Contains(w.Header().Values("Vary"), "Origin") {
			t.Errorf("%s %s: %d %v", c.method, c.path, w.Code, got)
		}
		for _, name := range []string{"X-Run-Id", "X-Session-Id", "X-Request-Id", "Mcp-Session-Id", "x-vercel-ai-ui-message-stream", "Retry-After"} {
			if !strings.Contains(got["Expose-Headers"], name) {
				t.Errorf("%s is not exposed: %v", name, got)
			}
		}
		asked := s.do("OPTIONS", c.path, "", origin, "Access-Control-Request-Method: "+c.method,
			"Access-Control-Request-Headers: content-type,Authorization, x-stainless-lang,x-agent-schema,mcp-protocol-version,mcp-session-id,last-event-id,x-evil")
		if got := cors(asked); asked.Code != 204 || asked.Body.Len() > 0 || len(got) != 5 || got["Max-Age"] != "7200" || !strings.Contains(got["Allow-Methods"], c.method) ||
			got["Allow-Headers"] != "content-type, authorization, x-stainless-lang, x-agent-schema, mcp-protocol-version, mcp-session-id, last-event-id" {
			t.Errorf("OPTIONS %s: %d %v", c.path, asked.Code, got)
		}
	}
	s.model.AssertDone(t)
}

// TestCORSOfOthers: no header for a wrong origin, and none by default.
func TestCORSOfOthers(t *testing.T) {
	for _, s := range []*server{shared(t), shared(t, "https://app.example")} {
		for _, origin := range []string{"https://evil.example", "https://app.example.evil.example", "http://app.example", "https://app.example:8443", "null", ""} {
			for _, method := range []string{"GET", "POST", "OPTIONS"} {
				w := s.do(method, "/v1/models", "", "Origin: "+origin, "Access-Control-Request-Method: POST")
				if got := cors(w); len(got) > 0 || origin != "" && w.Code != http.StatusForbidden {
					t.Errorf("%s from %q: %d %v", method, origin, w.Code, got)
				}
			}
		}
	}
	if w := shared(t).do("GET", "/v1/models", ""); w.Header().Get("Vary") != "" {
		t.Error("a server without CORS varies")
	}
	if w := shared(t, "https://app.example").do("GET", "/v1/models", ""); w.Header().Get("Vary") != "Origin" {
		t.Error("a cache may give this response to a page")
	}
}

// TestCORSOfAll: with "*" no credentials, and still no other host.
func TestCORSOfAll(t *testing.T) {
	s := shared(t, "*")
	for _, origin := range []string{"https://evil.example", "null"} {
		w := s.do("POST", "/v1/chat/completions", hello, "Origin: "+origin, "Sec-Fetch-Site: cross-site")
		if got := cors(w); w.Code != 200 || got["Allow-Origin"] != "*" || got["Allow-Credentials"] != "" || w.Header().Get("Vary") != "" {
			t.Errorf("%d %v", w.Code, got)
		}
	}
	if got := cors(s.do("GET", "/v1/models", "")); len(got) > 0 {
		t.Errorf("without an origin: %v", got)
	}
	r := request("OPTIONS", "/v1/models", "", "Origin: http://rebound.example", "Access-Control-Request-Method: GET")
	r.Host = "rebound.example"
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("a preflight to another host: %d", w.Code)
	}
}
