package chat_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// startling is a store that panics, once, at what is named.
type startling struct {
	*store.Store
	at atomic.Value
}

func (p *startling) pass(at string) {
	if p.at.CompareAndSwap(at, "") {
		panic("boom")
	}
}

func (p *startling) Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error) {
	p.pass("begin")
	return p.Store.Recall(ctx, q)
}

func (p *startling) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	if w.Status == store.RunCompleted {
		p.pass("end")
	}
	return p.Store.WriteRun(ctx, w)
}

func (p *startling) RunJournal(ctx context.Context, id string) ([]store.JournalEntry, error) {
	p.pass("restore")
	return p.Store.RunJournal(ctx, id)
}

func (p *startling) RunEvents(ctx context.Context, id string, after int64, most int) ([]store.RunEvents, error) {
	p.pass("replay")
	return p.Store.RunEvents(ctx, id, after, most)
}

// TestAPanicWhileATurnBegins fails the request alone: the session is free, and Close does
// not wait for a turn that does not exist.
func TestAPanicWhileATurnBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &startling{Store: newStore(t)}
		kept.at.Store("begin")
		s := newService(t, scripted.New(scripted.Text("Yes.")), chat.Options{Store: kept, Logger: slog.New(slog.DiscardHandler)}, helper)
		ctx := as(t.Context(), "alice", "s1")
		if _, err := s.Start(ctx, chat.Request{Input: "Hi"}); err == nil {
			t.Error("no error")
		}
		if got := story(turn(t, s, ctx, "Hi")); got[len(got)-1] != "done stop" {
			t.Errorf("%q", got)
		}
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}

// TestAPanicWhileARunIsResumed: the run rests as before, and can be resumed again.
func TestAPanicWhileARunIsResumed(t *testing.T) {
	for _, at := range []string{"restore", "replay"} {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kept := &startling{Store: newStore(t)}
				kept.at.Store("")
				s, ctx, request := paused(t, kept, scripted.Text("Done."))
				r, err := s.Request(ctx, request)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := kept.Decide(ctx, request, store.Decision{Status: store.RequestAccepted}); err != nil {
					t.Fatal(err)
				}
				kept.at.Store(at)
				if _, err := s.Resume(ctx, r.RunID); (err != nil) != (at == "restore") {
					t.Error(err)
				}
				synctest.Wait()
				again, err := s.Resume(ctx, r.RunID)
				if err != nil {
					t.Fatal(err)
				}
				if got := story(drain(t, again)); got[len(got)-1] != "done stop" {
					t.Errorf("%q", got)
				}
			})
		})
	}
}

// TestAPanicAtTheEnd: a run whose end panics is failed, its session free.
func TestAPanicAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, last := newStore(t), atomic.Bool{}
		o := chat.Options{Store: kept, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time {
			if last.CompareAndSwap(true, false) {
				panic("boom")
			}
			return time.Now()
		}}
		answer := scripted.Text("Yes.")
		answer.Before = func(context.Context, int) error { last.Store(true); return nil }
		s := newService(t, scripted.New(answer, scripted.Text("Again.")), o, helper)
		ctx := as(t.Context(), "alice", "s1")
		started, err := s.Start(ctx, chat.Request{Input: "Hi"})
		if err != nil {
			t.Fatal(err)
		}
		if got := story(drain(t, started)); got[len(got)-1] != "done error" {
			t.Errorf("%q", got)
		}
		if _, r, err := s.Open(ctx, started.RunID); err != nil || r.Status != store.RunFailed {
			t.Errorf("%+v %v", r, err)
		}
		if got := story(turn(t, s, ctx, "Hi")); got[len(got)-1] != "done stop" {
			t.Errorf("%q", got)
		}
	})
}

// TestAPanicOfTheStore at a run's last write is a failure that is retried.
func TestAPanicOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &startling{Store: newStore(t)}
		kept.at.Store("end")
		s := newService(t, scripted.New(scripted.Text("Yes.")), chat.Options{Store: kept, Logger: slog.New(slog.DiscardHandler)}, helper)
		ctx := as(t.Context(), "alice", "s1")
		events := turn(t, s, ctx, "Hi")
		synctest.Wait()
		if _, r, err := s.Open(ctx, events[0].RunID); err != nil || r.Status != store.RunCompleted {
			t.Errorf("%+v %v", r, err)
		}
	})
}
