package chat_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

func TestModelName(t *testing.T) {
	for _, tc := range []struct{ override, request, document, fallback, want string }{
		{"o:o", "r:r", "d:d", "f:f", "o:o"},
		{"", "r:r", "d:d", "f:f", "r:r"},
		{"", "", "d:d", "f:f", "d:d"},
		{"", "", "", "f:f", "f:f"},
	} {
		a := &agent.Agent{OverrideModel: tc.override, Model: tc.document}
		if got := chat.ModelName(a, tc.request, tc.fallback); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

func TestWhichAgent(t *testing.T) {
	model := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text("Yes."))
	s := newService(t, model, chat.Options{}, helper, nestedAgent)
	inline, err := agent.Parse("inline.yaml", []byte(document("inline")))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		header string
		req    chat.Request
		want   string
	}{
		{"", chat.Request{}, "helper"},
		{"research-agent", chat.Request{}, "research-agent"},
		{"research-agent", chat.Request{Agent: "helper"}, "helper"},
		{"research-agent", chat.Request{Agent: "helper", Document: inline}, "inline"},
	} {
		tc.req.Input = "Hi"
		ctx := identity.With(t.Context(), identity.Identity{AgentSchemaURI: tc.header})
		started, err := s.Start(ctx, tc.req)
		if err != nil {
			t.Fatal(err)
		}
		drain(t, started)
		if started.Agent != tc.want {
			t.Errorf("%+v: %s", tc, started.Agent)
		}
	}
}

func document(name string) string {
	return fmt.Sprintf("type: object\nname: %s\ndescription: You help.\n", name)
}

func TestRequestsThatCannotStart(t *testing.T) {
	s := newService(t, scripted.New(), chat.Options{Store: newStore(t)}, helper)
	bad := &agent.Document{Fields: agent.Fields{Name: "x", Tools: []agent.ToolRef{{}}}}
	deep := map[string]any{"x": strings.Repeat("y", 17<<10)}
	for _, tc := range []struct {
		name   string
		id     identity.Identity
		req    chat.Request
		status int
		code   string
		says   string
	}{
		{"empty", identity.Identity{}, chat.Request{}, 422, "invalid_request", "the message is empty"},
		{"blank", identity.Identity{}, chat.Request{Input: " \n"}, 422, "invalid_request", "the message is empty"},
		{"empty query", identity.Identity{}, chat.Request{Query: &run.Query{}}, 422, "invalid_request", "query.query is empty"},
		{"bad query", identity.Identity{}, chat.Request{Query: &run.Query{Query: "q", Scratchpad: []byte("[]")}}, 422, "invalid_request", "query.scratchpad"},
		{"unknown agent", identity.Identity{}, chat.Request{Input: "x", Agent: "helpr"}, 404, "agent_not_found", `did you mean "helper"?`},
		{"path", identity.Identity{}, chat.Request{Input: "x", Agent: "../x"}, 422, "invalid_request", "looks like a path"},
		{"bad document", identity.Identity{}, chat.Request{Input: "x", Document: bad}, 422, "invalid_agent", "name"},
		{"unknown model", identity.Identity{}, chat.Request{Input: "x", Model: "nobody:knows"}, 404, "model_not_found", "nobody:knows"},
		{"unknown model of the identity", identity.Identity{DefaultModel: "nobody:knows"}, chat.Request{Input: "x"}, 404, "model_not_found", "nobody:knows"},
		{"session id", identity.Identity{SessionID: "a\nb"}, chat.Request{Input: "x"}, 400, "invalid_request", "session_id holds U+000A"},
		{"metadata", identity.Identity{}, chat.Request{Input: "x", SessionMetadata: deep}, 422, "invalid_request", "16 KiB"},
	} {
		_, err := s.Start(identity.With(t.Context(), tc.id), tc.req)
		d := chat.Describe(err)
		if err == nil || d.HTTPStatus != tc.status || d.Code != tc.code || !strings.Contains(d.Message, tc.says) {
			t.Errorf("%s: %v: %+v", tc.name, err, d)
		}
	}
	if _, err := s.Start(t.Context(), chat.Request{Input: "x"}); !errors.Is(err, identity.ErrMissing) {
		t.Errorf("without an identity: %v", err)
	}
	if n := s.Running(); n != 0 {
		t.Errorf("%d sessions are still taken", n)
	}
}

