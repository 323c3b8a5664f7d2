package live_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

var words = event.Event{Type: event.Text, RunID: runID, Agent: "general", Text: " some words"}

// bounds removes the bounds of a log.
var bounds = live.Options{MaxEvents: 1 << 60, MaxBytes: 1 << 60}

func BenchmarkAppend(b *testing.B) {
	l := open(b, sink{}, bounds)
	b.ReportAllocs()
	for b.Loop() {
		l.Append(words)
	}
}

// BenchmarkRead: one event for each of several waiting readers.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprintf("readers=%d", n), func(b *testing.B) {
			l := open(b, sink{}, bounds)
			var readers sync.WaitGroup
			for range n {
				readers.Go(func() { drain(b, l, b.N) })
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				l.Append(words)
			}
			readers.Wait()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/reader")
		})
	}
}

// BenchmarkManyLogs: one event for each of two readers of each of 200 logs.
func BenchmarkManyLogs(b *testing.B) {
	const logs = 200
	var all sync.WaitGroup
	b.ReportAllocs()
	for range logs {
		l := open(b, sink{}, bounds)
		for range 2 {
			all.Go(func() { drain(b, l, b.N) })
		}
		all.Go(func() {
			for range b.N {
				l.Append(words)
			}
		})
	}
	all.Wait()
}

// drain reads n events. A reader that is behind the window of a store without a memory has
// missed some.
func drain(tb testing.TB, l *live.Log, n int) {
	for e, err := range l.Read(context.Background(), 0) {
		if err != nil {
			tb.Error(err)
		}
		if e.Seq >= int64(n) {
			return
		}
	}
}

func (sink) RunEvents(context.Context, string, int64, int) ([]store.RunEvents, error) {
	return nil, nil
}

// BenchmarkReconnect10k reads 10,000 events from a database.
func BenchmarkReconnect10k(b *testing.B) {
	db, ctx := openStore(b)
	l := live.Open(ctx, live.Options{RunID: runID, Process: "me", Store: db})
	for range 10_000 {
		l.Append(words)
	}
	if err := l.Write(store.RunWrite{Status: store.RunCompleted}); err != nil {
		b.Fatal(err)
	}
	l.Close()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range live.Follow(ctx, db, runID, live.FollowOptions{}) {
			if n++; err != nil {
				b.Fatal(err)
			}
		}
		if n != 10_000 {
			b.Fatalf("%d events", n)
		}
	}
}
