package memory_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// Nobody reads, changes or deletes another user's memory by any route, key, query or tool,
// on either database.
func TestNobodySeesAnothersMemory(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		p.model.dream = dreamOf("dream-of-the-SECRET", "note")
		s := harness.Serve(t, p.Options)
		owners := []*owner{{person: alice, secret: "aardvark"}, {person: bob, secret: "buffalo"}, {person: foreign, secret: "chinchilla"}}
		for i, x := range owners {
			x.session = fmt.Sprintf("diary-%d", i)
			x.live(t, s)
		}
		for _, x := range owners {
			x.collect(t, s)
		}
		strangers := []*owner{{person: nobody}, {person: person{tenant: "acme"}}}
		for _, x := range append(slices.Clone(owners), strangers...) {
			for _, other := range owners {
				if x != other {
					x.spy(t, s, owners, other)
				}
			}
			x.asks(t, s, owners)
		}
		for _, x := range owners {
			x.unharmed(t, s)
		}
		// What the model was shown is an answer as well.
		for _, asked := range p.model.Asked() {
			raw, err := json.Marshal(asked.Body)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, x := range owners {
				n += min(1, strings.Count(string(raw), x.secret))
			}
			if n > 1 {
				t.Errorf("a request to the model holds the words of %d users: %.2000s", n, raw)
			}
		}
	})
}

// spy tries to reach another user's rows.
func (x *owner) spy(t *testing.T, s *harness.Server, all []*owner, other *owner) {
	t.Helper()
	sees := func(what string, body []byte) {
		t.Helper()
		for _, o := range all {
			if o.secret != x.secret && bytes.Contains(body, []byte(o.secret)) {
				t.Errorf("%v sees the %s by %s: %.600s", x.person, o.secret, what, body)
			}
		}
	}
	type try struct {
		method, path string
		body         any
		refused      bool
	}
	session, id := url.PathEscape(other.session), other.ids
	tries := []try{
		{"GET", "/sessions/" + session, nil, true},
		{"GET", "/sessions/" + session + "/messages", nil, true},
		{"GET", "/sessions/" + session + "/context", nil, true},
		{"GET", "/sessions/" + session + "/context?agent=diarist", nil, true},
		{"GET", "/sessions/" + session + "/timeline", nil, true},
		{"GET", "/moments/session/" + session, nil, true},
		{"GET", "/moments?session_id=" + session, nil, false},
		{"GET", "/runs?session_id=" + session, nil, false},
		{"GET", "/runs/" + id["run"], nil, true},
		{"GET", "/runs/" + id["run"] + "/events", nil, true},
		{"GET", "/messages/" + id["message"], nil, true},
		{"POST", "/sessions/" + session + "/compact", map[string]any{"threshold": 1}, true},
		{"POST", "/moments", map[string]any{"name": "spy", "session_id": other.session}, true},
		{"POST", "/chat/completions/" + session, map[string]any{"model": "diarist", "messages": []any{map[string]any{"role": "user", "content": "What did I say?"}}}, false},
		// The id is free for everybody: this is the spy's own session.
		{"DELETE", "/sessions/" + session, nil, false},
		{"DELETE", "/runs/" + id["run"], nil, true},
		{"POST", "/runs/" + id["run"] + "/resume", map[string]any{}, true},
	}
	for _, kind := range []string{"session_chunk", "note", "reminder", "notification", "content_upload", "dream"} {
		for _, method := range []string{"GET", "PATCH", "DELETE"} {
			var body any
			if method == "PATCH" {
				body = map[string]any{"summary": "spied"}
			}
			tries = append(tries, try{method, "/moments/" + id[kind], body, true})
		}
		tries = append(tries, try{"GET", "/moments/by-name/" + id[kind], nil, true}, try{"POST", "/moments/" + id[kind] + "/rate", map[string]any{"rating": 1}, true},
			try{"DELETE", "/reminders/" + id[kind], nil, true}, try{"DELETE", "/moments/reminders/" + id[kind], nil, true})
	}
	for _, key := range other.keys {
		tries = append(tries, try{"GET", "/moments/by-name/" + url.PathEscape(key), nil, false})
	}
	for _, c := range tries {
		status, body := send(t, s, x.person, c.method, c.path, c.body)
		sees(c.method+" "+c.path, body)
		if c.refused && status < 400 {
			t.Errorf("%v: %s %s: status %d: %.300s", x.person, c.method, c.path, status, body)
		}
	}
	// The file is the uploader's own, and nothing in the session.
	if _, body := x.upload(t, s, other.session); bytes.Contains(body, []byte(`"moment_id"`)) {
		t.Errorf("%v uploads into the session of %v: %s", x.person, other.person, body)
	}
	for _, key := range other.keys {
		for _, q := range []string{`LOOKUP "` + key + `"`, `FUZZY "` + key + `" LOAD`, `TRAVERSE "` + key + `" DEPTH 2 LOAD`} {
			_, body := send(t, s, x.person, http.MethodPost, "/query/raw", map[string]string{"query": q})
			sees(q, body)
		}
	}
	for name, args := range map[string]map[string]any{
		"get_moments":     {"session_id": other.session},
		"delete_reminder": {"reminder_id": id["reminder"]},
		"search":          {"query": `LOOKUP "message-` + id["message"] + `"`},
	} {
		sees(name, []byte(x.tool(t, s, name, args)))
	}
}

