package run_test

import (
	"context"
	"errors"
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

// TestSilentModel: a run whose time is up before its model said anything has failed; it
// is not a completed run with an empty answer.
func TestSilentModel(t *testing.T) {
	never := func(ctx context.Context, _ int) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, c := range map[string]struct {
		turns []scripted.Turn
		fails bool
	}{
		"at once":               {[]scripted.Turn{{Text: []string{"never"}, Before: never}}, true},
		"after its calls":       {[]scripted.Turn{scripted.Call("echo", `{"text":"a"}`), {Text: []string{"never"}, Before: never}}, true},
		"after its first words": {[]scripted.Turn{{Text: []string{"a", "b"}, Before: scripted.Until(1, nil)}}, false},
		"after words and calls": {[]scripted.Turn{{Text: []string{"a"}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"a"}`}}}, {Text: []string{"never"}, Before: never}}, false},
		"while a tool runs":     {[]scripted.Turn{scripted.Call("echo", `{"text":"wait"}`)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := options(t, talker, scripted.New(c.turns...), echo(t, "echo"))
				o.Timeout = time.Minute
				got, err := collect(run.Stream(t.Context(), o))
				var e *llm.Error
				switch {
				case c.fails && (!errors.As(err, &e) || e.Kind != llm.Timeout || !strings.Contains(e.Error(), "1m0s")):
					t.Errorf("the run ended with %v, %q", err, got[len(got)-1])
				case !c.fails && (err != nil || !strings.HasSuffix(got[len(got)-1], "done length time_limit")):
					t.Errorf("the run ended with %v, %q", err, got[len(got)-1])
				}
			})
		})
	}
}

// TestEmptyAnswer: a run that ends well without text warns the client.
func TestEmptyAnswer(t *testing.T) {
	act, err := tool.New("act", "Acts.", func(context.Context, struct{}) (any, error) {
		return tool.Result{Content: "{}", Action: &event.ActionData{}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		turns []scripted.Turn
		says  string
	}{
		"nothing at all":      {[]scripted.Turn{{}}, "the model scripted:test ended its answer without a word"},
		"blanks":              {[]scripted.Turn{scripted.Text(" ", "\n")}, "without a word"},
		"thoughts alone":      {[]scripted.Turn{{Reasoning: []string{"hm"}}}, "without a word"},
		"after a call":        {[]scripted.Turn{scripted.Call("echo", `{"text":"a"}`), {}}, "without a word"},
		"out of tokens":       {[]scripted.Turn{{Reasoning: []string{"hm"}, Finish: llm.FinishLength}}, "used up its tokens"},
		"withheld":            {[]scripted.Turn{{Finish: llm.FinishFilter}}, "withheld"},
		"words":               {[]scripted.Turn{scripted.Text("hello")}, ""},
		"words before a call": {[]scripted.Turn{{Text: []string{"hello"}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"a"}`}}}, {}}, ""},
		"an action":           {[]scripted.Turn{scripted.Call("act", `{}`), {}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			for e, err := range run.Stream(t.Context(), options(t, talker, scripted.New(c.turns...), echo(t, "echo"), act)) {
				if err != nil {
					t.Fatal(err)
				}
				if w, ok := e.Data.(*event.WarningData); ok && w.Code == event.CodeEmptyAnswer {
					said = append(said, w.Message)
				}
			}
			if c.says == "" && said != nil || c.says != "" && (len(said) != 1 || !strings.Contains(said[0], c.says)) {
				t.Errorf("the client is told %q, want %q", said, c.says)
			}
		})
	}
}
