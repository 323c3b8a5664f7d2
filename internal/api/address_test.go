package api_test

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/quota"
)

// Callers without a token have a limit for each address, whatever they ask for.
func TestTooManyRequestsOfAnAddress(t *testing.T) {
	s := authenticated(t)
	quiet := slog.New(slog.DiscardHandler)
	callers, err := auth.New(auth.Options{Secret: tokenSecret, Visitors: true, Now: now, Logger: quiet})
	must(t, err)
	k := quota.New(quota.Options{Address: 3, User: quota.Limits{Requests: 4}, Now: now})
	s.Handler = api.New(api.Options{
		Auth: callers, Chat: s.chat, Catalog: s.catalog, Store: s.store, Now: now, Logger: quiet, Logins: true,
		Accounts: account.New(account.Options{Store: s.store, Logger: quiet}),
		Admit:    k.Admit, AdmitStranger: k.AdmitStranger, Proxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, // httptest's address
	})
	from := func(address string) string { return "X-Forwarded-For: 198.51.100.9, " + address }
	const login = `{"email":"mia@example.com","password":"a wrong password"}`
	for _, c := range []struct {
		name, method, path, body, header, address string
		status                                    int
	}{
		{"a visitor", "GET", "/v1/models", "", "", "203.0.113.1", 200},
		{"a wrong token", "GET", "/sessions", "", "Authorization: Bearer nonsense", "203.0.113.1", 401},
		{"a wrong password", "POST", "/auth/login", login, "", "203.0.113.1", 401},
		{"a visitor too many", "GET", "/v1/models", "", "", "203.0.113.1", 429},
		{"a wrong token too many", "GET", "/sessions", "", "Authorization: Bearer nonsense", "203.0.113.1", 429},
		{"a login too many", "POST", "/auth/login", login, "", "203.0.113.1", 429},
		{"chat completions", "POST", "/v1/chat/completions", `{}`, "", "203.0.113.1", 429},
		{"MCP", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "", "203.0.113.1", 429},
		{"a share", "GET", "/shared/link-x/messages", "", "Authorization: Bearer nonsense", "203.0.113.1", 429},
		{"the health", "GET", "/health", "", "", "203.0.113.1", 200},
		{"a member", "GET", "/sessions", "", "Authorization: Bearer " + tokenOf(t, "default", "mia", "member"), "203.0.113.1", 200},
		{"another address", "GET", "/v1/models", "", "", "203.0.113.2", 200},
		{"a third one", "GET", "/v1/models", "", "", "203.0.113.3", 200},
	} {
		headers := []string{from(c.address)}
		if c.header != "" {
			headers = append(headers, c.header)
		}
		w := s.do(c.method, c.path, c.body, headers...)
		if w.Code != c.status {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
		if refused := w.Code == http.StatusTooManyRequests; refused && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "your address has made as many requests") || w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("%s: %v %s", c.name, w.Header(), w.Body)
		}
	}
}
