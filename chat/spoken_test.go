package chat_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// endless is a model that never stops: each chunk is the same.
type endless struct{ chunk llm.Chunk }

func (endless) Name() string                   { return "endless:model" }
func (endless) Capabilities() llm.Capabilities { return llm.Capabilities{} }
func (e endless) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for ctx.Err() == nil && yield(e.chunk, nil) {
		}
	}
}

var (
	words   = llm.Chunk{Kind: llm.ChunkText, Text: strings.Repeat("on and ", 150)}
	args    = llm.Chunk{Kind: llm.ChunkToolCall, ID: "call_1", Name: "echo", Text: strings.Repeat("x", 1000)}
	thought = llm.Chunk{Kind: llm.ChunkReasoning, Text: strings.Repeat("hm, ", 250)}
)

// TestAnEndlessModel: whatever it is that a model does not stop to say, the run ends
// and says which limit it reached.
func TestAnEndlessModel(t *testing.T) {
	for _, tt := range []struct {
		name   string
		chunk  llm.Chunk
		memory int64
		none   bool
		limit  string
		// text is how long the answer is at most, in bytes.
		text int
	}{
		{"text", words, 0, false, event.LimitEvents, 2 << 20},
		{"text, little memory", words, 1 << 10, false, event.LimitEvents, 2 << 20},
		{"text, nothing is stored", words, 0, true, event.LimitEvents, 2 << 20},
		{"text, nothing is stored, little memory", words, 100 << 10, true, event.LimitMemory, 100 << 10},
		{"arguments", args, 0, false, event.LimitAnswer, 0},
		{"arguments, little memory", args, 1 << 20, false, event.LimitMemory, 0},
		{"thoughts", thought, 0, false, event.LimitAnswer, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kept := newStore(t)
			o := chat.Options{Store: kept, Memory: tt.memory}
			if tt.none {
				o.Store = nil
			}
			s := newService(t, endless{tt.chunk}, o, helper)
			ctx := as(t.Context(), "alice", "s1")
			started, err := s.Start(ctx, chat.Request{Input: "Go on"})
			if err != nil {
				t.Fatal(err)
			}
			var shown strings.Builder
			for e, err := range started.Events(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Type == event.Text {
					shown.WriteString(e.Text)
				}
			}
			res, err := started.Wait(ctx)
			if err != nil || res.Reason != event.ReasonLength || res.Limit != tt.limit {
				t.Errorf("the run ended with %s %s, %v; want the limit %s", res.Reason, res.Limit, err, tt.limit)
			}
			if n := shown.Len(); n > tt.text+2000 || n < tt.text/2 {
				t.Errorf("%d bytes were shown, want about %d", n, tt.text)
			}
			if res.Text != shown.String() {
				t.Errorf("the result has %d bytes of text, %d were shown", len(res.Text), shown.Len())
			}
			if !tt.none {
				row := answer(t, kept, ctx, "s1")
				if *row.Content != shown.String() || row.Status != store.StatusLength {
					t.Errorf("%d bytes are stored with status %s, %d were shown", len(*row.Content), row.Status, shown.Len())
				}
			}
		})
	}
}

// answer is the session's newest row.
func answer(t *testing.T, kept *store.Store, ctx context.Context, session string) store.Message {
	t.Helper()
	rows, err := kept.Messages(ctx, session, store.MessageFilter{Last: 1})
	if err != nil || len(rows) != 1 || rows[0].Content == nil {
		t.Fatalf("%+v, %v", rows, err)
	}
	return rows[0]
}

// TestALongTextBeforeACall: the model is shown all that it has said, also what was no
// longer in memory when it called a tool, and so is what follows it.
func TestALongTextBeforeACall(t *testing.T) {
	for _, memory := range []int64{1 << 20, 0} {
		t.Run(fmt.Sprint(memory), func(t *testing.T) {
			var first, second []string
			for n := range 3000 {
				first = append(first, fmt.Sprintf("first %d %s, ", n, strings.Repeat(".", 90)))
				second = append(second, fmt.Sprintf("second %d %s, ", n, strings.Repeat(".", 90)))
			}
			call := func(id string) []llm.ToolCall {
				return []llm.ToolCall{{ID: id, Name: "echo", Arguments: `{"text":"hi"}`}}
			}
			model := scripted.New(
				scripted.Turn{Text: first, Calls: call("a")},
				scripted.Turn{Text: second, Calls: call("b")},
				scripted.Turn{Text: []string{"The end."}, Check: func(r *llm.Request) error {
					var said []string
					for _, m := range r.Messages {
						if m.Role == llm.Assistant {
							said = append(said, m.Content)
						}
					}
					if len(said) != 2 || said[0] != strings.Join(first, "") || said[1] != strings.Join(second, "") {
						return fmt.Errorf("the model sees %d answers of its own: %.60q", len(said), said)
					}
					return nil
				}},
			)
			kept := newStore(t)
			s := newService(t, model, chat.Options{Store: kept, Memory: memory}, helper)
			ctx := as(t.Context(), "alice", "s1")
			turn(t, s, ctx, "Hi")
			model.AssertDone(t)
			want := strings.Join(first, "") + "\n\n" + strings.Join(second, "") + "\n\nThe end."
			if got := *answer(t, kept, ctx, "s1").Content; got != want {
				t.Errorf("%d bytes are stored, want %d", len(got), len(want))
			}
		})
	}
}

// TestManyEndlessModels: what all of them hold is bounded, so that some end early,
// while a short turn beside them is whole.
func TestManyEndlessModels(t *testing.T) {
	s := newService(t, nil, chat.Options{Memory: 1 << 20, Models: two{"endless:model": endless{words}, "short:model": scripted.New(scripted.Text("Short."))}}, helper)
	var all sync.WaitGroup
	limits := make([]string, 20)
	for i := range limits {
		all.Go(func() {
			started, err := s.Start(as(t.Context(), "alice", ""), chat.Request{Input: "Go on", Model: "endless:model"})
			if err != nil {
				t.Error(err)
				return
			}
			res, err := started.Wait(t.Context())
			if limits[i] = res.Limit; err != nil {
				t.Error(err)
			}
		})
	}
	started, err := s.Start(as(t.Context(), "bob", ""), chat.Request{Input: "Hi", Model: "short:model"})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := started.Wait(t.Context()); err != nil || res.Reason != event.ReasonStop || res.Text != "Short." {
		t.Errorf("the short turn: %+v, %v", res, err)
	}
	all.Wait()
	for i, limit := range limits {
		if limit != event.LimitMemory && limit != event.LimitEvents {
			t.Errorf("endless run %d ended with the limit %q", i, limit)
		}
	}
}

// two are models by their names.
type two map[string]llm.Model

func (m two) Resolve(name string) (llm.Model, error) { return m[name], nil }
