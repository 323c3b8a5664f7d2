package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// TestBesideTheStore: the store and the jobs write one file at once, and neither fails
// because it is locked.
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

	// The store writes while jobs are enqueued, at least this often.
	const least = 100
	enqueued := make(chan struct{})
	var writers, wg sync.WaitGroup
	for worker := range 4 {
		as := identity.With(t.Context(), identity.Identity{UserID: fmt.Sprint("user-", worker)})
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-enqueued:
					if n >= least {
						return
					}
				default:
				}
				if err := s.Users().Put(as, &store.User{Name: fmt.Sprint("name ", n)}); err != nil {
					t.Error(err)
					return
				}
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
	close(enqueued)
	writers.Wait()
	for range producers * each {
		receive(t, ran)
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
