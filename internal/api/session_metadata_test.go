package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm/scripted"
)

// A client of every protocol over HTTP describes its session.
func TestSessionMetadata(t *testing.T) {
	s := newServer(t, setup{}, scripted.Text("one"), scripted.Text("two"), scripted.Text("three"))
	mine := identity.With(t.Context(), identity.Identity{})
	const about = `{"plan":"paid","session_name":" A\n trip","session_type":"support"}`
	for id, x := range map[string][2]string{
		"openai": {"/v1/chat/completions/openai", `{"model":"sample-agent","messages":[{"role":"user","content":"hi"}],"metadata":` + about + `}`},
		"agui":   {"/chat/agui", `{"model":"sample-agent","threadId":"agui","messages":[{"id":"1","role":"user","content":"hi"}],"forwardedProps":{"metadata":` + about + `}}`},
		"aisdk":  {"/api/chat", `{"model":"sample-agent","id":"aisdk","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"hi"}]}],"metadata":` + about + `}`},
	} {
		if w := s.do("POST", x[0], x[1]); w.Code != 200 {
			t.Fatalf("%s: %d %s", id, w.Code, w.Body)
		}
		sess, err := s.store.Session(mine, id)
		must(t, err)
		var kept map[string]string
		must(t, json.Unmarshal(sess.Metadata, &kept))
		if sess.Title != "A trip" || sess.Mode != "support" || len(kept) != 1 || kept["plan"] != "paid" {
			t.Errorf("%s: %+v %s", id, sess, sess.Metadata)
		}
		for bad, words := range map[string]string{
			`{"session_name":5}`:                                  "must be a string",
			`{"session_type":"dreaming"}`:                         "background work",
			`{"session_name":"` + strings.Repeat("x", 300) + `"}`: "at most 200",
			`{"a":"` + strings.Repeat("x", 20<<10) + `"}`:         "",
			// A prompt shows only the newest of these.
			`{"uploads":[` + strings.Repeat(`{},`, 20<<10) + `{}]}`: "",
			`[1]`: "",
		} {
			if w := s.do("POST", x[0], strings.Replace(x[1], about, bad, 1)); w.Code != 422 && w.Code != 400 || !strings.Contains(w.Body.String(), words) {
				t.Errorf("%s %.40s: %d %s", id, bad, w.Code, w.Body)
			}
		}
		if w := s.do("PATCH", "/sessions/"+id, `{"metadata":{"uploads":[`+strings.Repeat(`{},`, 20<<10)+`{}]}}`); w.Code != 422 {
			t.Errorf("%s: PATCH: %d %s", id, w.Code, w.Body)
		}
	}
}
