package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/store"
)

// speaker is a client of one protocol.
type speaker struct {
	protocol, path, body string
	// answer decides the request q1 in the form of the protocol: a path and a body.
	answer [2]string
}

var speakers = []speaker{
	{"openai", "/v1/chat/completions/s1", `{"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Send it."}]}`,
		[2]string{"/approvals/q1", `{"decision":"approve","comment":"go"}`}},
	{"ag-ui", "/chat/s1", `{"threadId":"s1","messages":[{"id":"1","role":"user","content":"Send it."}]}`,
		[2]string{"/chat/s1", `{"threadId":"s1","messages":[{"id":"1","role":"user","content":"Send it."}],"resume":[{"interruptId":"q1","status":"resolved","payload":{"approved":true}}]}`}},
	{"ai-sdk", "/api/chat/s1", `{"id":"s1","trigger":"submit-message","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"Send it."}]}]}`,
		[2]string{"/api/chat/s1", `{"id":"s1","trigger":"submit-message","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":"Send it."}]},
			{"id":"22222222-2222-2222-2222-222222222222","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"send","toolCallId":"c1","state":"approval-responded","input":{"to":"Ann"},"approval":{"id":"q1","approved":true}}]}]}`}},
	{"events", "/chat/s1?protocol=events", `{"messages":[{"role":"user","content":"Send it."}]}`,
		[2]string{"/approvals/q1", `{"action":"accept"}`}},
}

// begin starts the request and returns when its client reads; the channel gets the whole
// answer.
func (s *server) begin(f *fake, r *http.Request, w http.ResponseWriter) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		s.ServeHTTP(w, r)
	}()
	<-f.joined
	return over
}

// TestMatrix: every protocol with every interruption: the exact frames, and the run's state
// afterwards.
func TestMatrix(t *testing.T) {
	for _, sp := range speakers {
		t.Run(sp.protocol+"/error", func(t *testing.T) {
			f := newFake()
			s := newTalk(t, f)
			w := httptest.NewRecorder()
			over := s.begin(f, request("POST", sp.path, sp.body), w)
			f.say("Once upon", &event.ErrorData{Code: "provider_unavailable", Message: "the model is unavailable", Recoverable: true, HTTPStatus: 503},
				&event.DoneData{Reason: event.ReasonError})
			<-over
			transcript(t, sp.protocol+"-error", f, w)
		})
		t.Run(sp.protocol+"/stop", func(t *testing.T) {
			f := newFake()
			s := newTalk(t, f)
			w := httptest.NewRecorder()
			over := s.begin(f, request("POST", sp.path, sp.body), w)
			f.say("Once upon")
			stopped := s.do("POST", "/v1/chat/s1/stop", "")
			<-over
			transcript(t, sp.protocol+"-stop", f, w, stopped)
			if again := s.do("POST", "/chat/s1/stop", ""); again.Code != http.StatusNoContent {
				t.Errorf("stopped twice: %d %s", again.Code, again.Body)
			}
		})
		t.Run(sp.protocol+"/question", func(t *testing.T) { question(t, sp) })
		t.Run(sp.protocol+"/disconnect", func(t *testing.T) { disconnect(t, sp) })
	}
}

// question is a run that asks, waits, gets its answer in the protocol's form, and
// continues.
func question(t *testing.T, sp speaker) {
	f := asking()
	s := newTalk(t, f)
	args := json.RawMessage(`{"to":"Ann"}`)
	asked := httptest.NewRecorder()
	over := s.begin(f, request("POST", sp.path, sp.body), asked)
	f.say("I will. ",
		&event.ToolCallData{Name: "send", ID: "c1", Status: event.ToolStarted},
		&event.ToolCallData{Name: "send", ID: "c1", Status: event.ToolExecuting, Arguments: args},
		&event.ActionRequestData{RequestID: "q1", Kind: event.RequestApproval, Message: "Send it?", ToolName: "send", ToolCallID: "c1", Arguments: args, Card: json.RawMessage(`{"id":"q1"}`)},
		&event.DoneData{Reason: event.ReasonPaused})
	<-over
	waiting := f.run.Status
	if w := s.do("GET", "/chat/s1/stream", ""); w.Code != http.StatusNoContent {
		t.Errorf("nothing runs, and the stream is %d %s", w.Code, w.Body)
	}
	rest := []any{
		&event.ToolCallData{Name: "send", ID: "c1", Status: event.ToolCompleted, Arguments: args, Result: json.RawMessage(`"sent"`), Content: "sent"},
		"Sent.", &event.DoneData{Reason: event.ReasonStop},
	}
	f.goOn()
	answered := httptest.NewRecorder()
	if strings.HasPrefix(sp.answer[0], "/approvals/") {
		f.run.Status = store.RunWaiting
		answered = s.do("POST", sp.answer[0], sp.answer[1])
		f.say(rest...)
		again := s.do("GET", "/runs/"+f.run.ID+"/events?after=5&protocol="+sp.protocol, "")
		transcript(t, sp.protocol+"-question", f, asked, answered, again)
	} else {
		over := s.begin(f, request("POST", sp.answer[0], sp.answer[1]), answered)
		f.say(rest...)
		<-over
		transcript(t, sp.protocol+"-question", f, asked, answered)
		if len(f.req.Answers) != 1 || f.req.Answers[0].Status != store.RequestAccepted {
			t.Errorf("%+v", f.req)
		}
	}
	if waiting != store.RunWaiting {
		t.Errorf("the run was %s while it waited", waiting)
	}
}

