package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/llm/scripted"
)

// sharing is a server with the users ann, bob and cid of one tenant, where ann has a session.
type sharing struct {
	*server
	ann, bob, cid, foreign []string
}

func newSharing(t *testing.T, links bool, turns ...scripted.Turn) sharing {
	t.Helper()
	o := setup{knowledge: true}
	o.api.ShareLinks, o.api.ShareCheck = links, 10*time.Millisecond
	s := sharing{server: authenticatedWith(t, o, append([]scripted.Turn{scripted.Text("Four cups."), scripted.Text("Bob's own."), scripted.Text("A secret.")}, turns...)...)}
	bearer := func(tenant, user, role string) []string {
		return []string{"Authorization: Bearer " + tokenOf(t, tenant, user, role)}
	}
	s.ann, s.bob, s.cid, s.foreign = bearer("acme", "ann", "member"), bearer("acme", "bob", "member"), bearer("acme", "cid", "member"), bearer("other", "bob", "admin")
	s.says(t, "", "s", "How much tea?", s.ann)
	s.says(t, "", "s", "Mine.", s.bob)
	s.says(t, "", "private", "Keep this.", s.ann)
	return s
}

// says sends a message in a session below an address, and returns the answer.
func (s sharing) says(t *testing.T, address, session, text string, headers []string) *httptest.ResponseRecorder {
	t.Helper()
	body := `{"model":"general","messages":[{"role":"user","content":"` + text + `"}]}`
	return s.do("POST", address+"/v1/chat/completions", body, append(headers, "X-Session-Id: "+session)...)
}

// shares shares ann's session, and returns the path that opens it and the share's id.
func (s sharing) shares(t *testing.T, body string) (path, id string) {
	t.Helper()
	w := s.do("POST", "/sessions/s/shares", body, s.ann...)
	var x struct{ ID, URL string }
	must(t, json.Unmarshal(w.Body.Bytes(), &x))
	path, found := strings.CutPrefix(x.URL, "https://agents.example.com")
	if w.Code != http.StatusCreated || !found {
		t.Fatalf("%s: %d %s", body, w.Code, w.Body)
	}
	return path, x.ID
}

