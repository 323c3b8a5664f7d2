package chat_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// told is how often a request says something as the user.
func told(r llm.Request, text string) (n int) {
	for _, m := range r.Messages {
		if m.Role == llm.User && m.Content == text {
			n++
		}
	}
	return n
}

// TestWordsWithResults: what the user says beside the results of the client's tools
// is never lost.
func TestWordsWithResults(t *testing.T) {
	spec := llm.ToolSpec{Name: "ring", Description: "Rings.", Parameters: []byte(`{"type":"object"}`)}
	for range 20 {
		kept := newStore(t)
		model := scripted.New(scripted.Call("ring", `{}`), scripted.Text("It rang."))
		s := newService(t, model, chat.Options{Store: kept}, helper)
		ctx := as(t.Context(), "alice", "s1")
		first, err := s.Start(ctx, chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{spec}})
		if err != nil {
			t.Fatal(err)
		}
		call := find[*event.ToolCallData](t, drain(t, first))
		second, err := s.Start(ctx, chat.Request{Input: "Hurry", Results: []chat.ToolResult{{ToolCallID: call.ID, Content: "ding"}}})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, second)
		if last := model.Requests()[1]; told(last, "Hurry") != 1 {
			t.Fatalf("%s", conversation(last))
		}
		if rows := transcript(t, kept, ctx, "s1"); len(rows) != 5 {
			t.Errorf("%q", rows)
		}
	}
}

// TestSteerBeforeAHandOver: the agent that takes over reads what was said meanwhile,
// once, and so does who reads it in the middle of a step.
func TestSteerBeforeAHandOver(t *testing.T) {
	gate := make(chan struct{})
	handOver := scripted.Call("transfer_to_agent", `{"agent_name":"worker"}`)
	handOver.Before = scripted.Until(0, gate)
	models := cast{"boss": scripted.New(handOver), "worker": scripted.New(scripted.Text("Yes."))}
	s := stage(t, chat.Options{Store: newStore(t)}, models, []string{flatNamed("boss", ""), flatNamed("worker", "")})
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(ctx, chat.Request{Input: "In French", Busy: chat.BusySteer}); err != nil {
		t.Fatal(err)
	}
	close(gate)
	drain(t, first)
	requests := models["worker"].(*scripted.Model).Requests()
	if n := told(requests[len(requests)-1], "In French"); n != 1 {
		t.Errorf("%d times: %s", n, conversation(requests[len(requests)-1]))
	}
}

// TestSteerAfterAWrongAnswer: what the run says to its model as the user is not
// taken for the user's.
func TestSteerAfterAWrongAnswer(t *testing.T) {
	begun, gate := make(chan struct{}), make(chan struct{})
	model := scripted.NewWith(scripted.Options{Capabilities: llm.Capabilities{NativeOutput: true}},
		scripted.Text(`{}`),
		scripted.Turn{
			Calls:  []llm.ToolCall{{Name: "echo", Arguments: `{"text":"a"}`}},
			Check:  func(*llm.Request) error { close(begun); return nil },
			Before: scripted.Until(0, gate),
		},
	)
	document := careful + answerFields
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, document)
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if _, err := s.Start(ctx, chat.Request{Input: "In French", Busy: chat.BusySteer}); err != nil {
		t.Fatal(err)
	}
	close(gate)
	asked := find[*event.ActionRequestData](t, drain(t, first))
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	model = scripted.NewWith(scripted.Options{Capabilities: llm.Capabilities{NativeOutput: true}}, scripted.Text(`{"answer":"oui"}`))
	s = newService(t, model, chat.Options{Store: kept}, document)
	_, again, err := s.Decide(ctx, asked.RequestID, store.Decision{Status: store.RequestAccepted})
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	drain(t, again)
	if last := model.Requests()[0]; told(last, "In French") != 1 {
		t.Errorf("%s", conversation(last))
	}
}

// TestSteerTwiceWithAKey: a message that is sent again is the same message, also when
// the run is over.
func TestSteerTwiceWithAKey(t *testing.T) {
	gate := make(chan struct{})
	model := scripted.New(
		scripted.Turn{Text: []string{"One"}, Before: scripted.Until(0, gate)}, scripted.Text("Deux."), scripted.Text("Trois."))
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	req := chat.Request{Input: "In French", Busy: chat.BusySteer, Key: "k", KeyHash: "h"}
	for range 2 {
		if again, err := s.Start(ctx, req); err != nil || again.RunID != first.RunID {
			t.Fatalf("%v %v", again, err)
		}
	}
	close(gate)
	drain(t, first)
	if again, err := s.Start(ctx, req); err != nil || again.RunID != first.RunID {
		t.Fatalf("%v %v", again, err)
	}
	req.Input = "In Greek"
	if _, err := s.Start(ctx, req); !errors.Is(err, chat.ErrKeyReused) {
		t.Errorf("%v", err)
	}
	rows := transcript(t, kept, ctx, "s1")
	if diff := cmp.Diff([]string{"1 user Go", "2 user In French"}, slices.DeleteFunc(rows, func(r string) bool { return !strings.Contains(r, " user ") })); diff != "" {
		t.Error(diff)
	}
}

// asksBoth runs a turn whose step waits for the user, and for the call b of the client's
// tool.
func asksBoth(t *testing.T, kept chat.Store) (*chat.Service, *scripted.Model, context.Context, *chat.Turn, *event.ActionRequestData) {
	t.Helper()
	spec := llm.ToolSpec{Name: "ring", Description: "Rings.", Parameters: []byte(`{"type":"object"}`)}
	model := scripted.New(scripted.Turn{Calls: []llm.ToolCall{
		{ID: "a", Name: "echo", Arguments: `{"text":"a"}`}, {ID: "b", Name: "ring", Arguments: `{}`},
	}}, scripted.Text("Both."))
	s := newService(t, model, chat.Options{Store: kept}, careful)
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "Go", ClientTools: []llm.ToolSpec{spec}})
	if err != nil {
		t.Fatal(err)
	}
	return s, model, ctx, first, find[*event.ActionRequestData](t, drain(t, first))
}

// answersBoth sends the user's answer and the client's result at once: the run ends.
func answersBoth(t *testing.T, s *chat.Service, model *scripted.Model, ctx context.Context, asked *event.ActionRequestData) {
	t.Helper()
	again, err := s.Start(ctx, chat.Request{
		Answers: []chat.RequestAnswer{{RequestID: asked.RequestID, Decision: store.Decision{Status: store.RequestAccepted}}},
		Results: []chat.ToolResult{{ToolCallID: "b", Content: "ding"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
		t.Errorf("%q", got)
	}
	model.AssertDone(t)
}

// TestAnAnswerWithAResult: a step may wait for the user and for the client's tool,
// and both may come at once.
func TestAnAnswerWithAResult(t *testing.T) {
	s, model, ctx, _, asked := asksBoth(t, newStore(t))
	answersBoth(t, s, model, ctx, asked)
}
