package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// delegate is a tool that runs an agent.
type delegate struct {
	tool.Base
	options run.Options
}

func newDelegate(t testing.TB, o run.Options) delegate {
	t.Helper()
	base, err := tool.NewBase(llm.ToolSpec{Name: "ask_" + o.Agent.Name, Description: "Asks."})
	if err != nil {
		t.Fatal(err)
	}
	return delegate{base, o}
}

func (d delegate) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	return d.Stream(ctx, call, func(event.Event) bool { return true })
}

func (d delegate) Stream(ctx context.Context, _ tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	var text strings.Builder
	for e, err := range run.Stream(ctx, d.options) {
		if err != nil {
			return tool.Result{}, err
		}
		text.WriteString(e.Text)
		if !emit(e) {
			return tool.Result{}, ctx.Err()
		}
	}
	return tool.Result{Content: text.String()}, nil
}

// TestTextOfANestedRun: a tool that runs an agent wants what that agent said.
func TestTextOfANestedRun(t *testing.T) {
	deep := child(t, "deep", scripted.New(scripted.Text("deep")))
	middle := child(t, "middle", scripted.New(scripted.Call("ask_deep", "{}"), scripted.Text("mid", "dle")), newDelegate(t, deep))
	ask, err := tool.New("ask_middle", "Asks.", func(ctx context.Context, _ struct{}) (any, error) {
		return run.Text(run.Stream(ctx, middle))
	})
	if err != nil {
		t.Fatal(err)
	}
	m := scripted.New(scripted.Call("ask_middle", "{}"), scripted.Turn{Text: []string{"ok"}, Check: func(r *llm.Request) error {
		if got := r.Messages[len(r.Messages)-1].Content; !strings.Contains(got, "middle") || strings.Contains(got, "deep") {
			t.Errorf("the child said %q", got)
		}
		return nil
	}})
	if text, err := run.Text(run.Stream(t.Context(), options(t, talker, m, ask))); err != nil || text != "ok" {
		t.Errorf("the parent said %q, %v", text, err)
	}
}

func child(t testing.TB, name string, m *scripted.Model, tools ...tool.Tool) run.Options {
	o := options(t, "name: "+name+"\ndescription: You help.\nlimits: {request_limit: 3}\n", m, tools...)
	o.RunID = "run-" + name
	return o
}

func TestNestedRunFlowsIntoItsParent(t *testing.T) {
	grandchild := child(t, "deep", scripted.New(scripted.Turn{Text: []string{"deep"}, Usage: llm.Usage{Input: 1, Output: 1}}))
	middle := child(t, "middle", scripted.New(
		scripted.Turn{Calls: []llm.ToolCall{{ID: "g", Name: "ask_deep"}}, Usage: llm.Usage{Input: 1, Output: 1}},
		scripted.Turn{Text: []string{"mid"}, Usage: llm.Usage{Input: 1, Output: 1}},
	), newDelegate(t, grandchild))
	m := scripted.New(
		scripted.Turn{Calls: []llm.ToolCall{{ID: "m", Name: "ask_middle"}}, Usage: llm.Usage{Input: 1, Output: 1}},
		scripted.Turn{Text: []string{"top"}, Usage: llm.Usage{Input: 1, Output: 1}},
	)
	got, err := collect(run.Stream(t.Context(), options(t, talker, m, newDelegate(t, middle))))
	want(t, got, err,
		"1 talker tool_call m ask_middle started",
		"2 talker tool_call m ask_middle executing {}",
		"3 talker/middle tool_call g ask_deep started",
		"4 talker/middle tool_call g ask_deep executing {}",
		"5 talker/middle/deep text deep",
		"6 talker/middle/deep usage 1+1 requests 1 calls 0",
		"7 talker/middle/deep done stop",
		`8 talker/middle tool_call g ask_deep completed {} = "deep"`,
		"9 talker/middle text mid",
		"10 talker/middle usage 3+3 requests 3 calls 1",
		"11 talker/middle done stop",
		`12 talker tool_call m ask_middle completed {} = "deepmid"`,
		"13 talker text top",
		"14 talker usage 5+5 requests 5 calls 2",
		"15 talker done stop",
	)
}

// forwarder is a tool that passes on events from elsewhere.
type forwarder struct {
	tool.Base
	paths []string
}