// What a share opens, to whom, and nothing else.
func TestASharedSession(t *testing.T) {
	s := newSharing(t, false, scripted.Text("For bob."), scripted.Text("For ann."))
	read, id := s.shares(t, `{"shared_with_user_id":"bob"}`)
	link, linkID := s.shares(t, `{"link":true}`)
	if strings.Contains(link, linkID) || len(link) < 50 {
		t.Errorf("the address of a link is %s", link)
	}
	private := s.do("GET", "/sessions/private/messages", "", s.ann...)
	var rows []struct{ ID string }
	must(t, json.Unmarshal(private.Body.Bytes(), &rows))
	for name, at := range map[string]string{"a reader": read, "a link": link} {
		for path, want := range map[string]string{
			"": `"title":"How much tea?"`, "/": `"title":"How much tea?"`, "/messages": "Four cups.", "/branches": `"current":true`, "/sessions/s": `"user_id":"ann"`,
			"/v1/sessions/s/messages": "Four cups.", "/runs": `"session_id":"s"`, "/approvals": "[]", "/runs?session_id=s": `"completed"`,
		} {
			w := s.do("GET", at+path, "", s.bob...)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "private") {
				t.Errorf("GET %s of %s: %d %s", path, name, w.Code, w.Body)
			}
			if w.Header().Get("X-Robots-Tag") == "" || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("GET %s of %s has the headers %v", path, name, w.Header())
			}
		}
		for _, route := range []string{
			"GET /sessions", "GET /sessions/private", "GET /sessions/private/messages", "GET /messages/" + rows[0].ID, "GET /moments", "GET /sessions/s/timeline",
			"GET /sessions/s/context", "GET /sessions/s/trace", "GET /sessions/s/shares", "POST /query/raw", "POST /content", "GET /schemas", "GET /me", "DELETE /sessions/s", "PATCH /sessions/s",
			"GET /reminders", "POST /mcp", "GET /shared/" + id, "GET /health", "GET /openapi.json", "GET /runs?session_id=private", "GET /../sessions", "GET /models", "GET /v1/models/general",
		} {
			method, path, _ := strings.Cut(route, " ")
			if w := s.do(method, at+path, "", s.bob...); w.Code != http.StatusNotFound {
				t.Errorf("%s of %s: %d %s", route, name, w.Code, w.Body)
			}
		}
		if w := s.says(t, at, "s", "Me, too.", s.bob); w.Code != http.StatusForbidden {
			t.Errorf("a turn of %s: %d %s", name, w.Code, w.Body)
		}
		if w := s.do("GET", at, ""); w.Code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d %s", name, w.Code, w.Body)
		}
	}
	if strings.Contains(s.log.String(), strings.TrimPrefix(link, "/shared/")) {
		t.Error("the secret of a link is in the log")
	}

	// Who has no share gets one answer, whatever is wrong.
	answers := map[string]bool{}
	for _, path := range []string{read, "/shared/" + linkID, "/shared/none", link + "x", "/shared/link-", "/shared/link-" + strings.Repeat("A", 43)} {
		w := s.do("GET", path+"/messages", "", s.cid...)
		answers[fmt.Sprint(w.Code, w.Body)] = true
	}
	for _, path := range []string{read, link} {
		w := s.do("GET", path+"/messages", "", s.foreign...)
		answers[fmt.Sprint(w.Code, w.Body)] = true
	}
	if len(answers) != 1 {
		t.Errorf("answers to those without a share: %v", answers)
	}

	// The list, and the end.
	if w := s.do("GET", "/sessions?shared=with-me", "", s.bob...); !strings.Contains(w.Body.String(), `"share":{"id":"`+id+`","owner_id":"ann"`) {
		t.Errorf("shared with bob: %s", w.Body)
	}
	if w := s.do("GET", "/sessions/s/shares", "", s.ann...); !strings.Contains(w.Body.String(), id) || strings.Contains(w.Body.String(), "url") {
		t.Errorf("the shares of ann: %s", w.Body)
	}
	for _, x := range []struct {
		who  []string
		want int
	}{{s.cid, 404}, {s.ann, 204}, {s.ann, 404}} {
		if w := s.do("DELETE", "/sessions/s/shares/"+id, "", x.who...); w.Code != x.want {
			t.Errorf("end of a share: %d %s, want %d", w.Code, w.Body, x.want)
		}
	}
	if w := s.do("GET", read, "", s.bob...); w.Code != http.StatusNotFound {
		t.Errorf("after its end: %d %s", w.Code, w.Body)
	}
	if w := s.do("POST", "/sessions/s/shares", `{"shared_with_user_id":"zoe@example.com"}`, s.ann...); !strings.Contains(w.Body.String(), "check the address") {
		t.Errorf("a mistyped guest: %s", w.Body)
	}
	for body, want := range map[string]int{
		`{"shared_with_user_id":"ann"}`: 422, `{"shared_with_user_id":"zoe@example.com"}`: 404, `{}`: 422, `{"link":true,"role":"writer"}`: 422,
		`{"shared_with_user_id":"bob","role":"king"}`: 422, `{"shared_with_user_id":"bob","expires_at":"2001-01-01T00:00:00Z"}`: 422, `{"shared_with_user_id":5}`: 422,
	} {
		if w := s.do("POST", "/sessions/s/shares", body, s.ann...); w.Code != want {
			t.Errorf("%s: %d %s, want %d", body, w.Code, w.Body, want)
		}
	}
}

