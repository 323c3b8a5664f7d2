package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// TestTalkErrors pins the errors of a wrong body or path.
func TestTalkErrors(t *testing.T) {
	parts := func(p string) string { return `{"messages":[{"role":"user","parts":[` + p + `]}]}` }
	long := strings.Repeat("x", 1025)
	for _, c := range []struct{ name, method, path, body, header string }{
		{name: "empty", path: "/chat/s1", body: " "},
		{name: "json", path: "/chat/s1", body: `{"messages":[}`},
		{name: "no-messages", path: "/chat/s1", body: `{}`},
		{name: "messages-type", path: "/chat/s1", body: `{"messages":{}}`},
		{name: "no-user", path: "/chat/s1", body: `{"messages":[{"role":"system","content":"x"}]}`},
		{name: "role", path: "/chat/s1", body: `{"messages":[{"role":"wizard","content":"x"}]}`},
		{name: "content", path: "/chat/s1", body: `{"messages":[{"role":"user","content":7}]}`},
		{name: "thread", path: "/chat/s1", body: `{"threadId":7,"messages":[]}`},
		{name: "audio", path: "/chat/s1", body: `{"messages":[{"role":"user","content":[{"type":"audio","source":{"type":"url","value":"https://a"}}]}]}`},
		{name: "source", path: "/chat/s1", body: `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"file","value":"f"}}]}]}`},
		{name: "no-source", path: "/chat/s1", body: `{"messages":[{"role":"user","content":[{"type":"image"}]}]}`},
		{name: "document-url", path: "/chat/s1", body: `{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"url","value":"https://a/b.pdf","mimeType":"application/pdf"}}]}]}`},
		{name: "tool", path: "/chat/s1", body: `{"tools":[{"name":"a b"}],"messages":[{"role":"user","content":"x"}]}`},
		{name: "option", path: "/chat/s1?seed=" + long, body: hello},
		{name: "option-twice", path: "/chat/s1?seed=1&seed=2", body: hello},
		{name: "session", path: "/chat/" + strings.Repeat("s", 129), body: hello},
		{name: "session-body", path: "/chat", body: `{"id":"` + strings.Repeat("s", 129) + `","messages":[{"role":"user","content":"x"}]}`},
		{name: "protocol", path: "/chat/s1?protocol=smtp", body: hello},
		{name: "subagents", path: "/chat/s1?subagents=no", body: hello},
		{name: "after", method: "GET", path: "/chat/s1/stream?after=x"},
		{name: "last-event-id", method: "GET", path: "/chat/s1/stream", header: "Last-Event-ID: -1"},
		{name: "busy", path: "/chat/s1", body: `{"if_busy":"wait","messages":[{"role":"user","content":"x"}]}`},
		{name: "interrupt", path: "/chat/s1", body: `{"resume":[{"status":"resolved"}]}`},
		{name: "interrupt-unknown", path: "/chat/s1", body: `{"resume":[{"interruptId":"nobody","status":"resolved"}]}`},
		{name: "interrupt-status", path: "/chat/s1", body: `{"resume":[{"interruptId":"q1","status":"done"}]}`},
		{name: "interrupt-approval", path: "/chat/s1", body: `{"resume":[{"interruptId":"q1","status":"resolved","payload":{"approved":"yes"}}]}`},
		{name: "interrupt-payload", path: "/chat/s1", body: `{"resume":[{"interruptId":"q2","status":"resolved","payload":[1]}]}`},
		{name: "ui-trigger", path: "/api/chat", body: `{"trigger":"resume","messages":[]}`},
		{name: "ui-role", path: "/api/chat", body: `{"messages":[{"role":"tool","parts":[]}]}`},
		{name: "ui-part", path: "/api/chat", body: parts(`{"type":"video"}`)},
		{name: "ui-file", path: "/api/chat", body: parts(`{"type":"file","mediaType":"application/pdf","url":"https://a/b.pdf"}`)},
		{name: "ui-file-none", path: "/api/chat", body: parts(`{"type":"file","mediaType":"image/png"}`)},
		{name: "ui-blank", path: "/api/chat", body: parts(`{"type":"text","text":" "}`)},
		{name: "ui-assistant", path: "/api/chat", body: `{"messages":[{"role":"user","parts":[{"type":"text","text":"x"}]},{"role":"assistant","parts":[{"type":"text","text":"x"}]}]}`},
		{name: "model", path: "/chat/s1", body: `{"model":"genral","messages":[{"role":"user","content":"x"}]}`},
		{name: "media-type", path: "/chat/s1", body: hello, header: "Content-Type: text/plain"},
		{name: "verb", path: "/chat/s1/start", body: `{}`},
		{name: "method", method: "GET", path: "/chat/s1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := asking()
			method := "POST"
			if c.method != "" {
				method = c.method
			}
			var headers []string
			if c.header != "" {
				headers = []string{c.header}
			}
			goldenResponse(t, "talk", c.name, newTalk(t, f).do(method, c.path, c.body, headers...))
			if f.starts > 0 {
				t.Error("a turn began")
			}
		})
	}
}

