package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// chained is what a run told about its chained tool and how it ended.
type chained struct {
	calls []event.ToolCallData
	lines []string
	done  *event.DoneData
}

func chain(t *testing.T, ctx context.Context, o run.Options) chained {
	t.Helper()
	var got chained
	for e, err := range run.Stream(ctx, o) {
		if err != nil {
			t.Fatal(err)
		}
		got.lines = append(got.lines, brief(e))
		switch d := e.Data.(type) {
		case *event.ToolCallData:
			got.calls = append(got.calls, *d)
		case *event.DoneData:
			got.done = d
		}
	}
	return got
}

// save is a tool that takes an answer of the answerer and does f with it.
func save(t testing.TB, f func(ctx context.Context, call tool.Call) (tool.Result, error)) tool.Tool {
	t.Helper()
	base, err := tool.NewBase(llm.ToolSpec{Name: "save", Parameters: json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string","minLength":3}},"required":["city"]}`,
	)})
	if err != nil {
		t.Fatal(err)
	}
	return saver{base, f}
}

type saver struct {
	tool.Base
	f func(context.Context, tool.Call) (tool.Result, error)
}

func (s saver) Call(ctx context.Context, call tool.Call) (tool.Result, error) { return s.f(ctx, call) }

// answers is a saver that answers with the content.
func answers(t testing.TB, content string, failed bool) tool.Tool {
	return save(t, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Content: content, Failed: failed}, nil
	})
}

func TestChainedTool(t *testing.T) {
	fails := func(err error) tool.Tool {
		return save(t, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, err })
	}
	const failed = `{"error":"%s","status":"error"}`
	for _, tc := range []struct {
		name   string
		tool   tool.Tool
		answer string
		limits string
		status event.ToolStatus
		result string
	}{
		{"an object", answers(t, ` {"id": 1}`, false), right, "", event.ToolCompleted, `{"id": 1}`},
		{"a list", answers(t, `[1,2]`, false), right, "", event.ToolCompleted, `{"result":[1,2]}`},
		{"text", answers(t, `saved "it"`, false), right, "", event.ToolCompleted, `{"result":"saved \"it\""}`},
		{"nothing", answers(t, "", false), right, "", event.ToolCompleted, `{"result":""}`},
		{"knows no such keys", forwarder{mustBase(t, "save"), nil}, right, "", event.ToolFailed, "do not fit the tool's schema"},
		{"fails", fails(&tool.Error{Message: "the disk is full"}), right, "", event.ToolFailed, fmt.Sprintf(failed, "the disk is full")},
		{"fails with a secret", fails(errors.New("dial 10.0.0.1")), right, "", event.ToolFailed, "the server's log has the reason"},
		{"says that it failed", answers(t, "no room", true), right, "", event.ToolFailed, fmt.Sprintf(failed, "no room")},
		{"says so in JSON", answers(t, `{"error":"no room"}`, true), right, "", event.ToolFailed, fmt.Sprintf(failed, "no room")},
		{"panics", save(t, func(context.Context, tool.Call) (tool.Result, error) { panic("a bug") }), right, "", event.ToolFailed, "failed unexpectedly"},
		{"refuses the arguments", answers(t, "{}", false), `{"city":"A","degrees":1}`, "", event.ToolFailed, "do not fit the tool's schema"},
		{"beyond the limit", answers(t, "{}", false), right, "limits: {tool_calls_limit: 1}\n", event.ToolFailed, "tool_calls_limit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := scripted.New(scripted.Call("echo", `{"text":"x"}`), say(run.ModeTool, tc.answer))
			o := options(t, answerer+"chained_tool: save\n"+tc.limits, m, echo(t, "echo"))
			o.Chained = tc.tool
			got := chain(t, t.Context(), o)
			m.AssertDone(t)
			if len(got.calls) != 5 {
				t.Fatalf("calls: %+v", got.calls)
			}
			begin, end := got.calls[3], got.calls[4]
			if begin.Status != event.ToolExecuting || end.Status != tc.status || begin.ID != end.ID || end.ID != "chained_"+o.RunID ||
				begin.Name != "save" || string(begin.Arguments) != tc.answer {
				t.Errorf("the call was told as %+v, %+v", begin, end)
			}
			if end.Status == event.ToolFailed && end.ErrorMessage == "" {
				t.Error("nobody is told why it failed")
			}
			d := got.done
			if d.Reason != event.ReasonStop || d.Limit != "" || string(d.Output) != tc.answer || d.ChainedTool != "save" {
				t.Errorf("the run ended with %+v", d)
			}
			if !strings.Contains(string(d.ChainedResult), tc.result) || !json.Valid(d.ChainedResult) || d.ChainedResult[0] != '{' {
				t.Errorf("the result is %s", d.ChainedResult)
			}
			for _, spec := range m.Requests()[0].Tools {
				if spec.Name == "save" {
					t.Error("the model was offered the tool")
				}
			}
		})
	}
}

