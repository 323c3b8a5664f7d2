package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/internal/jobs"
)

// TestPeriodic: some hours of cron expressions and intervals under a fake clock.
func TestPeriodic(t *testing.T) {
	t.Parallel()
	o := onSQLite(t)
	o.PollInterval = 30 * time.Second
	synctest.Test(t, func(t *testing.T) { // begins at midnight, UTC
		q, err := jobs.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		var got []string
		note := func(_ context.Context, args json.RawMessage) error {
			got = append(got, fmt.Sprintf("%s %s", args, time.Since(began).Round(10*time.Minute)))
			return nil
		}
		register(t, q, "note", jobs.Worker{Run: note})
		register(t, q, "first", jobs.Worker{Run: note, Unique: true})
		for kind, s := range map[string]jobs.Schedule{
			"note":  {Cron: "10 1,3 * * *", Args: "cron"},
			"first": {Every: 90 * time.Minute, AtStart: true, Args: "every"},
		} {
			if err := q.Periodic(kind, s); err != nil {
				t.Fatal(err)
			}
		}
		start(t, q)
		time.Sleep(3*time.Hour + 30*time.Minute)
		if err := q.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := `["every" 0s "cron" 1h10m0s "every" 1h30m0s "every" 3h0m0s "cron" 3h10m0s]`
		if fmt.Sprint(got) != want {
			t.Errorf("ran %v, want %v", got, want)
		}
	})
}

// TestPauses: the pauses between attempts grow.
func TestPauses(t *testing.T) {
	t.Parallel()
	o := onSQLite(t)
	o.PollInterval = 2 * time.Second
	synctest.Test(t, func(t *testing.T) {
		q, err := jobs.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var at []time.Time
		register(t, q, "flaky", jobs.Worker{Run: func(context.Context, json.RawMessage) error {
			at = append(at, time.Now())
			return errors.New("no")
		}})
		start(t, q)
		enqueue(t, q, "flaky", nil, jobs.EnqueueOptions{RunAt: time.Now().Add(time.Minute)})
		began := time.Now()
		time.Sleep(15 * time.Minute)
		if err := q.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(at) != 4 {
			t.Fatalf("%d attempts", len(at))
		}
		const late = 8 * time.Second  // the look for due jobs, and a poll
		const early = 2 * time.Second // a pause counts from when the attempt was taken, at counts from when it ran
		for i, pause := range []time.Duration{time.Minute, 30 * time.Second, 2 * time.Minute, 8 * time.Minute} {
			if i > 0 {
				began = at[i-1]
			}
			if d := at[i].Sub(began); d < pause*9/10-early || d > pause*11/10+late {
				t.Errorf("attempt %d came after %v, want about %v", i+1, d, pause)
			}
		}
	})
}

func TestBackoffIsBounded(t *testing.T) {
	for attempt, want := range map[int]time.Duration{-1: 30 * time.Second, 1: 30 * time.Second, 2: 2 * time.Minute, 3: 8 * time.Minute, 9: 6 * time.Hour, 1000: 6 * time.Hour} {
		if got := jobs.Backoff(attempt); got < want*9/10 || got > want*11/10 {
			t.Errorf("Backoff(%d) = %v, want about %v", attempt, got, want)
		}
	}
}
