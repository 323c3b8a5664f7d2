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

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// TestBesideTheStore: the store and the jobs write one file at once, and nobody
// hears that it is locked.
func TestBesideTheStore(t *testing.T) {
	t.Parallel()
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
	const producers, each = 2, 200
	ran := make(chan struct{}, producers*each)
	register(t, q, "tick", jobs.Worker{Run: func(context.Context, json.RawMessage) error {
		ran <- struct{}{}
		return nil
	}})
	start(t, q)

	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	var wrote atomic.Int32
	var wg sync.WaitGroup
	for worker := range 4 {
		as := identity.With(t.Context(), identity.Identity{UserID: fmt.Sprint("user-", worker)})
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := s.Users().Put(as, &store.User{Name: fmt.Sprint("name ", n)}); err != nil {
					t.Error(err)
					return
				}
				wrote.Add(1)
			}
		})
	}
	for range producers {
		wg.Go(func() {
			for range each {
				if _, err := q.Enqueue(t.Context(), "tick", nil, jobs.EnqueueOptions{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for range producers * each {
		receive(t, ran)
	}
	if wrote.Load() == 0 {
		t.Error("the store wrote nothing")
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