// TestChainedToolFollowsTheAnswer: in the stream, and before what ends it.
func TestChainedToolFollowsTheAnswer(t *testing.T) {
	base, err := tool.NewBase(llm.ToolSpec{Name: "save", Parameters: json.RawMessage(`{"type":"object"}`)})
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, answerer+"chained_tool: save\n", scripted.New(say(run.ModeTool, right)))
	o.Chained = forwarder{base, []string{"", "keeper"}}
	got := chain(t, t.Context(), o)
	for i := range got.lines {
		got.lines[i] = strings.ReplaceAll(got.lines[i], got.calls[0].ID, "id")
	}
	want(t, got.lines, nil,
		"1 answerer text "+right,
		"2 answerer tool_call id save executing "+right,
		"3 answerer text x",
		"4 answerer/keeper text x",
		"5 answerer tool_call id save completed "+right+` = "ok"`,
		"6 answerer usage 5+7 requests 1 calls 1",
		"7 answerer done stop "+right,
	)
}

func TestChainedToolGetsACopy(t *testing.T) {
	o := options(t, answerer+"chained_tool: save\n", scripted.New(say(run.ModeTool, right)))
	o.Chained = save(t, func(_ context.Context, call tool.Call) (tool.Result, error) {
		clear(call.Arguments)
		return tool.Result{Content: "{}"}, nil
	})
	if got := chain(t, t.Context(), o); string(got.done.Output) != right {
		t.Errorf("the answer became %q", got.done.Output)
	}
}

func TestChainedToolThatIsMissing(t *testing.T) {
	o := options(t, answerer+"chained_tool: save_moments\n", scripted.New(say(run.ModeTool, right)))
	got, err := warnings(t, o)
	if err != nil || len(got) != 1 || got[0].Code != "chained_tool_unavailable" || !strings.Contains(got[0].Message, "save_moments") {
		t.Errorf("%+v, %v", got, err)
	}
	o.Model = scripted.New(say(run.ModeTool, right))
	if d := chain(t, t.Context(), o).done; string(d.Output) != right || d.ChainedTool != "" || d.ChainedResult != nil {
		t.Errorf("%+v", d)
	}
}

// TestAFailedChainedToolIsLogged: nobody may read the result of a background run.
func TestAFailedChainedToolIsLogged(t *testing.T) {
	var log bytes.Buffer
	o := options(t, answerer+"chained_tool: save\n", scripted.New(say(run.ModeTool, right)))
	o.Chained = save(t, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{}, &tool.Error{Message: "the shelf is full"}
	})
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	if d := chain(t, t.Context(), o).done; d.ChainedTool != "save" || string(d.Output) != right {
		t.Errorf("%+v", d)
	}
	if got := log.String(); !strings.Contains(got, `msg="the chained tool failed" tool=save why="the shelf is full"`) {
		t.Errorf("the log has %q", got)
	}
}

