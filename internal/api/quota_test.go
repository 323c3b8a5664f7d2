package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/llm/scripted"
)

// limited is a server whose users have limits.
func limited(t *testing.T, limits string, turns ...scripted.Turn) *server {
	t.Helper()
	user, err := quota.Parse(limits, quota.Limits{})
	must(t, err)
	k := quota.New(quota.Options{User: user, Now: now})
	none := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a refused request was served") })
	return newServer(t, setup{knowledge: true, api: api.Options{TrustHeaders: true, MCP: none, A2A: none, Admit: k.Admit}}, turns...)
}

// A request beyond the limit is refused in the words of its protocol, with the headers that say
// when to come back; one within it has the headers, too.
func TestTooManyRequests(t *testing.T) {
	s := limited(t, "requests=2")
	if w := s.do("GET", "/health", "", "X-User-Id: rita"); w.Header().Get("RateLimit") != "" {
		t.Error("a health check is counted")
	}
	for _, want := range []string{`"user-requests";r=1;t=`, `"user-requests";r=0;t=`} {
		if w := s.do("GET", "/sessions", "", "X-User-Id: rita"); w.Code != 200 || !strings.HasPrefix(w.Header().Get("RateLimit"), want) {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
	type object = map[string]any
	for route, path := range map[string]string{
		"POST /v1/chat/completions": "error.code", "POST /v1/responses": "error.code", "GET /v1/models": "error.code", "POST /v1/embeddings": "error.code",
		"POST /chat": "code", "POST /api/chat": "code", "GET /sessions": "code", "POST /a2a/general/message:send": "code",
		"POST /mcp": "error.data.code", "POST /a2a/general": "error.data.code", "POST /v1/mcp": "error.data.code",
	} {
		method, address, _ := strings.Cut(route, " ")
		w := s.do(method, address, map[bool]string{true: `{"messages":[{"role":"user","content":"x"}]}`}[method == "POST"], "X-User-Id: rita")
		var v any
		must(t, json.Unmarshal(w.Body.Bytes(), &v))
		for name := range strings.SplitSeq(path, ".") {
			o, _ := v.(object)
			v = o[name]
		}
		if w.Code != http.StatusTooManyRequests || v != "rate_limit_exceeded" || w.Header().Get("Retry-After") == "" || w.Header().Get("RateLimit-Policy") != `"user-requests";q=2;w=60` {
			t.Errorf("%s: %d %v %s", route, w.Code, w.Header(), w.Body)
		}
	}
	if w := s.do("GET", "/sessions", "", "X-User-Id: otto"); w.Code != 200 {
		t.Errorf("another user: %d", w.Code)
	}
}

// Admins manage quotas over HTTP.
func TestQuotas(t *testing.T) {
	s := limited(t, "tokens=5M")
	s.Handler = api.New(api.Options{
		Chat: s.chat, Catalog: s.catalog, Store: s.store, Now: now, NewID: counter("request-%d"), TrustHeaders: true,
		Quotas: &quota.Manager{User: quota.Limits{Tokens: 5_000_000}, Store: s.store.Quotas()},
	})
	for _, c := range []struct {
		name, body string
		caller     identity.Identity
		status     int
		says       string
	}{
		{"a user", `{"kind":"user","id":"rita","limits":"usd=5"}`, identity.Identity{}, 200, `"limits":"tokens=5000000,usd=5"`},
		{"the tenant", `{"kind":"tenant","limits":"runs=9"}`, identity.Identity{}, 200, `"limits":"runs=9"`},
		{"a mistake", `{"kind":"user","id":"rita","limits":"tokens=many"}`, identity.Identity{}, 422, "is not a limit"},
		{"another kind", `{"kind":"team","limits":"tokens=1"}`, identity.Identity{}, 422, "team"},
		{"a user by address", `{"kind":"user","id":"Rita@Example.com","limits":"usd=5"}`, identity.Identity{}, 200, `"id":"` + identity.UserID("rita@example.com") + `"`},
		{"nothing", `{}`, identity.Identity{}, 422, `in a body such as {\"kind\":\"user\"`},
		{"no key", `{"kind":"key","id":"nope","limits":"runs=1"}`, identity.Identity{}, 422, "is no key's"},
		{"no limits", `{"kind":"user","id":"rita"}`, identity.Identity{}, 422, "limits is missing"},
		{"limits in another field", `{"kind":"user","id":"rita","limit":"tokens=7"}`, identity.Identity{}, 422, "did you mean limits?"},
		{"null as limits", `{"kind":"user","id":"rita","limits":null}`, identity.Identity{}, 422, "limits is missing"},
		{"removed", `{"kind":"user","id":"rita","limits":""}`, identity.Identity{}, 200, `"limits":"tokens=5000000"`},
		{"again", `{"kind":"user","id":"rita","limits":""}`, identity.Identity{}, 404, "no such quota"},
		{"a member", `{"kind":"user","id":"rita","limits":"usd=5"}`, identity.Identity{UserID: "rita", Role: identity.RoleMember}, 403, "admin"},
		{"an admin for the tenant", `{"kind":"tenant","limits":"runs=0"}`, identity.Identity{UserID: "ada", Role: identity.RoleAdmin}, 403, "deployment"},
	} {
		caller := c.caller
		caller.TenantID = identity.DefaultTenant
		r := request("PUT", "/quotas", c.body)
		r = r.WithContext(identity.With(context.Background(), caller))
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
	if w := s.do("PUT", "/quotas?tenant=acme", `{"kind":"tenant","limits":"runs=3"}`); w.Code != 200 {
		t.Errorf("another tenant: %d %s", w.Code, w.Body)
	}
	if w := s.do("GET", "/quotas", "", "X-Tenant-Id: acme"); w.Body.String() != `{"defaults":{"key":"none","tenant":"none","user":"tokens=5000000"},"quotas":[{"kind":"tenant","set":"runs=3","limits":"runs=3"}]}`+"\n" {
		t.Errorf("%s", w.Body)
	}
}

// spentEmbedder refuses texts as a caller without money is refused.
type spentEmbedder struct{ api.Embedder }

func (spentEmbedder) Name() string    { return "openai:test" }
func (spentEmbedder) Dimensions() int { return 4 }
func (spentEmbedder) Embed(_ context.Context, texts []string) []embed.Result {
	return []embed.Result{{Err: &quota.Error{Kind: "user", What: "usd"}}}
}

func TestEmbeddingsWithoutMoney(t *testing.T) {
	s := newServer(t, setup{noStore: true, api: api.Options{Embeddings: spentEmbedder{}}})
	if w := s.do("POST", "/v1/embeddings", `{"model":"test","input":"x"}`); w.Code != http.StatusTooManyRequests || !strings.Contains(w.Body.String(), "insufficient_quota") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
