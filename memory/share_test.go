package memory_test

import (
	"errors"
	"testing"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// TestASummaryIsPaidFor: in a row of the session that is no part of the conversation, also
// if the model fails.
func TestASummaryIsPaidFor(t *testing.T) {
	for name, turn := range map[string]scripted.Turn{
		"a summary": {Text: []string{`{"summary": "s", "topic_tags": []}`}, Usage: llm.Usage{Input: 40, Output: 2}},
		"a failure": {Chunks: []llm.Chunk{{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: 40, Output: 2}}}, Err: errors.New("down")},
	} {
		t.Run(name, func(t *testing.T) {
			s, ctx := open(t), as(t, "ann")
			say(t, ctx, s, "s", 1, 3)
			by := summarizer(t, memory.SummarizerOptions{
				Cost: func(model string, u llm.Usage) float64 { return float64(u.Input + u.Output) },
			}, scripted.NewWith(scripted.Options{Name: "c:tiny"}, turn))
			b := builder(t, memory.BuilderOptions{Store: s, Summarizer: by})
			built, err := b.Build(ctx, "s", 100)
			if err != nil || len(built.Moments) != 1 {
				t.Fatal(built, err)
			}
			all, err := s.Messages(ctx, "s", store.MessageFilter{Shares: true})
			must(t, err)
			talk, err := s.Messages(ctx, "s", store.MessageFilter{})
			must(t, err)
			last := all[len(all)-1]
			if len(all) != len(talk)+1 || last.AgentName != memory.SummaryAgent || last.Model != "c:tiny" || last.InputTokens != 40 || last.CostUSD != 42 || last.AgentRunID == "" || last.LatencyMS == 0 {
				t.Errorf("%+v, after %d of %d", last, len(talk), len(all))
			}
			// The row is nothing to sum up.
			if again, err := b.Build(ctx, "s", 1); err != nil || len(again.Moments) != 0 || again.Unsummarised != 0 {
				t.Errorf("%+v, %v", again, err)
			}
		})
	}
}