// A writer's turn is in the owner's session, and says whose it is.
func TestAWriter(t *testing.T) {
	s := newSharing(t, false, scripted.Text("For bob."), scripted.Text("For ann."))
	at, _ := s.shares(t, `{"shared_with_user_id":"bob","role":"writer"}`)
	for _, session := range []string{"private", "t"} {
		if w := s.says(t, at, session, "And this?", s.bob); w.Code < 400 {
			t.Errorf("a turn in the session %s: %d %s", session, w.Code, w.Body)
		}
	}
	if w := s.says(t, at, "s", "And for me?", s.bob); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "For bob.") {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := s.do("GET", at+"/v1/models", "", s.bob...); w.Code != http.StatusOK {
		t.Errorf("the agents: %d %s", w.Code, w.Body)
	}
	s.says(t, "", "s", "And again?", s.ann)
	sent := fmt.Sprint(s.model.Requests()[4])
	if !strings.Contains(sent, "How much tea?") || strings.Contains(sent, "Mine.") {
		t.Errorf("the model of ann's next turn was sent %s", sent)
	}
	var rows []struct{ Content, Author string }
	s.get(t, at+"/messages", &rows, s.bob...)
	got := fmt.Sprint(rows)
	if got != "[{How much tea? } {Four cups. } {And for me? bob} {For bob. bob} {And again? } {For ann. }]" {
		t.Error(got)
	}
	s.get(t, "/sessions/s/messages", &rows, s.bob...)
	if len(rows) != 2 {
		t.Errorf("bob's own session has %v", rows)
	}
	if w := s.do("POST", at+"/chat", `{"threadId":"private","messages":[{"id":"1","role":"user","content":"x"}]}`, s.bob...); w.Code < 400 {
		t.Errorf("another thread: %d %s", w.Code, w.Body)
	}
}

// With P8_SHARE_LINKS, a link needs no token, and reads.
func TestAnOpenLink(t *testing.T) {
	s := newSharing(t, true)
	link, id := s.shares(t, `{"link":true}`)
	user, _ := s.shares(t, `{"shared_with_user_id":"bob"}`)
	for path, want := range map[string]int{link: 200, link + "/messages": 200, link + "/runs": 200, link + "/sessions/private": 404, user: 401, "/shared/link-x": 404} {
		if w := s.do("GET", path, ""); w.Code != want {
			t.Errorf("GET %s: %d %s, want %d", path, w.Code, w.Body, want)
		}
	}
	if w := s.do("GET", link, "", "Authorization: Bearer x"); w.Code != http.StatusUnauthorized {
		t.Errorf("with a token that counts nowhere: %d %s", w.Code, w.Body)
	}
	if w := s.says(t, link, "s", "x", nil); w.Code != http.StatusForbidden {
		t.Errorf("a turn: %d %s", w.Code, w.Body)
	}
	must(t, s.store.DeleteShare(as("ann", "acme"), "s", id))
	if w := s.do("GET", link, ""); w.Code != http.StatusNotFound {
		t.Errorf("after its end: %d %s", w.Code, w.Body)
	}
}

// A stream of a guest ends soon after its share.
func TestAStreamEndsWithItsShare(t *testing.T) {
	hold := make(chan struct{})
	s := newSharing(t, false, scripted.Turn{Text: []string{"late"}, Before: scripted.Until(0, hold)})
	defer close(hold)
	at, id := s.shares(t, `{"shared_with_user_id":"bob"}`)
	web := httptest.NewServer(s)
	defer web.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask := func(who []string, method, path, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(ctx, method, web.URL+path, strings.NewReader(body))
		must(t, err)
		for _, h := range append(who, "X-Session-Id: s", "Content-Type: application/json") {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		must(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	turn := ask(s.ann, "POST", "/v1/chat/completions", `{"model":"general","stream":true,"messages":[{"role":"user","content":"And?"}]}`)
	res := ask(s.bob, "GET", at+"/runs/"+turn.Header.Get("X-Run-Id")+"/events", "")
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	must(t, s.store.DeleteShare(as("ann", "acme"), "s", id))
	buf := make([]byte, 1<<10)
	for err := error(nil); err == nil; {
		_, err = res.Body.Read(buf)
	}
	if ctx.Err() != nil {
		t.Error("the stream did not end")
	}
}