func TestMetadataOfManyTurnsIsBounded(t *testing.T) {
	model := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text("Yes."))
	s := newService(t, model, chat.Options{Store: newStore(t)}, helper)
	ctx := as(t.Context(), "alice", "s1")
	say := func(key string) error {
		started, err := s.Start(ctx, chat.Request{Input: "Hi", SessionMetadata: map[string]any{key: strings.Repeat("y", 10<<10)}})
		if err == nil {
			drain(t, started)
		}
		return err
	}
	for range 2 { // the same key twice is no more
		if err := say("a"); err != nil {
			t.Fatal(err)
		}
	}
	if d := chat.Describe(say("b")); d.HTTPStatus != 422 || !strings.Contains(d.Message, "16 KiB") {
		t.Errorf("%+v", d)
	}
	turn(t, s, ctx, "Without it the session goes on")
}

// Another caller's session id starts a session of the caller's own.
func TestSomebodyElsesSession(t *testing.T) {
	model := scripted.New(scripted.Text("Yes."), scripted.Text("Yes."), scripted.Text("Yes."), scripted.Text("Yes."))
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, helper)
	alice := as(t.Context(), "alice", "s1")
	turn(t, s, alice, "My secret")
	for what, ctx := range map[string]context.Context{
		"another user": as(t.Context(), "bob", "s1"), "an anonymous caller": as(t.Context(), "", "s1"),
		"another tenant": identity.With(t.Context(), identity.Identity{TenantID: "other", UserID: "alice", SessionID: "s1"}),
	} {
		turn(t, s, ctx, "Tell me")
		rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
		if err != nil || len(rows) != 2 || rows[0].Seq != 1 || *rows[0].Content != "Tell me" {
			t.Errorf("%s: %+v, %v", what, rows, err)
		}
		calls := model.Requests()
		for _, m := range calls[len(calls)-1].Messages {
			if strings.Contains(m.Content, "secret") {
				t.Errorf("%s: the model is sent %q", what, m.Content)
			}
		}
	}
	if rows, err := kept.Messages(alice, "s1", store.MessageFilter{}); err != nil || len(rows) != 2 {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestOneTurnOfASessionAtATime(t *testing.T) {
	gate := make(chan struct{})
	model := scripted.New(
		scripted.Turn{Text: []string{"One."}, Before: scripted.Until(0, gate)},
		scripted.Turn{Text: []string{"Two."}, Before: scripted.Until(0, gate)}, scripted.Text("Three."),
	)
	s := newService(t, model, chat.Options{Store: newStore(t), MaxRuns: 2}, helper)
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(ctx, chat.Request{Input: "2"}); !errors.Is(err, chat.ErrBusy) {
		t.Errorf("%v", err)
	}
	second, err := s.Start(as(t.Context(), "bob", "s2"), chat.Request{Input: "2"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(as(t.Context(), "bob", "s3"), chat.Request{Input: "3"}); !errors.Is(err, chat.ErrOverloaded) {
		t.Errorf("%v", err)
	}
	close(gate)
	drain(t, second)
	// Whoever has seen the end may ask again at once.
	for e := range first.Events(ctx) {
		if e.Type == event.Done {
			turn(t, s, ctx, "4")
		}
	}
	model.AssertDone(t)
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, never := make(chan struct{}), make(chan struct{})
		model := scripted.New(
			scripted.Turn{Text: []string{"One", " two"}, Before: scripted.Until(1, gate)},
			scripted.Turn{Text: []string{"Half", " never"}, Before: scripted.Until(1, never)},
		)
		kept := newStore(t)
		s := newService(t, model, chat.Options{Store: kept}, helper)
		start := func(session string) *chat.Turn {
			started, err := s.Start(as(t.Context(), "alice", session), chat.Request{Input: "Hi"})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return started
		}
		first, second := start("s1"), start("s2")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		time.AfterFunc(time.Second, func() { close(gate) })
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if _, err := s.Start(as(t.Context(), "alice", "s3"), chat.Request{Input: "Hi"}); !errors.Is(err, chat.ErrClosed) {
			t.Errorf("%v", err)
		}
		if got := story(drain(t, first)); got[len(got)-1] != "done stop" {
			t.Errorf("a run that ends in time ends well: %q", got)
		}
		want := []string{"progress 1/3 Processing request", "text Half", "error interrupted", "done error"}
		if diff := cmp.Diff(want, story(drain(t, second))); diff != "" {
			t.Error(diff)
		}
		// It may be taken up again; what it said becomes an answer when it is not.
		if r, err := kept.Run(as(t.Context(), "alice", ""), second.RunID); err != nil || r.Status != store.RunInterrupted {
			t.Errorf("%+v %v", r, err)
		}
		later := newService(t, scripted.New(scripted.Text("Yes.")), chat.Options{Store: kept}, helper)
		turn(t, later, as(t.Context(), "alice", "s2"), "And now?")
		if rows := transcript(t, kept, as(t.Context(), "alice", "s2"), "s2"); rows[1] != "2 assistant Half  interrupted" {
			t.Errorf("%q", rows)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Errorf("an idle service closes at once: %v", err)
		}
	})
}

func TestARunThatSaysTooMuch(t *testing.T) {
	model := scripted.New(scripted.Text(strings.Split(strings.Repeat("word ", 100), " ")...))
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept, MaxEvents: 10}, helper)
	ctx := as(t.Context(), "alice", "s1")
	got := story(turn(t, s, ctx, "Hi"))
	if len(got) != 14 || got[10] != "text \n\n[This answer ends early: it is as long as an answer may be (event_limit).]" ||
		got[12] != "usage" || got[13] != "done length event_limit" {
		t.Errorf("%q", got)
	}
	if rows := transcript(t, kept, ctx, "s1"); !strings.HasSuffix(rows[1], "length") {
		t.Errorf("%q", rows[1])
	}
}

