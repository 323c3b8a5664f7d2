package api_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/llm/scripted"
)

// Whoever lacks the secret of a visitor reads and continues nothing of the visitor's, whatever
// ids they know, in any protocol.
func TestVisitorsAreApart(t *testing.T) {
	var turns []scripted.Turn
	for range 20 {
		turns = append(turns, scripted.Text("A canary."))
	}
	s := authenticated(t, turns...)
	quiet := slog.New(slog.DiscardHandler)
	callers, err := auth.New(auth.Options{Secret: tokenSecret, Visitors: true, Now: now, Logger: quiet})
	must(t, err)
	s.Handler = api.New(api.Options{Auth: callers, Chat: s.chat, Catalog: s.catalog, Store: s.store, Preview: s.chat, Brancher: s.chat, Diary: s.store.Diary(), Dreams: newRemembered(), Logger: quiet,
		Accounts: account.New(account.Options{Store: s.store, Logger: quiet})})
	member := "Authorization: Bearer " + tokenOf(t, "default", "mia", "admin")
	for name, c := range map[string]struct{ path, body string }{
		"completions": {"/v1/chat/completions", `{"model":"general","messages":[{"role":"user","content":"hi"}]}`},
		"responses":   {"/v1/responses", `{"model":"general","input":"hi"}`},
		"ag-ui":       {"/chat", `{"threadId":"ag-ui","messages":[{"id":"1","role":"user","content":"hi"}]}`},
		"ai-sdk":      {"/api/chat", `{"id":"ai-sdk","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}]}`},
	} {
		w := s.do("POST", c.path, c.body, "X-Session-Id: "+name)
		secret, run := w.Header().Get(auth.HeaderSecret), w.Header().Get("X-Run-Id")
		if w.Code != http.StatusOK || secret == "" || run == "" {
			t.Fatalf("%s: %d %s %v", name, w.Code, w.Body, w.Header())
		}
		mine := auth.HeaderSecret + ": " + secret
		if w := s.do("POST", c.path, c.body, "X-Session-Id: "+name, mine); w.Code != http.StatusOK || w.Header().Get(auth.HeaderSecret) != "" {
			t.Errorf("%s again: %d %s", name, w.Code, w.Body)
		}
		for _, path := range []string{"/sessions/" + name, "/sessions/" + name + "/messages", "/sessions/" + name + "/branches", "/sessions/" + name + "/context", "/runs/" + run, "/runs/" + run + "/events"} {
			if w := s.do("GET", path, "", mine, "Accept: application/json"); w.Code != http.StatusOK {
				t.Errorf("GET %s of %s: %d %s", path, name, w.Code, w.Body)
			}
			for who, header := range map[string]string{"nobody": "X-User-Id: mia", "another": auth.HeaderSecret + ": anon-" + strings.Repeat("A", 43), "a member": member} {
				if w := s.do("GET", path, "", header, "Accept: application/json"); w.Code != http.StatusNotFound {
					t.Errorf("GET %s of %s by %s: %d %s", path, name, who, w.Code, w.Body)
				}
			}
		}
		// The same id without the secret is another session.
		if w := s.do("POST", c.path, c.body, "X-Session-Id: "+name); w.Header().Get(auth.HeaderSecret) == secret {
			t.Errorf("%s: another visitor got the secret", name)
		}
		if w := s.do("GET", "/sessions/"+name, "", mine); !strings.Contains(w.Body.String(), `"message_count":4`) {
			t.Errorf("%s: %s", name, w.Body)
		}
		for _, r := range [][]string{{"GET", "/sessions", ""}, {"POST", "/sessions/" + name + "/shares", `{"link":true}`}, {"POST", "/keys", `{"name":"x"}`}, {"GET", "/keys", ""},
			{"POST", "/dream", ""}, {"POST", "/dream", `{"wait":true}`}, {"POST", "/dream", `{"dry_run":true}`}} {
			if w := s.do(r[0], r[1], r[2], mine); w.Code != http.StatusForbidden {
				t.Errorf("%s %s: %d %s", r[0], r[1], w.Code, w.Body)
			}
		}
	}
}
