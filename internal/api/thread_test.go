package api_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

// posted is an AG-UI body of a thread.
func posted(thread, text string) string {
	return `{"threadId":"` + thread + `","runId":"r","state":{},"tools":[],"context":[],"forwardedProps":{},
		"messages":[{"id":"1","role":"user","content":"` + text + `"}]}`
}

// TestThreads: each thread of an AG-UI client is a session, whatever address it writes to.
func TestThreads(t *testing.T) {
	type message struct{ path, thread, user, session, before string }
	for name, messages := range map[string][]message{
		"the fixed address":     {{"/chat", "t1", "", "t1", ""}, {"/chat", "t2", "", "t2", ""}, {"/chat", "t1", "", "t1", "message 0"}},
		"the AI SDK's address":  {{"/api/chat", "t1", "", "t1", ""}, {"/api/v1/chat", "t2", "", "t2", ""}, {"/api/chat", "t2", "", "t2", "message 1"}},
		"the thread's address":  {{"/chat/t1", "t1", "", "t1", ""}, {"/chat", "t1", "", "t1", "message 0"}},
		"one address for all":   {{"/chat/x", "t1", "", "x", ""}, {"/chat/x", "t2", "", "t2", ""}, {"/chat/x", "t1", "", "x", "message 0"}, {"/api/chat/x", "t2", "", "t2", "message 1"}},
		"a session that exists": {{"/chat/x", "", "", "x", ""}, {"/chat/x", "t1", "", "x", "message 0"}, {"/chat/x", "t2", "", "t2", ""}, {"/chat/x", "", "", "x", "message 0 message 1"}},
		"two users": {{"/chat", "t1", "alice", "t1", ""}, {"/chat", "t1", "bob", "t1", ""}, {"/chat/x", "t1", "alice", "x", ""}, {"/chat/x", "t2", "bob", "x", ""},
			{"/chat/x", "t2", "bob", "x", "message 3"}, {"/chat", "t1", "bob", "t1", "message 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, setup{api: api.Options{TrustHeaders: true}}, slices.Repeat([]scripted.Turn{scripted.Text("Yes.")}, len(messages))...)
			for i, m := range messages {
				headers := []string{"X-User-Id: " + m.user}
				if m.user == "" {
					headers = nil
				}
				w := s.do("POST", m.path, posted(m.thread, "message "+string(rune('0'+i))), headers...)
				if w.Code != http.StatusOK || w.Header().Get("X-Session-Id") != m.session || !strings.HasPrefix(w.Body.String(), `data: {"type":"RUN_STARTED"`) {
					t.Fatalf("message %d: %d, session %q\n%s", i, w.Code, w.Header().Get("X-Session-Id"), w.Body)
				}
				if m.thread != "" && !strings.Contains(w.Body.String(), `"threadId":"`+m.thread+`","runId":"r"`) {
					t.Errorf("message %d: %s", i, w.Body)
				}
				if got := usersTexts(s.model.Requests()[i].Messages); got != strings.TrimSpace(m.before+" message "+string(rune('0'+i))) {
					t.Errorf("message %d: the model sees %q", i, got)
				}
			}
		})
	}
}

// TestThreadsAtOnce: threads that begin one session at once do not share it.
func TestThreadsAtOnce(t *testing.T) {
	const threads = 8
	s := newServer(t, setup{}, slices.Repeat([]scripted.Turn{scripted.Text("Yes.")}, threads)...)
	var all sync.WaitGroup
	var mu sync.Mutex
	sessions := map[string]bool{}
	for i := range threads {
		all.Go(func() {
			w := s.do("POST", "/chat/x", posted(fmt.Sprint("t", i), fmt.Sprint("message ", i)))
			mu.Lock()
			defer mu.Unlock()
			switch session := w.Header().Get("X-Session-Id"); {
			case w.Code == http.StatusConflict: // the session's first thread was not stored yet
			case w.Code != http.StatusOK || sessions[session]:
				t.Errorf("%d, session %q: %s", w.Code, session, w.Body)
			default:
				sessions[session] = true
			}
		})
	}
	all.Wait()
	for _, r := range s.model.Requests() {
		if got := usersTexts(r.Messages); len(got) != len("message 0") {
			t.Errorf("a model sees %q", got)
		}
	}
	if !sessions["x"] {
		t.Error(sessions)
	}
}

// usersTexts joins what the user said, without what p8 adds.
func usersTexts(messages []llm.Message) string {
	var all []string
	for _, m := range messages {
		if m.Role == llm.User && strings.HasPrefix(m.Content, "message ") {
			all = append(all, m.Content)
		}
		if strings.Contains(m.Content, "client_thread") {
			all = append(all, m.Content)
		}
	}
	return strings.Join(all, " ")
}

