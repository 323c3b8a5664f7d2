package live_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

func TestAReaderEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, nil, live.Options{})
		l.Append(text(1))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		n := 0
		for e, err := range l.Read(ctx, 0) {
			if n++; n == 1 && e.Text != "text 1" || n == 2 && !errors.Is(err, context.Canceled) {
				t.Errorf("%d: %+v, %v", n, e, err)
			}
		}
		if n != 2 {
			t.Errorf("%d steps, want the text and the error", n)
		}
		if err := l.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Wait says %v", err)
		}
	})
}

func TestALateReaderReadsFromTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{Window: 2000})
		for n := 1; n <= 5000; n += 100 {
			appendTexts(l, n, n+100)
			synctest.Wait()
		}
		wantTexts(t, take(t, l.Read(t.Context(), 0), 5000), 1, 1, 5000)
		if s.reads == 0 {
			t.Error("nothing was read from the store")
		}
		before := s.reads
		wantTexts(t, take(t, l.Read(t.Context(), 4995), 5), 4996, 4996, 5)
		if s.reads != before {
			t.Error("the newest events were read from the store")
		}
		s.set(func() { s.readErr = errDown })
		for _, err := range l.Read(t.Context(), 0) {
			if !errors.Is(err, errDown) {
				t.Errorf("the error is %v", err)
			}
		}
	})
}

func TestAStalledReaderGoesOnWhereItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open(t, newFake(), live.Options{Window: 2000})
		stall, got := make(chan bool), make(chan []event.Event)
		go func() {
			var events []event.Event
			for e := range l.Read(t.Context(), 0) {
				if events = append(events, e); len(events) == 3 {
					<-stall
				}
			}
			got <- events
		}()
		for n := 1; n <= 3000; n += 10 {
			appendTexts(l, n, n+10)
			synctest.Wait()
		}
		l.Close()
		close(stall)
		wantTexts(t, <-got, 1, 1, 3000)
	})
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		l := open(t, s, live.Options{})
		appendTexts(l, 1, 11)
		got := make(chan []event.Event)
		go func() {
			got <- take(t, live.Follow(t.Context(), s, "run", live.FollowOptions{After: 2}), math.MaxInt)
		}()
		time.Sleep(time.Second)
		appendTexts(l, 11, 21)
		time.Sleep(time.Second)
		if err := l.Write(store.RunWrite{Status: store.RunWaiting}, text(21)); err != nil {
			t.Fatal(err)
		}
		wantTexts(t, <-got, 3, 3, 19)
	})
}

func TestFollowEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, err := range live.Follow(ctx, newFake(), "run", live.FollowOptions{}) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the error is %v", err)
			}
		}
		broken := newFake()
		broken.readErr = errDown
		for _, err := range live.Follow(t.Context(), broken, "run", live.FollowOptions{}) {
			if !errors.Is(err, errDown) {
				t.Errorf("the error is %v", err)
			}
		}
	})
}
