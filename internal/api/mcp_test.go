package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
)

// MCP's handler passes the checks of all routes, under every prefix.
func TestMCPRoute(t *testing.T) {
	mcp := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, err := identity.From(r.Context())
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Seen", r.Method+" "+r.URL.Path+" "+id.UserID)
	})
	s := newServer(t, setup{api: api.Options{MCP: mcp, TrustHeaders: true}})
	for _, c := range []struct {
		method, path, host, origin string
		status                     int
		seen                       string
	}{
		{"POST", "/mcp", "localhost:8000", "", 200, "POST /mcp ann"},
		{"GET", "/mcp/", "127.0.0.1", "http://127.0.0.1", 200, "GET /mcp ann"},
		{"GET", "/mcp", "127.0.0.1", "http://localhost:3000", 403, ""},
		{"DELETE", "/v1/mcp", "[::1]:8000", "", 200, "DELETE /mcp ann"},
		{"POST", "/api/v1/mcp/", "localhost", "", 200, "POST /mcp ann"},
		{"PUT", "/mcp", "localhost", "", 405, ""},
		{"POST", "/mcp", "evil.example", "", 403, ""},
		{"POST", "/mcp", "localhost", "http://evil.example", 403, ""},
	} {
		r := httptest.NewRequest(c.method, c.path, nil)
		r.Host = c.host
		r.Header.Set("X-User-Id", "ann")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("X-Seen") != c.seen {
			t.Errorf("%+v: %d %q", c, w.Code, w.Header().Get("X-Seen"))
		}
	}
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	newServer(t, setup{}).ServeHTTP(w, r)
	if w.Code != 404 {
		t.Errorf("without MCP: %d", w.Code)
	}
}
