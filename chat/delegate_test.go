package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// cast are the models of a test, by the names of their agents.
type cast map[string]llm.Model

func (c cast) Resolve(name string) (llm.Model, error) {
	if m := c[strings.TrimPrefix(name, "s:")]; m != nil {
		return m, nil
	}
	return nil, &llm.Error{Kind: llm.NotFound, Model: name}
}

// done checks that every model has said all that it had to say.
func (c cast) done(t *testing.T) {
	t.Helper()
	for _, m := range c {
		if m, ok := m.(*scripted.Model); ok {
			m.AssertDone(t)
		}
	}
}

// flatNamed and nestedNamed are documents that ask the model of their name.
func flatNamed(name, more string) string {
	return fmt.Sprintf("type: object\nname: %[1]s\ndescription: You are %[1]s.\nmodel: s:%[1]s\ntools: [ask_agent, transfer_to_agent, echo]\n%[2]s\n", name, more)
}

func nestedNamed(name, more string) string {
	return fmt.Sprintf("type: object\ndescription: You are %[1]s.\njson_schema_extra:\n  name: %[1]s\n  model: s:%[1]s\n  tools: [ask_agent, transfer_to_agent, echo]\n  %[2]s\n", name, more)
}

const answerFields = "structured_output: true\nproperties: {answer: {type: string}}\nrequired: [answer]"

// stage is a service whose agents can ask each other.
func stage(t testing.TB, o chat.Options, models cast, documents []string, tools ...tool.Tool) *chat.Service {
	t.Helper()
	box := registry(t, append(tools, newEcho(t))...)
	o.Models = models
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tools == nil {
		o.Tools = box
	}
	s := newService(t, nil, o, documents...)
	for _, make := range []func() (tool.Tool, error){s.AskAgent, s.TransferToAgent} {
		made, err := make()
		if err != nil {
			t.Fatal(err)
		}
		if err := box.Local.Register(made); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// asks is a turn of a model that asks agents, all at once: name, text, name, text.
func asks(pairs ...string) scripted.Turn {
	var turn scripted.Turn
	for i := 0; i+1 < len(pairs); i += 2 {
		turn.Calls = append(turn.Calls, askCall(pairs[i], pairs[i+1], ""))
	}
	return turn
}

func askCall(name, text, more string) llm.ToolCall {
	return llm.ToolCall{Name: "ask_agent", Arguments: fmt.Sprintf(`{"agent_name":%q,"input_text":%q%s}`, name, text, more)}
}

// tale is what happened, a line for each event: who, what.
func tale(events []event.Event) []string {
	var out []string
	for _, e := range events {
		if e.Type == event.ModelCall {
			continue // see TestModelCalls
		}
		line := e.Agent + ": " + e.Type.String()
		switch d := e.Data.(type) {
		case nil:
			line += " " + e.Text
		case *event.ToolCallData:
			line += fmt.Sprintf(" %s %s %s", d.Name, d.ID, d.Status)
		case *event.ChildRunData:
			line = strings.TrimSpace(line + " " + d.Status + " " + d.ToolCallID + " " + d.Input + d.ErrorMessage)
		case *event.DoneData:
			line = strings.TrimSpace(line + " " + d.Reason + " " + d.Limit)
		case *event.WarningData:
			line += " " + d.Message
		case *event.ProgressData:
			continue
		}
		out = append(out, line)
	}
	return out
}

// results are what a model was told by ask_agent, in its last request.
func results(t testing.TB, m llm.Model) []map[string]any {
	t.Helper()
	requests := m.(*scripted.Model).Requests()
	var out []map[string]any
	for _, msg := range requests[len(requests)-1].Messages {
		if msg.Role != llm.ToolRole {
			continue
		}
		var one map[string]any
		if err := json.Unmarshal([]byte(msg.Content), &one); err != nil {
			t.Fatalf("%s: %v", msg.Content, err)
		}
		out = append(out, one)
	}
	return out
}

// conversation is a request as lines, without what stands in every one.
func conversation(r llm.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s %s%s\n", m.Role, m.Content, strings.Repeat(" +call", len(m.ToolCalls)))
	}
	return b.String()
}

func TestAskAgent(t *testing.T) {
	models := cast{
		"boss":   scripted.New(asks("worker", "How old is Rome?"), scripted.Text("So it is.")),
		"worker": scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "w1", Name: "echo", Arguments: `{"text":"Rome"}`}}}, scripted.Text("Very ", "old.")),
	}
	kept := newStore(t)
	s := stage(t, chat.Options{Store: kept}, models, []string{flatNamed("boss", ""), flatNamed("worker", "")})
	ctx := as(t.Context(), "alice", "s1")
	events := turn(t, s, ctx, "Ask somebody")
	want := []string{
		"boss: tool_call ask_agent call_1 started", "boss: tool_call ask_agent call_1 executing",
		"boss/worker: child_run started call_1 How old is Rome?",
		"boss/worker: tool_call echo w1 started", "boss/worker: tool_call echo w1 executing", "boss/worker: tool_call echo w1 completed",
		"boss/worker: text Very ", "boss/worker: text old.",
		"boss/worker: child_run completed call_1",
		"boss: tool_call ask_agent call_1 completed", "boss: text So it is.",
		"boss: metadata", "boss: usage", "boss: done stop",
	}
	if diff := cmp.Diff(want, tale(events)); diff != "" {
		t.Error(diff)
	}
	wantResult := []map[string]any{{
		"status": "success", "output": "Very old.", "text_response": "Very old.", "agent_schema": "worker", "is_structured_output": false,
	}}
	if diff := cmp.Diff(wantResult, results(t, models["boss"])); diff != "" {
		t.Error(diff)
	}
	if u := find[*event.UsageData](t, events); u.Requests != 4 || u.ToolCalls != 2 {
		t.Errorf("the whole tree is paid for: %+v", u)
	}
	// A run has one id, which is its parent's at no time.
	ids := map[string]string{}
	for _, e := range events {
		if known := ids[e.Agent]; known != "" && known != e.RunID {
			t.Errorf("%s has the runs %s and %s", e.Agent, known, e.RunID)
		}
		ids[e.Agent] = e.RunID
	}
	if d := find[*event.ChildRunData](t, events); d.ParentRunID != ids["boss"] || ids["boss"] == ids["boss/worker"] {
		t.Errorf("%+v, runs %v", d, ids)
	}
	// The child's rows are kept for audit, and not part of the conversation.
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, r := range rows {
		kinds = append(kinds, strings.TrimSpace(r.Type+" "+r.AgentPath))
	}
	if got, want := strings.Join(kinds, ", "), "user, tool_call, tool_call boss/worker, tool_response boss/worker, tool_response, assistant"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	models.done(t)
}

