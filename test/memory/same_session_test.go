package memory_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// common is a session id that everybody uses.
const common = "diary"

// Another caller's session id behaves like an unused one, by every route, key and tool, and
// callers that use one id at the same time never share rows, on either database.
func TestSessionIDsOfSeveralCallers(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, p *place) {
		p.model.dream = dreamOf("dream-of-the-SECRET", "note")
		p.Env = append(p.Env, "P8_MCP_AGENTS=diarist", "P8_A2A_AGENTS=diarist")
		s := harness.Serve(t, p.Options)
		owners := []*owner{{person: alice, secret: "aardvark"}, {person: bob, secret: "buffalo"}, {person: foreign, secret: "chinchilla"}}
		strangers := 0
		for i, x := range owners {
			x.session = common
			x.live(t, s)
			// Nobody else notices; alice's tenant has anonymous callers, too.
			for _, who := range append([]person{{tenant: x.tenant}}, personsOf(owners[i+1:])...) {
				for n, ask := range questions(common) {
					unused := unusedID(strangers)
					taken, free := ask.told(t, s, who, common), questions(unused)[n].told(t, s, who, unused)
					if taken != free {
						t.Errorf("%v: %s: of %v's session: %.600s\nof an unused one: %.600s", who, ask, x.person, taken, free)
					}
					strangers++
				}
			}
			for n, begin := range beginnings(common) {
				unused := unusedID(strangers)
				taken := begin.told(t, s, person{x.tenant, fmt.Sprintf("stranger-%d@example.com", strangers)}, common)
				free := beginnings(unused)[n].told(t, s, person{x.tenant, fmt.Sprintf("other-%d@example.com", strangers)}, unused)
				if taken != free || strings.HasPrefix(taken, "4") {
					t.Errorf("%s: in %v's session: %.600s\nin an unused one: %.600s", begin, x.person, taken, free)
				}
				strangers++
			}
		}
		anonymous := person{tenant: alice.tenant}
		s.Chat(t, harness.Ask{Agent: "diarist", Session: common, Text: "Who am I?", Headers: anonymous.headers()})
		for _, x := range owners {
			x.collect(t, s)
			x.seesOwn(t, s, owners)
		}
		var rows []harness.Row
		get(t, s, anonymous, "/sessions/"+common+"/messages", &rows)
		if len(rows) != 2 || rows[0].Seq != 1 {
			t.Errorf("the anonymous caller's session has %+v", rows)
		}
		// Deleting it is deleting one's own.
		if status, body := send(t, s, anonymous, http.MethodDelete, "/sessions/"+common, nil); status >= 300 {
			t.Errorf("deleting the anonymous caller's session: status %d: %s", status, body)
		}
		for _, x := range owners {
			x.unharmed(t, s)
		}
		if status, body := send(t, s, bob, http.MethodDelete, "/sessions/"+common, nil); status >= 300 {
			t.Errorf("deleting bob's session: status %d: %s", status, body)
		}
		for _, x := range []*owner{owners[0], owners[2]} {
			x.unharmed(t, s)
			x.seesOwn(t, s, owners)
		}
		for _, path := range []string{"", "/messages", "/timeline"} {
			if status, body := send(t, s, bob, http.MethodGet, "/sessions/"+common+path, nil); status != http.StatusNotFound {
				t.Errorf("bob's deleted session%s: status %d: %.300s", path, status, body)
			}
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

// unusedID is an id as long as the common one: suggestions of near keys go by that.
func unusedID(n int) string { return fmt.Sprintf("d%0*d", len(common)-1, n) }

func personsOf(owners []*owner) (list []person) {
	for _, x := range owners {
		list = append(list, x.person)
	}
	return list
}

// seesOwn reads the session in every way and checks that the rows are the owner's.
func (x *owner) seesOwn(t *testing.T, s *harness.Server, all []*owner) {
	t.Helper()
	for _, ask := range questions(x.session) {
		if ask.method != http.MethodGet && ask.path != "/query/raw" {
			continue
		}
		_, body := send(t, s, x.person, ask.method, ask.path, ask.body)
		for _, o := range all {
			if o != x && bytes.Contains(body, []byte(o.secret)) {
				t.Errorf("%v sees the %s by %s: %.600s", x.person, o.secret, ask, body)
			}
		}
	}
	for _, path := range []string{"/messages", "/timeline", "/context"} {
		if _, body := send(t, s, x.person, http.MethodGet, "/sessions/"+x.session+path, nil); path != "/context" && !bytes.Contains(body, []byte(x.secret)) {
			t.Errorf("%v does not see their own by %s: %.600s", x.person, path, body)
		}
	}
}

// question is a request about a session.
type question struct {
	method, path string
	body         any
	headers      map[string]string
	// upload sends a file, tool calls an MCP tool instead.
	upload bool
	tool   string
	args   map[string]any
}

func (q question) String() string { return strings.TrimSpace(q.method + " " + q.path + q.tool) }

// questions ask about a session without making it.
func questions(id string) []question {
	session := url.PathEscape(id)
	message := []any{map[string]any{"role": "user", "content": "x"}}
	list := []question{
		{method: "GET", path: "/sessions/" + session},
		{method: "GET", path: "/sessions/" + session + "/messages"},
		{method: "GET", path: "/sessions/" + session + "/context"},
		{method: "GET", path: "/sessions/" + session + "/timeline"},
		{method: "GET", path: "/moments/session/" + session},
		{method: "GET", path: "/moments?session_id=" + session},
		{method: "GET", path: "/runs?session_id=" + session},
		{method: "GET", path: "/approvals?session_id=" + session},
		{method: "GET", path: "/chat/" + session + "/stream"},
		{method: "GET", path: "/api/chat/" + session + "/stream"},
		{method: "POST", path: "/chat/" + session + "/stop"},
		{method: "POST", path: "/sessions/" + session + "/compact", body: map[string]any{"threshold": 1}},
		{method: "POST", path: "/moments", body: map[string]any{"name": "told", "summary": "x", "session_id": id}},
		{method: "DELETE", path: "/sessions/" + session},
		{method: "POST", path: "/chat/completions/" + session, body: map[string]any{"model": "diarist", "messages": []any{
			map[string]any{"role": "tool", "tool_call_id": "c1", "content": "result"}}}},
		{method: "POST", path: "/v1/chat/completions", headers: map[string]string{"X-Session-Id": id}, body: map[string]any{"model": "none", "messages": message}},
		{tool: "get_moments", args: map[string]any{"session_id": id}},
		{tool: "search", args: map[string]any{"query": `LOOKUP "session-` + id + `-msg-1"`}},
	}
	for _, query := range []string{`LOOKUP "session-` + id + `-msg-1"`, `LOOKUP "session-` + id + `-msg-2-part-1"`,
		"SELECT * FROM sessions WHERE id = '" + id + "'", "SELECT count(*) FROM messages WHERE session_id = '" + id + "'"} {
		list = append(list, question{method: "POST", path: "/query/raw", body: map[string]any{"query": query}})
	}
	return list
}

// beginnings make a session.
func beginnings(id string) []question {
	session := url.PathEscape(id)
	message := []any{map[string]any{"role": "user", "content": "x"}}
	return []question{
		{method: "POST", path: "/v1/chat/completions", headers: map[string]string{"X-Session-Id": id}, body: map[string]any{"model": "diarist", "messages": message}},
		{method: "POST", path: "/chat/completions/" + session, body: map[string]any{"model": "diarist", "messages": message}},
		{method: "POST", path: "/v1/chat/completions", headers: map[string]string{"X-Session-Id": id, "Idempotency-Key": "key"}, body: map[string]any{"model": "diarist", "messages": message}},
		{method: "POST", path: "/api/chat", body: map[string]any{"id": id, "messages": []any{
			map[string]any{"id": "m1", "role": "user", "parts": []any{map[string]any{"type": "text", "text": "x"}}}}}, headers: map[string]string{"X-Agent-Schema": "diarist"}},
		{method: "POST", path: "/a2a", body: map[string]any{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": map[string]any{"message": map[string]any{
			"messageId": "m", "role": "ROLE_USER", "contextId": id, "parts": []any{map[string]any{"text": "x"}}}}}},
		{upload: true, path: "/content"},
		{tool: "diarist", args: map[string]any{"input": "x", "session_id": id}},
	}
}

// changing matches the parts in which two equal answers differ.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[0-9:.]+(Z|\+00:00)|` +
	`"(created|latency_ms|duration_ms|execution_time_ms|took_ms)":[0-9.]+|upload-hay-txt-[0-9a-f]{8}|"fingerprint":"[0-9a-f]+"|chatcmpl-\w+|\w+-\d+@example\.com`)

// told returns the answer to a request about a session, without its changing parts.
func (q question) told(t *testing.T, s *harness.Server, who person, id string) string {
	t.Helper()
	said := ""
	x := &owner{person: who, secret: "hay"}
	switch {
	case q.upload:
		status, body := x.upload(t, s, id)
		said = fmt.Sprint(status, " ", string(body))
	case q.tool != "":
		said = x.tool(t, s, q.tool, q.args)
	default:
		status, body := sendWith(t, s, who, q.method, q.path, q.body, q.headers)
		said = fmt.Sprint(status, " ", string(body))
	}
	return changing.ReplaceAllString(strings.ReplaceAll(said, id, "ID"), "…")
}
