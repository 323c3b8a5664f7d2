package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	mcpauth "github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// signedServer is a p8 server whose callers have tokens of a provider.
func signedServer(t *testing.T, provider *harness.OIDC, environ ...string) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	at := "http://" + server.Listener.Addr().String()
	a, cfg := testApp(t, &bytes.Buffer{}, &bytes.Buffer{}, append([]string{
		"P8_AUTH_JWKS_URL=" + provider.URL + "/keys", "P8_AUTH_ISSUER=" + provider.URL, "P8_AUTH_AUDIENCE=" + at,
		"P8_PUBLIC_URL=" + at, "P8_LOGIN_CLIENT_ID=" + harness.OIDCClient, "P8_MANUAL=false", "P8_AUTH_CLOCK_SKEW=1s",
	}, environ...)...)
	p := testParts(t, a, cfg, wiring.Options{})
	callers, err := wiring.Callers(cfg, nil, p.Log)
	if ahead, wrong := time.ParseDuration(a.Getenv("AHEAD")); err == nil && wrong == nil {
		callers, err = auth.New(auth.Options{
			KeySets: cfg.AuthKeySets, Issuer: cfg.AuthIssuer, Audience: cfg.AuthAudience, ClientID: cfg.LoginClientID,
			Now: func() time.Time { return time.Now().Add(ahead) },
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	if p.MCP, err = p.NewMCP(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.MCP.Close)
	server.Config.Handler = p.Handler(cfg, callers)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// watched is stderr of a command; found is called with what the pattern finds first.
type watched struct {
	mu      sync.Mutex
	text    bytes.Buffer
	pattern *regexp.Regexp
	found   func(string)
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b)
	if hit := w.pattern.FindSubmatch(w.text.Bytes()); hit != nil && w.found != nil {
		go w.found(string(hit[1]))
		w.found = nil
	}
	return len(b), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// person is a user of the command line with a data folder.
type person struct {
	t       *testing.T
	environ []string
	dir     string
}

func newPerson(t *testing.T, environ ...string) *person {
	dir := t.TempDir()
	return &person{t, append([]string{"P8_DATA_DIR=" + dir, "HOME=" + t.TempDir()}, environ...), dir}
}

// does runs a command and returns its exit code, stdout and stderr. found is called with
// what the pattern finds in stderr.
func (p *person) does(pattern string, found func(string), args ...string) (int, string, string) {
	p.t.Helper()
	in, err := os.Open(os.DevNull)
	if err != nil {
		p.t.Fatal(err)
	}
	defer in.Close()
	var out bytes.Buffer
	errs := &watched{pattern: regexp.MustCompile(pattern), found: found}
	code := run(args, in, &out, errs, p.environ)
	return code, out.String(), errs.String()
}

// whoami returns who the person is to a server, or the complaint.
func (p *person) whoami(at string) string {
	code, out, errs := p.does(`x^`, nil, "whoami", at, "--json")
	if code != 0 {
		return errs
	}
	var me struct {
		UserID, TenantID, Role, Email, Method string
	}
	if err := json.Unmarshal([]byte(strings.NewReplacer("user_id", "UserID", "tenant_id", "TenantID", "auth_method", "Method").Replace(out)), &me); err != nil {
		p.t.Error(err)
	}
	return strings.Join([]string{me.UserID, me.TenantID, me.Role, me.Email, me.Method}, " ")
}

const address = `(?m)^p8: (http://\S+/auth\S*)$`

// TestSignIn signs in to a server at a real OpenID provider, in each way.
func TestSignIn(t *testing.T) {
	provider := harness.StartOIDC(t)
	server, other := signedServer(t, provider), signedServer(t, provider)
	browse := func(at string) { provider.Browse(t, at) }
	const rita = "id1 acme member rita@example.com token"

	ann := newPerson(t)
	if code, _, errs := ann.does(address, browse, "login", server.URL); code != 0 {
		t.Fatal(errs)
	}
	t.Run("browser", func(t *testing.T) {
		if got := ann.whoami(server.URL); got != rita {
			t.Error(got)
		}
		if got := ann.whoami(other.URL); !strings.Contains(got, "sign in with `p8 login "+other.URL+"`") {
			t.Errorf("at another server: %s", got)
		}
		stored, _ := filepath.Glob(filepath.Join(ann.dir, "logins", "*"))
		for _, name := range stored {
			if text, _ := os.ReadFile(name); bytes.Contains(text, []byte("eyJ")) || bytes.Contains(text, []byte(server.URL)) {
				t.Errorf("%s is not sealed", name)
			}
		}
		if len(stored) != 2 {
			t.Errorf("%q are stored", stored)
		}
	})
	t.Run("settings of .env", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(".env", []byte("P8_SERVER_URL="+server.URL+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := ann.does(`x^`, nil, "runs", "list", "--json"); code != 0 || !strings.Contains(out, "[]") {
			t.Error(out, errs)
		}
		if code, _, errs := ann.does(`x^`, nil, "runs", "list", "--user", "eve"); code != 2 || !strings.Contains(errs, "--user and --tenant cannot be used") {
			t.Error(code, errs)
		}
		if err := os.WriteFile(".env", []byte("P8_SERVER_TOKEN=nonsense\nP8_SERVER_URL="+server.URL+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := ann.does(`x^`, nil, "runs", "list"); code != 1 || !strings.Contains(errs, "the token cannot be read") {
			t.Error(code, errs)
		}
	})
	t.Run("device", func(t *testing.T) {
		bob := newPerson(t)
		code, _, errs := bob.does(`enter the code (\S+)`, func(code string) { provider.Enter(t, code) }, "login", server.URL, "--device")
		if code != 0 {
			t.Fatal(errs)
		}
		if got := bob.whoami(server.URL); got != rita {
			t.Error(got)
		}
	})
	t.Run("keys are replaced", func(t *testing.T) {
		provider.Rotate(t)
		cy := newPerson(t)
		if code, _, errs := cy.does(address, browse, "login", other.URL); code != 0 {
			t.Fatal(errs)
		}
		if got := cy.whoami(other.URL); got != rita {
			t.Error(got)
		}
	})
	t.Run("renewal", func(t *testing.T) {
		provider.Live(t, 25) // less than what is left when a token is renewed
		dan := newPerson(t)
		if code, _, errs := dan.does(address, browse, "login", other.URL); code != 0 {
			t.Fatal(errs)
		}
		provider.Live(t, 300)
		before := provider.Refreshes(t)
		var all sync.WaitGroup
		for range 4 { // each of its own process, as far as the login goes
			all.Go(func() {
				if got := dan.whoami(other.URL); got != rita {
					t.Error(got)
				}
			})
		}
		all.Wait()
		if n := provider.Refreshes(t) - before; n != 1 {
			t.Errorf("the refresh token was sent %d times", n)
		}
		if code, _, errs := dan.does(`x^`, nil, "logout", other.URL); code != 0 {
			t.Error(errs)
		}
		if code, _, errs := dan.does(`x^`, nil, "logout", other.URL); code != 1 || !strings.Contains(errs, "you are not signed in") {
			t.Error(code, errs)
		}
		if got := dan.whoami(other.URL); !strings.Contains(got, "needs a token") {
			t.Error(got)
		}
	})
	t.Run("expired, by the clock of the server", func(t *testing.T) {
		late := signedServer(t, provider, "AHEAD=1h")
		code, _, errs := newPerson(t).does(address, browse, "login", late.URL)
		if code != 1 || !strings.Contains(errs, "the server does not take the token") || !strings.Contains(errs, "expired") {
			t.Error(code, errs)
		}
	})
	t.Run("another audience", func(t *testing.T) {
		picky := signedServer(t, provider, "P8_AUTH_AUDIENCE=https://elsewhere.example.com")
		code, _, errs := newPerson(t).does(address, browse, "login", picky.URL)
		if code != 1 || !strings.Contains(errs, "another audience") {
			t.Error(code, errs)
		}
	})
	t.Run("an MCP client", func(t *testing.T) { signInWithMCP(t, provider, other.URL+"/mcp") })
}

// signInWithMCP connects the official client, which finds the provider by itself.
func signInWithMCP(t *testing.T, provider *harness.OIDC, endpoint string) {
	code := make(chan *mcpauth.AuthorizationResult, 1)
	back := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		code <- &mcpauth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}
	}))
	defer back.Close()
	handler, err := mcpauth.NewAuthorizationCodeHandler(&mcpauth.AuthorizationCodeHandlerConfig{
		RedirectURL: back.URL + "/callback", PreregisteredClient: &oauthex.ClientCredentials{ClientID: harness.OIDCClient},
		AuthorizationCodeFetcher: func(_ context.Context, args *mcpauth.AuthorizationArgs) (*mcpauth.AuthorizationResult, error) {
			provider.Browse(t, args.URL+"&scope=openid")
			return <-code, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: endpoint, OAuthHandler: handler}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) == 0 {
		t.Errorf("%+v, %v", tools, err)
	}
}
