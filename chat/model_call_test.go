package chat_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// TestModelCalls: each request to a model is an event with its time, tokens and money, a
// delegated agent's too, whose end has its sum; the rows have the tokens.
func TestModelCalls(t *testing.T) {
	ask := asks("child", "Hi")
	ask.Usage = llm.Usage{Input: 10, Output: 2, Cached: 5}
	models := cast{
		"boss":  scripted.New(ask, scripted.Turn{Text: []string{"Done."}, Usage: llm.Usage{Input: 20, Output: 4, Cached: 6}}),
		"child": scripted.New(scripted.Turn{Text: []string{"Hello."}, Usage: llm.Usage{Input: 7, Output: 3, Reasoning: 1}}),
	}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	kept := newStore(t)
	s := stage(t, chat.Options{
		Store: kept, Now: func() time.Time { return at }, Cost: func(string, llm.Usage) float64 { return 0.5 },
	}, models, []string{flatNamed("boss", ""), flatNamed("child", "")})
	ctx := as(t.Context(), "alice", "s1")
	var got []string
	for _, e := range turn(t, s, ctx, "Go") {
		switch d := e.Data.(type) {
		case *event.ModelCallData:
			got = append(got, fmt.Sprintf("%s %s %d/%d+%d/%d $%g", e.Agent, d.StartedAt.Format(time.TimeOnly), d.InputTokens, d.CachedTokens, d.OutputTokens, d.ReasoningTokens, d.CostUSD))
		case *event.ChildRunData:
			if d.Consumed != nil {
				got = append(got, fmt.Sprintf("%s %s %d+%d $%g", e.Agent, d.Status, d.Consumed.InputTokens, d.Consumed.OutputTokens, d.Consumed.CostUSD))
			}
		}
	}
	if diff := cmp.Diff([]string{
		"boss 12:00:00 10/5+2/0 $0.5", "boss/child 12:00:00 7/0+3/1 $0.5", "boss/child completed 7+3 $0.5", "boss 12:00:00 20/6+4/0 $0.5",
	}, got); diff != "" {
		t.Error(diff)
	}
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{Types: []string{store.MessageAssistant}, Shares: true})
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, m := range rows {
		got = append(got, fmt.Sprintf("%s %d/%d+%d/%d", m.AgentName, m.InputTokens, m.CachedTokens, m.OutputTokens, m.ReasoningTokens))
	}
	if diff := cmp.Diff([]string{"child 7/0+3/1", "boss 30/11+6/0"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestModelCallThatFails: the event says so, and how long the model took.
func TestModelCallThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := scripted.New(scripted.Turn{Text: []string{"Half"}, Before: func(context.Context, int) error {
			time.Sleep(time.Second)
			return nil
		}, Err: errors.New("down")})
		var got *event.ModelCallData
		for _, e := range turn(t, newService(t, model, chat.Options{}, helper), as(t.Context(), "alice", ""), "Go") {
			if d, ok := e.Data.(*event.ModelCallData); ok {
				got = d
			}
		}
		if got == nil || !got.Failed || got.FirstTokenMS < 1000 || got.DurationMS < got.FirstTokenMS {
			t.Errorf("%+v", got)
		}
	})
}
