package stream_test

import (
	"io"
	"testing"

	"p8/event"
	"p8/stream"
)

// BenchmarkOpenAI is one stream of 100 pieces of text; allocs/op are those of
// the whole stream.
func BenchmarkOpenAI(b *testing.B) {
	text := event.NewText("piece of \"text\" ")
	text.Agent = "general"
	done := event.New(&event.DoneData{Reason: event.ReasonStop})
	b.ReportAllocs()
	for b.Loop() {
		e := stream.NewOpenAI(io.Discard, stream.OpenAIOptions{ID: "chatcmpl-1", Model: "general", Created: created})
		for range 100 {
			if err := e.Write(text); err != nil {
				b.Fatal(err)
			}
		}
		if err := e.Write(done); err != nil {
			b.Fatal(err)
		}
	}
}

// TestTextAllocatesNothing pins the hot path, the SSE connection included.
func TestTextAllocatesNothing(t *testing.T) {
	text := event.NewText("piece of \"text\" \u2028 ")
	sse := stream.NewSSE(discard{newClient()}, stream.SSEOptions{})
	defer sse.Close()
	for f := stream.Polyglot; f <= stream.None; f++ {
		for _, typ := range []event.Type{event.Text, event.Reasoning} {
			text.Type, text.Agent = typ, "general/child"
			e := stream.NewOpenAI(sse, stream.OpenAIOptions{ID: "chatcmpl-1", Format: f})
			_ = e.Write(text)
			if n := testing.AllocsPerRun(100, func() { _ = e.Write(text) }); n > 0 {
				t.Errorf("%s %s: %v allocations", f, typ, n)
			}
		}
	}
}

// discard is a client that reads and forgets.
type discard struct{ *client }

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) FlushError() error           { return nil }
