package live_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// TestEveryReaderSeesTheSequence: readers that come late, leave and come back see every
// event once, through any appends, writes and refusals.
func TestEveryReaderSeesTheSequence(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newFake()
		l := open(t, s, live.Options{
			Every: time.Microsecond * time.Duration(rapid.IntRange(1, 500).Draw(rt, "every")),
			Batch: rapid.IntRange(1, 20).Draw(rt, "batch"), Window: rapid.IntRange(1, 5000).Draw(rt, "window"),
			Patience: time.Microsecond,
		})
		steps := rapid.SliceOfN(rapid.IntRange(-3, 40), 1, 25).Draw(rt, "steps")
		visits := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(1, 60), 0, 8), 1, 6).Draw(rt, "visits")

		var readers sync.WaitGroup
		seen := make([][]event.Event, len(visits))
		for i, counts := range visits {
			readers.Go(func() { seen[i] = visit(t, l, counts) })
		}
		said := 0
		for _, n := range steps {
			switch {
			case n > 0:
				appendTexts(l, said+1, said+1+n)
				said += n
			case n == 0:
				runtime.Gosched()
				s.set(func() { s.err = nil })
			case n == -1:
				s.set(func() { s.err = errDown })
			default:
				if err := l.Write(store.RunWrite{}, text(said+1), text(said+2)); err == nil {
					said += 2
				}
			}
		}
		s.set(func() { s.err = nil })
		l.Close()
		readers.Wait()
		for i := range visits {
			wantRising(t, seen[i], said)
		}
		wantRising(t, take(t, live.Follow(t.Context(), endedRun{s}, "run", live.FollowOptions{}), said+1), said)
		if t.Failed() {
			rt.FailNow()
		}
	})
}

// wantRising checks that the events are the texts from 1 on, with rising numbers: events of
// a failed Write have none.
func wantRising(t *testing.T, got []event.Event, n int) {
	t.Helper()
	if len(got) != n {
		t.Errorf("%d events, want %d", len(got), n)
	}
	last := int64(0)
	for i, e := range got {
		if want := text(i + 1); e.Text != want.Text || e.Seq <= last {
			t.Errorf("event %d is %+v, want %+v, after %d", i, e, want, last)
			return
		}
		last = e.Seq
	}
}

// visit reads that many events, leaves, comes back, and finally reads to the end.
func visit(t *testing.T, l *live.Log, counts []int) []event.Event {
	var seen []event.Event
	last := func() int64 {
		if len(seen) == 0 {
			return 0
		}
		return seen[len(seen)-1].Seq
	}
	for _, n := range counts {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		for e, err := range l.Read(ctx, last()) {
			if err != nil {
				break // it left before the first event
			}
			seen = append(seen, e)
			if n--; n == 0 {
				break
			}
		}
		cancel()
	}
	return append(seen, take(t, l.Read(t.Context(), last()), -1)...)
}

// TestStalledReadersCostNobodyAnything: half of the readers stall; the others get every
// event, and memory stays bounded.
func TestStalledReadersCostNobodyAnything(t *testing.T) {
	const logs, events = 200, 3000
	var runs, stalled sync.WaitGroup
	stall := make(chan bool)
	all := make([]*live.Log, logs)
	for i := range logs {
		l := open(t, newFake(), live.Options{Window: 8 << 10})
		all[i] = l
		if i < 100 {
			begun := make(chan bool)
			stalled.Go(func() {
				n := 0
				for _, err := range l.Read(t.Context(), 0) {
					if n++; n == 1 {
						close(begun)
						<-stall
					}
					if err != nil {
						t.Error(err)
					}
				}
				if n != events {
					t.Errorf("a reader that stood still saw %d events of %d", n, events)
				}
			})
			runs.Go(func() {
				l.Append(text(1))
				<-begun
			})
		} else {
			runs.Go(func() { l.Append(text(1)) })
		}
	}
	runs.Wait()
	for _, l := range all {
		runs.Go(func() { appendTexts(l, 2, events+1) })
		runs.Go(func() { wantTexts(t, take(t, l.Read(t.Context(), 0), events), 1, 1, events) })
	}
	runs.Wait()
	for _, l := range all {
		l.Close()
	}
	for _, l := range all {
		if n := live.Held(l); n > 8<<10 {
			t.Errorf("a log with a window of 8 KiB holds %d bytes", n)
		}
	}
	close(stall)
	stalled.Wait()
}

func TestAnIdleLogIsSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const logs = 500
		all := make([]*live.Log, logs)
		before := inUse()
		for i := range all {
			all[i] = open(t, sink{}, live.Options{})
			all[i].Append(text(1))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if each := (inUse() - before) / logs; each > 4<<10 {
			t.Errorf("an idle log takes %d bytes", each)
		}
		runtime.KeepAlive(all)
	})
}

// sink is a store that keeps nothing.
type sink struct{ *fake }

func (sink) WriteRun(context.Context, store.RunWrite) (bool, error) { return false, nil }

// inUse is what the heap and the stacks hold.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
