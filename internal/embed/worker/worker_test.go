package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river/rivertype"

	"github.com/p8-org/p8/internal/embed"
	"github.com/p8-org/p8/internal/embed/worker"
	"github.com/p8-org/p8/internal/outbound"
)

func numbered(n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i)
	}
	return texts
}

// TestRunDrains: all tasks, in bounded batches, not too many at once.
func TestRunDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newMemory(numbered(1000)...), &model{slow: time.Second}
		s.missing = numbered(50) // rows without a vector come after
		if err := newWorker(t, s, m).Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if s.stored() != 1000 || len(s.tasks) != 0 {
			t.Errorf("%d stored, %d left", s.stored(), len(s.tasks))
		}
		if m.most != 4 || m.largest != 32 {
			t.Errorf("%d batches at once, the largest of %d", m.most, m.largest)
		}
		if fmt.Sprint(s.prepared) != "[test:model 3]" {
			t.Errorf("prepared %v", s.prepared)
		}
		if s.swept != 2 {
			t.Errorf("looked %d times for rows without a vector", s.swept)
		}
	})
}

// TestOneBadText: a text that fails is retried with growing pauses; the other texts get
// vectors.
func TestOneBadText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMemory("a", "bad", "b")
		w := newWorker(t, s, &model{})
		if err := w.Run(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if s.stored() != 2 {
			t.Errorf("%d stored", s.stored())
		}
		for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360} {
			task, ok := s.task("bad")
			if pause := time.Until(task.DueAt); !ok || task.Attempts != i+1 || pause != want*time.Minute {
				t.Fatalf("after %d failures: %d attempts, the next in %v", i+1, task.Attempts, pause)
			}
			if task.Error != "the embedding model test:model refused the text" {
				t.Errorf("the error is %q", task.Error)
			}
			time.Sleep(want * time.Minute)
			if err := w.Run(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if s.stored() != 2 {
			t.Error("something was stored in place of a vector")
		}
	})
}

// TestModelIsDown: the run ends with the error, which is stored with the tasks; only the
// first tasks are delayed.
func TestModelIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newMemory(numbered(500)...), &model{}
		m.down = &embed.Error{Kind: outbound.RateLimit, Model: "test:model", RetryAfter: 10 * time.Minute}
		w := newWorker(t, s, m)
		if err := w.Run(t.Context(), nil); !errors.Is(err, m.down) {
			t.Fatalf("the run ended with %v", err)
		}
		failed := 0
		for _, task := range s.tasks {
			if task.Attempts > 0 {
				failed++
				if d := time.Until(task.DueAt); d != 10*time.Minute || !strings.Contains(task.Error, "rate limited") {
					t.Errorf("%q, due in %v", task.Error, d)
				}
			}
		}
		if failed != 128 || s.stored() != 0 {
			t.Errorf("%d of 500 were put off, %d stored", failed, s.stored())
		}
		m.down = nil
		time.Sleep(10 * time.Minute)
		if err := w.Run(t.Context(), nil); err != nil || s.stored() != 500 {
			t.Errorf("afterwards: %v, %d stored", err, s.stored())
		}
	})
}

func TestStoreIsDown(t *testing.T) {
	s := newMemory("a")
	s.err = errors.New("no disk")
	if err := newWorker(t, s, &model{}).Run(t.Context(), nil); !errors.Is(err, s.err) {
		t.Errorf("%v", err)
	}
}

// TestCancelled: a cancelled run is no failure of any text.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMemory("a", "b")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := newWorker(t, s, &model{slow: time.Minute}).Run(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if task, ok := s.task("a"); !ok || task.Attempts != 0 {
			t.Errorf("the task is %+v", task)
		}
	})
}

// TestShift: a long run yields to other jobs, and a run without progress ends soon.
func TestShift(t *testing.T) {
	tests := []struct {
		name  string
		texts []string
		after time.Duration
		pause time.Duration
	}{
		{"a long queue", numbered(10_000), 301 * time.Second, 0},
		{"a text that keeps changing", []string{"changing"}, 3 * time.Second, time.Minute},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				m := &model{slow: time.Second}
				if len(test.texts) > 1 {
					m.slow = 7 * time.Second // 43 rounds of 128
				}
				err := newWorker(t, newMemory(test.texts...), m).Run(t.Context(), nil)
				var again *rivertype.JobSnoozeError
				if !errors.As(err, &again) || again.Duration != test.pause {
					t.Errorf("ended with %v", err)
				}
				if took := time.Since(began); took != test.after {
					t.Errorf("ended after %v, want %v", took, test.after)
				}
			})
		})
	}
}

// TestDrain: a process without a queue embeds everything, without a time limit, and gives
// up only without progress.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMemory(numbered(10_000)...)
		if err := newWorker(t, s, &model{slow: 7 * time.Second}).Drain(t.Context()); err != nil || s.stored() != 10_000 {
			t.Errorf("%v, %d stored", err, s.stored())
		}
		s = newMemory("changing")
		if err := newWorker(t, s, &model{}).Drain(t.Context()); err != nil || s.stored() != 0 {
			t.Errorf("%v, %d stored", err, s.stored())
		}
	})
}

// TestSweep: the worker looks for rows without a vector when a process starts, then once an
// hour.
func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newMemory()
		s.missing = numbered(12_000)
		w := newWorker(t, s, &model{})
		for range 5 {
			if err := w.Run(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
		}
		if s.stored() != 12_000 || s.swept != 4 { // 5,000, 5,000, 2,000, none
			t.Errorf("%d stored after %d sweeps", s.stored(), s.swept)
		}
		time.Sleep(time.Hour)
		s.missing = []string{"late"}
		if err := w.Run(t.Context(), nil); err != nil || s.stored() != 12_001 {
			t.Errorf("an hour later: %v, %d stored", err, s.stored())
		}
	})
}

func TestRegister(t *testing.T) {
	q := &queue{}
	if err := newWorker(t, newMemory(), &model{}).Register(q); err != nil {
		t.Fatal(err)
	}
	if !q.worker.Unique {
		t.Error("the job is not unique")
	}
	for attempt, want := range map[int]time.Duration{1: time.Minute, 2: 2 * time.Minute, 4: 5 * time.Minute, 100: 5 * time.Minute} {
		if got := q.worker.Backoff(attempt); got != want {
			t.Errorf("the pause after attempt %d is %v, want %v", attempt, got, want)
		}
	}
	if _, err := worker.New(worker.Options{}); err == nil {
		t.Error("a worker of nothing")
	}
}
