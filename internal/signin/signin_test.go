package signin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// internet answers requests by their address without a query; other addresses are 404.
type internet struct {
	mu    sync.Mutex
	pages map[string]func(*http.Request) (int, http.Header, string)
	asked []string
}

func (n *internet) RoundTrip(r *http.Request) (*http.Response, error) {
	at := *r.URL
	at.RawQuery = ""
	n.mu.Lock()
	n.asked = append(n.asked, r.Method+" "+at.String())
	page := n.pages[at.String()]
	n.mu.Unlock()
	status, header, body := http.StatusNotFound, http.Header{}, ""
	if page != nil {
		status, header, body = page(r)
	}
	header.Set("Content-Type", "application/json")
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// says is a page that says a text.
func says(text string) func(*http.Request) (int, http.Header, string) {
	return func(*http.Request) (int, http.Header, string) { return http.StatusOK, http.Header{}, text }
}

func refuses(challenge string) func(*http.Request) (int, http.Header, string) {
	return func(*http.Request) (int, http.Header, string) {
		return http.StatusUnauthorized, http.Header{"Www-Authenticate": {challenge}}, ""
	}
}

func moves(to string) func(*http.Request) (int, http.Header, string) {
	return func(*http.Request) (int, http.Header, string) {
		return http.StatusFound, http.Header{"Location": {to}}, ""
	}
}

const (
	server = "https://agents.example.com"
	issuer = "https://login.example.com"
)

// good is a server with a provider.
func good() *internet {
	return &internet{pages: map[string]func(*http.Request) (int, http.Header, string){
		server + "/me":     refuses(`Bearer realm="p8"`),
		server + wellKnown: says(`{"resource":"` + server + `","authorization_servers":["` + issuer + `"],"p8_client_id":"p8"}`),
		issuer + "/.well-known/openid-configuration": says(metadata(nil)),
	}}
}

// metadata is that of the provider, with changes.
func metadata(change map[string]any) string {
	m := map[string]any{
		"issuer": issuer, "authorization_endpoint": issuer + "/auth", "token_endpoint": issuer + "/token",
		"device_authorization_endpoint": issuer + "/device", "scopes_supported": []string{"openid", "offline_access"},
	}
	maps.Copy(m, change)
	text, _ := json.Marshal(m)
	return string(text)
}

func address(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// find asks a server, and its provider.
func find(t *testing.T, n *internet, at string) (Options, error) {
	t.Helper()
	client := Client(n)
	s, err := FindServer(t.Context(), client, address(t, at))
	if err != nil {
		return Options{}, err
	}
	p, err := FindProvider(t.Context(), client, s)
	return Options{Client: client, Server: s, Provider: p}, err
}

// What a server or its provider says is refused if it could lead a token, or a request of
// this machine, elsewhere.
func TestMetadataIsNotTrusted(t *testing.T) {
	provider := issuer + "/.well-known/openid-configuration"
	server0 := func(issuer string) func(*http.Request) (int, http.Header, string) {
		return says(`{"resource":"` + server + `","authorization_servers":["` + issuer + `"]}`)
	}
	for name, c := range map[string]struct {
		page   string
		is     func(*http.Request) (int, http.Header, string)
		want   string
		server string
	}{
		"good":                       {},
		"no sign-in":                 {page: server + "/me", is: says(`{}`), want: ErrOpen.Error()},
		"another program":            {page: server + "/me", is: moves("/login"), want: "status 404"},
		"a server that moved":        {page: server + "/me", is: moves("https://evil.example.com/me"), want: ErrForeign.Error()},
		"metadata that moved":        {page: server + wellKnown, is: moves("https://evil.example.com/"), want: ErrForeign.Error()},
		"metadata elsewhere":         {page: server + "/me", is: refuses(`Bearer resource_metadata="https://evil.example.com/m"`)},
		"no provider":                {page: server + wellKnown, is: says(`{"resource":"` + server + `"}`), want: ErrNoProvider.Error()},
		"no metadata":                {page: server + wellKnown, want: ErrNoProvider.Error()},
		"another resource":           {page: server + wellKnown, is: says(`{"resource":"https://bank.example.com","authorization_servers":["` + issuer + `"]}`), want: "its address is https://bank.example.com"},
		"no JSON":                    {page: server + wellKnown, is: says(`<html>`), want: "no JSON"},
		"endless":                    {page: server + wellKnown, is: says(`{"resource":"` + strings.Repeat("x", 2*maxResponse)), want: "no JSON"},
		"a provider without TLS":     {page: server + wellKnown, is: server0("http://login.example.com"), want: "is not https"},
		"a provider here":            {page: server + wellKnown, is: server0("https://localhost:9"), want: "is an address of this machine"},
		"a provider here, as an IP":  {page: server + wellKnown, is: server0("http://[::ffff:127.0.0.1]:9"), want: "is an address of this machine"},
		"a provider at any address":  {page: server + wellKnown, is: server0("https://0.0.0.0:9"), want: "is an address of this machine"},
		"a provider below localhost": {page: server + wellKnown, is: server0("https://x.localhost:9"), want: "is an address of this machine"},
		"a provider in a file":       {page: server + wellKnown, is: server0("file:///etc/passwd"), want: "no address of a server"},
		"a provider with a password": {page: server + wellKnown, is: server0("https://a:b@login.example.com"), want: "no address of a server"},
		"a provider that moved":      {page: provider, is: moves("http://169.254.169.254/latest"), want: "points to another host"},
		"a provider that is down":    {page: provider, want: "does not say how to sign in"},
		"another issuer":             {page: provider, is: says(metadata(map[string]any{"issuer": "https://evil.example.com"})), want: "says that it is https://evil.example.com"},
		"an issuer with a slash":     {page: provider, is: says(metadata(map[string]any{"issuer": issuer + "/"})), want: "says that it is"},
		"tokens without TLS":         {page: provider, is: says(metadata(map[string]any{"token_endpoint": "http://login.example.com/token"})), want: "is not https"},
		"tokens from here":           {page: provider, is: says(metadata(map[string]any{"token_endpoint": "http://127.0.0.1:1/token"})), want: "is an address of this machine"},
		"a page that is a script":    {page: provider, is: says(metadata(map[string]any{"authorization_endpoint": "javascript:alert(1)"})), want: "no address of a server"},
		"no tokens":                  {page: provider, is: says(metadata(map[string]any{"token_endpoint": ""})), want: "no address for tokens"},
		"plain PKCE":                 {page: provider, is: says(metadata(map[string]any{"code_challenge_methods_supported": []string{"plain"}})), want: "PKCE"},
		"a server without TLS":       {server: "http://agents.example.com", want: "is not https"},
	} {
		t.Run(name, func(t *testing.T) {
			n := good()
			if c.page != "" {
				n.pages[c.page] = c.is
			}
			if c.server == "" {
				c.server = server
			}
			_, err := find(t, n, c.server)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			for _, at := range n.asked {
				if !strings.HasPrefix(at, "GET "+server+"/") && !strings.HasPrefix(at, "GET "+issuer+"/") {
					t.Errorf("%s was asked", at)
				}
			}
		})
	}
}

// token is a page that gives a token with an ID token.
func token(claims func(*http.Request) map[string]any) func(*http.Request) (int, http.Header, string) {
	return func(r *http.Request) (int, http.Header, string) {
		body, _ := json.Marshal(claims(r))
		id := "e30." + base64.RawURLEncoding.EncodeToString(body) + ".x"
		return http.StatusOK, http.Header{}, `{"access_token":"secret-access","token_type":"Bearer","expires_in":300,"refresh_token":"secret-refresh","id_token":"` + id + `"}`
	}
}

// The reply of a browser counts only if it is of the provider that was asked, for this
// sign-in.
func TestBrowse(t *testing.T) {
	for name, c := range map[string]struct {
		claims map[string]any
		reply  url.Values
		names  bool // the provider names itself (RFC 9207)
		want   string
	}{
		"good":                          {},
		"the issuer":                    {reply: url.Values{"iss": {issuer}}, names: true},
		"the issuer, unannounced":       {reply: url.Values{"iss": {issuer}}},
		"no issuer":                     {names: true, want: "was not asked"},
		"another issuer":                {reply: url.Values{"iss": {"https://evil.example.com"}}, want: "was not asked"},
		"denied":                        {reply: url.Values{"error": {"access_denied\x1b[2J"}}, want: "access_denied[2J"},
		"no code":                       {reply: url.Values{"code": {""}}, want: "gave no code"},
		"an ID token of another issuer": {claims: map[string]any{"iss": "https://evil.example.com"}, want: "another issuer"},
		"an ID token for another":       {claims: map[string]any{"aud": []string{"bank"}}, want: "another client"},
		"an old ID token":               {claims: map[string]any{"nonce": "old"}, want: "another sign-in"},
	} {
		t.Run(name, func(t *testing.T) {
			n, sent := good(), url.Values{}
			n.pages[issuer+"/token"] = token(func(r *http.Request) map[string]any {
				_ = r.ParseForm()
				if r.Form.Get("code_verifier") == "" || r.Form.Get("resource") != server || r.Form.Get("client_id") != "p8" {
					t.Errorf("the code is sent with %v", r.Form)
				}
				claims := map[string]any{"iss": issuer, "aud": "p8", "nonce": sent.Get("nonce"), "exp": 0}
				maps.Copy(claims, c.claims)
				return claims
			})
			o, err := find(t, n, server)
			if err != nil {
				t.Fatal(err)
			}
			o.Provider.NamesItself = c.names
			o.Show = func(at string) {
				sent = address(t, at).Query()
				reply := url.Values{"code": {"c"}, "state": {sent.Get("state")}}
				maps.Copy(reply, c.reply)
				go func() {
					if res, err := http.Get(sent.Get("redirect_uri") + "?" + reply.Encode()); err == nil {
						res.Body.Close()
					}
				}()
			}
			l, err := Browse(t.Context(), o)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			if err != nil || l.Access != "secret-access" || l.Refresh != "secret-refresh" || l.Resource != server {
				t.Errorf("%+v, %v", l, err)
			}
			if sent.Get("code_challenge_method") != "S256" || sent.Get("resource") != server || sent.Get("scope") != "openid offline_access" || len(sent.Get("state")) < 20 || len(sent.Get("nonce")) < 20 {
				t.Errorf("the browser was sent with %v", sent)
			}
		})
	}
}

// Without a client of its own, p8 registers one (RFC 7591), for this redirect only.
func TestBrowseRegisters(t *testing.T) {
	for name, c := range map[string]struct{ answer, client, want string }{
		"good":      {answer: `{"client_id":"made","token_endpoint_auth_method":"none"}`, client: "made"},
		"refused":   {want: "does not register p8"},
		"no client": {answer: `{"client_id":""}`, want: "does not register p8"},
	} {
		t.Run(name, func(t *testing.T) {
			n, asked := good(), map[string]any{}
			n.pages[server+wellKnown] = says(`{"resource":"` + server + `","authorization_servers":["` + issuer + `"]}`)
			n.pages[issuer+"/.well-known/openid-configuration"] = says(metadata(map[string]any{"registration_endpoint": issuer + "/register", "scopes_supported": nil}))
			n.pages[issuer+"/register"] = func(r *http.Request) (int, http.Header, string) {
				_ = json.NewDecoder(r.Body).Decode(&asked)
				if c.answer == "" {
					return http.StatusForbidden, http.Header{}, `{"error":"access_denied"}`
				}
				return http.StatusCreated, http.Header{}, c.answer
			}
			o, err := find(t, n, server)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := ""
			o.Show = func(at string) {
				client = address(t, at).Query().Get("client_id")
				if back := address(t, at).Query().Get("redirect_uri"); fmt.Sprint(asked["redirect_uris"]) != "["+back+"]" {
					t.Errorf("%v are registered, and the browser is sent to %s", asked["redirect_uris"], back)
				}
				cancel()
			}
			if _, err := Browse(ctx, o); c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) || client != c.client {
				t.Errorf("%v, client %q", err, client)
			}
		})
	}
}

// A port that is taken is reported, and a person who leaves ends the sign-in.
func TestBrowseEnds(t *testing.T) {
	o, err := find(t, good(), server)
	if err != nil {
		t.Fatal(err)
	}
	taken, err := Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := fmt.Sscanf(address(t, taken.URL).Port(), "%d", &o.Port); err != nil {
		t.Fatal(err)
	}
	if _, err := Browse(t.Context(), o); err == nil || !strings.Contains(err.Error(), "choose another") {
		t.Error(err)
	}
	o.Port = 0
	ctx, cancel := context.WithCancel(t.Context())
	o.Show = func(string) { cancel() }
	if _, err := Browse(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Without a client, p8 registers one, if the provider lets it.
	o.Server.ClientID = ""
	if _, err := Browse(t.Context(), o); err == nil || !strings.Contains(err.Error(), "P8_LOGIN_CLIENT_ID") {
		t.Error(err)
	}
}
