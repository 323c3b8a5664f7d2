package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// listed returns the sorted ids of a list.
func listed(t *testing.T, s *server, path string) string {
	t.Helper()
	w := s.do("GET", path, "")
	var list []store.Session
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	ids := make([]string, len(list))
	for i, x := range list {
		ids[i] = x.ID
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// X-Session-Type sets a session's mode, by which a client finds it; background work is only
// listed on request.
func TestSessionModes(t *testing.T) {
	s := newServer(t, setup{}, scripted.Text("one"), scripted.Text("two"), scripted.Text("three"))
	say := func(session, kind string, want int) string {
		t.Helper()
		w := s.do("POST", "/chat/completions", `{"model":"sample-agent","messages":[{"role":"user","content":"Hi"}]}`,
			"X-Session-Id: "+session, "X-Session-Type: "+kind)
		if w.Code != want {
			t.Fatalf("%s: %d %s", kind, w.Code, w.Body)
		}
		return w.Body.String()
	}
	say("s1", "support", 200)
	say("s2", "", 200)
	must(t, s.store.PutSession(identity.With(t.Context(), identity.Identity{}), store.Session{ID: "d1", Mode: store.ModeDreaming}))
	for path, want := range map[string]string{
		"/sessions": "s1 s2", "/sessions?mode=support": "s1", "/sessions?mode=chat": "s2",
		"/sessions?mode=dreaming": "d1", "/sessions?background=true": "d1 s1 s2", "/sessions?mode=none": "",
	} {
		if got := listed(t, s, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	w := s.do("GET", "/sessions?background=true&limit=1", "")
	if link := w.Header().Get("Link"); !strings.Contains(link, "background=true") {
		t.Errorf("the next page is another list: %s", link)
	}
	// A turn does not bring a dream to the foreground, and a client cannot hide its
	// session.
	say("d1", "support", 200)
	if got := listed(t, s, "/sessions?mode=support"); got != "s1" {
		t.Errorf("a dream with another mode: %q", got)
	}
	if body := say("s3", "dreaming", 400); !strings.Contains(body, "background work") {
		t.Error(body)
	}
}

// A person searches sessions, page by page.
func TestSearchSessions(t *testing.T) {
	s := newServer(t, setup{})
	mine := identity.With(t.Context(), identity.Identity{})
	for _, id := range []string{"s1", "s2", "s3"} {
		must(t, s.store.PutSession(mine, store.Session{ID: id, Name: "A trip to Rome"}))
	}
	must(t, s.store.BeginTurn(mine, store.Session{ID: "s4"}, &store.Message{Type: store.MessageUser, Content: new("The ruins of Rome")}))
	must(t, s.store.PutSession(mine, store.Session{ID: "s5", Name: "Oslo"}))
	if got := listed(t, s, "/sessions?q=rome"); got != "s1 s2 s3 s4" {
		t.Errorf("found %s", got)
	}
	w := s.do("GET", "/sessions?q=rome&limit=1", "")
	var list []store.Session
	must(t, json.Unmarshal(w.Body.Bytes(), &list))
	if m := list[0].Match; m == nil || m.Seq != 1 || m.Excerpt != "The ruins of Rome" {
		t.Errorf("match: %s", w.Body)
	}
	if link := w.Header().Get("Link"); !strings.Contains(link, "q=rome") || !strings.Contains(link, "cursor=") {
		t.Errorf("the next page is another list: %s", link)
	}
	for q, words := range map[string]string{"%20": "no word to search for", "!!": "no word to search for", strings.Repeat("x", 501): "500"} {
		if w := s.do("GET", "/sessions?q="+q, ""); w.Code != 422 || !strings.Contains(w.Body.String(), words) {
			t.Errorf("%.10s: %d %s", q, w.Code, w.Body)
		}
	}
}

// A person changes an own session; each invalid change has an error.
func TestPatchSession(t *testing.T) {
	s := newServer(t, setup{})
	mine := identity.With(t.Context(), identity.Identity{})
	must(t, s.store.PutSession(mine, store.Session{ID: "s1", Metadata: json.RawMessage(`{"a":1}`)}))
	must(t, s.store.PutSession(mine, store.Session{ID: "d1", Mode: store.ModeDreaming}))
	w := s.do("PATCH", "/sessions/s1", `{"title":" Trip\n to Rome ","mode":"support","metadata":{"b":2},"archived":true}`)
	var got store.Session
	must(t, json.Unmarshal(w.Body.Bytes(), &got))
	if w.Code != 200 || got.Name != "Trip to Rome" || got.Mode != "support" || !got.Archived || string(got.Metadata) != `{"a":1,"b":2}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := listed(t, s, "/sessions") + "|" + listed(t, s, "/sessions?archived=true"); got != "|s1" {
		t.Errorf("listed: %s", got)
	}
	for _, tc := range []struct {
		id, body string
		code     int
		words    string
	}{
		{"s1", `{}`, 400, "there is nothing to change"},
		{"s1", ``, 400, "Trip to Rome"},
		{"s1", `{"metadata":null}`, 400, "there is nothing to change"},
		{"s1", `{"metadata":[1]}`, 422, "metadata must be an object"},
		{"s1", `{"metadata":{"c":"` + strings.Repeat("x", 17<<10) + `"}}`, 422, "16 KiB"},
		{"s1", `{"title":"` + strings.Repeat("x", 201) + `"}`, 422, "title has 201 characters; at most 200"},
		{"s1", `{"title":5}`, 422, "title must be a string"},
		{"s1", `{"mode":""}`, 422, "mode is empty"},
		{"s1", `{"mode":"dreaming"}`, 422, "background work"},
		{"s1", `{"archived":"yes"}`, 422, "archived must be true or false"},
		{"d1", `{"archived":true}`, 422, "only its title"},
		{"none", `{"title":"x"}`, 404, "session"},
	} {
		w := s.do("PATCH", "/sessions/"+tc.id, tc.body)
		if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.words) {
			t.Errorf("%s %.60s: %d %s", tc.id, tc.body, w.Code, w.Body)
		}
	}
	for _, who := range []identity.Identity{{UserID: "eve"}, {TenantID: "another"}} {
		id := "of-" + who.UserID + who.TenantID
		must(t, s.store.PutSession(identity.With(t.Context(), who), store.Session{ID: id}))
		if w := s.do("PATCH", "/sessions/"+id, `{"title":"x"}`); w.Code != 404 {
			t.Errorf("%s: %d %s", id, w.Code, w.Body)
		}
	}
}
