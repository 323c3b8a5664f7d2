package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/identity"
)

// kept keeps logins in memory.
type kept struct {
	mu     sync.Mutex
	logins map[string]Login
}

func place(ctx context.Context, server string) string {
	id, _ := identity.From(ctx)
	return id.TenantID + "|" + id.UserID + "|" + server
}

func (k *kept) Login(ctx context.Context, server string) (*Login, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l, ok := k.logins[place(ctx, server)]; ok {
		return &l, nil
	}
	return nil, nil
}

func (k *kept) PutLogin(ctx context.Context, l *Login) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.logins == nil {
		k.logins = map[string]Login{}
	}
	k.logins[place(ctx, l.Server)] = *l
	return nil
}

func (k *kept) DeleteLogin(ctx context.Context, server string) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, ok := k.logins[place(ctx, server)]
	delete(k.logins, place(ctx, server))
	return ok, nil
}

func (k *kept) LockLogin(context.Context, string) (func(), error) { return func() {}, nil }

func (k *kept) DeleteLogins(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name := range k.logins {
		if strings.HasPrefix(name, place(ctx, "")) {
			delete(k.logins, name)
		}
	}
	return nil
}

// guarded is an MCP server behind an authorization server, in one.
type guarded struct {
	*httptest.Server
	mu sync.Mutex
	// codes has the user of each code, tokens the user of each valid access token.
	codes, tokens map[string]string
	challenge     map[string]string
	// expiresIn is the lifetime of access tokens in seconds, 0 for none.
	expiresIn int
	refreshes []url.Values
	n         int
	user      string // who signs in next
	deny      bool
	noRefresh bool
	seen      []string
}

func guard(t *testing.T) *guarded {
	g := &guarded{codes: map[string]string{}, tokens: map[string]string{}, challenge: map[string]string{}, expiresIn: 3600}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"resource":"%s/mcp","authorization_servers":["%s"],"scopes_supported":["read"]}`, g.URL, g.URL)
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"issuer":"%[1]s","authorization_endpoint":"%[1]s/authorize","token_endpoint":"%[1]s/token","registration_endpoint":"%[1]s/register",
			"response_types_supported":["code"],"code_challenge_methods_supported":["S256"]}`, g.URL)
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"client_id":"made","token_endpoint_auth_method":"none"}`)
	})
	mux.HandleFunc("/authorize", g.authorize)
	mux.HandleFunc("/token", g.token)
	f := newFixture()
	inner := f.handler()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		g.mu.Lock()
		user := g.tokens[token]
		g.seen = append(g.seen, token)
		g.mu.Unlock()
		if user == "" {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, g.URL))
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
	g.Server = serve(t, "127.0.0.1:0", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mcp" {
			w.Header().Set("Content-Type", "application/json")
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(f.end)
	return g
}

func (g *guarded) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("code_challenge_method") != "S256" || q.Get("resource") != g.URL+"/mcp" || q.Get("client_id") == "" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
	code := fmt.Sprint("code-", g.n)
	g.codes[code], g.challenge[code] = g.user, q.Get("code_challenge")
	reply := url.Values{"state": {q.Get("state")}, "code": {code}}
	if g.deny {
		reply = url.Values{"state": {q.Get("state")}, "error": {"access_denied"}}
	}
	back.RawQuery = reply.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (g *guarded) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.n++
	var user string
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		if r.Form.Get("code_verifier") == "" || r.Form.Get("resource") != g.URL+"/mcp" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		user = g.codes[r.Form.Get("code")]
		delete(g.codes, r.Form.Get("code"))
	case "refresh_token":
		g.refreshes = append(g.refreshes, r.Form)
		if !g.noRefresh {
			user, _, _ = strings.Cut(strings.TrimPrefix(r.Form.Get("refresh_token"), "refresh-"), "/")
		}
	}
	if user == "" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":"invalid_grant"}`)
		return
	}
	access := fmt.Sprintf("access-%s/%d", user, g.n)
	g.tokens[access] = user
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":%d,"refresh_token":"refresh-%s/%d"}`, access, g.expiresIn, user, g.n)
}

// set changes the server.
func (g *guarded) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

// revoke forgets the access tokens.
func (g *guarded) revoke() { g.set(func() { clear(g.tokens) }) }

// renewals returns the requests with refresh tokens, sent the tokens of all requests.
func (g *guarded) renewals() []url.Values {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.refreshes)
}

func (g *guarded) sent() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.seen, " ")
}
