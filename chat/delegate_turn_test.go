package chat_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// outside calls ask_agent outside of any run, as an MCP client does.
func outside(t *testing.T, s *chat.Service, ctx context.Context, arguments string) (map[string]any, tool.Result, []event.Event) {
	t.Helper()
	ask, err := s.AskAgent()
	if err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	res, err := ask.(tool.Streamer).Stream(ctx, tool.Call{ID: "mcp", Name: "ask_agent", Arguments: []byte(arguments)}, func(e event.Event) bool {
		events = append(events, e)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return object(t, res.Content), res, events
}

func TestAskedFromOutside(t *testing.T) {
	final := scripted.Call("final_result", `{"answer":"1"}`)
	careful := "tools: [{name: echo, approval: always}]"
	for _, tc := range []struct {
		name, more, arguments string
		turns                 []scripted.Turn
		want                  map[string]any
		failed                bool
	}{
		{"text", "", `{"agent_name":"worker","input_text":"Hi"}`, []scripted.Turn{scripted.Text("Yes.")},
			map[string]any{"status": "success", "output": "Yes.", "text_response": "Yes.", "agent_schema": "worker", "is_structured_output": false}, false},
		{"structured", answerFields, `{"agent_name":"worker","input_text":"Hi"}`, []scripted.Turn{final},
			map[string]any{"status": "success", "output": map[string]any{"answer": "1"}, "text_response": "", "agent_schema": "worker", "is_structured_output": true}, false},
		{"structured as asked", strings.TrimPrefix(answerFields, "structured_output: true\n"), `{"agent_name":"worker","input_text":"Hi","structured_output_override":true}`, []scripted.Turn{final},
			map[string]any{"status": "success", "output": map[string]any{"answer": "1"}, "text_response": "", "agent_schema": "worker", "is_structured_output": true}, false},
		{"text as asked", answerFields, `{"agent_name":"worker","input_text":"Hi","structured_output_override":false}`, []scripted.Turn{scripted.Text("Yes.")},
			map[string]any{"status": "success", "output": "Yes.", "text_response": "Yes.", "agent_schema": "worker", "is_structured_output": false}, false},
		{"unknown", "", `{"agent_name":"workre","input_text":"Hi"}`, nil,
			map[string]any{"status": "error", "error": `there is no agent "workre"; did you mean "worker"?`, "agent_schema": "workre", "near": []any{"worker"}}, true},
		{"it fails", "", `{"agent_name":"worker","input_text":"Hi"}`, []scripted.Turn{scripted.Fail(&llm.Error{Kind: llm.Unavailable, Model: "s:worker"})},
			map[string]any{"status": "error", "error": "the agent worker failed: the model s:worker is unavailable", "agent_schema": "worker"}, true},
		{"it waits for the user", careful, `{"agent_name":"worker","input_text":"Hi"}`, []scripted.Turn{{Text: []string{"May I?"}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"a"}`}}}},
			map[string]any{"status": "paused", "agent_schema": "worker", "text_response": "May I?", "run_id": "", "note": "the run waits for the user; it goes on when its requests are answered"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			models := cast{"worker": scripted.New(tc.turns...)}
			document := flatNamed("worker", tc.more)
			if tc.more == careful {
				document = strings.Replace(document, "tools: [ask_agent, transfer_to_agent, echo]\n", "", 1)
			}
			kept := newStore(t)
			s := stage(t, chat.Options{Store: kept}, models, []string{document})
			ctx := as(t.Context(), "alice", "s1")
			got, res, events := outside(t, s, ctx, tc.arguments)
			if id, ok := got["run_id"].(string); ok && id == events[0].RunID {
				got["run_id"] = ""
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || res.Failed != tc.failed {
				t.Error(diff, res.Failed)
			}
			rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
			if stored := err == nil && len(rows) > 0; stored != (tc.turns != nil) {
				t.Errorf("%d rows, %v", len(rows), err)
			}
			models.done(t)
		})
	}
}

func TestAskedFromOutsideForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, chat.Options{RunTimeout: 3 * time.Hour}, cast{"worker": slow{scripted.New()}}, []string{flatNamed("worker", "")})
		begun := time.Now()
		got, _, _ := outside(t, s, as(t.Context(), "alice", ""), `{"agent_name":"worker","input_text":"Hi","timeout_seconds":60}`)
		if time.Since(begun) != time.Minute || got["error"] != "the agent worker timed out after 60 s" {
			t.Errorf("%v after %s", got, time.Since(begun))
		}
		synctest.Wait()
		if n := s.Running(); n != 0 {
			t.Errorf("%d runs go on", n)
		}
	})
}

// TestAChildThatWaitsForTheUser: the whole tree pauses, in this process, and goes on
// in another one; nothing is done or said twice.
func TestAChildThatWaitsForTheUser(t *testing.T) {
	careful := strings.Replace(flatNamed("worker", ""), "[ask_agent, transfer_to_agent, echo]", "[{name: echo, approval: always}]", 1)
	documents := []string{flatNamed("boss", ""), careful}
	kept := newStore(t)
	first := cast{
		"boss":   scripted.New(asks("worker", "Hi")),
		"worker": scripted.New(scripted.Turn{Text: []string{"Let me look."}, Calls: []llm.ToolCall{{ID: "w", Name: "echo", Arguments: `{"text":"a"}`}}}),
	}
	s := stage(t, chat.Options{Store: kept}, first, documents)
	events := turn(t, s, as(t.Context(), "alice", "s1"), "Go")
	got := tale(events)
	if want := "boss/worker: child_run paused call_1"; !strings.Contains(strings.Join(got, "\n"), want) || got[len(got)-1] != "boss: done paused" {
		t.Fatalf("%q", got)
	}
	asked, child := find[*event.ActionRequestData](t, events), ""
	for _, e := range events {
		if e.Type == event.ChildRun {
			child = e.RunID
		}
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	second := cast{"boss": scripted.New(scripted.Text("Done.")), "worker": scripted.New(scripted.Text("Found."))}
	s = stage(t, chat.Options{Store: kept}, second, documents)
	_, again, err := s.Decide(as(t.Context(), "alice", ""), asked.RequestID, store.Decision{Status: store.RequestAccepted})
	if err != nil || again == nil {
		t.Fatal(again, err)
	}
	var text []string
	for _, e := range drain(t, again) {
		if e.Type == event.Text {
			text = append(text, e.Text)
		}
		if e.Type == event.ChildRun && e.RunID != child {
			t.Errorf("the child is another run now: %+v", e)
		}
	}
	if diff := cmp.Diff([]string{"Let me look.", "Found.", "Done."}, text); diff != "" {
		t.Error(diff)
	}
	if told := results(t, second["boss"])[0]; told["text_response"] != "Let me look.\n\nFound." || told["output"] != "Found." {
		t.Errorf("%v", told)
	}
	second.done(t)
}

func TestHandOver(t *testing.T) {
	models := cast{
		"boss": scripted.New(scripted.Call("transfer_to_agent", `{"agent_name":"shy"}`), scripted.Call("transfer_to_agent", `{"agent_name":"boss"}`),
			scripted.Call("transfer_to_agent", `{"agent_name":"worker","reason":"It knows."}`),
			scripted.Text("Welcome back."), scripted.Text("Yes.")),
		"worker": scripted.New(scripted.Text("I am here."), scripted.Text("Still me."), scripted.Call("transfer_to_agent", `{"agent_name":"boss"}`)),
		"shy":    scripted.New(),
	}
	s := stage(t, chat.Options{Store: newStore(t)}, models, []string{
		flatNamed("boss", ""), flatNamed("worker", ""), flatNamed("shy", "routing_enabled: false"),
	})
	ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "boss"})
	said := func(events []event.Event) string {
		var b strings.Builder
		for _, e := range events {
			if e.Type == event.Text {
				b.WriteString(e.Agent + " " + e.Text)
			}
		}
		return b.String()
	}
	events := turn(t, s, ctx, "Go")
	if got := said(events); got != "worker I am here." {
		t.Errorf("%q", got)
	}
	if got := find[*event.UsageData](t, events); got.Requests != 4 {
		t.Errorf("the turn took 4 requests of two agents, %d are told", got.Requests)
	}
	if got := find[*event.MetadataData](t, events); got.AgentSchema != "boss" || got.RespondingAgent != "worker" {
		t.Errorf("boss was asked and worker spoke, not %s and %s", got.AgentSchema, got.RespondingAgent)
	}
	told := results(t, models["boss"])
	for i, want := range []string{"the agent shy takes no conversations over; ask it with ask_agent", "boss is the agent that answers already"} {
		if told[i]["error"] != want {
			t.Errorf("%v, want %s", told[i], want)
		}
	}
	if got := said(turn(t, s, ctx, "And now?")); got != "worker Still me." {
		t.Errorf("%q", got)
	}
	if got := said(turn(t, s, ctx, "Back")); got != "boss Welcome back." {
		t.Errorf("%q", got)
	}
	if got := said(turn(t, s, ctx, "Again")); got != "boss Yes." {
		t.Errorf("%q", got)
	}
	models.done(t)
}

// TestHandedOverAgentsAreToldApart: a provider may count its calls anew for each
// agent; what one did is not taken for what the next one does.
func TestHandedOverAgentsAreToldApart(t *testing.T) {
	hand := llm.ToolCall{ID: "call_1", Name: chat.TransferName, Arguments: `{"agent_name":"worker"}`}
	ask := func(text string) llm.ToolCall {
		call := askCall("helper", text, "")
		call.ID = "call_0"
		return call
	}
	models := cast{
		"boss":   scripted.New(scripted.Turn{Calls: []llm.ToolCall{ask("one")}}, scripted.Turn{Calls: []llm.ToolCall{hand}}),
		"worker": scripted.New(scripted.Turn{Calls: []llm.ToolCall{ask("two")}}, scripted.Text("Done.")),
		"helper": scripted.New(scripted.Text("First."), scripted.Text("Second.")),
	}
	s := stage(t, chat.Options{Store: newStore(t)}, models, []string{flatNamed("boss", ""), flatNamed("worker", ""), flatNamed("helper", "")})
	ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "boss"})
	runs := map[string]bool{}
	for _, e := range turn(t, s, ctx, "Go") {
		if d, ok := e.Data.(*event.ChildRunData); ok && d.Status == event.ChildStarted {
			runs[e.RunID] = true
		}
	}
	if len(runs) != 2 {
		t.Errorf("two questions had %d runs", len(runs))
	}
	models.done(t)
}
