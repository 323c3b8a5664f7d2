package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
)

// TestKeysOfAnErasedUser: a key that this process has seen a moment ago does not count any more.
func TestKeysOfAnErasedUser(t *testing.T) {
	a, cfg := testApp(t, &bytes.Buffer{}, &bytes.Buffer{}, "P8_AUTH_KEYS=true", "P8_MANUAL=false")
	p := testParts(t, a, cfg, wiring.Options{})
	callers, err := wiring.Callers(cfg, p.Store, p.Log)
	if err != nil {
		t.Fatal(err)
	}
	handler := p.Handler(cfg, callers)
	rita := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "rita"})
	text, _, err := account.New(account.Options{Store: p.Store}).CreateKey(rita, account.KeyRequest{Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}
	whoAmI := func() int {
		r := httptest.NewRequest("GET", "http://127.0.0.1/me", nil)
		r.Header.Set("X-Api-Key", text)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	if code := whoAmI(); code != http.StatusOK {
		t.Fatal(code)
	}
	if _, err := p.Privacy.Begin(rita); err != nil {
		t.Fatal(err)
	}
	if err := p.Privacy.Erase(rita, false); err != nil {
		t.Fatal(err)
	}
	if code := whoAmI(); code != http.StatusUnauthorized {
		t.Errorf("the key still counts: %d", code)
	}
}
