package live_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

func TestReadersGetEverythingInOrder(t *testing.T) {
	for name, s := range map[string]live.Store{"memory": nil, "store": newFake()} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := open(t, s, live.Options{})
				early := make(chan []event.Event)
				go func() { early <- take(t, l.Read(t.Context(), 0), math.MaxInt) }()
				appendTexts(l, 1, 50)
				synctest.Wait()
				appendTexts(l, 50, 101)
				if l.Last() != 100 {
					t.Errorf("the last is %d", l.Last())
				}
				wantTexts(t, take(t, l.Read(t.Context(), 40), 60), 41, 41, 60)
				l.Close()
				wantTexts(t, <-early, 1, 1, 100)
				wantTexts(t, take(t, l.Read(t.Context(), 99), math.MaxInt), 100, 100, 1)
				wantTexts(t, take(t, l.Read(t.Context(), 500), math.MaxInt), 0, 0, 0)
				if l.Append(text(101)); l.Last() != 100 {
					t.Error("something was appended to a closed log")
				}
			})
		})
	}
}

func TestEventsAreStoredSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{Every: 20 * time.Millisecond, Batch: 10})
		appendTexts(l, 1, 4)
		time.Sleep(19 * time.Millisecond)
		synctest.Wait()
		if s.count() != 0 {
			t.Error("stored before the time")
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if s.count() != 1 || s.last() != 3 {
			t.Errorf("%d writes until %d, want 1 until 3", s.count(), s.last())
		}
		appendTexts(l, 4, 14)
		synctest.Wait()
		if s.count() != 2 || s.last() != 13 {
			t.Errorf("%d writes until %d, want a full batch stored at once", s.count(), s.last())
		}
		appendTexts(l, 14, 15)
		l.Close()
		if s.last() != 14 {
			t.Errorf("the end was not stored: %d", s.last())
		}
	})
}

func TestWriteStoresThenShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{})
		l.Append(text(1))
		s.set(func() { s.err = errDown })
		if err := l.Write(store.RunWrite{SessionName: "no"}, text(2)); !errors.Is(err, errDown) {
			t.Errorf("the error is %v", err)
		}
		if l.Last() != 1 {
			t.Error("what was not stored has a number")
		}
		s.set(func() { s.err, s.gate = nil, make(chan struct{}) })
		written := make(chan error)
		go func() { written <- l.Write(store.RunWrite{SessionName: "yes"}, text(2), text(3)) }()
		synctest.Wait()
		if l.Last() != 1 {
			t.Error("it was shown before it was stored")
		}
		s.openGate()
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		got := take(t, l.Read(t.Context(), 0), 3)
		wantTexts(t, got[:1], 1, 1, 1)
		wantTexts(t, got[1:], 2, 3, 2) // the refused event keeps its number
		if s.last() != 4 || len(s.pieces) != 1 || s.writes[0].SessionName != "yes" {
			t.Errorf("stored until %d in %d pieces with %+v", s.last(), len(s.pieces), s.writes)
		}
	})
}

func TestTheLastWriteEndsTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{Stop: func(err error) { t.Errorf("stopped: %v", err) }})
		if err := l.Write(store.RunWrite{Status: store.RunCompleted}, text(1)); err != nil {
			t.Fatal(err)
		}
		l.Append(text(2))
		time.Sleep(time.Minute)
		if err := l.Write(store.RunWrite{}, text(2)); err == nil {
			t.Error("something was written after the end")
		}
		l.Close()
		wantTexts(t, take(t, l.Read(t.Context(), 0), 9), 1, 1, 1)
		if s.count() != 1 {
			t.Errorf("the store was called %d times", s.count())
		}
	})
}

func TestASilentRunSaysThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{Beat: time.Second})
		time.Sleep(3500 * time.Millisecond)
		synctest.Wait()
		if s.count() != 3 {
			t.Errorf("%d beats in 3.5 s", s.count())
		}
		l.Append(text(1)) // stored at 3.525 s, which counts
		time.Sleep(900 * time.Millisecond)
		synctest.Wait()
		if s.count() != 4 {
			t.Errorf("%d calls, want 4", s.count())
		}
		l.Close()
		time.Sleep(time.Minute)
		if s.count() != 4 {
			t.Errorf("%d calls after the end, want 4", s.count())
		}
	})
}

func TestStopIsHeardOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*fake)
		want   error
		last   int64
	}{
		"somebody asked":  {func(f *fake) { f.stop = true }, live.ErrStopped, 2},
		"another process": {func(f *fake) { f.err = store.ErrRunTaken }, store.ErrRunTaken, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFake()
				var heard []error
				var l *live.Log
				l = open(t, s, live.Options{Stop: func(err error) {
					heard = append(heard, err)
					l.Append(text(2)) // the run reports that it was stopped
				}})
				s.set(func() { tt.change(s) })
				l.Append(text(1))
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(heard) != 1 || !errors.Is(heard[0], tt.want) {
					t.Errorf("heard %v, want %v", heard, tt.want)
				}
				if l.Last() != tt.last {
					t.Errorf("the last event is %d, want %d", l.Last(), tt.last)
				}
				if err := l.Write(store.RunWrite{}); (err != nil) != (tt.want == store.ErrRunTaken) {
					t.Errorf("a write says %v", err)
				}
			})
		})
	}
}

func TestAFailingStoreIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		var failed atomic.Int64
		l := open(t, s, live.Options{Failed: func(error) { failed.Add(1) }})
		s.set(func() { s.err = errDown })
		l.Append(text(1))
		time.Sleep(29 * time.Second)
		synctest.Wait()
		times := cloneTimes(s)
		if failed.Load() != 0 || len(times) < 5 || len(times) > 15 {
			t.Errorf("failed %d times after %d tries", failed.Load(), len(times))
		}
		for i := 2; i < len(times); i++ {
			if times[i].Sub(times[i-1]) < times[i-1].Sub(times[i-2]) {
				t.Error("the pauses do not grow")
			}
		}
		time.Sleep(time.Minute)
		appendTexts(l, 2, 2*live.Gap) // Append waits for the store no more
		synctest.Wait()
		if failed.Load() != 1 {
			t.Errorf("Failed was called %d times", failed.Load())
		}
		s.set(func() { s.err = nil })
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if s.last() != 2*live.Gap-1 {
			t.Errorf("stored until %d after the store recovered", s.last())
		}
		s.set(func() { s.err = errDown })
		l.Append(text(1))
		l.Close()
		if failed.Load() != 1 {
			t.Errorf("Failed was called %d times", failed.Load())
		}
	})
}

// TestHowLongEventsWait: Stored gets the time from when an event was shown until it is stored,
// outages included.
func TestHowLongEventsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		var waited []time.Duration
		l := open(t, s, live.Options{Stored: func(d time.Duration) { waited = append(waited, d) }})
		appendTexts(l, 1, 3)
		if n := l.Unstored(); n != 2 {
			t.Errorf("%d events are unstored, want 2", n)
		}
		time.Sleep(time.Second)
		if err := l.Write(store.RunWrite{}, text(3)); err != nil { // stored before it is shown
			t.Error(err)
		}
		s.set(func() { s.err = errDown })
		l.Append(text(4))
		time.Sleep(20 * time.Second)
		s.set(func() { s.err = nil })
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if len(waited) != 3 || waited[0] != 25*time.Millisecond || waited[1] != 0 || waited[2] < 20*time.Second || waited[2] > 26*time.Second || l.Unstored() != 0 {
			t.Errorf("events waited %v; %d are unstored", waited, l.Unstored())
		}
	})
}

func TestCloseTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{Failed: func(err error) { t.Error(err) }})
		l.Append(text(1))
		s.set(func() { s.err = errDown })
		go func() {
			time.Sleep(300 * time.Millisecond)
			s.set(func() { s.err = nil })
		}()
		l.Close()
		if s.last() != 1 {
			t.Error("not stored")
		}
	})
}