// TestThreadOpens: a client that sends no message gets the thread's messages, and the run
// that waits for the user.
func TestThreadOpens(t *testing.T) {
	call := func(id string) scripted.Turn {
		return scripted.Turn{Text: []string{"Let me look. "}, Calls: []llm.ToolCall{{ID: id, Name: "search", Arguments: `{"query":"a"}`}}}
	}
	s := newServer(t, setup{api: api.Options{TrustHeaders: true}}, call("call_a"), scripted.Text("Found it."), call("call_b"), scripted.Text("Yes."))
	opened := func(path, thread string, headers ...string) string {
		t.Helper()
		w := s.do("POST", path, `{"threadId":"`+thread+`","runId":"r2","protocolVersion":"1.0","messages":[],"tools":[],"context":[]}`, headers...)
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		return w.Body.String()
	}
	const empty = `"messages":[]}`
	for _, path := range []string{"/chat", "/api/chat", "/chat/x"} {
		if got := opened(path, "t1"); !strings.Contains(got, empty) || !strings.Contains(got, `"RUN_FINISHED"`) {
			t.Error(got)
		}
	}
	if w := s.do("POST", "/chat/x", posted("t1", "message 0")); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	want := `"role":"user","content":"message 0"},{"id":"ID","role":"assistant","toolCalls":[{"id":"call_a","type":"function","function":{"name":"search","arguments":"{\"query\":\"a\"}"}}]},` +
		`{"id":"ID","role":"tool","content":"{\"found\":\"a\"}","toolCallId":"call_a"},{"id":"ID","role":"assistant","content":"Let me look. \n\nFound it."}]}`
	ids := regexp.MustCompile(`"id":"0{8}[-0-9]*"`)
	if got := ids.ReplaceAllString(opened("/chat/x", "t1"), `"id":"ID"`); !strings.Contains(got, want) || strings.Contains(got, `"TEXT_MESSAGE_START"`) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := opened("/chat/x", "t2"); !strings.Contains(got, empty) {
		t.Error("the messages of another thread:", got)
	}
	if w := s.do("POST", "/schemas/", careful, "Content-Type: application/yaml"); w.Code >= 300 {
		t.Fatal(w.Body)
	}
	if w := s.do("POST", "/chat", posted("t3", "message 1"), "X-Agent-Schema: careful"); !strings.Contains(w.Body.String(), `"interrupt"`) {
		t.Fatal(w.Body)
	}
	if w := s.do("POST", "/chat", posted("t4", "message 2"), "X-User-Id: alice", "X-Agent-Schema: careful"); w.Code != http.StatusOK {
		t.Fatal(w.Body)
	}
	if got := opened("/chat", "t4", "X-User-Id: bob"); !strings.Contains(got, empty) {
		t.Error("the messages of another user:", got)
	}
	got := opened("/chat", "t3")
	if strings.Count(got, `"call_b"`) == 0 || strings.Contains(got, `"id":"call_b","type"`) || !strings.Contains(got, `"content":"message 1"}]`) || !strings.Contains(got, `"type":"interrupt"`) {
		t.Error(got)
	}
}

// TestStrangeThreads: a client's mistakes about threads and runs.
func TestStrangeThreads(t *testing.T) {
	s := newServer(t, setup{}, slices.Repeat([]scripted.Turn{scripted.Text("Yes.")}, 3)...)
	long := strings.Repeat("t", 10_000)
	for body, want := range map[string]string{
		posted(long, "hi"):   "threadId is 10000 characters long; at most 128 are allowed",
		posted("a\\n", "hi"): "threadId holds U+000A at character 2",
		strings.Replace(posted("t", "hi"), `"runId":"r"`, `"runId":"`+long+`"`, 1): "runId is 10000 characters long",
		strings.Replace(posted("t", "hi"), `"runId":"r"`, `"runId":{}`, 1):         "runId",
		strings.Replace(posted("t", "hi"), `"threadId":"t"`, `"threadId":7`, 1):    "threadId",
	} {
		for _, path := range []string{"/chat", "/chat/s1", "/api/chat"} {
			w := s.do("POST", path, body)
			if w.Code != http.StatusUnprocessableEntity && w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) || w.Body.Len() > 1000 {
				t.Errorf("%s %.60s: %d %.500s", path, body, w.Code, w.Body)
			}
		}
	}
	if w := s.do("POST", "/chat?on_disconnect=sotp", posted("t", "hi")); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "continue or stop") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// Neither a run's id alone nor an empty thread names a session.
	for _, body := range []string{strings.Replace(posted("", "hi"), `"threadId":"",`, "", 1), posted("", "hi")} {
		w := s.do("POST", "/chat", body)
		session := w.Header().Get("X-Session-Id")
		if w.Code != http.StatusOK || session == "" || !strings.Contains(w.Body.String(), `"threadId":"`+session+`","runId":"r"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	// A run's id may be used again: it is the client's own name of the run.
	if w := s.do("POST", "/chat", posted("again", "hi")); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
