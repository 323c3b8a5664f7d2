package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// usageReport is p8's, with the cost and without the latency, which a test cannot know.
const usageReport = `SELECT agent_name, model, COUNT(*) AS turns, SUM(input_tokens) AS total_input, SUM(output_tokens) AS total_output,
	SUM(cost_usd) AS cost FROM messages WHERE message_type = 'assistant' AND input_tokens > 0
	GROUP BY agent_name, model ORDER BY total_input DESC`

// report is the usage report of the caller, a line for each agent and model.
func report(t testing.TB, kept *store.Store, ctx context.Context) []string {
	t.Helper()
	sel, err := kept.Select(ctx, usageReport, store.SelectBounds{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, row := range sel.Rows {
		lines = append(lines, strings.Trim(fmt.Sprint(row), "[]"))
	}
	return lines
}

// spends is a model of a name whose turns cost what they say: input tokens, one output token.
func spends(name string, input int, turns ...scripted.Turn) *scripted.Model {
	for i := range turns {
		turns[i].Usage = llm.Usage{Input: input, Output: 1}
	}
	return scripted.NewWith(scripted.Options{Name: name}, turns...)
}

// cents is a price: a cent for each token.
func cents(_ string, u llm.Usage) float64 { return float64(u.Input+u.Output) / 100 }

// TestEachAgentPaysForItself: the report has each agent's own tokens under its own model,
// the answer its agent's alone, and the run the total.
func TestEachAgentPaysForItself(t *testing.T) {
	models := cast{
		"boss":   spends("a:large", 100, asks("worker", "How?", "judge", "Well?"), scripted.Text("So.")),
		"worker": spends("b:small", 10, scripted.Turn{Calls: []llm.ToolCall{{ID: "w1", Name: "echo", Arguments: `{"text":"x"}`}}}, scripted.Text("Thus.")),
		"judge":  spends("c:tiny", 1, scripted.Text(`{"answer":"42"}`)),
	}
	kept := newStore(t)
	s := stage(t, chat.Options{Store: kept, Cost: cents}, models, []string{flatNamed("boss", ""), flatNamed("worker", ""), flatNamed("judge", answerFields)})
	ctx := as(t.Context(), "alice", "s1")
	events := turn(t, s, ctx, "Ask them")
	if diff := cmp.Diff([]string{"boss a:large 1 200 2 2.02", "worker b:small 1 20 2 0.22", "judge c:tiny 1 1 1 0.02"}, report(t, kept, ctx)); diff != "" {
		t.Error(diff)
	}
	total := find[*event.UsageData](t, events)
	run, err := kept.Run(ctx, events[0].RunID)
	if err != nil || run.Consumed != (store.Consumed{InputTokens: 221, OutputTokens: 5, CostUSD: total.CostUSD}) || total.InputTokens != 221 || total.CostUSD != 2.26 {
		t.Errorf("%+v, %v; the client was told %+v", run.Consumed, err, total)
	}
	if m := find[*event.MetadataData](t, events); m.CostUSD != total.CostUSD {
		t.Errorf("the client was told that the answer cost %v, of %v", m.CostUSD, total.CostUSD)
	}

	// The rows of the asked agents name their run and the call that asked them.
	children := map[string]string{} // run → call
	for _, e := range events {
		if d, ok := e.Data.(*event.ChildRunData); ok {
			children[e.RunID] = d.ToolCallID
		}
	}
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{Shares: true})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, row := range rows {
		seen[row.AgentPath+" "+row.Type]++
		if child := row.AgentPath != ""; row.RunID != run.ID || child != (row.AgentRunID != "") || row.ParentToolCallID != children[row.AgentRunID] ||
			child && (row.ParentToolCallID == "" || row.AgentName == "boss") {
			t.Errorf("%s of %q: run %q, below it %q, asked by %q", row.Type, row.AgentPath, row.RunID, row.AgentRunID, row.ParentToolCallID)
		}
	}
	// A structured answer is a pair.
	if diff := cmp.Diff(map[string]int{
		" user": 1, " tool_call": 2, " tool_response": 2, " assistant": 1,
		"boss/worker tool_call": 1, "boss/worker tool_response": 1, "boss/worker assistant": 1,
		"boss/judge tool_call": 1, "boss/judge tool_response": 1, "boss/judge assistant": 1,
	}, seen); diff != "" {
		t.Error(diff)
	}
	for _, row := range rows {
		if row.AgentPath == "boss/judge" && row.Type == store.MessageToolCall &&
			string(row.ToolCalls) != `{"name":"judge","id":"judge_structured_output","arguments":{"input_text":"Well?"}}` {
			t.Errorf("the structured agent's call: %s", row.ToolCalls)
		}
	}
}

// TestAModelThatTookOverPaysForItself: an answer has what its own model consumed.
func TestAModelThatTookOverPaysForItself(t *testing.T) {
	models := cast{"boss": spends("a:large", 5, scripted.Turn{
		Chunks: []llm.Chunk{{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: 7}}, scripted.Instead("b:small", "busy")[0]}, Text: []string{"Hi."},
	})}
	kept := newStore(t)
	s := stage(t, chat.Options{Store: kept}, models, []string{flatNamed("boss", "")})
	ctx := as(t.Context(), "alice", "s1")
	events := turn(t, s, ctx, "Hello")
	if diff := cmp.Diff([]string{"boss a:large 1 7 0 0", "boss b:small 1 5 1 0"}, report(t, kept, ctx)); diff != "" {
		t.Error(diff)
	}
	row, err := kept.Message(ctx, find[*event.MetadataData](t, events).MessageID)
	if err != nil || row.InputTokens != 5 || row.AgentPath != "" {
		t.Errorf("%+v, %v", row, err)
	}
}

