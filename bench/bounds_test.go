//go:build !race

package bench

import (
	"context"
	"io"
	"runtime"
	"testing"

	"p8/agent"
	"p8/chat"
	"p8/store"
)

// The race detector allocates on its own account, hence the build constraint;
// scripts/test runs this package without it.

// runs is how often a thing is done to see what it allocates.
const runs = 200

func TestAllocationsStayWithinBounds(t *testing.T) {
	doc := parse(t)
	compile := func() {
		if _, err := agent.Compile(doc); err != nil {
			t.Fatal(err)
		}
	}
	if got := bytesPerRun(compile); got >= 2<<10 {
		t.Errorf("building an agent allocates %d bytes, want fewer than 2048", got)
	}

	var c client
	text := service(t, textModel(), new(chat.MemoryStore))
	if got := testing.AllocsPerRun(runs, func() { c.turn(t, text, ignore) }); got >= 60 {
		t.Errorf("a text turn makes %v allocations, want fewer than 60", got)
	}
	tool := service(t, toolModel(), new(chat.MemoryStore))
	if got := testing.AllocsPerRun(runs, func() { c.turn(t, tool, ignore) }); got >= 150 {
		t.Errorf("a turn with one tool call makes %v allocations, want fewer than 150", got)
	}

	streamed := func(chunks int) float64 {
		s := service(t, wireModel(t, chunks), new(chat.MemoryStore))
		return testing.AllocsPerRun(runs/4, func() { c.turn(t, s, encoder(io.Discard).Write) })
	}
	// Texts share blocks, the answer and the run's log grow by doubling: some fifty
	// allocations in a thousand chunks.
	if got := (streamed(1100) - streamed(100)) / 1000; got > 0.1 {
		t.Errorf("a chunk makes %.3f allocations from the provider's bytes to the client's frame, want at most 0.1", got)
	}
}

func bytesPerRun(f func()) uint64 {
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / runs
}

// TestStoredTextTurnWritesTwice holds the number of transactions, each of which
// is one fsync of the write-ahead log; fsyncs.sh counts the real ones.
func TestStoredTextTurnWritesTwice(t *testing.T) {
	counted := &writes{Store: embedded(t)}
	var c client
	c.turn(t, service(t, textModel(), counted), ignore)
	if counted.n != 2 {
		t.Errorf("a stored text turn makes %d write transactions, want 2: the question and the answer", counted.n)
	}
}

// writes counts the calls of the store that write.
type writes struct {
	*store.Store
	n int
}

func (w *writes) BeginRun(ctx context.Context, r store.RunStart) error {
	w.n++
	return w.Store.BeginRun(ctx, r)
}

func (w *writes) WriteRun(ctx context.Context, r store.RunWrite) (bool, error) {
	w.n++
	return w.Store.WriteRun(ctx, r)
}
