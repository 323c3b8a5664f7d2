package chat_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// An answer that is made anew does not know the one that it replaces.
func TestAnsweringAgainForgetsTheAnswer(t *testing.T) {
	for name, kept := range map[string]chat.Store{"embedded": embedded(t), "memory": newStore(t)} {
		model := scripted.New(scripted.Text("one"), scripted.Text("two"), scripted.Text("other"))
		s := newService(t, model, chat.Options{Store: kept}, helper)
		ctx := as(t.Context(), "alice", "s1")
		turn(t, s, ctx, "first")
		turn(t, s, ctx, "second")
		started, err := s.Start(ctx, chat.Request{Regenerate: true})
		if err != nil {
			t.Fatal(err)
		}
		drain(t, started)
		var got []string
		for _, m := range model.Requests()[2].Messages {
			if m.Role != llm.System {
				got = append(got, string(m.Role)+" "+m.Content)
			}
		}
		if diff := cmp.Diff([]string{"user first", "assistant one", "user second"}, got); diff != "" {
			t.Error(name, diff)
		}
	}
}

// A provider that counts more than was estimated makes the next histories shorter, in
// what is not counted yet.
func TestTheProvidersCountScalesTheHistory(t *testing.T) {
	tokens := func(times int) int {
		long := strings.Repeat("word ", 400)
		var turns []scripted.Turn
		for range 6 {
			turns = append(turns, scripted.Turn{Text: []string{long}, Usage: llm.Usage{Input: times * 700, Output: 500}})
		}
		s := newService(t, scripted.New(turns...), chat.Options{Store: newStore(t), KeepLast: 1}, nestedAgent)
		ctx := as(t.Context(), "alice", "s1")
		for range turns {
			turn(t, s, ctx, long)
		}
		p, err := s.Preview(as(t.Context(), "alice", ""), "s1", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range p.Parts {
			if part.Kind == "shortened" {
				return part.Tokens
			}
		}
		t.Fatalf("nothing is shortened: %+v", p.Parts)
		return 0
	}
	if few, many := tokens(1), tokens(6); few >= many {
		t.Errorf("a shortened answer takes %d tokens, and %d where more are counted", few, many)
	}
}

// Options.Ended gets the tokens that no moment sums up yet.
func TestEndedCountsWhatIsNotSummedUp(t *testing.T) {
	kept, unsummarised := embedded(t), 0
	ctx := as(t.Context(), "alice", "s1")
	wait := func(input string) {
		t.Helper()
		s := newService(t, scripted.New(scripted.Text(strings.Repeat("long ", 200))), chat.Options{
			Store: kept, Ended: func(_ context.Context, e chat.Ended) { unsummarised = e.Unsummarised },
		}, helper)
		turn(t, s, ctx, input)
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wait("first")
	if unsummarised < 250 || unsummarised > 300 {
		t.Errorf("%d tokens", unsummarised)
	}
	if err := kept.PutChunk(ctx, store.Chunk{SessionID: "s1", LastSeq: 2, Moment: &store.Moment{Name: "part", Summary: "S."}}); err != nil {
		t.Fatal(err)
	}
	wait("second")
	if unsummarised < 250 || unsummarised > 300 {
		t.Errorf("%d tokens after a moment", unsummarised)
	}
}

// What an agent thinks that was asked is no thought of the one that answers.
func TestThoughtsOfAskedAgentsAreNotKept(t *testing.T) {
	kept := newStore(t)
	models := cast{
		"lead":  scripted.New(scripted.Turn{Reasoning: []string{"Mine."}, Calls: asks("other", "what?").Calls}, scripted.Text("Done.")),
		"other": scripted.New(scripted.Turn{Reasoning: []string{"Not yours."}, Text: []string{"So."}}),
	}
	s := stage(t, chat.Options{Store: kept}, models, []string{flatNamed("lead", ""), flatNamed("other", "")})
	ctx := as(t.Context(), "alice", "s1")
	turn(t, s, ctx, "x")
	models.done(t)
	list, err := kept.Messages(ctx, "s1", store.MessageFilter{Types: []string{store.MessageThink}})
	if err != nil || len(list) != 1 || *list[0].Content != "Mine." {
		t.Errorf("got %+v, %v", list, err)
	}
}