// TestHandOversPayForThemselves: who handed the turn over has its own share, also when
// the run waits meanwhile, is resumed by another process, or abandoned.
func TestHandOversPayForThemselves(t *testing.T) {
	documents := []string{
		flatNamed("boss", ""), flatNamed("helper", ""),
		strings.Replace(flatNamed("worker", ""), "[ask_agent, transfer_to_agent, echo]", "[ask_agent, {name: echo, approval: always}]", 1),
	}
	wait := scripted.Turn{Calls: []llm.ToolCall{{ID: "w", Name: "echo", Arguments: `{"text":"a"}`}}}
	for _, tc := range []struct {
		name string
		next func(s *chat.Service, ctx context.Context, asked string) (*chat.Turn, error)
		want []string
	}{
		{"resumed", func(s *chat.Service, ctx context.Context, asked string) (*chat.Turn, error) {
			_, next, err := s.Decide(ctx, asked, store.Decision{Status: store.RequestAccepted})
			return next, err
		}, []string{"boss a:large 1 100 1 0", "worker b:small 1 30 3 0", "helper c:tiny 1 1 1 0"}},
		{"abandoned", func(s *chat.Service, ctx context.Context, _ string) (*chat.Turn, error) {
			return s.Start(ctx, chat.Request{Input: "Never mind", Agent: "helper"})
		}, []string{"boss a:large 1 100 1 0", "worker b:small 1 20 2 0", "helper c:tiny 2 2 2 0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept := newStore(t)
			ctx := identity.With(t.Context(), identity.Identity{UserID: "alice", SessionID: "s1", AgentSchemaURI: "boss"})
			models := cast{
				"boss":   spends("a:large", 100, scripted.Call("transfer_to_agent", `{"agent_name":"worker"}`)),
				"worker": spends("b:small", 10, asks("helper", "And you?"), wait),
				"helper": spends("c:tiny", 1, scripted.Text("Me too.")),
			}
			s := stage(t, chat.Options{Store: kept}, models, documents)
			asked := find[*event.ActionRequestData](t, turn(t, s, ctx, "Go"))
			if got := report(t, kept, ctx); got != nil {
				t.Errorf("a run that waits has no rows of usage yet: %q", got)
			}
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			s = stage(t, chat.Options{Store: kept}, cast{
				"boss": scripted.New(), "worker": spends("b:small", 10, scripted.Text("Done.")), "helper": spends("c:tiny", 1, scripted.Text("Fine.")),
			}, documents)
			next, err := tc.next(s, ctx, asked.RequestID)
			if err != nil || next == nil {
				t.Fatal(next, err)
			}
			drain(t, next)
			if diff := cmp.Diff(tc.want, report(t, kept, ctx)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCallsAreKeptAsTheyWereWritten: arguments that are no JSON object, or of a tool that
// does not exist.
func TestCallsAreKeptAsTheyWereWritten(t *testing.T) {
	written := []string{`{"text":"a`, `[1, 2]`, `{"text": 1e2}`, `{"nobody":"knows"}`}
	var calls []llm.ToolCall
	for i, w := range written {
		calls = append(calls, llm.ToolCall{ID: fmt.Sprint("c", i), Name: []string{"echo", "ecko"}[i%2], Arguments: w})
	}
	kept := newStore(t)
	s := newService(t, scripted.New(scripted.Turn{Calls: calls}, scripted.Text("Sorry.")), chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	for _, e := range turn(t, s, ctx, "Call") {
		if d, ok := e.Data.(*event.ToolCallData); ok && d.Arguments != nil && d.Arguments[0] != '{' {
			t.Errorf("a client is shown the arguments %s, which are no object", d.Arguments)
		}
	}
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{Types: []string{store.MessageToolCall}})
	if err != nil || len(rows) != len(written) {
		t.Fatal(len(rows), err)
	}
	for i, row := range rows {
		var call struct{ Arguments json.RawMessage }
		if err := json.Unmarshal(row.ToolCalls, &call); err != nil {
			t.Fatal(err)
		}
		got := string(call.Arguments)
		if i == 0 {
			if err := json.Unmarshal(call.Arguments, &got); err != nil {
				t.Error(err)
			}
		}
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(written[i], " ", "") {
			t.Errorf("kept %s, written %s", got, written[i])
		}
	}
}

// TestTheChoiceOfAnAgentIsPaidFor: by a row of its own, outside of the run.
func TestTheChoiceOfAnAgentIsPaidFor(t *testing.T) {
	models := everybody()
	models["chooser"] = spends("c:tiny", 7, scripted.Call(llm.OutputTool, `{"agent":"travel","confidence":0.9,"reason":"It is far."}`))
	documents := office()
	documents[0] = desk("desk", "agents: [{name: bare, description: The rest}]")
	kept := newStore(t)
	s := stage(t, chat.Options{Store: kept, DefaultModel: "s:chooser", Cost: cents}, models, documents, action(t))
	ctx := auto(t.Context(), "s1")
	if got := says(t, s, ctx, "I want to see Lisbon"); got != "travel" {
		t.Fatalf("%s answers", got)
	}
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{Shares: true, Types: []string{store.MessageAssistant}})
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	if r := rows[0]; r.AgentName != "auto" || r.AgentPath != "auto" || r.Model != "c:tiny" || r.InputTokens != 7 || r.OutputTokens != 1 || r.CostUSD != 0.08 || r.RunID != "" || r.Content != nil {
		t.Errorf("%+v", r)
	}
}
