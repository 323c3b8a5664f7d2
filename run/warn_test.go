package run_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

// warnings reads a run to its end and gives what it warned of.
func warnings(t *testing.T, o run.Options) ([]event.WarningData, error) {
	t.Helper()
	var all []event.WarningData
	for e, err := range run.Stream(t.Context(), o) {
		if err != nil {
			return all, err
		}
		if w, ok := e.Data.(*event.WarningData); ok {
			all = append(all, *w)
		}
	}
	return all, nil
}

func warning(code, text string) llm.Chunk {
	return llm.Chunk{Kind: llm.ChunkWarning, Name: code, Text: text}
}

func first(turn scripted.Turn, chunks ...llm.Chunk) scripted.Turn {
	turn.First = chunks
	return turn
}

func TestWarningsOfTheModelAreToldOnce(t *testing.T) {
	call := scripted.Call("echo", `{"text":"x"}`)
	dropped, other := warning("setting_dropped", "top_p is not sent"), warning("setting_dropped", "stop is not sent")
	m := scripted.New(first(call, dropped, dropped), first(call, dropped, other), first(scripted.Text("ok"), dropped, other))
	o := options(t, talker, m, echo(t, "echo"))
	o.Warnings = []event.WarningData{{Code: "tool_unavailable", Message: "x"}}
	got, err := warnings(t, o)
	if err != nil {
		t.Fatal(err)
	}
	want := []event.WarningData{
		{Code: "tool_unavailable", Message: "x"},
		{Code: "setting_dropped", Message: "top_p is not sent"},
		{Code: "setting_dropped", Message: "stop is not sent"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	turn := scripted.Text("ok")
	for i := range 500 {
		turn.First = append(turn.First, warning("w", fmt.Sprint(i)))
	}
	got, err := warnings(t, options(t, talker, scripted.New(turn)))
	if err != nil || len(got) != 100 {
		t.Errorf("%d warnings, %v", len(got), err)
	}
}

func TestFallbackIsToldWheneverTheModelChanges(t *testing.T) {
	call := scripted.Call("echo", `{"text":"x"}`)
	b := scripted.Instead("scripted:b", "the model scripted:test is unavailable")
	m := scripted.New(first(call, b...), first(call, b...), call, first(scripted.Text("ok"), scripted.Instead("scripted:c", "")...))
	got, err := warnings(t, options(t, talker, m, echo(t, "echo")))
	if err != nil {
		t.Fatal(err)
	}
	want := []event.WarningData{
		{Code: event.CodeModelFallback, Model: "scripted:b", Message: "the model scripted:test is unavailable: scripted:b answers instead"},
		{Code: event.CodeModelFallback, Model: "scripted:test", Message: "scripted:test answers from here on"},
		{Code: event.CodeModelFallback, Model: "scripted:c", Message: "scripted:c answers from here on"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestFallbackThatFailsTooCostsNothing: nobody answered.
func TestFallbackThatFailsTooCostsNothing(t *testing.T) {
	down := &llm.Error{Kind: llm.Unavailable, Model: "scripted:b"}
	m := scripted.New(scripted.Turn{First: scripted.Instead("scripted:b", "busy"), Err: down})
	got, err := collect(run.Stream(t.Context(), options(t, talker, m)))
	if !errors.Is(err, down) || len(got) != 2 || got[1] != "2 talker usage 0+0 requests 1 calls 0" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestModelThatTookOverStays: a chain of models is asked again where it was; a
// change is told once, and priced from then on.
func TestModelThatTookOverStays(t *testing.T) {
	busy := &llm.Error{Kind: llm.RateLimit, Model: "scripted:test"}
	tokens := llm.Chunk{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: 2}}
	a := scripted.New(scripted.Turn{Chunks: []llm.Chunk{tokens}, Err: busy})
	call := scripted.Call("echo", `{"text":"x"}`)
	call.Usage = llm.Usage{Output: 1}
	b := scripted.NewWith(scripted.Options{Name: "scripted:b"}, call, scripted.Turn{Text: []string{"ok"}, Usage: call.Usage})
	o := options(t, talker, nil, echo(t, "echo"))
	o.Cost = price
	o.Model = llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{a, b}, Logger: o.Logger})
	var told []string
	var used event.UsageData
	for e, err := range run.Stream(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		switch d := e.Data.(type) {
		case *event.WarningData:
			told = append(told, d.Message)
		case *event.UsageData:
			used = *d
		}
	}
	want(t, told, nil, "the model scripted:test is rate limited: scripted:b answers instead")
	if used.InputTokens != 2 || used.OutputTokens != 2 || used.CostUSD != 2+10+10 {
		t.Errorf("the run was charged %+v", used)
	}
}

// TestModelThatChangedUnderATool: a tool asked it too, and it had to give up.
func TestModelThatChangedUnderATool(t *testing.T) {
	busy := &llm.Error{Kind: llm.Unavailable, Model: "scripted:test"}
	a := scripted.New(scripted.Call("ask", "{}"), scripted.Fail(busy))
	b := scripted.NewWith(scripted.Options{Name: "scripted:b"}, scripted.Text("me"), scripted.Text("ok"))
	o := options(t, lender, nil, asker(t, 1, &llm.Request{}, func(model string, _ llm.Message, _ llm.Finish, err error) {
		if model != "scripted:b" || err != nil {
			t.Errorf("%s, %v", model, err)
		}
	}))
	o.Model = llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{a, b}, Logger: o.Logger})
	got, err := warnings(t, o)
	if err != nil || len(got) != 1 || got[0].Model != "scripted:b" || got[0].Message != "scripted:b answers from here on" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestStructuredAnswerOfAFallback: the chain of models can do what each of them
// can, so a model without native output answers through a tool.
func TestStructuredAnswerOfAFallback(t *testing.T) {
	able := scripted.Options{Capabilities: llm.Capabilities{NativeOutput: true}}
	busy := scripted.NewWith(able, scripted.Fail(&llm.Error{Kind: llm.RateLimit, Model: "scripted:test"}))
	m := scripted.New(say(run.ModeTool, "{}"), say(run.ModeTool, right))
	o := options(t, answerer, nil)
	o.Model = llm.NewFallback(llm.FallbackOptions{Models: []llm.Model{busy, m}, Logger: o.Logger})
	got, err := run.As[weather](run.Stream(t.Context(), o))
	if err != nil || got != (weather{"Oslo", -3}) {
		t.Fatal(got, err)
	}
	m.AssertDone(t)
	if req := m.Requests()[0]; req.Output != nil || len(req.Tools) != 1 || req.Tools[0].Name != llm.OutputTool {
		t.Errorf("output %v, tools %v", req.Output, req.Tools)
	}
}
