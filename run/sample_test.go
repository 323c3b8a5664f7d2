package run_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

const lender = talker + "sampling: true\ntemperature: 0.5\nmax_tokens: 100\n"

// asker is a tool that asks the run's model n times at once and says what came
// of it.
func asker(t testing.TB, n int, req *llm.Request, tell func(model string, m llm.Message, f llm.Finish, err error)) tool.Tool {
	t.Helper()
	ask, err := tool.New("ask", "Asks.", func(ctx context.Context, _ struct{}) (any, error) {
		s := tool.SamplerFrom(ctx)
		if s == nil {
			return "there is no sampler", nil
		}
		var mu sync.Mutex
		var wait sync.WaitGroup
		for range n {
			wait.Go(func() {
				model, m, f, err := s.Sample(ctx, req)
				mu.Lock()
				defer mu.Unlock()
				tell(model, m, f, err)
			})
		}
		wait.Wait()
		return "ok", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ask
}

func TestSampling(t *testing.T) {
	question := &llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "who?"}}, Settings: llm.Settings{MaxTokens: 7},
	}
	m := scripted.New(
		scripted.Call("ask", "{}"),
		scripted.Turn{
			First: scripted.Instead("scripted:b", "busy"), Text: []string{"me", "!"}, Reasoning: []string{"hm"},
			Calls: []llm.ToolCall{{ID: "c", Name: "look", Arguments: "{}"}},
			Usage: llm.Usage{Input: 2, Output: 3}, Finish: llm.FinishLength,
		},
		scripted.Text("ok"),
	)
	var model string
	var answer llm.Message
	var finish llm.Finish
	o := options(t, lender, m, asker(t, 1, question, func(name string, msg llm.Message, f llm.Finish, err error) {
		if model, answer, finish = name, msg, f; err != nil {
			t.Error(err)
		}
	}))
	o.Cost = price
	var used *event.UsageData
	for e, err := range run.Stream(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := e.Data.(*event.UsageData); ok {
			used = u
		}
		if e.Text != "" && e.Text != "ok" || e.Type == event.Warning || e.Type == event.Reasoning {
			t.Errorf("what the tool asked is shown: %+v", e)
		}
	}
	m.AssertDone(t)
	if model != "scripted:b" || answer.Role != llm.Assistant || answer.Content != "me!" || len(answer.ToolCalls) != 1 || finish != llm.FinishLength {
		t.Errorf("%s said %+v, %s", model, answer, finish)
	}
	if s := m.Requests()[1].Settings; s.MaxTokens != 7 || s.Temperature == nil || *s.Temperature != 0.5 {
		t.Errorf("the settings were %+v", s)
	}
	if question.Settings.Temperature != nil {
		t.Error("the tool's request was changed")
	}
	if used.Requests != 3 || used.CostUSD < 50 {
		t.Errorf("the run was charged %+v", used)
	}
}

func TestSamplingWithinLimits(t *testing.T) {
	for _, tc := range []struct {
		name, doc string
		ask, got  int
		said      string
	}{
		{"within", lender, 10, 10, ""},
		{"too often", lender, 13, 10, "10 times"},
		{"out of requests", lender + "limits: {request_limit: 4}\n", 8, 3, "request_limit"},
		{"out of tokens", lender + "limits: {total_tokens_limit: 1}\n", 2, 0, "total_tokens_limit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			turns := []scripted.Turn{scripted.Call("ask", "{}")}
			for range tc.got + 1 {
				turns = append(turns, scripted.Text("ok"))
			}
			got := 0
			ask := asker(t, tc.ask, &llm.Request{}, func(_ string, m llm.Message, _ llm.Finish, err error) {
				var known *tool.Error
				switch {
				case err == nil:
					got++
				case !errors.As(err, &known) || tc.said == "" || !strings.Contains(known.Message, tc.said):
					t.Errorf("refused with %v", err)
				}
			})
			if _, err := collect(run.Stream(t.Context(), options(t, tc.doc, scripted.New(turns...), ask))); err != nil {
				t.Fatal(err)
			}
			if got != tc.got {
				t.Errorf("%d were answered, want %d", got, tc.got)
			}
		})
	}
}

// A server's question cannot have a longer answer than the run's own.
func TestSamplingIsNoLongerThanTheRun(t *testing.T) {
	for asked, want := range map[int]int{0: 100, 7: 7, 100_000: 100} {
		m := scripted.New(scripted.Call("ask", "{}"), scripted.Text("me"), scripted.Text("ok"))
		question := &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "who?"}}, Settings: llm.Settings{MaxTokens: asked}}
		o := options(t, lender, m, asker(t, 1, question, func(_ string, _ llm.Message, _ llm.Finish, err error) {
			if err != nil {
				t.Error(err)
			}
		}))
		o.Settings.MaxTokens = 100
		if _, err := collect(run.Stream(t.Context(), o)); err != nil {
			t.Fatal(err)
		}
		if got := m.Requests()[1].Settings.MaxTokens; got != want {
			t.Errorf("asked for %d, the model was given %d, want %d", asked, got, want)
		}
	}
}

func TestSamplingThatFails(t *testing.T) {
	down := &llm.Error{Kind: llm.Unavailable, Model: "scripted:test", Err: errors.New("10.0.0.1")}
	m := scripted.New(scripted.Call("ask", "{}"), scripted.Turn{Text: []string{"h"}, Err: down}, scripted.Text("ok"))
	var failure error
	ask := asker(t, 1, &llm.Request{}, func(_ string, _ llm.Message, _ llm.Finish, err error) { failure = err })
	got, err := collect(run.Stream(t.Context(), options(t, lender, m, ask)))
	var known *tool.Error
	if !errors.As(failure, &known) || known.Message != down.Error() {
		t.Errorf("the tool was told %v", failure)
	}
	if err != nil || !strings.HasSuffix(got[len(got)-1], "done stop") {
		t.Errorf("%q, %v", got, err)
	}
}

// TestSamplingEndsWithTheRun: a tool may keep what it was lent.
func TestSamplingEndsWithTheRun(t *testing.T) {
	var kept tool.Sampler
	ask, err := tool.New("ask", "Keeps.", func(ctx context.Context, _ struct{}) (any, error) {
		kept = tool.SamplerFrom(ctx)
		return "ok", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m := scripted.New(scripted.Call("ask", "{}"), scripted.Text("ok"))
	if _, err := collect(run.Stream(t.Context(), options(t, lender, m, ask))); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := kept.Sample(t.Context(), &llm.Request{}); err == nil || !strings.Contains(err.Error(), "the run is over") {
		t.Errorf("it was answered with %v", err)
	}
	m.AssertDone(t)
}

// TestSamplingIsTheDocumentsToAllow, also for an agent that a tool of a lender
// runs.
func TestSamplingIsTheDocumentsToAllow(t *testing.T) {
	ask := asker(t, 1, &llm.Request{}, func(string, llm.Message, llm.Finish, error) { t.Error("it was lent") })
	plain := func() *scripted.Model { return scripted.New(scripted.Call("ask", "{}"), scripted.Text("ok")) }
	nested := newDelegate(t, child(t, "child", plain(), ask))
	parent := scripted.New(scripted.Call("ask_child", "{}"), scripted.Text("ok"))
	for name, o := range map[string]run.Options{
		"an agent that does not lend": options(t, talker, plain(), ask),
		"below one that does":         options(t, lender, parent, nested),
	} {
		if _, err := collect(run.Stream(t.Context(), o)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
