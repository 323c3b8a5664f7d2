package chat_test

import (
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// TestAHandOverOutlivesAPause: who took over has the session after the pause, too.
func TestAHandOverOutlivesAPause(t *testing.T) {
	documents := []string{
		flatNamed("boss", ""),
		strings.Replace(flatNamed("worker", ""), "[ask_agent, transfer_to_agent, echo]", "[{name: echo, approval: always}]", 1),
	}
	kept := newStore(t)
	ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "boss"})
	models := cast{
		"boss":   scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"worker"}`)),
		"worker": scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "w", Name: "echo", Arguments: `{"text":"a"}`}}}),
	}
	s := stage(t, chat.Options{Store: kept}, models, documents)
	asked := find[*event.ActionRequestData](t, turn(t, s, ctx, "Go"))
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	models = cast{"boss": scripted.New(), "worker": scripted.New(scripted.Text("Done."), scripted.Text("Still me."))}
	s = stage(t, chat.Options{Store: kept}, models, documents)
	_, again, err := s.Decide(ctx, asked.RequestID, store.Decision{Status: store.RequestAccepted})
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	drain(t, again)
	turn(t, s, ctx, "And now?")
	models.done(t)
	first := models["worker"].(*scripted.Model).Requests()[0].Messages
	if last := first[len(first)-1]; last.Role != llm.ToolRole || last.Content != `{"text":"a"}` {
		t.Errorf("the approved call was not made: the agent is sent %+v", last)
	}
}

// TestHandOversEnd: agents that give a turn to each other do not do so for ever.
func TestHandOversEnd(t *testing.T) {
	var boss, worker []scripted.Turn
	for range 100 {
		boss = append(boss, scripted.Call("transfer_to_agent", `{"agent_name":"worker"}`))
		worker = append(worker, scripted.Call("transfer_to_agent", `{"agent_name":"boss"}`))
	}
	models := cast{"boss": scripted.New(boss...), "worker": scripted.New(worker...)}
	s := stage(t, chat.Options{Store: newStore(t)}, models, []string{flatNamed("boss", ""), flatNamed("worker", "")})
	events := turn(t, s, as(t.Context(), "alice", "s1"), "Go")
	if got := story(events); got[len(got)-1] != "done length request_limit" {
		t.Errorf("%q", got[len(got)-3:])
	}
	if n := len(models["boss"].(*scripted.Model).Requests()); n > 10 {
		t.Errorf("the first agent was asked %d times", n)
	}
}

// TestAHandOverThatNobodyAnswers: what the agent that took over did belongs to the
// session's own conversation.
func TestAHandOverThatNobodyAnswers(t *testing.T) {
	documents := []string{
		flatNamed("boss", ""),
		strings.Replace(flatNamed("worker", ""), "[ask_agent, transfer_to_agent, echo]", "[{name: echo, approval: always}]", 1),
	}
	kept := newStore(t)
	ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "boss"})
	models := cast{
		"boss":   scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"worker"}`), scripted.Text("As you like.")),
		"worker": scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "w", Name: "echo", Arguments: `{"text":"a"}`}}}),
	}
	s := stage(t, chat.Options{Store: kept}, models, documents)
	turn(t, s, ctx, "Go")
	turn(t, s, ctx, "Never mind")
	models.done(t)
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.AgentPath != "" {
			t.Errorf("row %d is one of %s", row.Seq, row.AgentPath)
		}
	}
}

// TestClientToolsAfterAHandOver: the agent that took over is given the results of the
// client's tools that it called.
func TestClientToolsAfterAHandOver(t *testing.T) {
	spec := llm.ToolSpec{Name: "ring", Description: "Rings.", Parameters: []byte(`{"type":"object"}`)}
	models := cast{
		"boss":   scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"worker"}`)),
		"worker": scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "w", Name: "ring", Arguments: `{}`}}}, scripted.Text("It rang.")),
	}
	s := stage(t, chat.Options{Store: newStore(t)}, models, []string{flatNamed("boss", ""), flatNamed("worker", "")})
	ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "boss"})
	first, err := s.Start(ctx, chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{spec}})
	if err != nil {
		t.Fatal(err)
	}
	if got := story(drain(t, first)); got[len(got)-1] != "done tool_calls" {
		t.Fatalf("%q", got)
	}
	second, err := s.Start(ctx, chat.Request{Results: []chat.ToolResult{{ToolCallID: "w", Content: "ding"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := story(drain(t, second)); got[len(got)-1] != "done stop" {
		t.Errorf("%q", got)
	}
	models.done(t)
}
