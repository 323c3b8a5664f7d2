package mcp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/tool"
)

// browser follows the address, as a person who agrees does.
func browser(t *testing.T) func(string) {
	return func(address string) {
		go func() {
			if res, err := http.Get(address); err == nil {
				res.Body.Close()
			}
		}()
	}
}

func signInAs(t *testing.T, s *Servers, g *guarded, user string) context.Context {
	t.Helper()
	ctx := asUser(t, user)
	g.set(func() { g.user = user })
	if err := s.SignIn(ctx, s.Server("x"), SignIn{Show: browser(t)}); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// message returns the text of an *Error.
func message(t *testing.T, err error) string {
	t.Helper()
	var known *tool.Error
	if !errors.As(err, &known) {
		t.Fatalf("%v", err)
	}
	return known.Message
}

// echoAs calls the tool echo as the user of ctx.
func echoAs(t *testing.T, ctx context.Context, s *Servers) error {
	t.Helper()
	tools, err := s.Server("x").Tools(ctx)
	if err != nil {
		return err
	}
	for _, found := range tools {
		if found.Spec().Name == "echo" {
			res, err := found.Call(ctx, tool.Call{ID: "1", Name: "echo", Arguments: []byte(`{"text":"hello"}`)})
			if err == nil && res.Content != "hello" {
				err = errors.New(res.Content)
			}
			return err
		}
	}
	return errors.New("no tool")
}

func TestSignIn(t *testing.T) {
	g := guard(t)
	var log bytes.Buffer
	k := &kept{}
	s := open(t, Options{Logins: k, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}, "MCP_SERVER_X="+g.URL+"/mcp")
	const want = "the MCP server x wants its user to sign in: run `p8 tools login x`, or set MCP_SERVER_X_TOKEN (status 401)"
	if got := message(t, echoAs(t, asUser(t, "ann"), s)); got != want {
		t.Errorf("without a login: %s", got)
	}
	ann := signInAs(t, s, g, "ann")
	for range 2 {
		if err := echoAs(t, ann, s); err != nil {
			t.Error(err)
		}
	}
	// A login is one person's, of one tenant.
	for _, other := range []identity.Identity{{UserID: "bob", TenantID: "acme"}, {UserID: "ann", TenantID: "other"}, {}} {
		if err := echoAs(t, identity.With(t.Context(), other), s); err == nil {
			t.Errorf("%+v uses ann's login", other)
		}
	}
	bob := signInAs(t, s, g, "bob")
	var all sync.WaitGroup
	for _, ctx := range []context.Context{ann, bob, ann, bob} {
		all.Go(func() {
			if err := echoAs(t, ctx, s); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if found, err := s.SignOut(ann, s.Server("x")); !found || err != nil {
		t.Error(found, err)
	}
	if err := echoAs(t, ann, s); err == nil {
		t.Error("ann is signed in after her logout")
	}
	if err := echoAs(t, bob, s); err != nil {
		t.Error(err)
	}
	for _, secret := range []string{"access-ann", "refresh-", "code-"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}

func TestTokensAreRenewed(t *testing.T) {
	g := guard(t)
	k := &kept{}
	s := open(t, Options{Logins: k}, "MCP_SERVER_X="+g.URL+"/mcp")
	ann := signInAs(t, s, g, "ann")
	if err := echoAs(t, ann, s); err != nil {
		t.Fatal(err)
	}
	// The server forgets the token before it expires.
	g.revoke()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := echoAs(t, ann, s); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := g.renewals(); len(got) != 1 || got[0].Get("resource") != g.URL+"/mcp" {
		t.Errorf("renewals: %v", got)
	}
	// A token that is about to expire is not sent.
	l, _ := k.Login(ann, g.URL+"/mcp")
	old := l.Access
	l.Expires = time.Now().Add(time.Second)
	_ = k.PutLogin(ann, l)
	g.set(func() { g.seen = nil })
	if err := echoAs(t, ann, s); err != nil {
		t.Error(err)
	}
	if len(g.renewals()) != 2 || strings.Contains(g.sent(), old) {
		t.Errorf("%d renewals, sent %q", len(g.renewals()), g.sent())
	}
	// A refused refresh token is sent once.
	g.set(func() { g.noRefresh = true })
	g.revoke()
	const want = "the MCP server x refuses the user's login, or it has expired: run `p8 tools login x` again"
	for range 3 {
		if got := message(t, echoAs(t, ann, s)); got != want {
			t.Error(got)
		}
	}
	if got := g.renewals(); len(got) != 3 {
		t.Errorf("%d renewals", len(got))
	}
	g.set(func() { g.noRefresh = false })
	signInAs(t, s, g, "ann")
	if err := echoAs(t, ann, s); err != nil {
		t.Errorf("after another sign-in: %v", err)
	}
}

func TestSignInThatFails(t *testing.T) {
	g := guard(t)
	s := open(t, Options{Logins: &kept{}, ConnectTimeout: time.Second}, "MCP_SERVER_X="+g.URL+"/mcp", "MCP_SERVER_OPEN="+newFixture().overHTTP(t).URL,
		"MCP_SERVER_DOWN=http://127.0.0.1:1/mcp", "MCP_SERVER_CONFIGURED="+g.URL, "MCP_SERVER_CONFIGURED_TOKEN=secret")
	ann := asUser(t, "ann")
	g.set(func() { g.user, g.deny = "ann", true })
	if got := message(t, s.SignIn(ann, s.Server("x"), SignIn{Show: browser(t)})); !strings.HasSuffix(got, "the authorization server says access_denied") {
		t.Error(got)
	}
	g.set(func() { g.deny = false })
	for name, want := range map[string]string{"open": "wants nobody to sign in", "down": "cannot be reached", "configured": "access is configured"} {
		if got := message(t, s.SignIn(ann, s.Server(name), SignIn{Show: browser(t)})); !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	// Nobody signs in.
	within, cancel := context.WithCancel(ann)
	if err := s.SignIn(within, s.Server("x"), SignIn{Show: func(string) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A page of another site cannot end or take over a sign-in, and a browser elsewhere has
// its address pasted.
func TestForeignRepliesAndPastedOnes(t *testing.T) {
	g := guard(t)
	s := open(t, Options{Logins: &kept{}}, "MCP_SERVER_X="+g.URL+"/mcp")
	g.set(func() { g.user = "ann" })
	pasted := make(chan string)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	show := func(address string) {
		at, err := url.Parse(address)
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			back := at.Query().Get("redirect_uri")
			for _, foreign := range []string{"?state=guessed&code=theirs", "?error=access_denied", "?code=theirs", "/other"} {
				if res, err := http.Get(back + foreign); err == nil {
					res.Body.Close()
				}
			}
			pasted <- "not an address \x00"
			pasted <- "http://127.0.0.1/callback?state=guessed&code=theirs"
			if res, err := client.Get(address); err == nil {
				res.Body.Close()
				pasted <- res.Header.Get("Location")
			}
		}()
	}
	ann := asUser(t, "ann")
	if err := s.SignIn(ann, s.Server("x"), SignIn{Show: show, Pasted: pasted}); err != nil {
		t.Fatal(err)
	}
	if err := echoAs(t, ann, s); err != nil {
		t.Error(err)
	}
}

// A server that redirects does not send the token on.
func TestTokensStayAtTheirServer(t *testing.T) {
	g := guard(t)
	stolen := make(chan string, 10)
	thief := serve(t, "127.0.0.1:0", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { stolen <- r.Header.Get("Authorization") }))
	k := &kept{}
	s := open(t, Options{Logins: k}, "MCP_SERVER_X="+g.URL+"/mcp")
	ann := signInAs(t, s, g, "ann")
	moved := serve(t, "127.0.0.1:0", http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	// The name now stands for another address: the login is not that server's.
	other := open(t, Options{Logins: k}, "MCP_SERVER_X="+moved.URL+"/mcp")
	if err := echoAs(t, ann, other); err == nil {
		t.Error("a redirect was followed")
	}
	l, _ := k.Login(ann, g.URL+"/mcp")
	l.Server = moved.URL + "/mcp"
	_ = k.PutLogin(ann, l)
	if err := echoAs(t, ann, other); err == nil {
		t.Error("a redirect was followed with a login")
	}
	select {
	case got := <-stolen:
		t.Errorf("the other host was asked with %q", got)
	default:
	}
}

func TestOAuthOfTheFile(t *testing.T) {
	for text, want := range map[string]string{
		`{"client_id":"p8"}`: "person", `{"scopes":["read"]}`: "person", `{}`: "person",
		`{"client_id":"p8","client_secret":"s"}`:                                  "self",
		`{"client_id":"p8","client_secret":"s","grant":"authorization_code"}`:     "person",
		`{"client_secret":"s","grant":"authorization_code"}`:                      "without client_id",
		`{"client_secret":"s"}`:                                                   "needs client_id",
		`{"client_id":"p8","grant":"client_credentials"}`:                         "needs client_id and client_secret",
		`{"grant":"password"}`:                                                    "unknown",
		`{"client_id":"p8","token_url":"https://auth.example.com/token"}`:         "token_url is for",
		`{"client_id":"https://p8.example.com/client.json","grant":"authorizat"}`: "unknown",
	} {
		file := filepath.Join(t.TempDir(), "mcp.json")
		if err := os.WriteFile(file, []byte(`{"mcpServers":{"x":{"url":"https://x.example.com/mcp","oauth":`+text+`}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		entries, err := readConfig(Options{ConfigFile: file, Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler)})
		got := "self"
		switch {
		case err != nil:
			got = err.Error()
		case entries["x"].asksPerson():
			got = "person"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
}