func TestNoAnswerIsNotChained(t *testing.T) {
	never := save(t, func(context.Context, tool.Call) (tool.Result, error) {
		t.Error("the tool was called")
		return tool.Result{}, nil
	})
	cut := say(run.ModeTool, right)
	cut.Finish = llm.FinishLength
	for _, tc := range []struct {
		name, doc string
		turns     []scripted.Turn
	}{
		{"text", talker, []scripted.Turn{scripted.Text(right)}},
		{"cut", answerer, []scripted.Turn{cut}},
		{"out of requests", answerer + "limits: {request_limit: 1}\n", []scripted.Turn{scripted.Text("{}")}},
		{"stays wrong", answerer, []scripted.Turn{scripted.Text("{}"), scripted.Text("{}"), scripted.Text("{}")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := scripted.New(tc.turns...)
			o := options(t, tc.doc, m)
			o.Chained = never
			_, err := run.Output(run.Stream(t.Context(), o))
			if err == nil {
				t.Error("there is an answer")
			}
			m.AssertDone(t)
		})
	}
}

// TestChainedToolThatIsSlow: its time is up, the run's is, or somebody presses
// stop. The answer was there.
func TestChainedToolThatIsSlow(t *testing.T) {
	for _, tc := range []struct {
		name          string
		timeout, tool time.Duration
		stop          bool
		said          string
	}{
		{"its own time", time.Hour, time.Second, false, "did not answer within 1s"},
		{"the run's time", time.Second, time.Hour, false, "cancelled"},
		{"stop", time.Hour, time.Hour, true, "cancelled"},
	} {
		for _, deafTo := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.name, deafTo), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if tc.stop {
						time.AfterFunc(time.Second, cancel)
					}
					o := options(t, answerer+"chained_tool: save\n", scripted.New(say(run.ModeTool, right)))
					o.Timeout, o.ToolTimeout = tc.timeout, tc.tool
					o.Chained = save(t, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
						if deafTo {
							time.Sleep(time.Minute)
						}
						<-ctx.Done()
						return tool.Result{}, ctx.Err()
					})
					d := chain(t, ctx, o).done
					if d.Reason != event.ReasonStop || string(d.Output) != right || !strings.Contains(string(d.ChainedResult), tc.said) {
						t.Errorf("%+v, %s", d, d.ChainedResult)
					}
					time.Sleep(2 * time.Minute) // until the deaf tool has ended too
				})
			})
		}
	}
}

func TestChainedToolOfANestedRun(t *testing.T) {
	c := child(t, "keeper", scripted.New(scripted.Text(`{"city":"Oslo","degrees":-3}`)))
	c.Agent = compile(t, strings.Replace(answerer, "answerer", "keeper", 1)+"chained_tool: save\n")
	c.Chained = answers(t, `{"id":7}`, false)
	m := scripted.New(scripted.Call("ask_keeper", "{}"), scripted.Text("ok"))
	var told []string
	for e, err := range run.Stream(t.Context(), options(t, talker, m, newDelegate(t, c))) {
		if err != nil {
			t.Fatal(err)
		}
		switch d := e.Data.(type) {
		case *event.ToolCallData:
			told = append(told, fmt.Sprint(e.Agent, " ", d.Name, " ", d.Status))
		case *event.DoneData:
			told = append(told, fmt.Sprint(e.Agent, " ", d.ChainedTool, string(d.ChainedResult)))
		}
	}
	want := []string{
		"talker ask_keeper started", "talker ask_keeper executing",
		"talker/keeper save executing", "talker/keeper save completed", `talker/keeper save{"id":7}`,
		"talker ask_keeper completed", "talker ",
	}
	if !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}

// TestBreakingOffAChainedTool: a reader who leaves ends the run.
func TestBreakingOffAChainedTool(t *testing.T) {
	for at := 2; at <= 3; at++ {
		o := options(t, answerer+"chained_tool: save\n", scripted.New(say(run.ModeTool, right)))
		o.Chained = answers(t, "{}", false)
		n := 0
		for range run.Stream(t.Context(), o) {
			if n++; n == at {
				break
			}
		}
		if n != at {
			t.Errorf("%d events", n)
		}
	}
}