// disconnect is a client that leaves in the middle and comes back: both answers together
// are the uninterrupted one.
func disconnect(t *testing.T, sp speaker) {
	f := newFake()
	s := newTalk(t, f)
	ctx, leave := context.WithCancel(context.Background())
	first := &watched{ResponseRecorder: httptest.NewRecorder(), needle: "upon", seen: make(chan struct{})}
	over := s.begin(f, request("POST", sp.path, sp.body).WithContext(ctx), first)
	f.say("Once ", "upon ", &event.ToolCallData{Name: "search", ID: "c1", Status: event.ToolStarted})
	<-first.seen
	leave()
	<-over
	end := `\nid: (\d+)\n\n$`
	if sp.protocol == "openai" {
		end = `,"seq":(\d+)}\n\n$`
	}
	id := regexp.MustCompile(end).FindStringSubmatch(first.Body.String())
	if id == nil {
		t.Fatalf("the answer does not end with a number: %q", first.Body)
	}
	for len(f.joined) > 0 {
		<-f.joined
	}
	second := httptest.NewRecorder()
	path := "/chat/s1/stream"
	if sp.protocol == "ai-sdk" {
		path = "/api" + path
	}
	over = s.begin(f, request("GET", path, "", "Last-Event-ID: "+id[1]), second)
	f.say(&event.ToolCallData{Name: "search", ID: "c1", Status: event.ToolExecuting, Arguments: json.RawMessage(`{}`)},
		&event.ToolCallData{Name: "search", ID: "c1", Status: event.ToolCompleted, Arguments: json.RawMessage(`{}`), Result: json.RawMessage(`{"n":1}`), Content: `{"n":1}`},
		"a time.", &event.DoneData{Reason: event.ReasonStop})
	<-over
	whole := s.do("GET", "/runs/"+f.run.ID+"/events?protocol="+sp.protocol, "")
	// A reconnecting OpenAI client has lost its request for usage.
	if got := first.Body.String() + second.Body.String(); sp.protocol != "openai" && got != whole.Body.String() {
		t.Errorf("not the same:\n%s\n--- as at once:\n%s", got, whole.Body)
	}
	transcript(t, sp.protocol+"-disconnect", f, whole)
	if f.starts != 1 || f.run.Status != store.RunCompleted {
		t.Errorf("%d turns, %s", f.starts, f.run.Status)
	}
}

// watched signals when a text has been sent.
type watched struct {
	*httptest.ResponseRecorder
	needle string
	once   sync.Once
	seen   chan struct{}
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.ResponseRecorder.Write(b)
	if strings.Contains(w.Body.String(), w.needle) {
		w.once.Do(func() { close(w.seen) })
	}
	return n, err
}

// transcript compares answers, and the state of the run, with
// testdata/matrix/<name>.http.
func transcript(t *testing.T, name string, f *fake, answers ...*httptest.ResponseRecorder) {
	t.Helper()
	var b strings.Builder
	for _, w := range answers {
		b.WriteString(http.StatusText(w.Code) + " " + w.Header().Get("Content-Type") + "\n\n" + timestamp.ReplaceAllString(w.Body.String(), `"<time>"`) + "\n----\n")
	}
	b.WriteString("the run: " + f.run.Status + ", " + f.run.Reason + "\n")
	golden.Compare(t, filepath.Join("testdata", "matrix", name+".http"), b.String())
}
