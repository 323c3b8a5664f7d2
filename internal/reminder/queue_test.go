package reminder

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
	"github.com/p8-org/p8/store/sqlite"
)

// process is a p8 on a database: a store, a queue that runs, the reminders.
type process struct {
	store *store.Store
	queue *jobs.Queue
	*Service
}

// begin starts a process, which ends with the test.
func begin(t *testing.T, s *store.Store, o jobs.Options, h *hook) *process {
	t.Helper()
	o.PollInterval, o.Logger = 50*time.Millisecond, slog.New(slog.DiscardHandler)
	o.Turn = s.Maintenance().Turn
	q, err := jobs.Open(t.Context(), o)
	must(t, err)
	client := &http.Client{Transport: &http.Transport{}}
	r, err := New(Options{Store: s, Queue: q, WebhookURL: h.server.URL, WebhookSecret: "s", HTTPClient: client, Logger: o.Logger})
	must(t, err)
	must(t, q.Register(Kind, r.Worker()))
	must(t, q.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		must(t, q.Close(ctx))
		must(t, s.Close())
		client.CloseIdleConnections()
	})
	return &process{s, q, r}
}

func TestOnSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p8.db")
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: path, Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	h := newHook(t)
	onQueue(t, h, begin(t, s, jobs.Options{SQLite: path}, h))
}

// TestOnPostgres has two replicas on one database.
func TestOnPostgres(t *testing.T) {
	t.Parallel()
	database := harness.Postgres(t, "")
	h := newHook(t)
	replica := func() *process {
		s, err := postgres.Open(t.Context(), postgres.Options{URL: database, Logger: slog.New(slog.DiscardHandler)})
		must(t, err)
		return begin(t, s, jobs.Options{PostgresURL: database}, h)
	}
	onQueue(t, h, replica(), replica())
}

// onQueue checks that a one-time reminder and one that is a day late fire exactly once on
// the real queue, and that followers in every process get both.
func onQueue(t *testing.T, h *hook, all ...*process) {
	ctx := as(t, "alice")
	first := all[0]
	type heard struct {
		by       int
		reminder string
	}
	const notes = 2
	told := make(chan heard, 10*notes)
	following, stop := context.WithCancel(ctx)
	ended := make(chan error, len(all))
	for i, p := range all {
		go func() {
			ended <- p.Follow(following, "", func(n Notification) error {
				told <- heard{i, n.ReminderID}
				return nil
			})
		}()
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for joined := false; !joined; <-tick.C { // before anything fires
		joined = true
		for _, p := range all {
			p.followers.mu.Lock()
			joined = joined && p.followers.n == 1
			p.followers.mu.Unlock()
		}
	}

	yesterday, err := New(Options{Store: first.store, Queue: first.queue, Now: func() time.Time { return time.Now().AddDate(0, 0, -1) }})
	must(t, err)
	late, err := yesterday.Remind(ctx, Request{Name: "late", Description: "x", When: "*/10 * * * *"})
	must(t, err)
	due := time.Now().Add(2 * time.Second).Truncate(time.Second)
	once, err := first.Remind(ctx, Request{Name: "once", Description: "x", When: due.UTC().Format(time.RFC3339)})
	must(t, err)

	deadline := time.After(30 * time.Second)
	got := map[heard]int{}
	for range notes * len(all) {
		select {
		case x := <-told:
			got[x]++
		case <-deadline:
			t.Fatalf("heard only %v", got)
		}
	}
	for i := range all {
		for _, id := range []string{late.ID, once.ID} {
			if n := got[heard{i, id}]; n != 1 {
				t.Errorf("process %d heard %d times of %s", i, n, id)
			}
		}
	}
	// What follows the notifications: the webhook, and the end of the jobs.
	for done := 0; done < notes; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the jobs do not end")
		}
		stats, err := first.queue.Stats(ctx, "")
		must(t, err)
		done = stats[0].States[jobs.Completed]
	}
	stop()
	for range all {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if n := len(h.deliveries()); n != notes {
		t.Errorf("the webhook was told %d times", n)
	}
	waiting, err := first.queue.List(ctx, jobs.Filter{States: []jobs.State{jobs.Scheduled, jobs.Pending}})
	must(t, err)
	if len(waiting) != 1 || !strings.HasPrefix(waiting[0].Key, late.ID) || !waiting[0].RunAt.After(time.Now().Add(-time.Minute)) {
		t.Errorf("%+v wait", waiting)
	}
	kept, err := first.List(ctx, ListFilter{})
	must(t, err)
	if len(kept) != 1 || kept[0].ID != late.ID || !kept[0].Next.Equal(waiting[0].RunAt) {
		t.Errorf("%+v", kept)
	}
}
