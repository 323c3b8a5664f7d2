package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/config"
)

// TestSignInWithPassword signs in to a server that keeps its users itself.
func TestSignInWithPassword(t *testing.T) {
	a, cfg := testApp(t, &bytes.Buffer{}, &bytes.Buffer{}, "P8_AUTH_KEYS=true", "P8_MANUAL=false")
	p := testParts(t, a, cfg, wiring.Options{})
	callers, err := wiring.Callers(cfg, p.Store, p.Log)
	if err != nil {
		t.Fatal(err)
	}
	operator := identity.With(t.Context(), identity.Identity{TenantID: "acme"})
	if _, err := account.New(account.Options{Store: p.Store}).AddUser(operator, "rita@example.com", "correct horse battery", ""); err != nil {
		t.Fatal(err)
	}
	unreachable := func(want bool) {
		t.Helper()
		if got, err := wiring.Unreachable(t.Context(), cfg, p.Store); err != nil || got != want {
			t.Error(got, err)
		}
	}
	unreachable(true)
	nobody := identity.With(t.Context(), identity.Identity{TenantID: identity.DefaultTenant})
	if _, _, err := account.New(account.Options{Store: p.Store}).CreateKey(nobody, account.KeyRequest{Name: "first"}); err != nil {
		t.Fatal(err)
	}
	unreachable(false)
	server := httptest.NewServer(p.Handler(cfg, callers))
	defer server.Close()
	moved := httptest.NewServer(http.RedirectHandler(server.URL, http.StatusTemporaryRedirect))
	defer moved.Close()

	rita := newPerson(t)
	login := func(at, password string) (int, string) {
		in := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(in, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var out, errs bytes.Buffer
		code := run([]string{"login", at, "--password", "--email", "rita@example.com"}, f, &out, &errs, rita.environ)
		return code, errs.String()
	}
	for password, want := range map[string]string{"wrong": "the e-mail address or the password is wrong", "": "there is no password"} {
		if code, errs := login(server.URL, password); code != 1 || !strings.Contains(errs, want) {
			t.Errorf("%q: %d %s", password, code, errs)
		}
	}
	if code, errs := login(moved.URL, "correct horse battery"); code != 1 || !strings.Contains(errs, "points to another host") {
		t.Errorf("a server that moved: %d %s", code, errs)
	}
	if code, errs := login("http://agents.example.com", "correct horse battery"); code != 1 || !strings.Contains(errs, "is not https") {
		t.Errorf("without TLS: %d %s", code, errs)
	}
	if code, errs := login(server.URL, "correct horse battery"); code != 0 {
		t.Fatal(errs)
	}
	if got := rita.whoami(server.URL); !strings.HasSuffix(got, " acme member rita@example.com key") {
		t.Error(got)
	}
	files, stored, err := peer.Stored(&config.Config{DataDir: rita.dir}, mustURL(t, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	// The login is of one address, and goes nowhere else.
	stored.Server = moved.URL
	if err := files.PutLogin(peer.Person(t.Context()), stored); err != nil {
		t.Fatal(err)
	}
	if got := rita.whoami(moved.URL); !strings.Contains(got, "points to another host") {
		t.Error(got)
	}
	if code, _, errs := rita.does(`x^`, nil, "logout", server.URL); code != 0 {
		t.Error(errs)
	}
	sealed := httptest.NewTLSServer(http.NotFoundHandler())
	defer sealed.Close()
	sealed.Config.ErrorLog = log.New(io.Discard, "", 0)
	for at, want := range map[string]string{
		sealed.URL: "this machine does not trust the certificate of " + sealed.URL + ": add the authority", strings.Replace(server.URL, "http:", "https:", 1): "has no TLS: give an address that begins with http://",
	} {
		if got := rita.whoami(at); !strings.Contains(got, want) {
			t.Errorf("%s: %s", at, got)
		}
	}
	// The server has ended the login, too.
	var me struct{}
	if err := peer.WithToken(mustURL(t, server.URL), stored.Access).Do(t.Context(), "GET", "/me", nil, nil, &me); err == nil {
		t.Error("the token counts after the logout")
	}
	// A login that ended elsewhere says so.
	if code, errs := login(server.URL, "correct horse battery"); code != 0 {
		t.Fatal(errs)
	}
	_, stored, err = peer.Stored(&config.Config{DataDir: rita.dir}, mustURL(t, server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if err := peer.WithToken(mustURL(t, server.URL), stored.Access).Do(t.Context(), "POST", "/auth/logout", nil, nil, nil); err != nil {
		t.Fatal(err)
	}
	if got := rita.whoami(server.URL); !strings.Contains(got, "has ended: sign in again") {
		t.Error(got)
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
