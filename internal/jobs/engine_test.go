package jobs_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/testkit/harness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engines runs a test on both databases, each time on a new one.
func engines(t *testing.T, test func(t *testing.T, o jobs.Options)) {
	t.Run("sqlite", func(t *testing.T) { test(t, onSQLite(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, onPostgres(t)) })
}

func onSQLite(t *testing.T) jobs.Options {
	t.Helper()
	path := filepath.Join(t.TempDir(), "with space & + sign.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return options(jobs.Options{SQLite: path})
}

func onPostgres(t *testing.T) jobs.Options {
	t.Helper()
	return options(jobs.Options{PostgresURL: harness.Postgres(t, "")})
}

func options(o jobs.Options) jobs.Options {
	o.PollInterval = 50 * time.Millisecond
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	return o
}

func open(t *testing.T, o jobs.Options) *jobs.Queue {
	t.Helper()
	q, err := jobs.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(within(t, 10*time.Second)); err != nil {
			t.Error(err)
		}
	})
	return q
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), d)
	t.Cleanup(cancel)
	return ctx
}

func register(t *testing.T, q *jobs.Queue, kind string, w jobs.Worker) {
	t.Helper()
	if err := q.Register(kind, w); err != nil {
		t.Fatal(err)
	}
}

func start(t *testing.T, q *jobs.Queue) {
	t.Helper()
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func enqueue(t *testing.T, q *jobs.Queue, kind string, args any, o jobs.EnqueueOptions) jobs.Receipt {
	t.Helper()
	r, err := q.Enqueue(t.Context(), kind, args, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// job returns the job with this id.
func job(t *testing.T, q *jobs.Queue, id int64) jobs.Job {
	t.Helper()
	all, err := q.List(t.Context(), jobs.Filter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		if j.ID == id {
			return j
		}
	}
	t.Fatalf("job %d is not listed", id)
	return jobs.Job{}
}

// patience bounds waits that normally take no time.
const patience = 2 * time.Minute

// await waits until the job is in the state.
func await(t *testing.T, q *jobs.Queue, id int64, want jobs.State) jobs.Job {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		j := job(t, q, id)
		if j.State == want {
			return j
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("job %d is %s, want %s: %+v", id, j.State, want, j)
		}
	}
}

// receive waits for a value.
func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// noPause is a worker's backoff in tests.
func noPause(int) time.Duration { return 0 }

type run = func(context.Context, json.RawMessage) error
