package run_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

// TestThoughtsGoBack: a provider wants its thoughts, proofs included, together
// with the results of the calls that came of them.
func TestThoughtsGoBack(t *testing.T) {
	thoughts := []llm.Reasoning{
		{Provider: "anthropic", Text: "I should say x.", Signature: "proof"},
		{Provider: "anthropic", Signature: "hidden", Redacted: true},
	}
	for _, tc := range []struct {
		name, doc string
		turn      scripted.Turn
		last      scripted.Turn
	}{
		{"with a call", talker, scripted.Call("echo", `{"text":"x"}`), scripted.Text("done")},
		{"with a wrong answer", answerer, say(run.ModeTool, "{}"), say(run.ModeTool, right)},
		{"with a wrong text", answerer, scripted.Text("{}"), scripted.Text(right)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.turn.Thoughts = thoughts
			for i := range tc.turn.Calls {
				tc.turn.Calls[i].Signature = "call proof"
			}
			m := scripted.New(tc.turn, tc.last)
			if _, err := collect(run.Stream(t.Context(), options(t, tc.doc, m, echo(t, "echo")))); err != nil {
				t.Fatal(err)
			}
			m.AssertDone(t)
			said := m.Requests()[1].Messages[2]
			if d := cmp.Diff(thoughts, said.Reasoning); d != "" {
				t.Error(d)
			}
			for _, c := range said.ToolCalls {
				if c.Signature != "call proof" {
					t.Errorf("the call goes back with the signature %q", c.Signature)
				}
			}
		})
	}
}

// TestThoughtsStayWithTheirStep: a later step does not write over them.
func TestThoughtsStayWithTheirStep(t *testing.T) {
	step := func(thought string) scripted.Turn {
		turn := scripted.Call("echo", `{"text":"x"}`)
		turn.Thoughts = []llm.Reasoning{{Provider: "p", Text: thought}}
		return turn
	}
	m := scripted.New(step("first"), step("second"), scripted.Call("echo", "{}"), scripted.Text("done"))
	if _, err := collect(run.Stream(t.Context(), options(t, talker, m, echo(t, "echo")))); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, msg := range m.Requests()[3].Messages {
		for _, thought := range msg.Reasoning {
			got = append(got, thought.Text)
		}
	}
	if d := cmp.Diff([]string{"first", "second"}, got); d != "" {
		t.Error(d)
	}
}

func TestRequestsOfAnAgentShareTheirCache(t *testing.T) {
	m := scripted.New(scripted.Text("hi"))
	if _, err := collect(run.Stream(t.Context(), options(t, talker, m))); err != nil {
		t.Fatal(err)
	}
	if key := m.Requests()[0].CacheKey; key != "talker" {
		t.Errorf("the cache key is %q", key)
	}
}
