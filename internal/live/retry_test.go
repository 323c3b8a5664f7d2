package live_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// TestWriteIsTriedAgain: a Write survives an outage that is shorter than its patience, and
// does not repeat what the store has.
func TestWriteIsTriedAgain(t *testing.T) {
	full := &store.Failure{Op: "write run", Err: fmt.Errorf("%w: no space", store.ErrDisk)}
	lost := &store.Failure{Op: "write run", Err: errors.New("connection reset")}
	for _, tc := range []struct {
		name   string
		err    error
		outage time.Duration
		// stored: the first write reaches the store, and its answer is lost.
		stored bool
		fails  bool
		most   time.Duration // that it takes
	}{
		{"a moment", lost, time.Second, false, false, 5 * time.Second},
		{"20 seconds", lost, 20 * time.Second, false, false, 30 * time.Second},
		{"a minute", lost, time.Minute, false, true, 31 * time.Second},
		{"only the answer is lost", lost, 0, true, false, time.Second},
		{"the answer is lost, and the store for a while", lost, 10 * time.Second, true, false, 20 * time.Second},
		{"the disk is full for a moment", full, time.Second, false, false, 5 * time.Second},
		{"the disk is full", full, time.Minute, false, true, 6 * time.Second},
		{"a value that cannot be stored", store.ErrInvalid, time.Second, false, true, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newFake()
				l := open(t, s, live.Options{})
				l.Append(text(1))
				began := time.Now()
				switch {
				case tc.stored:
					s.set(func() { s.lost, s.readErr = tc.err, tc.err })
				default:
					s.set(func() { s.err = tc.err })
				}
				time.AfterFunc(tc.outage, func() { s.set(func() { s.err, s.readErr = nil, nil }) })
				err := l.Write(store.RunWrite{SessionName: "once"}, text(2))
				if (err != nil) != tc.fails || tc.fails && !errors.Is(err, tc.err) {
					t.Errorf("the write ends with %v", err)
				}
				if took := time.Since(began); took > tc.most {
					t.Errorf("it took %s", took)
				}
				time.Sleep(2 * time.Minute)
				l.Append(text(3))
				l.Close()
				var names int
				for _, w := range s.writes {
					if w.SessionName == "once" {
						names++
					}
				}
				want := []string{"text 1", "text 2", "text 3"}
				if tc.fails {
					want = []string{"text 1", "text 3"}
				}
				if got := textsOf(take(t, l.Read(t.Context(), 0), math.MaxInt)); !slices.Equal(got, want) || names != len(want)-2 {
					t.Errorf("readers see %q; it was stored %d times", got, names)
				}
				if got := textsOf(take(t, live.Follow(t.Context(), endedRun{s}, "run", live.FollowOptions{}), 9)); !slices.Equal(got, want) {
					t.Errorf("the store has %q", got)
				}
			})
		})
	}
}

func textsOf(events []event.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.Text)
	}
	return all
}

// TestAWriteThatArrivesLate: the store commits a write long after Write gave up. No other
// event has its numbers, so later events are stored as well.
func TestAWriteThatArrivesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{})
		s.set(func() { s.lost, s.readErr = errDown, errDown })
		if err := l.Write(store.RunWrite{SessionName: "late"}, text(1), text(2)); err == nil || errors.Is(err, store.ErrInvalid) {
			t.Fatalf("the write ends with %v", err)
		}
		l.Append(text(3))
		s.set(func() { s.readErr = nil })
		if err := l.Write(store.RunWrite{SessionName: "next"}, text(4)); err != nil {
			t.Fatal(err)
		}
		l.Close()
		if got := textsOf(take(t, l.Read(t.Context(), 0), 9)); !slices.Equal(got, []string{"text 3", "text 4"}) {
			t.Errorf("readers see %q", got)
		}
		stored := take(t, live.Follow(t.Context(), endedRun{s}, "run", live.FollowOptions{}), 9)
		wantTexts(t, stored, 1, 1, 4)
	})
}

// TestAStoppedRunHurries: Write does not wait long for the store if the run is being
// stopped.
func TestAStoppedRunHurries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		run, stop := context.WithCancel(t.Context())
		l := open(t, s, live.Options{Run: run})
		s.set(func() { s.err = errDown })
		began := time.Now()
		time.AfterFunc(10*time.Second, stop)
		if err := l.Write(store.RunWrite{}, text(1)); !errors.Is(err, errDown) || time.Since(began) != 10*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		before := s.count()
		if err := l.Write(store.RunWrite{}, text(1)); !errors.Is(err, errDown) || s.count()-before != 3 {
			t.Errorf("%v after %d tries", err, s.count()-before)
		}
	})
}

// TestLeft: events that could not be stored can be written later.
func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{})
		if err := l.Write(store.RunWrite{}, text(1)); err != nil {
			t.Fatal(err)
		}
		s.set(func() { s.err = errDown })
		if err := l.Write(store.RunWrite{}, text(2)); err == nil {
			t.Fatal("it was written")
		}
		appendTexts(l, 2, 4)
		l.Close()
		left := l.Left(1 << 20)
		wantTexts(t, left, 2, 3, 2)
		if pieces := live.Pieces(left); len(pieces) != 1 || pieces[0].First != 3 || pieces[0].Last != 4 {
			t.Errorf("the pieces are %+v", pieces)
		}
		if few := l.Left(live.Size(left[1:])); len(few) != 1 || few[0].Text != "text 3" {
			t.Errorf("the newest are %+v", few)
		}
	})
}