// TestTheAnswerOfTheStoreIsLost: events that the store has are not stored again.
func TestTheAnswerOfTheStoreIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{})
		s.set(func() { s.lost, s.readErr = errDown, errDown })
		l.Append(text(1))
		time.Sleep(50 * time.Millisecond)
		l.Append(text(2))
		time.Sleep(time.Second)
		s.set(func() { s.readErr = nil })
		time.Sleep(10 * time.Second)
		if s.last() != 2 {
			t.Fatalf("stored until %d", s.last())
		}
		s.set(func() { s.lost = errDown })
		if err := l.Write(store.RunWrite{}, text(3)); err != nil {
			t.Errorf("a write whose answer was lost: %v", err)
		}
		l.Append(text(4))
		l.Close()
		wantTexts(t, take(t, l.Read(t.Context(), 0), 9), 1, 1, 4)
		wantTexts(t, take(t, live.Follow(t.Context(), endedRun{s}, "run", live.FollowOptions{}), 9), 1, 1, 4)
	})
} // TestTheAnswerOfTheLastWriteIsLost: the store has ended the run, and does not answer when
// it is asked whether it did. It refuses the next try, as the run is over.
func TestTheAnswerOfTheLastWriteIsLost(t *testing.T) {
	for _, status := range []string{store.RunCompleted, store.RunInterrupted} {
		for _, last := range [][]event.Event{{text(1)}, nil} {
			t.Run(fmt.Sprintf("%s with %d events", status, len(last)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newFake()
					l := open(t, s, live.Options{})
					s.set(func() { s.lost, s.readErr = errDown, errDown })
					time.AfterFunc(time.Second, func() { s.set(func() { s.readErr = nil }) })
					if err := l.Write(store.RunWrite{Status: status}, last...); err != nil {
						t.Errorf("the write ends with %v", err)
					}
					l.Close()
					if got := take(t, l.Read(t.Context(), 0), 9); len(got) != len(last) || len(s.writes) != 1 {
						t.Errorf("readers see %d events; it was stored %d times", len(got), len(s.writes))
					}
				})
			})
		}
	}
}

func TestAppendWaitsForAStoreThatIsFarBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		s.gate = make(chan struct{})
		l := open(t, s, live.Options{})
		done := make(chan bool)
		go func() {
			appendTexts(l, 1, live.Gap+2)
			close(done)
		}()
		synctest.Wait()
		if l.Last() != live.Gap {
			t.Errorf("%d events are shown and not stored", l.Last())
		}
		wantTexts(t, take(t, l.Read(t.Context(), 0), live.Gap), 1, 1, live.Gap)
		s.openGate()
		<-done
		l.Close()
		if s.last() != live.Gap+1 {
			t.Errorf("stored until %d", s.last())
		}
	})
}

func TestCloseWhileAppendWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		s.gate = make(chan struct{})
		l := open(t, s, live.Options{})
		done := make(chan bool)
		go func() {
			appendTexts(l, 1, live.Gap+100)
			close(done)
		}()
		synctest.Wait()
		go l.Close()
		<-done
		s.openGate()
		if err := l.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if s.last() != live.Gap {
			t.Errorf("stored until %d", s.last())
		}
	})
}

func TestARunIsTakenUpAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		first := open(t, s, live.Options{})
		appendTexts(first, 1, 11)
		first.Close()

		l := open(t, s, live.Options{After: 10})
		if l.Last() != 10 {
			t.Errorf("the last is %d before anything was said", l.Last())
		}
		got := make(chan []event.Event)
		go func() { got <- take(t, l.Read(t.Context(), 5), math.MaxInt) }()
		go func() { got <- take(t, l.Read(t.Context(), 12), math.MaxInt) }() // has events that were lost
		synctest.Wait()
		if err := l.Write(store.RunWrite{}, text(11)); err != nil {
			t.Fatal(err)
		}
		l.Append(text(12))
		l.Close()
		for range 2 {
			if events := <-got; len(events) == 2 {
				wantTexts(t, events, 11, 10+live.Gap+1, 2)
			} else {
				wantTexts(t, events[:5], 6, 6, 5)
				wantTexts(t, events[5:], 11, 10+live.Gap+1, 2)
			}
		}
		wantTexts(t, take(t, live.Follow(t.Context(), endedRun{s}, "run", live.FollowOptions{After: 10}), 9), 11, 10+live.Gap+1, 2)
	})
}

// endedRun is a store whose run has ended.
type endedRun struct{ *fake }

func (e endedRun) Run(ctx context.Context, id string) (store.Run, error) {
	r, err := e.fake.Run(ctx, id)
	r.Status = store.RunCompleted
	return r, err
}

func TestFull(t *testing.T) {
	l := open(t, nil, live.Options{MaxEvents: 3, MaxBytes: 1 << 20})
	for n := range 3 {
		if l.Full() {
			t.Errorf("full after %d", n)
		}
		l.Append(text(n))
	}
	if !l.Full() {
		t.Error("not full after 3 events")
	}
	l = open(t, nil, live.Options{MaxBytes: 1000})
	if l.Append(event.NewText(string(make([]byte, 1000)))); !l.Full() {
		t.Error("not full after 1000 bytes")
	}
}
