package run_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

// TestEachAgentsShare: what each agent consumed with each model, wherever the process died
// in between.
func TestEachAgentsShare(t *testing.T) {
	used := func(in int, turn scripted.Turn) scripted.Turn {
		turn.Usage = llm.Usage{Input: in, Output: 1}
		return turn
	}
	tree := func(t *testing.T, d *diary, spent *[]run.Spent) run.Options {
		deep := child(t, "deep", scripted.NewWith(scripted.Options{Name: "scripted:deep"}, used(100, scripted.Text("deep"))))
		middle := child(t, "middle", nil, idempotent(t, newDelegate(t, deep)))
		middle.Model = byStep(used(10, scripted.Turn{Calls: []llm.ToolCall{{ID: "g", Name: "ask_deep"}}}), used(20, scripted.Text("mid")))()
		failed := scripted.Turn{Chunks: []llm.Chunk{
			{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: 5}}, scripted.Instead("scripted:b", "busy")[0],
			{Kind: llm.ChunkToolCall, ID: "m", Name: "ask_middle"},
		}}
		o := options(t, talker, nil, idempotent(t, newDelegate(t, middle)))
		o.Model = byStep(used(1, failed), used(2, scripted.Text("top")))()
		o.Cost, o.RunID, o.Journal = price, "root", d
		o.Spent = func(parts []run.Spent) { *spent = parts }
		return o
	}
	part := func(id, path, call, model string, in, out int, cost float64) run.Spent {
		return run.Spent{RunID: id, Path: path, ToolCallID: call, Model: model, Usage: event.UsageData{InputTokens: in, OutputTokens: out, CostUSD: cost}}
	}
	want := []run.Spent{
		part("root", "talker", "", "scripted:replayed", 7, 1, 80),
		part("root", "talker", "", "scripted:b", 1, 1, 20),
		part("run-middle", "talker/middle", "m", "scripted:replayed", 30, 2, 320),
		part("run-deep", "talker/middle/deep", "g", "scripted:deep", 100, 1, 1010),
	}
	byModel := map[string]run.Spent{}
	for _, w := range want {
		byModel[w.Path+" "+w.Model] = w
	}
	for cut, all := 1, false; !all; cut++ {
		d := newDiary()
		var spent []run.Spent
		if _, all = cutAfter(t, tree(t, d, &spent), cut); !all {
			d.crash()
			spent = nil
			if _, err := collect(run.Stream(t.Context(), tree(t, d, &spent))); err != nil {
				t.Fatalf("cut after %d: %v", cut, err)
			}
		}
		got := map[string]run.Spent{}
		for _, s := range spent {
			if s.Latency < 0 {
				t.Errorf("cut after %d: %s took %s", cut, s.Path, s.Latency)
			}
			s.Latency = 0
			got[s.Path+" "+s.Model] = s
		}
		if diff := cmp.Diff(byModel, got); diff != "" {
			t.Errorf("cut after %d (-want +got):\n%s", cut, diff)
		}
	}
}
