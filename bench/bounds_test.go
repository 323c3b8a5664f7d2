//go:build !race

package bench

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
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
	text := service(t, textModel(), nil)
	if got := testing.AllocsPerRun(runs, func() { c.turn(t, text, ignore) }); got >= 90 {
		t.Errorf("a text turn makes %v allocations, want fewer than 90", got)
	}
	tool := service(t, toolModel(), nil)
	if got := testing.AllocsPerRun(runs, func() { c.turn(t, tool, ignore) }); got >= 180 {
		t.Errorf("a turn with one tool call makes %v allocations, want fewer than 180", got)
	}

	stored := embedded(t)
	text = service(t, textModel(), stored)
	if got := testing.AllocsPerRun(runs, func() { c.turn(t, text, ignore) }); got >= 400 {
		t.Errorf("a stored text turn makes %v allocations, want fewer than 400", got)
	}
	tool = service(t, toolModel(), stored)
	if got := testing.AllocsPerRun(runs, func() { c.turn(t, tool, ignore) }); got >= 700 {
		t.Errorf("a stored turn with one tool call makes %v allocations, want fewer than 700", got)
	}

	streamed := func(chunks int) float64 {
		s := service(t, wireModel(t, chunks), nil)
		return testing.AllocsPerRun(runs/4, func() { c.turn(t, s, encoder(io.Discard).Write) })
	}
	// Texts share blocks, the answer and the run's log grow by doubling: some fifty
	// allocations in a thousand chunks.
	if got := (streamed(1100) - streamed(100)) / 1000; got > 0.1 {
		t.Errorf("a chunk makes %.3f allocations from the provider's bytes to the client's frame, want at most 0.1", got)
	}
}

// TestAnEventCostsAReaderNothing is the way of an event from the log of its run to
// one client's connection, in every protocol: what a longer log takes more.
func TestAnEventCostsAReaderNothing(t *testing.T) {
	for _, p := range []stream.Protocol{stream.ProtocolOpenAI, stream.ProtocolAGUI, stream.ProtocolAISDK, stream.ProtocolEvents} {
		read := func(events int) float64 {
			log := live.Open(t.Context(), live.Options{RunID: "r1"})
			for range events {
				log.Append(event.Event{Type: event.Text, RunID: "r1", Agent: "bench", Text: mark})
			}
			log.Close()
			return testing.AllocsPerRun(runs/4, func() {
				sse := stream.NewSSE(nobody{http.Header{}}, stream.SSEOptions{})
				defer sse.Close()
				enc := stream.New(p, sse, stream.Options{Reader: stream.Reader{IDs: true}})
				for e, err := range log.Read(t.Context(), 0) {
					if err == nil {
						err = enc.Write(e)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		if got := (read(1100) - read(100)) / 1000; got > 0.01 {
			t.Errorf("%s: an event makes %.3f allocations for a reader, want none (the bound is 1)", p, got)
		}
	}
}

// nobody is a client that discards the stream.
type nobody struct{ header http.Header }

func (n nobody) Header() http.Header            { return n.header }
func (nobody) Write(b []byte) (int, error)      { return len(b), nil }
func (nobody) WriteHeader(int)                  {}
func (nobody) FlushError() error                { return nil }
func (nobody) SetWriteDeadline(time.Time) error { return nil }

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
