package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// newRun begins a run for a benchmark.
func newRun(b *testing.B, s *store.Store, n int) string {
	b.Helper()
	id := fmt.Sprintf("00000000-0000-7000-8000-%012d", n)
	err := s.BeginRun(caller(b.Context()), store.RunStart{
		Run: store.Run{ID: id, Process: "p"}, Session: store.Session{ID: "s"}, Messages: []*store.Message{message("s", "x")},
	})
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// piece is 20 events of 300 bytes, the n-th of a log.
func piece(n int64) store.RunEvents {
	return store.RunEvents{First: 20*n + 1, Last: 20*n + 20, Data: []byte(strings.Repeat(strings.Repeat("x", 299)+"\n", 20))}
}

func BenchmarkWriteRun(b *testing.B) {
	s := openStore(b)
	ctx := caller(b.Context())
	id := newRun(b, s, 1)
	b.ReportAllocs()
	for n := int64(0); b.Loop(); n++ {
		if _, err := s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "p", Events: []store.RunEvents{piece(n)}}); err != nil {
			b.Fatal(err)
		}
	}
}

// A log of 10,000 events.
func BenchmarkRunEvents(b *testing.B) {
	s := openStore(b)
	ctx := caller(b.Context())
	id := newRun(b, s, 1)
	for n := range int64(500) {
		if _, err := s.WriteRun(ctx, store.RunWrite{RunID: id, Process: "p", Events: []store.RunEvents{piece(n)}}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		list, err := s.RunEvents(ctx, id, 0, 16<<20)
		if err != nil || len(list) != 500 {
			b.Fatal(len(list), err)
		}
	}
}

// A run from its beginning to its end, which waits for the disk twice.
func BenchmarkRun(b *testing.B) {
	s := openStore(b)
	ctx := caller(b.Context())
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		id := newRun(b, s, n)
		if _, err := s.WriteRun(ctx, store.RunWrite{
			RunID: id, Process: "p", Events: []store.RunEvents{piece(0)}, Answer: message("s", "I am well."), Status: store.RunCompleted, Reason: "stop",
		}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStoredTurn(b *testing.B) { storetest.BenchmarkTurn(b, openStore(b), caller(b.Context())) }
