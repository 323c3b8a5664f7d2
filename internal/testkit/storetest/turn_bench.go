package storetest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/store"
)

// BenchmarkTurn measures the writes of a turn with two tools: the beginning of its run, the
// two calls, their results, the answer, each with its events and its journal; and all of
// them together. Each turn has its own session.
func BenchmarkTurn(b *testing.B, s *store.Store, ctx context.Context) {
	entry := store.JournalEntry{Data: json.RawMessage(`{"call_id":"c1","result":{"content":"42"}}`)}
	row := func(kind string) *store.Message {
		return &store.Message{Type: kind, Content: text("Some text about tea."), TokenCount: 5, AgentName: "bench"}
	}
	data := []byte(strings.Repeat(`{"type":"tool_call","agent":"bench"}`+"\n", 2))
	begin := func() string {
		id := newID()
		if err := s.BeginRun(ctx, store.RunStart{
			Run:     store.Run{ID: id, Process: "p", AgentName: "bench", Model: "m", Request: json.RawMessage(`{"agent":"bench"}`)},
			Session: store.Session{ID: id, AgentName: "bench"}, Messages: []*store.Message{userMessage("How much tea is there?")},
		}); err != nil {
			b.Fatal(err)
		}
		return id
	}
	write := func(w store.RunWrite, id string, first int64) {
		w.RunID, w.Process, w.Events = id, "p", []store.RunEvents{{First: first, Last: first + 1, Data: data}}
		if _, err := s.WriteRun(ctx, w); err != nil {
			b.Fatal(err)
		}
	}
	calls := func(id string, first int64) {
		write(store.RunWrite{Journal: []store.JournalEntry{entry, entry}, Messages: []*store.Message{row(store.MessageToolCall), row(store.MessageToolCall)}}, id, first)
	}
	b.Run("begin", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			begin()
		}
	})
	b.Run("calls", func(b *testing.B) {
		id, first := begin(), int64(1)
		b.ReportAllocs()
		for b.Loop() {
			calls(id, first)
			first += 2
		}
	})
	b.Run("turn", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			id := begin()
			calls(id, 1)
			write(store.RunWrite{
				Journal:  []store.JournalEntry{entry, entry},
				Messages: []*store.Message{row(store.MessageToolResponse), row(store.MessageToolResponse)},
			}, id, 3)
			write(store.RunWrite{Answer: row(store.MessageAssistant), Status: store.RunCompleted, Reason: "stop"}, id, 5)
		}
	})
}