// panicking is a model with a bug.
type panicking struct{ llm.Model }

func (panicking) Name() string                   { return "panicking:model" }
func (panicking) Capabilities() llm.Capabilities { return llm.Capabilities{} }
func (panicking) Stream(context.Context, *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Kind: llm.ChunkText, Text: "Half"}, nil)
		panic("a bug")
	}
}

func TestAPanicEndsTheTurnOnly(t *testing.T) {
	kept := newStore(t)
	s := newService(t, panicking{}, chat.Options{Store: kept, Logger: slog.New(slog.DiscardHandler)}, helper)
	ctx := as(t.Context(), "alice", "s1")
	want := []string{"progress 1/3 Processing request", "text Half", "metadata", "error internal_error", "done error"}
	if diff := cmp.Diff(want, story(turn(t, s, ctx, "Hi"))); diff != "" {
		t.Error(diff)
	}
	if rows := transcript(t, kept, ctx, "s1"); rows[1] != "2 assistant Half  error" {
		t.Errorf("%q", rows)
	}
}

func TestMissingToolsAreWarnings(t *testing.T) {
	doc := strings.Replace(helper, "{name: echo}", "{name: echo}, {name: ecko}, {name: search, server: far}", 1)
	model := scripted.New(scripted.Text("Yes."))
	s := newService(t, model, chat.Options{}, doc)
	events := turn(t, s, as(t.Context(), "", ""), "Hi")
	got := story(events)
	if got[1] != "warning tool_unavailable" || got[2] != "warning tool_unavailable" {
		t.Errorf("%q", got)
	}
	if w := find[*event.WarningData](t, events); w.Message != "the tool ecko is not available here; did you mean echo?" {
		t.Errorf("%q", w.Message)
	}
	if tools := model.Requests()[0].Tools; len(tools) != 1 || tools[0].Name != "echo" {
		t.Errorf("the model was shown %v", tools)
	}
}

// delegate is a tool that runs another agent and lets its events through.
type delegate struct {
	tool.Base
	child *agent.Agent
	model llm.Model
	tools []tool.Tool
}

func (d *delegate) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return d.Stream(ctx, c, func(event.Event) bool { return true })
}

func (d *delegate) Stream(ctx context.Context, _ tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	var text strings.Builder
	for e, err := range run.Stream(ctx, run.Options{Agent: d.child, Model: d.model, Tools: d.tools}) {
		if err != nil {
			return tool.Result{}, err
		}
		text.WriteString(e.Text)
		emit(e)
	}
	return tool.Result{Content: text.String()}, nil
}