// refusing is a chat that starts nothing.
type refusing struct {
	*fake
	err error
}

func (r refusing) Start(context.Context, chat.Request) (*chat.Turn, error) { return nil, r.err }
func (r refusing) Active(context.Context, string) (*chat.Turn, error)      { return nil, r.err }
func (r refusing) Resume(context.Context, string) (*chat.Turn, error)      { return nil, r.err }
func (r refusing) Stop(context.Context, string) (store.Run, error)         { return store.Run{}, r.err }
func (r refusing) Request(context.Context, string) (store.RunRequest, error) {
	return store.RunRequest{}, r.err
}

// TestRefusals: each refusal of the chat has its status on every route, in words
// of the clients of that route.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		says   string
	}{
		{chat.ErrBusy, 409, "if_busy"}, {chat.ErrKeyReused, 422, "Idempotency-Key"}, {chat.ErrNotResumable, 409, "cannot be resumed"},
		{chat.ErrNoRuns, 501, "keeps no runs"}, {store.ErrNotFound, 404, "there is no such"}, {chat.ErrOverloaded, 503, "try again"},
		{store.ErrDecided, 409, "decided already"}, {&chat.InputError{Field: "content", Message: "the answer does not follow it"}, 422, "does not follow"},
		{fmt.Errorf("sk-secret"), 500, "its log says what"},
	} {
		f := newFake()
		s := newTalk(t, f)
		s.Handler = talkOver(refusing{f, c.err}, s)
		for _, r := range [][3]string{
			{"POST", "/v1/chat/completions", hello}, {"POST", "/chat/s1", hello}, {"POST", "/api/chat", hello}, {"GET", "/chat/s1/stream", ""},
			{"POST", "/chat/s1/stop", ""}, {"POST", "/runs/r/resume", ""}, {"GET", "/approvals/q", ""}, {"POST", "/chat/s1", `{"resume":[{"interruptId":"q"}]}`},
		} {
			w := s.do(r[0], r[1], r[2])
			body := w.Body.String()
			isOpenAI := strings.Contains(r[1], "completions")
			status := c.status
			if isOpenAI && status == 422 {
				status = 400
			}
			if w.Code != status || !strings.Contains(body, c.says) || strings.Contains(body, "secret") || isOpenAI != strings.Contains(body, `{"error":{`) {
				t.Errorf("%v on %s %s: %d %s", c.err, r[0], r[1], w.Code, body)
			}
		}
	}
}