// TestWhatTheChildIsSent: its own prompt and context; a nested agent also knows
// what was said in the session, the message that is being answered included.
func TestWhatTheChildIsSent(t *testing.T) {
	for _, tc := range []struct{ name, document, want string }{
		{"flat", flatNamed("worker", ""), "system You are worker.\nsystem [Context]\nDate: 2026-02-21\nTime: 14:30:00\nUser ID: alice\nSession: s1\nAgent: worker\n" +
			"user Do it\n\nInput data: {\"b\":1,\"a\":[2]}\n"},
		{"nested", nestedNamed("worker", ""), "system ## User Context\nDate: 2026-02-21\nTime: 14:30:00 UTC\nUser: alice\n\nYou are worker.\n" +
			"user First\nassistant \nuser Now\nuser Do it\n\nInput data: {\"b\":1,\"a\":[2]}\n"},
		{"nested that skips tools", nestedNamed("worker", "history: {tools: skip}"), "system ## User Context\nDate: 2026-02-21\nTime: 14:30:00 UTC\nUser: alice\n\nYou are worker.\n" +
			"user First\nassistant Fine.\nuser Now\nuser Do it\n\nInput data: {\"b\":1,\"a\":[2]}\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ask := askCall("worker", "Do it", `,"input_data":{ "b":1, "a":[2]}`)
			models := cast{
				"boss": scripted.New(scripted.Call("echo", `{"text":"x"}`), scripted.Text("Fine."),
					scripted.Turn{Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"y"}`}, ask}}, scripted.Text("Done.")),
				"worker": scripted.New(scripted.Text("Yes.")),
			}
			s := stage(t, chat.Options{Store: newStore(t), Now: noon}, models, []string{flatNamed("boss", ""), tc.document})
			ctx := as(t.Context(), "alice", "s1")
			turn(t, s, ctx, "First")
			turn(t, s, ctx, "Now")
			got := conversation(models["worker"].(*scripted.Model).Requests()[0])
			if strings.HasPrefix(tc.name, "nested") && !strings.Contains(tc.name, "skips") {
				// The replayed call and its result stand between.
				got = strings.Replace(got, "assistant  +call\ntool {\"text\":\"x\"}\nassistant Fine.\n", "assistant \n", 1)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			models.done(t)
		})
	}
}

// watched is a tool that notes who called it.
type watched struct {
	tool.Base
	call func(ctx context.Context, c tool.Call) (tool.Result, error)
}

func newWatched(t testing.TB, name string, call func(context.Context, tool.Call) (tool.Result, error)) watched {
	t.Helper()
	base, err := tool.NewBase(llm.ToolSpec{Name: name, Description: "Watches."})
	if err != nil {
		t.Fatal(err)
	}
	return watched{base, call}
}

// Call is the test's.
func (w watched) Call(ctx context.Context, c tool.Call) (tool.Result, error) { return w.call(ctx, c) }

// object reads a JSON object.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}
