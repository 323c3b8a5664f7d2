package worker_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/internal/embed/worker"
	"github.com/p8-org/p8/store"
)

// watch runs Watch under a fake clock while the script runs.
func watch(t *testing.T, script func(s *memory, q *queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, q := newMemory(), &queue{began: time.Now()}
		w, err := worker.New(worker.Options{Store: s, Model: &model{}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Watch(ctx, q)
		}()
		synctest.Wait()
		script(s, q)
		cancel()
		<-done
	})
}

func TestWatchWakesTheJob(t *testing.T) {
	watch(t, func(s *memory, q *queue) {
		time.Sleep(10 * time.Second)
		s.add("a")
		synctest.Wait()
		s.add("b") // within a moment of the other
		time.Sleep(time.Second)
		if got := fmt.Sprint(q.times()); got != "[0s 10s 10.2s]" {
			t.Errorf("woken at %s: at the start, for a, and once for what came in a moment", got)
		}
	})
}

// TestWatchIsIdle: an hour without work costs a few reads and no writes.
func TestWatchIsIdle(t *testing.T) {
	watch(t, func(s *memory, q *queue) {
		time.Sleep(time.Hour + time.Second)
		if q.called() != 1 || s.looks() > 61 {
			t.Errorf("%d calls of the queue, %d looks at the store", q.called(), s.looks())
		}
	})
}

// TestWatchFindsWhatComesDue: a failed text, or one of another process.
func TestWatchFindsWhatComesDue(t *testing.T) {
	watch(t, func(s *memory, q *queue) {
		s.mu.Lock()
		s.tasks = []store.EmbeddingTask{{EntityID: "a", Text: "a", DueAt: time.Now().Add(10 * time.Minute)}}
		s.mu.Unlock()
		time.Sleep(10*time.Minute - time.Second)
		if n := len(q.times()); n != 1 {
			t.Errorf("woken %d times too early", n-1)
		}
		time.Sleep(time.Minute + time.Second)
		if n := len(q.times()); n != 2 {
			t.Errorf("woken %d times when it was due", n-1)
		}
	})
}

// TestWatchFollowsARunningJob: a text that is queued while a job ends is embedded by the
// next job.
func TestWatchFollowsARunningJob(t *testing.T) {
	watch(t, func(s *memory, q *queue) {
		time.Sleep(time.Second)
		q.set(true, nil)
		s.add("a")
		time.Sleep(20 * time.Second)
		if q.called() > 7 { // after 1, 2, 4, 8 … seconds
			t.Errorf("%d calls of the queue beside a running job", q.called())
		}
		q.set(false, nil)
		before := len(q.times())
		time.Sleep(20 * time.Second)
		if len(q.times()) != before+1 {
			t.Errorf("not woken after the running job ended: %v", q.times())
		}
	})
}

func TestWatchOutlivesFailures(t *testing.T) {
	watch(t, func(s *memory, q *queue) {
		q.set(false, errors.New("no database"))
		s.add("a")
		time.Sleep(time.Second)
		q.set(false, nil)
		time.Sleep(2 * time.Minute)
		if len(q.times()) < 2 {
			t.Error("gave up")
		}
	})
}
