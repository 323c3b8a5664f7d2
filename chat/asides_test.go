package chat_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool/builtin"
)

// writes counts what is stored at a time.
type writes struct {
	*store.Store
	mu    sync.Mutex
	sizes []int
}

func (w *writes) WriteRun(ctx context.Context, r store.RunWrite) (bool, error) {
	w.mu.Lock()
	if n := len(r.Messages); n > 0 {
		w.sizes = append(w.sizes, n)
	}
	w.mu.Unlock()
	return w.Store.WriteRun(ctx, r)
}

// What is said beside the answer has rows before it; calls of a step are one write.
func TestAsides(t *testing.T) {
	action, err := builtin.NewAction()
	if err != nil {
		t.Fatal(err)
	}
	steps := func() *scripted.Model {
		return scripted.New(
			scripted.Turn{Reasoning: []string{"I look", " twice."}, Calls: []llm.ToolCall{
				{ID: "a", Name: "echo", Arguments: `{"text":"1"}`}, {ID: "b", Name: "echo", Arguments: `{"text":"2"}`},
				{ID: "c", Name: "action", Arguments: `{"type":"observation","payload":{"confidence":0.9,"sources":["doc-1"],"session_name":"Two looks"}}`},
			}},
			scripted.Text("Done."))
	}
	for _, tc := range []struct {
		name, mode string
		want       []string
	}{
		{"kept", "", []string{
			"user Hi", "tool_call", "tool_call", "tool_call", `tool_response {"text":"1"}`, `tool_response {"text":"2"}`, "tool_response …",
			"think I look twice.", "observation session_name: Two looks; confidence: 0.9; sources: doc-1", "assistant Done.",
		}},
		{"not wanted", "observation_mode: disabled\n", []string{
			"user Hi", "tool_call", "tool_call", "tool_call", `tool_response {"text":"1"}`, `tool_response {"text":"2"}`, "tool_response …",
			"think I look twice.", "assistant Done.",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept := &writes{Store: newStore(t)}
			var ended []chat.Ended
			s := newService(t, steps(), chat.Options{
				Store: kept, Tools: registry(t, newEcho(t), action), Ended: func(_ context.Context, e chat.Ended) { ended = append(ended, e) },
			}, "name: helper\ndescription: D.\n"+tc.mode+"tools: [{name: echo}, {name: action}]\n")
			ctx := as(t.Context(), "alice", "s1")
			turn(t, s, ctx, "Hi")
			if err := s.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			tokens := 0
			for _, row := range rows {
				line := row.Type
				if row.Content != nil {
					line += " " + *row.Content
				}
				if strings.Contains(line, "_action_event") {
					line = "tool_response …"
				}
				got, tokens = append(got, line), tokens+row.TokenCount
			}
			slices.Sort(got[4:7]) // in the order in which they came
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if kept.sizes[0] != 3 {
				t.Errorf("rows were stored in writes of %v", kept.sizes)
			}
			if len(ended) != 1 || ended[0].SessionID != "s1" || ended[0].Unsummarised != tokens {
				t.Errorf("%+v, %d tokens", ended, tokens)
			}
			observed := []*event.MetadataData{{Confidence: new(0.9), Sources: []string{"doc-1"}, SessionName: "Two looks"}}
			if tc.mode != "" {
				observed = nil
			}
			if diff := cmp.Diff(observed, ended[0].Observed); diff != "" {
				t.Error(diff)
			}
		})
	}
}