// TestRuns pins the JSON of runs and of their requests.
func TestRuns(t *testing.T) {
	f := asking()
	f.say("One ", "two ", "three.", &event.DoneData{Reason: event.ReasonStop})
	s := newTalk(t, f)
	run := "/runs/" + f.run.ID
	const list = "Accept: application/json"
	for _, c := range []restCase{
		{name: "list", method: "GET", path: "/v1/runs?session_id=s1&limit=1"},
		{name: "list-status", method: "GET", path: "/runs?status=asleep"},
		{name: "one", method: "GET", path: run},
		{name: "unknown", method: "GET", path: "/runs/nobody"},
		{name: "events-list", method: "GET", path: run + "/events", headers: []string{list}},
		{name: "events-page", method: "GET", path: run + "/events?after=1&limit=2", headers: []string{list}},
		{name: "events-last", method: "GET", path: run + "/events?after=4", headers: []string{list}},
		{name: "events-limit", method: "GET", path: run + "/events?limit=0", headers: []string{list}},
		{name: "events-after", method: "GET", path: run + "/events?after=2"},
		{name: "events-unknown", method: "GET", path: "/runs/nobody/events"},
		{name: "resume-ended", method: "POST", path: run + "/resume"},
		{name: "resume-unknown", method: "POST", path: "/runs/nobody/resume"},
		{name: "delete-unknown", method: "DELETE", path: "/runs/nobody"},
		{name: "delete", method: "DELETE", path: run},
		{name: "approvals", method: "GET", path: "/approvals?status=open"},
		{name: "approvals-status", method: "GET", path: "/approvals?status=x"},
		{name: "approval", method: "GET", path: "/v1/approvals/q2"},
		{name: "approval-unknown", method: "GET", path: "/approvals/nobody"},
		{name: "decide-empty", method: "POST", path: "/approvals/q1", body: " "},
		{name: "decide-neither", method: "POST", path: "/approvals/q1", body: `{}`},
		{name: "decide-both", method: "POST", path: "/approvals/q1", body: `{"decision":"approve","action":"accept"}`},
		{name: "decide-word", method: "POST", path: "/approvals/q1", body: `{"decision":"yes"}`},
		{name: "decide-action", method: "POST", path: "/approvals/q1", body: `{"action":"yes"}`},
		{name: "decide-content", method: "POST", path: "/approvals/q2", body: `{"action":"accept","content":"Bern"}`},
		{name: "decide-comment", method: "POST", path: "/approvals/q2", body: `{"action":"accept","comment":"` + strings.Repeat("x", 5000) + `"}`},
		{name: "decide-unknown", method: "POST", path: "/approvals/nobody", body: `{"decision":"deny"}`},
		{name: "decide", method: "POST", path: "/approvals/q2", body: `{"action":"accept","content":{"city":"Bern"},"comment":"as ever"}`},
		{name: "decide-twice", method: "POST", path: "/approvals/q2", body: `{"decision":"deny"}`},
		{name: "deny", method: "POST", path: "/approvals/q1", body: `{"decision":"deny","content":{"a":1}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			goldenResponse(t, "runs", c.name, s.do(c.method, c.path, c.body, append([]string{"X-Request-Id: of the client"}, c.headers...)...))
			if c.name == "delete" {
				f.run.ID = run[len("/runs/"):]
			}
		})
	}
}

// TestRunsUnderWay: a list of events never waits, a running run is stopped, an
// interrupted one goes on.
func TestRunsUnderWay(t *testing.T) {
	f := newFake()
	f.say("One ")
	s := newTalk(t, f)
	run := "/runs/" + f.run.ID
	synctest.Test(t, func(t *testing.T) {
		f.more = make(chan struct{})
		f.run.LastSeq = 2 // another process is about to write it
		var page []event.Event
		w := s.do("GET", run+"/events", "", "Accept: application/json")
		must(t, json.Unmarshal(w.Body.Bytes(), &page))
		if len(page) != 1 || page[0].Text != "One " || w.Header().Get("Link") != "" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
	f.more = make(chan struct{})
	if w := s.do("DELETE", run, ""); w.Code != http.StatusAccepted || !strings.Contains(w.Body.String(), `"status":"cancelled"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	f.run.Status = store.RunWaiting
	if w := s.do("POST", "/chat/s1/stop", ""); w.Code != http.StatusOK {
		t.Errorf("a run that waits can be stopped: %d %s", w.Code, w.Body)
	}
	f.run.Status = store.RunInterrupted
	if w := s.do("POST", run+"/resume", ""); w.Code != http.StatusAccepted || !strings.Contains(w.Body.String(), `"status":"running"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for len(f.joined) > 0 {
		<-f.joined
	}
	f.run.Status, f.run.Protocol = store.RunInterrupted, "ag-ui"
	w := httptest.NewRecorder()
	over := s.begin(f, request("POST", run+"/resume", "", "Accept: text/event-stream"), w)
	f.say("more.", &event.DoneData{Reason: event.ReasonStop})
	<-over
	if !strings.Contains(w.Body.String(), `"RUN_FINISHED"`) || w.Header().Get("X-Run-Id") != f.run.ID {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
}

// TestStillWaiting: a client that answers one request of two hears that the run
// still waits.
func TestStillWaiting(t *testing.T) {
	for protocol, want := range map[string]string{"ag-ui": `"RUN_FINISHED"`, "ai-sdk": "[DONE]", "openai": "[DONE]"} {
		f := asking()
		f.say("Well. ", &event.ActionRequestData{RequestID: "q2", Kind: event.RequestElicitation, Message: "Which?", Card: json.RawMessage(`{}`)},
			&event.DoneData{Reason: event.ReasonPaused})
		f.past = f.run.LastSeq
		w := newTalk(t, f).do("POST", "/chat/s1?protocol="+protocol, `{"resume":[{"interruptId":"q1","payload":true}]}`)
		if w.Code != 200 || !strings.Contains(w.Body.String(), want) || strings.Contains(w.Body.String(), "Well.") {
			t.Errorf("%s: %d %s", protocol, w.Code, w.Body)
		}
	}
}

// slow is a chat whose run does not end when it is asked to.
type slow struct{ *fake }

func (s slow) Stop(ctx context.Context, _ string) (store.Run, error) {
	<-ctx.Done()
	return store.Run{}, ctx.Err()
}

// TestSlowStop: who stops a run does not wait for ever.
func TestSlowStop(t *testing.T) {
	f := newFake()
	s := newTalk(t, f)
	s.Handler = talkOver(slow{f}, s)
	synctest.Test(t, func(t *testing.T) {
		if w := s.do("POST", "/chat/s1/stop", ""); w.Code != http.StatusAccepted || !strings.Contains(w.Body.String(), `"status":"running"`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// FuzzTalk: no body makes the server fail, and no turn begins with nothing to do.
func FuzzTalk(f *testing.F) {
	for _, s := range []string{
		hello, `{}`, `{"messages":[{"role":"user","parts":[{"type":"text","text":"x"}]}],"trigger":"submit-message"}`,
		`{"messages":[{"role":"tool","toolCallId":"c","content":"x"}],"tools":[{"name":"a","parameters":{"type":"object"}}]}`,
		`{"resume":[{"interruptId":"q1","status":"resolved","payload":{"approved":true}}],"forwardedProps":{"options":{"a":1}},"state":[1]}`,
		`{"trigger":"regenerate-message","messages":[{"role":"assistant","parts":[{"type":"tool-a","toolCallId":"c","state":"output-available","output":1}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"data","value":"AA==","mimeType":"image/png"}}]}]}`,
	} {
		f.Add(s)
	}
	catalog := newServer(f, setup{noStore: true}).catalog
	f.Fuzz(func(t *testing.T, body string) {
		fake := asking()
		fake.say("x", &event.DoneData{Reason: event.ReasonStop})
		s := &server{Handler: talkOver(fake, &server{catalog: catalog})}
		w := s.do("POST", "/chat/s1", body, "Content-Type: application/json")
		r := &fake.req
		switch {
		case w.Code == http.StatusOK:
			if r.Input == "" && len(r.Parts)+len(r.Answers)+len(r.Results) == 0 && !r.Regenerate {
				t.Errorf("a turn with nothing to do began: %q", body)
			}
			if len(r.Answers) > 0 && (r.Input != "" || len(r.Results) > 0 || r.Regenerate) {
				t.Errorf("answers do not come alone: %q", body)
			}
		case w.Code < 400 || w.Code >= 500 || !json.Valid(w.Body.Bytes()):
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}
