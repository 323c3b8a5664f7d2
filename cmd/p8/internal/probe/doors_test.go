package probe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// within are the routes of a shared session, with what a guest finds there.
var within = []surface{
	read("GET /shared/{share}", "", "{session}"),
	read("GET /shared/{share}", "/messages", "{canary:message}"),
	read("GET /shared/{share}", "/branches", ""),
	read("GET /shared/{share}", "/runs", "{run}"),
	read("GET /shared/{share}", "/runs/{run}", "{run}"),
	read("GET /shared/{share}", "/runs/{run}/events", "{canary:message}", "Accept", "application/json"),
	read("GET /shared/{share}", "/messages/{message}", "{canary:message}"),
}

// beyond are routes to what the owner of a shared session does not share.
var beyond = []string{
	"/approvals", "/approvals/{approval}", "/runs/{waiting}", "/runs/{running}/events", "/sessions/{threaded}", "/sessions/{threaded}/messages", "/sessions/{asking}/messages",
	"/sessions/{session}/context", "/sessions/{session}/timeline", "/sessions/{session}/trace", "/sessions/{session}/shares", "/sessions", "/responses/{background}", "/moments", "/reminders",
	"/me", "/me/export", "/schemas", "/keys", "/notifications", "/mcp", "/a2a/general", "/shared/{share}/messages", "/../moments", "/%2e%2e/moments",
}

// guests opens the shares of one person as everybody. A share shows its session to the user that it
// was given to, a link to its tenant; for all others it is as one that does not exist.
func (w *world) guests(t *testing.T) {
	owner, guest := w.people[0], w.people[1]
	x := &planter{t, w, owner}
	given := field(t, x.must("POST", "/sessions/"+owner.vars["session"]+"/shares", object("shared_with_user_id", guest.user, "role", "writer")).body, "id")
	w.all(t, "", w.people, func(s *spy) {
		s.enters(owner, given, s.p == guest)
		s.enters(owner, owner.vars["link"], s.p.tenant == owner.tenant)
	})
}

// enters opens a share of somebody's session.
func (s *spy) enters(owner *person, share string, opens bool) {
	for i := range within {
		at := within[i]
		inside := at
		at.path, inside.path = "/shared/"+nobodys(share)+at.path, "/shared/"+share+at.path
		none := at.plain(s.w.as(s, s.p, at.filled(owner.vars)), owner.vars)
		got := s.w.as(s, s.p, inside.filled(owner.vars))
		want := request{path: at.wants}.filled(owner.vars).path
		switch {
		case opens && (got.status != 200 || !strings.Contains(got.body, want)):
			s.Errorf("%s does not find %q by a share of %s: %s: %d %.600s", s.p, want, owner, inside.path, got.status, got.body)
		case !opens && (inside.plain(got, owner.vars) != none || strings.Contains(got.body, owner.own) && s.p != owner):
			s.Errorf("%s notices a share of %s: %s: %d %.600s\nbut where there is none:\n%s", s.p, owner, inside.path, got.status, got.body, none)
		}
		s.holds(owner, inside.path, got.body)
	}
	if !opens {
		return
	}
	for _, path := range beyond {
		got := s.w.as(s, s.p, request{method: "GET", path: "/shared/" + share + path}.filled(owner.vars))
		s.holds(owner, path, got.body)
	}
}

// holds checks that an answer about a shared session has no more of its owner than the session.
func (s *spy) holds(owner *person, path, body string) {
	if s.p == owner {
		return
	}
	for _, place := range []string{"message", "client", "document"} { // what was said, by which client and agent
		body = strings.ReplaceAll(body, owner.canary(place), "")
	}
	if seen := s.p.sees(s.w.people, body); seen != nil {
		s.Errorf("%s sees %s by a share of %s: %s: %.1500s", s.p, seen, owner, path, body)
	}
}

// subscribes makes everybody listen to the MCP resources of everybody, changes those of each, and
// checks who is told.
func (w *world) subscribes(t *testing.T) {
	var open, over sync.WaitGroup
	for _, p := range w.people {
		x := &planter{t, w, p}
		x.begin()
		uris := []string{"rem://agents", "rem://moments", "user://profile"}
		for _, o := range w.people {
			uris = append(uris, "rem://agents/"+o.canary("told"), "rem://agents/"+o.canary("toldlast"), "user://profile/"+url.PathEscape(o.vars["me"]))
		}
		for _, uri := range uris {
			if got := x.w.send(x, p, x.role(), mcp("resources/subscribe", object("uri", uri))); !strings.Contains(got.body, `"result"`) {
				t.Fatalf("%s cannot subscribe to %s: %d %s", p, uri, got.status, got.body)
			}
		}
		open.Add(1)
		began := sync.OnceFunc(open.Done)
		over.Go(func() {
			defer began()
			got := w.send(t, p, x.role(), request{
				method: "GET", path: "/mcp", headers: []string{"Accept", "text/event-stream", "Mcp-Session-Id", p.vars["mcp"]},
				until: "rem://agents/" + p.canary("toldlast"), began: began,
			})
			if seen := p.sees(w.people, got.body); seen != nil || !strings.Contains(got.body, p.canary("toldlast")) {
				t.Errorf("%s is told of %v: %d %.1500s", p, seen, got.status, got.body)
			}
		})
	}
	open.Wait()
	for _, place := range []string{"told", "toldlast"} {
		for _, p := range w.people {
			x := &planter{t, w, p}
			x.tool("save_agent", object("name", p.canary(place), "description", x.text("told")))
		}
	}
	over.Wait()
}

// hooks is a server for the webhooks of A2A tasks, which keeps what it gets by path.
type hooks struct {
	*httptest.Server
	mu  sync.Mutex
	got map[string]string
}

func newHooks(t *testing.T) *hooks {
	h := &hooks{got: map[string]string{}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got[r.URL.Path] += string(body)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hooks) at(p *person) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.got["/"+p.own]
}

// pushes begins a task of each person with a webhook, while the others want to have theirs called.
func (w *world) pushes(t *testing.T) {
	for _, p := range w.people {
		for _, o := range w.people {
			if o != p {
				for _, task := range []string{o.vars["waiting"], o.vars["task"]} {
					(&spy{t, w, p, ""}).try(&surface{harms, "a2a CreateTaskPushNotificationConfig", request{method: "POST", path: "/a2a/general",
						body: rpc("CreateTaskPushNotificationConfig", object("taskId", task, "id", "spy", "url", w.hooks.URL+"/"+p.own))}, ""}, nil)
				}
			}
		}
		x := &planter{t, w, p}
		x.must("POST", "/a2a/general", rpc("SendMessage", object(
			"message", map[string]any{"messageId": "push", "role": "ROLE_USER", "parts": []any{map[string]string{"text": x.text("message")}}},
			"configuration", map[string]any{"taskPushNotificationConfig": map[string]string{"id": "own", "url": w.hooks.URL + "/" + p.own}})))
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for _, p := range w.people {
		for !strings.Contains(w.hooks.at(p), p.canary("message")) {
			select {
			case <-tick.C:
			case <-late:
				t.Fatalf("the webhook of %s was not called within %s with what the agent said: %s", p, patience, w.hooks.at(p))
			}
		}
	}
}

// pushed checks that no webhook got what is another's.
func (w *world) pushed(t *testing.T) {
	for _, p := range w.people {
		if seen := p.sees(w.people, w.hooks.at(p)); seen != nil {
			t.Errorf("the webhook of %s gets %s: %.1500s", p, seen, w.hooks.at(p))
		}
	}
}
