package auth_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/auth"
)

// A visitor is whoever has the secret that the server made.
func TestVisitors(t *testing.T) {
	a := newAuth(t, auth.Options{Secret: secret, Visitors: true})
	visit := func(method string, pairs ...string) (id, made string, err error) {
		t.Helper()
		r, w := httptest.NewRequest(method, "/v1/chat/completions", nil), httptest.NewRecorder()
		for i := 0; i < len(pairs); i += 2 {
			r.Header.Add(pairs[i], pairs[i+1])
		}
		a.Visit(w, r, true)
		who, err := a.Identify(r)
		if cookie := w.Header().Get("Set-Cookie"); (cookie != "") != (w.Header().Get(auth.HeaderSecret) != "") ||
			cookie != "" && (!strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "SameSite")) {
			t.Errorf("the cookie is %q", cookie)
		}
		if err == nil && (!who.Visitor() || who.MayShare() || who.TenantID != "default" || strings.Contains(who.UserID, w.Header().Get(auth.HeaderSecret)+"x")) {
			t.Errorf("%+v", who)
		}
		return who.UserID, w.Header().Get(auth.HeaderSecret), err
	}
	first, made, err := visit("POST", "X-User-Id", "rita", "X-Session-Id", "s")
	must := func(what string, ok bool) {
		t.Helper()
		if !ok {
			t.Error(what)
		}
	}
	must("a first request has no secret", err == nil && len(made) == len("anon-")+43 && !strings.Contains(first, made))
	for _, pairs := range [][]string{{auth.HeaderSecret, made}, {"Cookie", "p8_session_secret=" + made}, {"Authorization", "Bearer " + made}, {"X-Api-Key", "anonymous", auth.HeaderSecret, made}} {
		id, again, err := visit("POST", pairs...)
		must("another visitor with "+pairs[0], err == nil && id == first && again == "")
	}
	other, _, _ := visit("POST", "Authorization", "Bearer anonymous")
	reading, none, _ := visit("GET")
	must("two visitors are one", other != first && reading != first && none == "")
	for _, wrong := range []string{"x", made + "x", made[5:], "anon-", "anon-" + strings.Repeat("A", 42), first} {
		_, _, err := visit("POST", auth.HeaderSecret, wrong)
		must("a visitor with "+wrong, err != nil)
	}
	_, _, err = visit("POST", "Authorization", "Bearer x", auth.HeaderSecret, made)
	must("a wrong token with a secret", err != nil)
	off := newAuth(t, auth.Options{Secret: secret})
	_, err = identify(off, auth.HeaderSecret, made)
	must("visitors where there are none", err != nil)
}
