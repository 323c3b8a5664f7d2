package api_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/llm/scripted"
)

const tokenSecret = "0123456789abcdef0123456789abcdef"

// tokenOf is a token of a user with a role, which ends when the tests are long over.
func tokenOf(t *testing.T, tenant, user, role string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(tokenSecret)}, nil)
	must(t, err)
	body, err := json.Marshal(map[string]any{"iss": "https://login.example.com", "sub": user, "tenant_id": tenant, "roles": []string{role}, "exp": 4_000_000_000})
	must(t, err)
	signed, err := signer.Sign(body)
	must(t, err)
	token, err := signed.CompactSerialize()
	must(t, err)
	return token
}

func authenticated(t *testing.T, turns ...scripted.Turn) *server {
	t.Helper()
	return authenticatedWith(t, setup{knowledge: true}, turns...)
}

func authenticatedWith(t *testing.T, s setup, turns ...scripted.Turn) *server {
	t.Helper()
	callers, err := auth.New(auth.Options{Secret: tokenSecret, Issuer: "https://login.example.com", Now: now, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	s.api.Auth, s.api.TrustHeaders, s.api.PublicURL = callers, true, "https://agents.example.com/"
	s.api.MCP = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := identity.From(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	s.api.A2A = s.api.MCP
	return newServer(t, s, turns...)
}

// Without a token, no route of the description answers, whatever the headers say. A route
// that is new is tried, too.
func TestNoRouteWithoutAToken(t *testing.T) {
	s := authenticated(t)
	var spec struct {
		Paths map[string]map[string]any
	}
	must(t, json.Unmarshal(s.do("GET", "/openapi.json", "").Body.Bytes(), &spec))
	tried := 0
	for _, prefix := range []string{"", "/v1", "/api/v1"} {
		for path, methods := range spec.Paths {
			if path == "/health" || path == "/ready" || path == "/auth/login" {
				continue
			}
			for method := range methods {
				s.refused(t, strings.ToUpper(method), prefix+path)
				tried++
			}
		}
		for _, route := range []string{"POST /mcp", "GET /mcp", "DELETE /mcp", "POST /a2a", "POST /a2a/x", "GET /.well-known/agent-card.json", "GET /nothing", "PUT /sessions"} {
			method, path, _ := strings.Cut(route, " ")
			s.refused(t, method, prefix+path)
		}
	}
	if tried < 150 {
		t.Errorf("only %d routes were tried", tried)
	}
	for _, path := range []string{"/", "/health", "/ready", "/openapi.json"} {
		if w := s.do("GET", path, ""); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func (s *server) refused(t *testing.T, method, path string) {
	t.Helper()
	body := ""
	if method != "GET" && method != "DELETE" {
		body = `{}`
	}
	w := s.do(method, path, body, "X-User-Id: rita", "X-Tenant-Id: acme", "X-User-Email: rita@example.com", "Content-Type: application/json")
	switch {
	case w.Code == http.StatusUnsupportedMediaType && strings.HasSuffix(path, "/content"): // an upload is refused sooner
	case w.Code != http.StatusUnauthorized || !strings.HasPrefix(w.Header().Get("WWW-Authenticate"), `Bearer realm="p8"`):
		t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
}

func TestCallersWithTokens(t *testing.T) {
	s := authenticated(t, scripted.Text("ahoy"), scripted.Text("ahoy"))
	ask := `{"messages":[{"role":"user","content":"hello"}]}`
	bearer := func(tenant, user, role string) string {
		return "Authorization: Bearer " + tokenOf(t, tenant, user, role)
	}
	rita := bearer("acme", "rita", "member")
	if w := s.do("POST", "/v1/chat/completions", ask, rita, "X-Session-Id: mine", "X-User-Id: eve"); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for who, headers := range map[string][]string{
		"rita":                         {rita},
		"rita, with another's headers": {rita, "X-User-Id: eve", "X-Tenant-Id: evil"},
		"rita, by the key's header":    {"X-Api-Key: " + tokenOf(t, "acme", "rita", "reader")},
	} {
		if w := s.do("GET", "/sessions/mine", "", headers...); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
	}
	for who, header := range map[string]string{
		"another user": bearer("acme", "eve", "admin"), "her name in another tenant": bearer("evil", "rita", "admin"),
	} {
		if w := s.do("GET", "/sessions/mine", "", header, "X-User-Id: rita", "X-Tenant-Id: acme"); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
	}
	doc := "name: pirate\ndescription: You are a pirate.\n"
	yaml := "Content-Type: application/yaml"
	for _, c := range []struct {
		what, method, path, body string
		headers                  []string
		want                     int
	}{
		{"a turn of a reader", "POST", "/v1/chat/completions", ask, []string{bearer("acme", "rolf", "reader")}, 403},
		{"a document of a member", "POST", "/schemas", doc, []string{rita, yaml}, 201},
		{"a document of a reader", "POST", "/schemas", doc, []string{bearer("acme", "rolf", "reader"), yaml}, 403},
		{"a wrong token", "GET", "/sessions", "", []string{"Authorization: Bearer x"}, 401},
		{"a wrong token to OpenAI's route", "GET", "/v1/models", "", []string{"Authorization: Bearer x"}, 401},
		{"MCP", "POST", "/mcp", `{}`, []string{rita}, 200},
	} {
		w := s.do(c.method, c.path, c.body, c.headers...)
		if w.Code != c.want {
			t.Errorf("%s: %d %s, want %d", c.what, w.Code, w.Body, c.want)
		}
		if c.want == 401 && !strings.Contains(w.Header().Get("WWW-Authenticate"), `error="invalid_token"`) {
			t.Errorf("%s: %q", c.what, w.Header().Get("WWW-Authenticate"))
		}
	}
}

// MCP clients find the identity provider (RFC 9728).
func TestResourceMetadata(t *testing.T) {
	s := authenticated(t)
	w := s.do("POST", "/mcp", `{}`)
	const at = "https://agents.example.com/.well-known/oauth-protected-resource/mcp"
	if got := w.Header().Get("WWW-Authenticate"); w.Code != 401 || got != `Bearer realm="p8", resource_metadata="`+at+`"` {
		t.Errorf("%d %s", w.Code, got)
	}
	var about struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	w = s.do("GET", strings.TrimPrefix(at, "https://agents.example.com"), "")
	must(t, json.Unmarshal(w.Body.Bytes(), &about))
	if about.Resource != "https://agents.example.com/mcp" || len(about.Servers) != 1 || about.Servers[0] != "https://login.example.com" {
		t.Errorf("%s", w.Body)
	}
}

// What a token's expiry interrupts is no answer, and no client takes it for one.
func TestATokenThatExpiresInARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		callers, err := auth.New(auth.Options{Secret: tokenSecret, Leeway: time.Second})
		must(t, err)
		goOn := make(chan struct{})
		slow := scripted.Turn{Text: []string{"late"}, Before: scripted.Until(0, goOn)}
		s := setup{noStore: true}
		s.api.Auth = callers
		server := newServer(t, s, slow, slow)
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(tokenSecret)}, nil)
		must(t, err)
		for path, body := range map[string]string{
			"/v1/chat/completions": `{"messages":[{"role":"user","content":"hello"}]}`,
			"/v1/responses":        `{"model":"general","input":"hello"}`,
		} {
			signed, err := signer.Sign(fmt.Appendf(nil, `{"sub":"rita","tenant_id":"acme","exp":%d}`, time.Now().Add(time.Minute).Unix()))
			must(t, err)
			token, err := signed.CompactSerialize()
			must(t, err)
			if w := server.do("POST", path, body, "Authorization: Bearer "+token); w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), "the run goes on") {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		close(goOn)
		synctest.Wait()
	})
}
