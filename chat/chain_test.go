package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

const invoice = `
type: object
description: You read invoices.
properties: {vendor: {type: string}}
required: [vendor]
json_schema_extra:
  name: invoice
  structured_output: true
  chained_tool: save
  history: {tools: replay}
  tools: [{name: echo}]
`

// saver is a chained tool that speaks while it works, and fails for "boom".
type saver struct{ tool.Base }

func newSaver(t testing.TB) saver {
	t.Helper()
	base, err := tool.NewBase(llm.ToolSpec{Name: "save", Parameters: json.RawMessage(
		`{"type":"object","properties":{"vendor":{"type":"string"}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	return saver{base}
}

func (s saver) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return s.Stream(ctx, c, func(event.Event) bool { return true })
}

func (saver) Stream(_ context.Context, c tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	emit(event.NewText("saving…"))
	if strings.Contains(string(c.Arguments), "boom") {
		return tool.Result{}, &tool.Error{Message: "the disk is full"}
	}
	return tool.Result{Content: `{"id":7}`}, nil
}

// withChained has a chained tool for every document.
type withChained struct {
	chat.Tools
	chained tool.Tool
}

func (w withChained) Resolve(ctx context.Context, a *agent.Agent) tool.Resolved {
	found := w.Tools.Resolve(ctx, a)
	found.Chained = w.chained
	return found
}

func TestChainedTool(t *testing.T) {
	model := scripted.New(
		scripted.Call("echo", `{"text":"ACME"}`), scripted.Call("final_result", `{"vendor":"ACME"}`),
		scripted.Call("final_result", `{"vendor":"boom"}`),
	)
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept, Tools: withChained{registry(t, newEcho(t)), newSaver(t)}}, invoice)
	ctx := as(t.Context(), "alice", "s1")
	started, err := s.Start(ctx, chat.Request{Input: "Read it"})
	if err != nil {
		t.Fatal(err)
	}
	events := drain(t, started)
	want := []string{
		"progress 1/3 Processing request",
		"tool_call echo started", "progress 2/3 Calling echo", "tool_call echo executing", "tool_call echo completed",
		"progress 3/3 Generating response", `text {"vendor":"ACME"}`,
		"tool_call save executing", "tool_call save completed", "metadata", "usage", "done stop",
	}
	if diff := cmp.Diff(want, story(events)); diff != "" {
		t.Error(diff)
	}
	result, err := started.Wait(ctx)
	if err != nil || string(result.Output) != `{"vendor":"ACME"}` || result.Text != `{"vendor":"ACME"}` ||
		result.ChainedTool != "save" || string(result.ChainedResult) != `{"id":7}` {
		t.Errorf("%+v %v", result, err)
	}
	failed, err := s.Start(ctx, chat.Request{Input: "Another"})
	if err != nil {
		t.Fatal(err)
	}
	result, err = failed.Wait(ctx)
	if err != nil || result.Reason != event.ReasonStop || string(result.Output) != `{"vendor":"boom"}` ||
		!strings.Contains(string(result.ChainedResult), "the disk is full") {
		t.Errorf("a chained tool that fails must not lose the answer: %+v %v", result, err)
	}
	rows := transcript(t, kept, ctx, "s1")
	for i, want := range []string{
		"1 user Read it", "2 tool_call NULL {\"name\":\"echo\"", "3 tool_response", "4 tool_call NULL {\"name\":\"save\"",
		`5 tool_response {"id":7} {"name":"save"`, `6 assistant {"vendor":"ACME"}`,
		"7 user Another", "8 tool_call NULL {\"name\":\"save\"", `9 tool_response {"error":"the disk is full"`, `10 assistant {"vendor":"boom"}`,
	} {
		if i >= len(rows) || !strings.HasPrefix(rows[i], want) {
			t.Errorf("row %d does not begin with %q in\n%s", i+1, want, strings.Join(rows, "\n"))
		}
	}
	// The next turn sees the call, its result and the answer, in this order.
	var roles []string
	for _, m := range model.Requests()[2].Messages {
		roles = append(roles, string(m.Role))
	}
	if got := strings.Join(roles, " "); !strings.Contains(got, "user assistant tool assistant tool assistant user") {
		t.Errorf("the second turn was sent %s", got)
	}
	model.AssertDone(t)
}

// twoModels are a model that is down and one that answers.
type twoModels map[string]llm.Model

func (m twoModels) Resolve(name string) (llm.Model, error) {
	if found := m[name]; found != nil {
		return found, nil
	}
	return nil, &llm.Error{Kind: llm.NotFound, Model: name}
}

func TestFallback(t *testing.T) {
	down := func() *scripted.Model {
		return scripted.NewWith(scripted.Options{Name: "a:down"}, scripted.Fail(&llm.Error{Kind: llm.Unavailable, Model: "a:down", Err: errors.New("secret")}))
	}
	up := func() *scripted.Model {
		return scripted.NewWith(scripted.Options{Name: "b:up"}, scripted.Turn{Text: []string{"Hello."}, Usage: llm.Usage{Input: 1000, Output: 10}})
	}
	for _, tc := range []struct {
		name, document string
		settings       []string
		answers        string
		warnings       []string
	}{
		{"the document's", "fallback: [b:up]\n", nil, "b:up", []string{event.CodeModelFallback}},
		{"the document's, not the settings'", "fallback: [b:up]\n", []string{"c:none"}, "b:up", []string{event.CodeModelFallback}},
		{"the settings'", "", []string{"a:down", "b:up", "b:up"}, "b:up", []string{event.CodeModelFallback}},
		{"one that is not there", "", []string{"c:none", "b:up"}, "b:up", []string{"fallback_unavailable", event.CodeModelFallback}},
		{"an insisting document", "override_model: a:down\n", []string{"b:up"}, "", nil},
		{"an insisting document with its own", "override_model: a:down\nfallback: [b:up]\n", nil, "b:up", []string{event.CodeModelFallback}},
		{"none", "", nil, "", nil},
		{"itself", "", []string{"a:down"}, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept := newStore(t)
			o := chat.Options{
				Store: kept, Models: twoModels{"a:down": down(), "b:up": up()}, DefaultModel: "a:down", Fallback: tc.settings,
				Cost: func(model string, u llm.Usage) float64 {
					if model == "b:up" {
						return float64(u.Input) / 1000
					}
					return 0
				},
			}
			s := newService(t, nil, o, document("helper")+tc.document)
			ctx := as(t.Context(), "alice", "s1")
			started, err := s.Start(ctx, chat.Request{Input: "Hi"})
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, e := range drain(t, started) {
				if w, ok := e.Data.(*event.WarningData); ok {
					codes = append(codes, w.Code)
				}
			}
			if !slices.Equal(codes, tc.warnings) {
				t.Errorf("warnings %q, want %q", codes, tc.warnings)
			}
			result, err := started.Wait(ctx)
			if err != nil || started.Model != "a:down" {
				t.Fatalf("%v, the chosen model is %s", err, started.Model)
			}
			rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
			if err != nil {
				t.Fatal(err)
			}
			last := rows[len(rows)-1]
			if tc.answers == "" {
				if result.Error == nil || last.Model != "a:down" || last.CostUSD != 0 {
					t.Errorf("%+v, %+v", result, last)
				}
				return
			}
			if result.Text != "Hello." || last.Model != tc.answers || last.CostUSD != 1 {
				t.Errorf("%+v, %+v", result, last)
			}
			if m := result.Metadata; m.ModelVersion != tc.answers || m.CostUSD != 1 || result.Usage.CostUSD != 1 {
				t.Errorf("%+v, %+v", m, result.Usage)
			}
		})
	}
}

// chatty tells of every step that it takes.
type chatty struct{ tool.Base }

func (c chatty) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	return c.Stream(ctx, call, func(event.Event) bool { return true })
}

func (chatty) Stream(_ context.Context, c tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	for i := range 250 {
		emit(event.New(&event.ProgressData{
			Step: i + 1, TotalSteps: 250, Label: fmt.Sprint("row ", i), Status: "in_progress", ToolName: c.Name, ToolCallID: c.ID,
		}))
	}
	return tool.Result{Content: "ok"}, nil
}

// TestProgressOfATool is shown as the tool tells it, up to a bound.
func TestProgressOfATool(t *testing.T) {
	base, err := tool.NewBase(llm.ToolSpec{Name: "echo", Parameters: json.RawMessage(`{"type":"object"}`)})
	if err != nil {
		t.Fatal(err)
	}
	model := scripted.New(scripted.Call("echo", `{}`), scripted.Text("Done."))
	s := newService(t, model, chat.Options{Tools: registry(t, chatty{base})}, helper)
	var told []*event.ProgressData
	for _, e := range turn(t, s, as(t.Context(), "", ""), "Hi") {
		if d, ok := e.Data.(*event.ProgressData); ok && d.ToolCallID != "" {
			told = append(told, d)
		}
	}
	if len(told) != 200 || told[199].Step != 200 || told[199].TotalSteps != 250 || told[0].ToolName != "echo" || told[0].Label != "row 0" {
		t.Errorf("%d of 250 steps are told, the first as %+v", len(told), told[0])
	}
}
