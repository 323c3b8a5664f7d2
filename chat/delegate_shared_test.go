package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
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

// TestAClientThatKeepsItsHistory: no session has what it sent, and the child knows
// it all the same.
func TestAClientThatKeepsItsHistory(t *testing.T) {
	models := cast{
		"boss":   scripted.New(asks("worker", "Do it"), scripted.Text("Done.")),
		"worker": scripted.New(scripted.Text("Yes.")),
	}
	s := stage(t, chat.Options{Store: newStore(t), Now: noon}, models, []string{flatNamed("boss", ""), nestedNamed("worker", "")})
	started, err := s.Start(as(t.Context(), "alice", ""), chat.Request{
		Input: "Now", History: []llm.Message{{Role: llm.User, Content: "First"}, {Role: llm.Assistant, Content: "Fine."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, started)
	got := conversation(models["worker"].(*scripted.Model).Requests()[0])
	if want := "user First\nassistant Fine.\nuser Now\nuser Do it\n"; !strings.HasSuffix(got, want) {
		t.Errorf("%s does not end with\n%s", got, want)
	}
	models.done(t)
}

// TestStructuredChildren: each answer is an event with an id of its own, and its
// row has the same; nothing of them is text.
func TestStructuredChildren(t *testing.T) {
	final := func(s string) scripted.Turn { return scripted.Call("final_result", `{"answer":"`+s+`"}`) }
	models := cast{
		"boss": scripted.New(asks("form", "one"), asks("form", "two"), asks("middle", "three"),
			scripted.Turn{Calls: []llm.ToolCall{askCall("form", "four", `,"structured_output_override":false`), askCall("loose", "five", `,"structured_output_override":true`)}},
			scripted.Text("Done.")),
		"form":   scripted.New(final("1"), final("2"), final("3"), scripted.Text("Free.")),
		"middle": scripted.New(asks("form", "deep"), scripted.Text("Middle.")),
		"loose":  scripted.New(final("5")),
	}
	kept := newStore(t)
	s := stage(t, chat.Options{Store: kept}, models, []string{
		nestedNamed("boss", ""), flatNamed("form", answerFields), flatNamed("middle", ""),
		flatNamed("loose", strings.TrimPrefix(answerFields, "structured_output: true\n")),
	})
	ctx := as(t.Context(), "alice", "s1")
	events := turn(t, s, ctx, "Go")
	var got, text []string
	for _, e := range events {
		if d, ok := e.Data.(*event.ToolCallData); ok && d.Structured {
			got = append(got, fmt.Sprintf("%s %s %s %s %s %s", e.Agent, d.Name, d.ID, d.Status, d.Arguments, d.Result))
		}
		if e.Type == event.Text {
			text = append(text, e.Text)
		}
	}
	slices.Sort(got)
	want := []string{
		`boss/form form form_structured_output completed {"input_text":"one"} {"answer":"1"}`,
		`boss/form form form_structured_output_2 completed {"input_text":"two"} {"answer":"2"}`,
		`boss/loose loose loose_structured_output completed {"input_text":"five"} {"answer":"5"}`,
		`boss/middle/form form form_structured_output_3 completed {"input_text":"deep"} {"answer":"3"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Middle.", "Free.", "Done."}, text); diff != "" {
		t.Error(diff)
	}
	told := results(t, models["boss"])
	if diff := cmp.Diff(map[string]any{
		"status": "success", "output": map[string]any{"answer": "1"}, "text_response": "", "agent_schema": "form", "is_structured_output": true,
	}, told[0]); diff != "" {
		t.Error(diff)
	}
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{Types: []string{store.MessageToolResponse}})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range rows {
		var call struct{ ID string }
		if err := json.Unmarshal(r.ToolCalls, &call); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(call.ID, "_structured_output") {
			ids = append(ids, r.AgentPath+" "+call.ID+" "+*r.Content)
		}
	}
	slices.Sort(ids)
	if diff := cmp.Diff([]string{
		`boss/form form_structured_output {"answer":"1"}`, `boss/form form_structured_output_2 {"answer":"2"}`,
		`boss/loose loose_structured_output {"answer":"5"}`, `boss/middle/form form_structured_output_3 {"answer":"3"}`,
	}, ids); diff != "" {
		t.Error(diff)
	}
	models.done(t)
}

// checkRecord: every call has its two rows, whoever made it.
func checkRecord(t *testing.T, calls int, kept *store.Store, ctx context.Context) {
	t.Helper()
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, r := range rows {
		count[r.Type]++
	}
	if count[store.MessageToolCall] != calls || count[store.MessageToolResponse] != calls {
		t.Errorf("%v rows, want %d calls", count, calls)
	}
}
