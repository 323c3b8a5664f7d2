package run_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
)

// heldMemory is a memory that keeps little and counts what is held.
type heldMemory struct {
	keep, held, most int
	shown            strings.Builder
	err              error
}

func (c *heldMemory) Hold(n int) {
	c.held += n
	c.most = max(c.most, c.held)
}
func (c *heldMemory) Keep() int { return c.keep }
func (c *heldMemory) Shown(n int) (string, error) {
	all := c.shown.String()
	return all[len(all)-n:], c.err
}

// TestWhatARunHolds: text that was shown is dropped, read back for a next step, and
// nothing is held when the run is over.
func TestWhatARunHolds(t *testing.T) {
	pieces := strings.SplitAfter(strings.Repeat("a word ", 1000), " ")
	for _, tt := range []struct {
		name string
		keep int
		most int // bytes that the run holds of the first answer
		err  error
	}{
		{name: "all is kept", keep: 1 << 20, most: 8000},
		{name: "little is kept", keep: 100, most: 200},
		{name: "it cannot be read back", keep: 100, most: 200, err: errors.New("the log is gone")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said := ""
			m := scripted.New(
				scripted.Turn{Text: pieces, Calls: []llm.ToolCall{{ID: "a", Name: "echo", Arguments: `{"text":"1"}`}}},
				scripted.Turn{Text: []string{"Done."}, Check: func(r *llm.Request) error {
					said = r.Messages[len(r.Messages)-2].Content
					return nil
				}},
			)
			o := options(t, talker, m, echo(t, "echo"))
			mem := &heldMemory{keep: tt.keep, err: tt.err}
			o.Memory = mem
			most := 0
			var failed error
			for e, err := range run.Stream(t.Context(), o) {
				if failed = err; e.Type == event.Text {
					mem.shown.WriteString(e.Text)
					if said == "" {
						most = max(most, mem.held)
					}
				}
			}
			if !errors.Is(failed, tt.err) || tt.err == nil && said != strings.Join(pieces, "") {
				t.Errorf("the model is shown %d bytes of %d, %v", len(said), len(strings.Join(pieces, "")), failed)
			}
			if most > tt.most || mem.held != 0 || mem.most == 0 {
				t.Errorf("%d bytes were held of the answer, want at most %d; %d at the end", most, tt.most, mem.held)
			}
		})
	}
}

// flood is a model that never stops.
type flood struct {
	llm.Model
	chunk llm.Chunk
}

func (f flood) Stream(context.Context, *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for yield(f.chunk, nil) {
		}
	}
}

// TestOneAnswerIsBounded: no response is read without an end, whatever it is made of;
// a call that it had begun fails.
func TestOneAnswerIsBounded(t *testing.T) {
	for name, kind := range map[string]llm.ChunkKind{"text": llm.ChunkText, "reasoning": llm.ChunkReasoning, "arguments": llm.ChunkToolCall} {
		t.Run(name, func(t *testing.T) {
			o := options(t, talker, scripted.New(), echo(t, "echo"))
			o.Model = flood{o.Model, llm.Chunk{Kind: kind, ID: "a", Name: "echo", Text: strings.Repeat("x", 10_000)}}
			bytes, failed := 0, false
			var done event.DoneData
			for e, err := range run.Stream(t.Context(), o) {
				if err != nil {
					t.Fatal(err)
				}
				bytes += len(e.Text)
				switch d := e.Data.(type) {
				case *event.ToolCallData:
					failed = d.Status == event.ToolFailed
				case *event.DoneData:
					done = *d
				}
			}
			if done.Reason != event.ReasonLength || done.Limit != event.LimitAnswer || bytes > 5<<20 || failed != (kind == llm.ChunkToolCall) {
				t.Errorf("%+v after %d bytes; a call failed: %t", done, bytes, failed)
			}
		})
	}
}