func TestDelegation(t *testing.T) {
	doc, err := agent.Parse("child.yaml", []byte(strings.Replace(helper, "helper", "child", 1)))
	if err != nil {
		t.Fatal(err)
	}
	child, err := agent.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	base, err := tool.NewBase(llm.ToolSpec{Name: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	ask := &delegate{
		Base: base, child: child, tools: []tool.Tool{newEcho(t)},
		model: scripted.New(scripted.Call("echo", `{"text":"deep"}`), scripted.Text("Child says.")),
	}
	model := scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "p", Name: "ask", Arguments: "{}"}}}, scripted.Text(" Parent says."))
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept, Tools: registry(t, ask)}, strings.Replace(helper, "echo", "ask", 1))
	ctx := as(t.Context(), "alice", "s1")
	events := turn(t, s, ctx, "Hi")
	want := []string{
		"progress 1/3 Processing request", "tool_call ask started", "progress 2/3 Calling ask", "tool_call ask executing",
		"helper/child: tool_call echo started", "helper/child: tool_call echo executing", "helper/child: tool_call echo completed",
		"helper/child: text Child says.",
		"tool_call ask completed", "progress 3/3 Generating response", "text  Parent says.", "metadata", "usage", "done stop",
	}
	if diff := cmp.Diff(want, story(events)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"1 user Hi",
		`2 tool_call NULL {"name":"ask","id":"p","arguments":{}}`,
		`3 tool_call NULL {"name":"echo","id":"call_1","arguments":{"text":"deep"}}  helper/child`,
		`4 tool_response {"text":"deep"} {"name":"echo","id":"call_1"}  helper/child`,
		`5 tool_response Child says. {"name":"ask","id":"p"}`,
		"7 assistant Child says.\n\n Parent says.",
	}, transcript(t, kept, ctx, "s1")); diff != "" {
		t.Error(diff)
	}
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if rows[2].AgentName != "child" || rows[2].RunID != rows[1].RunID {
		t.Errorf("a child's row is one of the parent's run: %+v", rows[2])
	}
	if u := find[*event.UsageData](t, events); u.Requests != 4 || u.ToolCalls != 2 {
		t.Errorf("the root's usage has the child's in it: %+v", u)
	}
}

func TestDescribe(t *testing.T) {
	for _, tc := range []struct {
		err         error
		status      int
		code        string
		recoverable bool
	}{
		{&llm.Error{Kind: llm.Auth}, 502, "authentication_error", false},
		{&llm.Error{Kind: llm.RateLimit, RetryAfter: 2 * time.Second}, 503, "rate_limit_exceeded", true},
		{&llm.Error{Kind: llm.NotFound, Status: 404}, 502, "model_not_found", false},
		{&llm.Error{Kind: llm.NotFound}, 404, "model_not_found", false},
		{&llm.Error{Kind: llm.BadRequest}, 502, "invalid_request", false},
		{&llm.Error{Kind: llm.ContextLength}, 400, "context_length_exceeded", false},
		{&llm.Error{Kind: llm.Unavailable}, 503, "provider_unavailable", true},
		{&llm.Error{Kind: llm.Timeout}, 504, "provider_timeout", true},
		{&llm.Error{Kind: llm.BadResponse}, 502, "bad_provider_response", true},
		{fmt.Errorf("wrapped: %w", &llm.Error{Kind: llm.NoModel}), 503, "no_model", false},
		{&run.OutputError{Problems: []string{"/answer: missing"}}, 502, "invalid_output", true},
		{chat.ErrBusy, 409, "session_busy", true},
		{chat.ErrOverloaded, 503, "overloaded", true},
		{chat.ErrClosed, 503, "shutting_down", true},
		{&catalog.NameError{Name: "x", Problem: "is empty"}, 422, "invalid_request", false},
		{fmt.Errorf("session: %w", store.ErrNotFound), 404, "session_not_found", false},
		{fmt.Errorf("%w: too long", store.ErrInvalid), 422, "invalid_request", false},
		{&store.Failure{Op: "x", Err: errors.New("y")}, 500, "storage_failed", true},
		{context.Canceled, 499, "cancelled", false},
		{context.DeadlineExceeded, 504, "timeout", true},
		{errors.New("pq: password"), 500, "internal_error", false},
		{nil, 500, "internal_error", false},
	} {
		d := chat.Describe(tc.err)
		if d.HTTPStatus != tc.status || d.Code != tc.code || d.Recoverable != tc.recoverable || d.Message == "" || strings.Contains(d.Message, "pq") {
			t.Errorf("%v: %d %+v", tc.err, d.HTTPStatus, d)
		}
	}
	if d := chat.Describe(&llm.Error{Kind: llm.RateLimit, RetryAfter: 2 * time.Second}); d.Details["retry_after_seconds"] != 2.0 {
		t.Errorf("%+v", d.Details)
	}
}