// asks asks for everything there is.
func (x *owner) asks(t *testing.T, s *harness.Server, all []*owner) {
	t.Helper()
	sees := func(what string, body []byte) {
		t.Helper()
		for _, o := range all {
			if o.secret != x.secret && bytes.Contains(body, []byte(o.secret)) {
				t.Errorf("%v sees the %s by %s: %.600s", x.person, o.secret, what, body)
			}
		}
	}
	for _, path := range []string{
		"/sessions", "/moments?limit=500", "/moments/feed", "/moments/feed?include_future=true", "/moments/today", "/moments/search?q=sleep", "/moments/search?q=sleeps&limit=50",
		"/moments/reminders", "/reminders", "/runs", "/approvals", "/moments?topic_tags=sleep", "/moments/by-name/note", "/jobs/stats",
	} {
		status, body := send(t, s, x.person, http.MethodGet, path, nil)
		sees(path, body)
		if status != http.StatusOK && (x.secret != "" || status != http.StatusNotFound) {
			t.Errorf("%v: GET %s: status %d: %s", x.person, path, status, body)
		}
	}
	_, body := send(t, s, x.person, http.MethodPost, "/dream", map[string]any{"dry_run": true})
	sees("POST /dream", body)
	for _, q := range []string{
		"LOOKUP note", "LOOKUP feed", "FUZZY sleeps LOAD", "FUZZY note THRESHOLD 0.1 LOAD", "SEARCH sleeps FROM moments LOAD", "SEARCH feed FROM moments LOAD",
		"TRAVERSE note DEPTH 3 LOAD", "SELECT * FROM moments", "SELECT * FROM messages", "SELECT * FROM sessions", "SELECT * FROM users", "SELECT * FROM files", "SELECT * FROM resources ORDER BY created_at DESC",
		"SELECT m.summary, s.metadata FROM moments m JOIN sessions s ON m.id <> s.id", "SELECT string_agg(content, ' ') AS everything FROM messages WHERE user_id IS NOT NULL",
	} {
		_, body := send(t, s, x.person, http.MethodPost, "/query/raw", map[string]string{"query": q})
		sees(q, body)
	}
	for name, args := range map[string]map[string]any{"get_moments": {}, "list_reminders": {}, "get_user_profile": {}, "search": {"query": "SEARCH sleeps FROM moments LOAD"}} {
		text := x.tool(t, s, name, args)
		sees(name, []byte(text))
		if x.secret != "" && !strings.Contains(text, x.secret) {
			t.Errorf("%s gives %v nothing of their own: %.300s", name, x.person, text)
		}
	}
	s.Chat(t, harness.Ask{Agent: "diarist", Session: x.session, Text: "What do you know of me?", Headers: x.headers()})
}
