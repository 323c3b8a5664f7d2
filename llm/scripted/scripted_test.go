package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

func play(ctx context.Context, m llm.Model, req *llm.Request) (chunks []llm.Chunk, err error) {
	for c, e := range m.Stream(ctx, req) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

func TestTurnIsPlayedInOrder(t *testing.T) {
	m := scripted.New(scripted.Turn{
		First:     scripted.Instead("scripted:other", "busy"),
		Reasoning: []string{"hm"},
		Thoughts:  []llm.Reasoning{{Provider: "anthropic", Text: "hm", Signature: "s"}},
		Text:      []string{"a", "b"},
		Calls:     []llm.ToolCall{{Name: "x", Arguments: "{}"}, {ID: "mine", Name: "y", Arguments: "garbage", Signature: "t"}},
		Usage:     llm.Usage{Input: 3, Output: 4},
	})
	got, err := play(t.Context(), m, &llm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Chunk{
		{Kind: llm.ChunkModel, Name: "scripted:other", Text: "busy"},
		{Kind: llm.ChunkReasoning, Text: "hm"},
		{Kind: llm.ChunkThought, Thought: &llm.Reasoning{Provider: "anthropic", Text: "hm", Signature: "s"}},
		{Kind: llm.ChunkText, Text: "a"},
		{Kind: llm.ChunkText, Text: "b"},
		{Kind: llm.ChunkToolCall, Call: 0, ID: "call_1", Name: "x"},
		{Kind: llm.ChunkToolCall, Call: 0, Text: "{}"},
		{Kind: llm.ChunkToolCall, Call: 1, ID: "mine", Name: "y", Signature: "t"},
		{Kind: llm.ChunkToolCall, Call: 1, Text: "garbage"},
		{Kind: llm.ChunkUsage, Usage: llm.Usage{Input: 3, Output: 4}},
		{Kind: llm.ChunkFinish, Finish: llm.FinishToolCalls},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	m.AssertDone(t)
}

func TestDone(t *testing.T) {
	unused := scripted.New(scripted.Text("a"), scripted.Text("b"))
	if _, err := play(t.Context(), unused, &llm.Request{}); err != nil {
		t.Fatal(err)
	}
	if err := unused.Done(); err == nil || !strings.Contains(err.Error(), "turn 2 was not asked for") {
		t.Errorf("unused turn: %v", err)
	}

	overrun := scripted.New()
	if _, err := play(t.Context(), overrun, &llm.Request{}); !errors.Is(err, scripted.ErrExhausted) {
		t.Errorf("overrun: %v", err)
	}
	if err := overrun.Done(); !errors.Is(err, scripted.ErrExhausted) {
		t.Errorf("overrun, Done: %v", err)
	}

	wrong := errors.New("no tools")
	checked := scripted.New(scripted.Turn{Check: func(*llm.Request) error { return wrong }})
	if _, err := play(t.Context(), checked, &llm.Request{}); !errors.Is(err, wrong) {
		t.Errorf("check: %v", err)
	}
	if err := checked.Done(); !errors.Is(err, wrong) {
		t.Errorf("check, Done: %v", err)
	}
}

func TestFailureComesAfterTheChunks(t *testing.T) {
	cut := &llm.Error{Kind: llm.Unavailable, Model: "scripted:test"}
	m := scripted.New(scripted.Turn{Text: []string{"half"}, Err: cut})
	got, err := play(t.Context(), m, &llm.Request{})
	if !errors.Is(err, cut) || len(got) != 1 || got[0].Text != "half" {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestRequestsAreCopies(t *testing.T) {
	m := scripted.New(scripted.Text("ok"))
	req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "first"}}}
	if _, err := play(t.Context(), m, req); err != nil {
		t.Fatal(err)
	}
	req.Messages[0].Content = "changed"
	if got := m.Requests()[0].Messages[0].Content; got != "first" {
		t.Errorf("the recorded request changed to %q", got)
	}
}

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		m := scripted.New(
			scripted.Turn{Text: []string{"a", "b"}, Before: scripted.Until(1, gate)},
			scripted.Turn{Text: []string{"c"}, Before: scripted.Until(0, nil)},
		)
		var said strings.Builder
		go func() {
			for c := range m.Stream(t.Context(), &llm.Request{}) {
				said.WriteString(c.Text)
			}
		}()
		synctest.Wait()
		if said.String() != "a" {
			t.Errorf("before the gate: %q", said.String())
		}
		close(gate)
		synctest.Wait()
		if said.String() != "ab" {
			t.Errorf("after the gate: %q", said.String())
		}

		ctx, cancel := context.WithCancel(t.Context())
		go func() { synctest.Wait(); cancel() }()
		if _, err := play(ctx, m, &llm.Request{}); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

func BenchmarkTextTurn(b *testing.B) {
	m := scripted.NewWith(scripted.Options{Repeat: true}, scripted.Text("hello"))
	req := &llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hi"}}}
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), req) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func ExampleNew() {
	model := scripted.New(
		scripted.Call("search", `{"query":"LOOKUP p8"}`),
		scripted.Text("p8 is ", "one binary."),
	)
	for range 2 {
		for chunk, err := range model.Stream(context.Background(), &llm.Request{}) {
			switch {
			case err != nil:
				fmt.Println(err)
			case chunk.Kind == llm.ChunkFinish:
				fmt.Println("→", chunk.Finish)
			default:
				fmt.Print(chunk.Name, chunk.Text, " ")
			}
		}
	}
	fmt.Println(model.Done())
	// Output:
	// search {"query":"LOOKUP p8"} → tool_calls
	// p8 is  one binary. → stop
	// <nil>
}
