package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/internal/jobs"
)

func TestStats(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o jobs.Options) {
		t.Parallel()
		q := open(t, o)
		if got, err := q.Stats(t.Context(), ""); err != nil || len(got) != 0 {
			t.Fatalf("an empty queue has %+v, %v", got, err)
		}
		const took = 1500 * time.Millisecond
		began := time.Now()
		register(t, q, "good", jobs.Worker{Run: func(ctx context.Context, _ json.RawMessage) error {
			select {
			case <-time.After(took):
			case <-ctx.Done():
			}
			return nil
		}})
		register(t, q, "bad", jobs.Worker{MaxAttempts: 2, Backoff: noPause, Run: func(context.Context, json.RawMessage) error {
			return errors.New("no")
		}})
		start(t, q)
		good := enqueue(t, q, "good", nil, jobs.EnqueueOptions{})
		bad := enqueue(t, q, "bad", nil, jobs.EnqueueOptions{})
		enqueue(t, q, "bad", nil, jobs.EnqueueOptions{RunAt: time.Now().Add(time.Hour)})
		gone := enqueue(t, q, "bad", nil, jobs.EnqueueOptions{RunAt: time.Now().Add(time.Hour)})
		if _, err := q.Cancel(t.Context(), gone.ID); err != nil {
			t.Fatal(err)
		}
		await(t, q, good.ID, jobs.Completed)
		await(t, q, bad.ID, jobs.Failed)
		most := time.Since(began)

		got, err := q.Stats(t.Context(), "")
		if err != nil || len(got) != 2 {
			t.Fatalf("%+v, %v", got, err)
		}
		// SQLite stores the end of a job in whole seconds.
		if a := got[1].Average; a < took-time.Second || a > most+time.Second || a != got[1].Longest {
			t.Errorf("the job that took %v has the average %v and the longest %v", took, a, got[1].Longest)
		}
		got[1].Average, got[1].Longest = 0, 0
		want := []jobs.KindStats{
			{Kind: "bad", States: map[jobs.State]int{jobs.Failed: 1, jobs.Scheduled: 1, jobs.Cancelled: 1}, Attempts: 2, Errors: 2},
			{Kind: "good", States: map[jobs.State]int{jobs.Completed: 1}, Attempts: 1},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}

// TestStatsOfOthers: jobs of another process count, with their waits.
func TestStatsOfOthers(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o jobs.Options) {
		t.Parallel()
		mine, theirs := open(t, o), open(t, o)
		register(t, mine, "late", jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }})
		for _, ago := range []time.Duration{time.Minute, time.Hour} {
			enqueue(t, mine, "late", nil, jobs.EnqueueOptions{RunAt: time.Now().Add(-ago)})
		}
		got, err := theirs.Stats(t.Context(), "")
		if err != nil || len(got) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if d := got[0].Oldest; d < time.Hour-time.Second || d > time.Hour+time.Minute {
			t.Errorf("the oldest waits %v, want an hour", d)
		}
		if n := got[0].States[jobs.Scheduled]; n != 2 {
			t.Errorf("%d wait: %+v", n, got)
		}
	})
}

// TestStatsOfATenant: a tenant's jobs are those whose arguments name it.
func TestStatsOfATenant(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o jobs.Options) {
		t.Parallel()
		q := open(t, o)
		register(t, q, "late", jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }})
		later := jobs.EnqueueOptions{RunAt: time.Now().Add(time.Hour)}
		for _, args := range []any{nil, struct{}{}, map[string]string{"tenant": "acme"}, map[string]string{"tenant": "acme", "user": "rita"}, map[string]any{"of": map[string]string{"tenant": "acme"}}, map[string]string{"tenant": "globex"}} {
			enqueue(t, q, "late", args, later)
		}
		for tenant, want := range map[string]int{"": 6, "acme": 2, "globex": 1, "' OR 1=1 --": 0, "%": 0} {
			got, err := q.Stats(t.Context(), tenant)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, k := range got {
				n += k.States[jobs.Scheduled]
			}
			if n != want {
				t.Errorf("%q has %d jobs, want %d: %+v", tenant, n, want, got)
			}
		}
	})
}

func TestStatsWithoutTables(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/p8.db"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	q := open(t, jobs.Options{SQLite: path, ReadOnly: true})
	if got, err := q.Stats(t.Context(), ""); err != nil || got != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if err := q.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Stats(t.Context(), ""); !errors.Is(err, jobs.ErrClosed) {
		t.Errorf("a closed queue: %v", err)
	}
}
