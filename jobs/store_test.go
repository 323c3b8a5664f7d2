package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"p8/identity"
	"p8/jobs"
	"p8/store"
	"p8/store/sqlite"
)

// TestBesideTheStore: the store and the jobs write one file at once, and nobody
// hears that it is locked.
func TestBesideTheStore(t *testing.T) {
	path := t.TempDir() + "/p8.db"
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	var log locked
	o := options(jobs.Options{SQLite: path, Workers: 8})
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	q := open(t, o)
	var ran atomic.Int32
	register(t, q, "tick", jobs.Worker{Run: func(context.Context, json.RawMessage) error { ran.Add(1); return nil }})
	start(t, q)

	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	var wrote, put atomic.Int32
	var slowest atomic.Int64
	var wg sync.WaitGroup
	for worker := range 4 {
		as := identity.With(t.Context(), identity.Identity{UserID: fmt.Sprint("user-", worker)})
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := s.PutUser(as, &store.User{Name: fmt.Sprint("name ", n)}); err != nil {
					t.Error(err)
					return
				}
				wrote.Add(1)
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				if _, err := q.Enqueue(t.Context(), "tick", nil, jobs.EnqueueOptions{}); err != nil {
					t.Error(err)
					return
				}
				slowest.Store(max(slowest.Load(), int64(time.Since(began))))
				put.Add(1)
			}
		})
	}
	wg.Wait()
	for deadline := time.Now().Add(30 * time.Second); ran.Load() < put.Load() && time.Now().Before(deadline); {
		all, err := q.List(t.Context(), jobs.Filter{States: []jobs.State{jobs.Pending, jobs.Running}, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 {
			break
		}
	}
	t.Logf("%d rows stored, %d jobs put, %d ran, the slowest put took %v", wrote.Load(), put.Load(), ran.Load(), time.Duration(slowest.Load()))
	if wrote.Load() == 0 || put.Load() == 0 || ran.Load() != put.Load() {
		t.Error("something was lost")
	}
	if text := log.String(); text != "" {
		t.Errorf("the log is not empty:\n%s", text)
	}
}

// locked is a buffer for a log.
type locked struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