func (f forwarder) Call(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }

func (f forwarder) Stream(_ context.Context, _ tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	for _, path := range f.paths {
		emit(event.Event{Type: event.Text, Text: "x", Agent: path})
	}
	return tool.Result{Content: `"ok"`}, nil
}

// TestForeignEventsAreBelowTheirParent: whatever path an event comes with, it is
// that of the caller or one below it.
func TestForeignEventsAreBelowTheirParent(t *testing.T) {
	base, err := tool.NewBase(llm.ToolSpec{Name: "forward", Description: "Forwards."})
	if err != nil {
		t.Fatal(err)
	}
	f := forwarder{base, []string{"talker/known", "far", "talkers/near", "talker", ""}}
	m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "f", Name: "forward"}}}, scripted.Text("top"))
	var paths []string
	for e, err := range run.Stream(t.Context(), options(t, talker, m, f)) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Text == "x" {
			paths = append(paths, e.Agent)
		}
	}
	want := []string{"talker/known", "talker/far", "talker/talkers/near", "talker/talker", "talker"}
	if !slices.Equal(paths, want) {
		t.Errorf("paths %q, want %q", paths, want)
	}
}

// counter is a tool that tells how far it is.
type counter struct{ tool.Base }

func (c counter) Call(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }

func (c counter) Stream(_ context.Context, call tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	for i := range 2 {
		emit(event.New(&event.ProgressData{Step: i + 1, TotalSteps: 2, ToolName: call.Name, ToolCallID: call.ID}))
	}
	return tool.Result{Content: "{}"}, nil
}

// TestProgressOfATool: an event without a path is the caller's own.
func TestProgressOfATool(t *testing.T) {
	c := child(t, "child", scripted.New(scripted.Call("count", "{}"), scripted.Text("ok")), counter{mustBase(t, "count")})
	m := scripted.New(scripted.Call("count", "{}"), scripted.Call("ask_child", "{}"), scripted.Text("ok"))
	var told []string
	for e, err := range run.Stream(t.Context(), options(t, talker, m, counter{mustBase(t, "count")}, newDelegate(t, c))) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := e.Data.(*event.ProgressData); ok {
			told = append(told, fmt.Sprintf("%s %s %s %s %d of %d", e.RunID, e.Agent, p.ToolName, p.ToolCallID, p.Step, p.TotalSteps))
		}
	}
	want(t, told, nil,
		"r talker count call_1 1 of 2",
		"r talker count call_1 2 of 2",
		"run-child talker/child count call_1 1 of 2",
		"run-child talker/child count call_1 2 of 2",
	)
}

func TestNestedRunSharesTheParentsLimits(t *testing.T) {
	loop := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Call("echo", `{"text":"x"}`))
	c := child(t, "child", loop, echo(t, "echo"))
	m := scripted.New(scripted.Call("ask_child", "{}"))
	got, err := collect(run.Stream(t.Context(), options(t, talker+"limits: {request_limit: 3}\n", m, newDelegate(t, c))))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(got, "\n")
	if !strings.Contains(all, "talker/child done length request_limit") || !strings.HasSuffix(all, "talker done length request_limit") {
		t.Error(all)
	}
}

func TestParallelNestedRuns(t *testing.T) {
	const children = 50
	var tools []tool.Tool
	turn := scripted.Turn{}
	for i := range children {
		name := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		texts := scripted.Text("1", "2", "3")
		tools = append(tools, newDelegate(t, child(t, name, scripted.New(texts))))
		turn.Calls = append(turn.Calls, llm.ToolCall{Name: "ask_" + name})
	}
	m := scripted.New(turn, scripted.Text("all"))
	texts := map[string]string{}
	var seq int64
	for e, err := range run.Stream(t.Context(), options(t, talker+"limits: {request_limit: 100}\n", m, tools...)) {
		if err != nil {
			t.Fatal(err)
		}
		if seq++; e.Seq != seq {
			t.Fatalf("event %d has number %d", seq, e.Seq)
		}
		texts[e.Agent] += e.Text
	}
	for path, text := range texts {
		if path != "talker" && text != "123" {
			t.Errorf("%s said %q", path, text)
		}
	}
	if len(texts) != children+1 {
		t.Errorf("%d agents spoke", len(texts))
	}
}
