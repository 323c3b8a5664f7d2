package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// memoryRoutes are the routes of memory, all with one id.
func memoryRoutes(id string) []restCase {
	return []restCase{
		{name: "delete-session", method: "DELETE", path: "/sessions/" + id},
		{method: "GET", path: "/sessions/" + id + "/context"},
		{method: "GET", path: "/sessions/" + id + "/timeline"},
		{method: "POST", path: "/sessions/" + id + "/compact"},
		{method: "GET", path: "/moments"},
		{method: "GET", path: "/moments/feed"},
		{method: "GET", path: "/moments/today"},
		{method: "GET", path: "/moments/session/" + id},
		{method: "GET", path: "/moments/reminders"},
		{method: "GET", path: "/moments/search?q=tea"},
		{method: "GET", path: "/moments/by-name/" + id},
		{method: "GET", path: "/moments/" + id},
		{method: "PATCH", path: "/moments/" + id, body: `{"summary":"x"}`},
		{method: "POST", path: "/moments/" + id + "/rate", body: `{"rating":1}`},
		{method: "POST", path: "/moments", body: `{"name":"x"}`},
		{method: "DELETE", path: "/moments/" + id},
		{method: "DELETE", path: "/moments/reminders/" + id},
		{method: "GET", path: "/reminders"},
		{method: "POST", path: "/reminders", body: `{"name":"x","crontab":"0 9 * * *"}`},
		{method: "DELETE", path: "/reminders/" + id},
		{method: "POST", path: "/dream"},
		{method: "GET", path: "/jobs/stats"},
	}
}

// TestMemoryScope: nobody but alice finds or changes her rows, by any id or name.
func TestMemoryScope(t *testing.T) {
	s := remembering(t, newRemembered())
	note := momentID("tea-with-sarah")
	for who, headers := range map[string][]string{
		"another user":             {"X-User-Id: bob", "X-Tenant-Id: acme"},
		"nobody":                   {"X-Tenant-Id: acme"},
		"alice elsewhere":          {"X-User-Id: alice", "X-Tenant-Id: other"},
		"nobody, of no tenant":     nil,
		"bob in a session of hers": {"X-User-Id: bob", "X-Tenant-Id: acme", "X-Session-Id: s1"},
	} {
		for _, c := range []struct {
			restCase
			// want is the status; 200 means an empty answer.
			want int
		}{
			{restCase{method: "DELETE", path: "/sessions/s1"}, 404},
			{restCase{method: "GET", path: "/sessions/s1/timeline"}, 404},
			{restCase{method: "GET", path: "/moments/session/s1"}, 404},
			{restCase{method: "POST", path: "/sessions/s1/compact"}, 404},
			{restCase{method: "GET", path: "/moments"}, 200},
			{restCase{method: "GET", path: "/moments?session_id=s1"}, 200},
			{restCase{method: "GET", path: "/moments?topic_tags=tea"}, 200},
			{restCase{method: "GET", path: "/moments/search?q=secret+tea"}, 200},
			{restCase{method: "GET", path: "/moments/by-name/tea-with-sarah"}, 404},
			{restCase{method: "GET", path: "/moments/by-name/" + note}, 404},
			{restCase{method: "GET", path: "/moments/" + note}, 404},
			{restCase{method: "PATCH", path: "/moments/" + note, body: `{"summary":"mine"}`}, 404},
			{restCase{method: "POST", path: "/moments/" + note + "/rate", body: `{"rating":1}`}, 404},
			{restCase{method: "POST", path: "/moments", body: `{"name":"x","session_id":"s1"}`}, 404},
			{restCase{method: "DELETE", path: "/moments/" + note}, 404},
			{restCase{method: "DELETE", path: "/moments/tea-with-sarah"}, 404},
			{restCase{method: "DELETE", path: "/moments/" + momentID("stand-up")}, 404},
		} {
			w := s.do(c.method, c.path, c.body, headers...)
			got := strings.ToLower(w.Body.String())
			if w.Code != c.want || strings.Contains(got, "secret") || strings.Contains(got, "sarah") && c.want == 200 || c.want == 200 && strings.TrimSpace(got) != "[]" {
				t.Errorf("%s: %s %s: %d %s", who, c.method, c.path, w.Code, w.Body)
			}
		}
		// Another user may use the same name.
		if who != "another user" {
			continue
		}
		if w := s.do("POST", "/moments", `{"name":"tea-with-sarah","summary":"Of bob."}`, headers...); w.Code != http.StatusCreated {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
		w := s.do("DELETE", "/moments/"+store.EntityID("moments", "tea-with-sarah", "bob"), "", headers...)
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", who, w.Code, w.Body) // it has an id of its own
		}
		s.forget(t, "tea-with-sarah", headers)
	}
	var left []store.Moment
	must(t, json.Unmarshal(s.do("GET", "/moments", "", alice...).Body.Bytes(), &left))
	if w := s.do("GET", "/moments/"+note, "", alice...); len(left) != 4 || !strings.Contains(w.Body.String(), "Sarah leaves") || !strings.Contains(w.Body.String(), `"session_name":"Tea"`) {
		t.Errorf("%d left; %d %s", len(left), w.Code, w.Body)
	}
}

// forget deletes a moment by its name.
func (s *server) forget(t *testing.T, name string, headers []string) {
	t.Helper()
	var m store.Moment
	must(t, json.Unmarshal(s.do("GET", "/moments/by-name/"+name, "", headers...).Body.Bytes(), &m))
	if w := s.do("DELETE", "/moments/"+m.ID, "", headers...); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestMomentPages: all moments are listed once, by cursor or by offset.
func TestMomentPages(t *testing.T) {
	s := remembering(t, newRemembered())
	for _, how := range []string{"cursor", "offset"} {
		seen := map[string]bool{}
		path := "/moments?limit=1"
		for i := 1; path != ""; i++ {
			w := s.do("GET", path, "", alice...)
			var page []store.Moment
			must(t, json.Unmarshal(w.Body.Bytes(), &page))
			for _, m := range page {
				if seen[m.ID] {
					t.Errorf("%s: %s twice", how, m.Name)
				}
				seen[m.ID] = true
			}
			next, _, more := strings.Cut(strings.TrimPrefix(w.Header().Get("Link"), "<"), ">")
			switch {
			case !more:
				path = ""
			case how == "offset":
				path = "/moments?limit=1&offset=" + string(rune('0'+i))
			default:
				path = "/moments" + next
			}
		}
		if len(seen) != 4 {
			t.Errorf("%s: %d moments", how, len(seen))
		}
	}
}
