package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"crypto/tls"

	"github.com/p8-org/p8/internal/api"
)

// posts are the routes that read a body: those of the description, and those of other
// packages.
func (s *server) posts(t *testing.T) (routes []string) {
	t.Helper()
	var spec struct {
		Paths map[string]map[string]any
	}
	must(t, json.Unmarshal(s.do("GET", "/openapi.json", "").Body.Bytes(), &spec))
	for path, methods := range spec.Paths {
		for method := range methods {
			if method = strings.ToUpper(method); method != "GET" && method != "DELETE" {
				routes = append(routes, method+" "+strings.ReplaceAll(strings.ReplaceAll(path, "{", ""), "}", ""))
			}
		}
	}
	if len(routes) < 25 {
		t.Fatalf("only %d routes take a body", len(routes))
	}
	return append(routes, "POST /mcp", "POST /a2a/general", "POST /v1/chat/completions", "POST /api/v1/mcp")
}

// readsAll takes any body, as a handler of another package may.
func readsAll(t *testing.T) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
	})
}

// Bodies that no honest client sends are refused with a client's error, wherever a body is
// read.
func TestHostileBodies(t *testing.T) {
	s := newServer(t, setup{knowledge: true, api: api.Options{TrustHeaders: true, MCP: readsAll(t), A2A: readsAll(t)}})
	deep := func(n int) string {
		return `{"messages":[{"role":"user","content":"x"}],"metadata":` + strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) + `}`
	}
	for name, c := range map[string]struct {
		body, headers string
		status        int
		says          string
	}{
		"not UTF-8":        {"{\"name\":\"a\",\n\"query\":\"caf\xe9\"}", "", 400, "not UTF-8: see line 2, column 13"},
		"half a character": {"{\"name\":\"\xe2\x82", "", 400, "not UTF-8"},
		"gzip":             {"\x1f\x8b\x08", "Content-Encoding: gzip", 415, "compressed"},
		"deflate":          {"{}", "Content-Encoding: deflate", 415, "compressed"},
		"deep":             {deep(10_001), "", 0, ""},
		"very deep":        {strings.Repeat("[", 1_000_000), "", 0, ""},
	} {
		for _, route := range s.posts(t) {
			method, path, _ := strings.Cut(route, " ")
			headers := []string{"Content-Type: application/json"}
			if c.headers != "" {
				headers = append(headers, c.headers)
			}
			w := s.do(method, path, c.body, headers...)
			other := strings.Contains(path, "mcp") || strings.Contains(path, "a2a")
			upload := strings.HasSuffix(path, "/content")
			switch {
			case c.status == 0 && (w.Code/100 == 4 || other && w.Code == 200):
			case c.status != 0 && (w.Code == c.status && strings.Contains(w.Body.String(), c.says) || upload && w.Code == 415):
			case w.Code == 204 || w.Code == 404 || w.Code == 409 || w.Code == 501: // it answers without reading
			default:
				t.Errorf("%s, %s: %d %.300s", name, route, w.Code, w.Body)
			}
		}
	}
	if w := s.do("GET", "/sessions?"+strings.Repeat("a=b&", 15_000), ""); w.Code/100 == 5 {
		t.Errorf("many parameters: %d", w.Code)
	}
	if w := s.do("GET", "/sessions?limit="+url.QueryEscape("\xff"), ""); w.Code/100 != 4 {
		t.Errorf("a parameter that is not UTF-8: %d", w.Code)
	}
}

// Every response, an error or not, tells browsers that it is data, private, and of no page.
func TestSecurityHeaders(t *testing.T) {
	s := authenticated(t)
	for _, route := range []string{
		"GET /", "GET /health", "GET /openapi.json", "GET /sessions", "GET /nothing", "PUT /health", "POST /v1/chat/completions", "OPTIONS /chat", "POST /mcp", "GET /a2a/x/.well-known/agent-card.json",
	} {
		method, path, _ := strings.Cut(route, " ")
		for _, secure := range []bool{false, true} {
			r := request(method, path, "")
			if secure {
				r.TLS = new(tls.ConnectionState)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			for name, want := range map[string]string{
				"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
				"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "Strict-Transport-Security": map[bool]string{true: "max-age=31536000"}[secure],
			} {
				if got := w.Header().Get(name); got != want && !strings.Contains(got, want) {
					t.Errorf("%s: %s is %q, want %q", route, name, got, want)
				}
			}
			if !secure && w.Header().Get("Strict-Transport-Security") != "" {
				t.Errorf("%s: a browser is told to use TLS where there is none", route)
			}
		}
	}
}
