package live_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// errDown is the error of a fake store that does not work.
var errDown = errors.New("the store is down")

// fake is a store of one run in memory.
type fake struct {
	mu     sync.Mutex
	run    store.Run
	pieces []store.RunEvents
	// calls counts WriteRun, reads RunEvents; times are those of WriteRun.
	calls, reads int
	times        []time.Time
	writes       []store.RunWrite
	// err is the error of WriteRun, stop its other result; readErr is the error of the
	// other methods. A gate, if set, blocks WriteRun.
	err, readErr error
	stop         bool
	// lost is the error of the next write, which is stored nevertheless.
	lost error
	gate chan struct{}
}

func newFake() *fake {
	return &fake{run: store.Run{ID: "run", Process: "me", Status: store.RunRunning}}
}

func (f *fake) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

func (f *fake) last() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.run.LastSeq
}

func (f *fake) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	f.mu.Lock()
	gate := f.gate
	f.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	f.times = append(f.times, time.Now())
	if f.err != nil {
		return false, f.err
	}
	if w.RunID != "run" || w.Process != "me" || f.run.Status != store.RunRunning {
		return false, store.ErrRunTaken
	}
	for _, p := range w.Events {
		if p.First <= f.run.LastSeq {
			return false, fmt.Errorf("%w: piece %d-%d comes after %d", store.ErrInvalid, p.First, p.Last, f.run.LastSeq)
		}
		f.pieces = append(f.pieces, p)
		f.run.LastSeq = p.Last
	}
	if w.Status != "" {
		f.run.Status = w.Status
	}
	w.Events = nil
	f.writes = append(f.writes, w)
	err := f.lost
	f.lost = nil
	return f.stop, err
}

func (f *fake) Run(context.Context, string) (store.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.run, f.readErr
}

func (f *fake) RunEvents(_ context.Context, _ string, after int64, most int) ([]store.RunEvents, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	var found []store.RunEvents
	for i, bytes := 0, 0; i < len(f.pieces) && bytes < most; i++ {
		if p := f.pieces[i]; p.Last > after {
			found = append(found, p)
			bytes += len(p.Data)
		}
	}
	return found, f.readErr
}

// open is a log over the store, which may be nil.
func open(tb testing.TB, s live.Store, o live.Options) *live.Log {
	tb.Helper()
	o.RunID, o.Process, o.Store = "run", "me", s
	o.Logger = slog.New(slog.DiscardHandler)
	l := live.Open(tb.Context(), o)
	tb.Cleanup(l.Close)
	return l
}

func text(n int) event.Event { return event.NewText(fmt.Sprintf("text %d", n)) }

// appendTexts appends the texts from one number until before another.
func appendTexts(l *live.Log, from, to int) {
	for n := from; n < to; n++ {
		l.Append(text(n))
	}
}

// take reads at most that many events.
func take(tb testing.TB, events iter.Seq2[event.Event, error], most int) []event.Event {
	tb.Helper()
	var got []event.Event
	for e, err := range events {
		if err != nil {
			tb.Errorf("after %d events: %v", len(got), err)
			return got
		}
		if got = append(got, e); len(got) == most {
			break
		}
	}
	return got
}

// wantTexts checks that the events are the n texts from the number from on, with sequence
// numbers from seq on.
func wantTexts(tb testing.TB, got []event.Event, from int, seq int64, n int) {
	tb.Helper()
	if len(got) != n {
		tb.Errorf("%d events, want %d", len(got), n)
	}
	for i, e := range got {
		want := text(from + i)
		if want.Seq = seq + int64(i); e != want {
			tb.Errorf("event %d is %+v, want %+v", i, e, want)
			return
		}
	}
}

// openGate unblocks the calls at the gate.
func (f *fake) openGate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.gate)
	f.gate = nil
}

func cloneTimes(f *fake) []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.times)
}
