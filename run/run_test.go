package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const talker = `
name: talker
description: You talk.
`

const answerer = `
name: answerer
description: You answer.
structured_output: true
properties:
  city: {type: string}
  degrees: {type: number, minimum: -90}
required: [city, degrees]
`

func compile(t testing.TB, src string) *agent.Agent {
	t.Helper()
	d, err := agent.Parse("test.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// echo answers with its text; "boom" fails, "panic" panics, "wait" waits for
// the end of the call.
func echo(t testing.TB, name string) tool.Tool {
	t.Helper()
	type in struct {
		Text string `json:"text"`
	}
	e, err := tool.New(name, "Says it again.", func(ctx context.Context, in in) (any, error) {
		switch in.Text {
		case "boom":
			return nil, errors.New("dial tcp 10.0.0.1: secret")
		case "no":
			return nil, &tool.Error{Message: "I will not say that"}
		case "panic":
			panic("a bug")
		case "wait":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return map[string]string{"said": in.Text}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// brief writes an event in a line.
func brief(e event.Event) string {
	s := fmt.Sprintf("%d %s %s", e.Seq, e.Agent, e.Type)
	switch d := e.Data.(type) {
	case *event.ToolCallData:
		s += fmt.Sprintf(" %s %s %s %s", d.ID, d.Name, d.Status, d.Arguments)
		if d.Result != nil {
			s += " = " + string(d.Result)
		}
	case *event.DoneData:
		s += " " + d.Reason + " " + d.Limit + string(d.Output)
	case *event.UsageData:
		s += fmt.Sprintf(" %d+%d requests %d calls %d", d.InputTokens, d.OutputTokens, d.Requests, d.ToolCalls)
	default:
		s += " " + e.Text
	}
	return strings.TrimSpace(s)
}

func collect(events iter.Seq2[event.Event, error]) ([]string, error) {
	var lines []string
	for e, err := range events {
		if err != nil {
			return lines, err
		}
		lines = append(lines, brief(e))
	}
	return lines, nil
}

func options(t testing.TB, doc string, m *scripted.Model, tools ...tool.Tool) run.Options {
	return run.Options{
		Agent: compile(t, doc), Model: m, Tools: tools, RunID: "r", Logger: slog.New(slog.DiscardHandler),
		Messages: []llm.Message{{Role: llm.User, Content: "hello"}},
	}
}

func want(t *testing.T, got []string, err error, lines ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, lines) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(lines, "\n  "))
	}
}

func TestTextTurn(t *testing.T) {
	m := scripted.New(scripted.Turn{
		Reasoning: []string{"hm"}, Text: []string{"Hi ", "there"}, Usage: llm.Usage{Input: 7, Output: 2},
	})
	got, err := collect(run.Stream(t.Context(), options(t, talker, m)))
	want(t, got, err,
		"1 talker reasoning hm",
		"2 talker text Hi",
		"3 talker text there",
		"4 talker usage 7+2 requests 1 calls 0",
		"5 talker done stop",
	)
	m.AssertDone(t)
	first := m.Requests()[0].Messages[0]
	if first.Role != llm.System || first.Content != "You talk." {
		t.Errorf("the prompt was not sent: %+v", first)
	}
}

func TestParallelToolsAreAnsweredInTheOrderOfTheCalls(t *testing.T) {
	m := scripted.New(
		scripted.Turn{Calls: []llm.ToolCall{
			{ID: "a", Name: "echo", Arguments: `{"text":"1"}`},
			{ID: "b", Name: "echo", Arguments: `{"text":"2"}`},
			{ID: "a", Name: "echo", Arguments: `{"text":"3"}`},
		}},
		scripted.Text("done"),
	)
	got, err := collect(run.Stream(t.Context(), options(t, talker, m, echo(t, "echo"))))
	if err != nil {
		t.Fatal(err)
	}
	m.AssertDone(t)
	var answers []string
	for _, msg := range m.Requests()[1].Messages {
		if msg.Role == llm.ToolRole {
			answers = append(answers, msg.ToolCallID+msg.Content)
		}
	}
	if len(answers) != 3 || answers[0] != `a{"said":"1"}` || answers[1] != `b{"said":"2"}` ||
		!strings.HasSuffix(answers[2], `{"said":"3"}`) || strings.HasPrefix(answers[2], `a{`) {
		t.Errorf("answers: %q", answers)
	}
	if got[len(got)-1] != fmt.Sprintf("%d talker done stop", len(got)) {
		t.Errorf("the last event is %q of %d", got[len(got)-1], len(got))
	}
}

func TestOddOptionsMeanTheDefaults(t *testing.T) {
	m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{{Name: "echo", Arguments: "{}"}, {Name: "echo", Arguments: "{}"}}}, scripted.Text("ok"))
	o := options(t, talker, m, echo(t, "echo"))
	o.Parallel, o.Timeout, o.ToolTimeout = -1, -1, -1
	if text, err := run.Text(run.Stream(t.Context(), o)); err != nil || text != "ok" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFailedCallsAreTheModelsToSee(t *testing.T) {
	for _, tc := range []struct{ name, tool, args, result string }{
		{"unknown tool", "search", `{}`, `there is no tool named \"search\"; the tools are echo`},
		{"broken arguments", "echo", `{"text":`, "not valid JSON"},
		{"wrong arguments", "echo", `{"txt":1}`, "do not fit the tool's schema"},
		{"tool error", "echo", `{"text":"no"}`, "I will not say that"},
		{"internal error", "echo", `{"text":"boom"}`, "the tool failed; the server's log has the reason"},
		{"panic", "echo", `{"text":"panic"}`, "the tool failed unexpectedly"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := scripted.New(scripted.Call(tc.tool, tc.args), scripted.Text("sorry"))
			got, err := collect(run.Stream(t.Context(), options(t, talker, m, echo(t, "echo"))))
			if err != nil {
				t.Fatal(err)
			}
			m.AssertDone(t)
			answer := m.Requests()[1].Messages[3]
			if !strings.Contains(answer.Content, tc.result) || strings.Contains(answer.Content, "secret") {
				t.Errorf("the model was told %s", answer.Content)
			}
			if !json.Valid([]byte(answer.Content)) {
				t.Errorf("not JSON: %s", answer.Content)
			}
			if !strings.Contains(got[2], "failed") {
				t.Errorf("events: %q", got)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	loop := func(n int) (turns []scripted.Turn) {
		for range n {
			turn := scripted.Call("echo", `{"text":"x"}`)
			turn.Usage = llm.Usage{Input: 100, Output: 10}
			turns = append(turns, turn)
		}
		return turns
	}
	for _, tc := range []struct {
		limit string
		n     int
		turns int
	}{
		{"request_limit", 2, 2},
		{"tool_calls_limit", 1, 2},
		{"input_tokens_limit", 150, 2},
		{"output_tokens_limit", 30, 3},
		{"total_tokens_limit", 110, 1},
	} {
		t.Run(tc.limit, func(t *testing.T) {
			m := scripted.New(loop(tc.turns)...)
			doc := fmt.Sprintf("%s\nlimits: {%s: %d}\n", talker, tc.limit, tc.n)
			got, err := collect(run.Stream(t.Context(), options(t, doc, m, echo(t, "echo"))))
			if err != nil {
				t.Fatal(err)
			}
			m.AssertDone(t)
			if end := got[len(got)-1]; !strings.HasSuffix(end, "done length "+tc.limit) {
				t.Errorf("the run ended with %q", end)
			}
		})
	}
}

func TestEveryRunHasARequestLimit(t *testing.T) {
	m := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Call("echo", `{"text":"again"}`))
	got, err := collect(run.Stream(t.Context(), options(t, talker, m, echo(t, "echo"))))
	if err != nil {
		t.Fatal(err)
	}
	if end := got[len(got)-1]; !strings.HasSuffix(end, "done length request_limit") {
		t.Errorf("the run ended with %q", end)
	}
}

func TestAnswerCutAtTheModelsBound(t *testing.T) {
	m := scripted.New(scripted.Turn{
		Text: []string{"Once"}, Finish: llm.FinishLength,
		Calls: []llm.ToolCall{{ID: "c", Name: "echo", Arguments: `{"te`}},
	})
	got, err := collect(run.Stream(t.Context(), options(t, talker, m, echo(t, "echo"))))
	if err != nil {
		t.Fatal(err)
	}
	if end := got[len(got)-1]; !strings.HasSuffix(end, "done length max_tokens") {
		t.Errorf("the run ended with %q", end)
	}
	if !strings.Contains(got[2], "failed") {
		t.Errorf("the call did not end: %q", got)
	}
}

func TestModelErrorEndsTheRun(t *testing.T) {
	down := &llm.Error{Kind: llm.Unavailable, Model: "scripted:test"}
	m := scripted.New(scripted.Turn{Text: []string{"Hi"}, Err: down})
	got, err := collect(run.Stream(t.Context(), options(t, talker, m)))
	if !errors.Is(err, down) || len(got) != 2 || !strings.Contains(got[1], "usage") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCallsOfABrokenAnswerEnd(t *testing.T) {
	down := &llm.Error{Kind: llm.Unavailable, Model: "scripted:test"}
	m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "c", Name: "echo", Arguments: `{"te`}}, Err: down})
	got, err := collect(run.Stream(t.Context(), options(t, talker, m, echo(t, "echo"))))
	if !errors.Is(err, down) || len(got) != 3 || !strings.HasPrefix(got[1], "2 talker tool_call c echo failed") {
		t.Errorf("who saw the call begin did not see it end: %q, %v", got, err)
	}
}

// Models call functions.search or ask me!, and providers refuse a conversation
// with such a name in it.
func TestUnknownNamesAreSentBackAsProvidersTakeThem(t *testing.T) {
	m := scripted.New(
		scripted.Turn{Calls: []llm.ToolCall{{ID: "c", Name: "functions.echo", Arguments: "{}"}}},
		scripted.Turn{Text: []string{"ok"}, Check: func(r *llm.Request) error {
			said, answer := r.Messages[2], r.Messages[3]
			if said.ToolCalls[0].Name != "functions_echo" || !strings.Contains(answer.Content, "functions.echo") {
				return fmt.Errorf("the model reads %+v, %+v", said, answer)
			}
			return nil
		}},
	)
	if _, err := collect(run.Stream(t.Context(), options(t, talker, m, echo(t, "echo")))); err != nil {
		t.Fatal(err)
	}
	m.AssertDone(t)
}

func TestBreakingOff(t *testing.T) {
	m := scripted.New(scripted.Text("a", "b", "c"))
	n := 0
	for range run.Stream(t.Context(), options(t, talker, m)) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d events", n)
	}
}

func TestCancelEndsRunningCalls(t *testing.T) {
	stop := errors.New("the user pressed stop")
	for _, calls := range []int{1, 3} {
		t.Run(fmt.Sprint(calls, " calls"), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			turn := scripted.Turn{}
			for range calls {
				turn.Calls = append(turn.Calls, llm.ToolCall{Name: "echo", Arguments: `{"text":"wait"}`})
			}
			m := scripted.New(turn)
			ended, executing := 0, 0
			var last error
			for e, err := range run.Stream(ctx, options(t, talker, m, echo(t, "echo"))) {
				last = err
				if d, ok := e.Data.(*event.ToolCallData); ok {
					switch d.Status {
					case event.ToolExecuting:
						if executing++; executing == calls {
							cancel(stop)
						}
					case event.ToolFailed, event.ToolCompleted:
						ended++
					}
				}
			}
			if ended != calls || !errors.Is(last, stop) {
				t.Errorf("%d of %d calls ended; the run ended with %v", ended, calls, last)
			}
		})
	}
}
