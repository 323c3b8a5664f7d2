package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/jobs"
)

func TestJobRuns(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		got := make(chan string, 1)
		register(t, q, "greet", jobs.Worker{Run: func(_ context.Context, args json.RawMessage) error {
			got <- string(args)
			return nil
		}})
		early := enqueue(t, q, "greet", map[string]any{"who": "Ada", "n": 1}, jobs.EnqueueOptions{})
		if j := job(t, q, early.ID); j.State != jobs.Pending || j.Kind != "greet" || j.Attempt != 0 || j.CreatedAt.IsZero() {
			t.Errorf("before the start: %+v", j)
		}
		start(t, q)
		if args := receive(t, got); !sameJSON(args, `{"who":"Ada","n":1}`) {
			t.Errorf("args %s", args)
		}
		j := await(t, q, early.ID, jobs.Completed)
		if j.Attempt != 1 || j.StartedAt.IsZero() || j.FinishedAt.Before(j.StartedAt) || j.Error != "" {
			t.Errorf("after: %+v", j)
		}
		enqueue(t, q, "greet", nil, jobs.EnqueueOptions{})
		if args := receive(t, got); args != "{}" {
			t.Errorf("no arguments are %s, want {}", args)
		}
	})
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// TestFailure: a failed job is retried, then listed with its error, and can be retried by
// hand.
func TestFailure(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		var calls atomic.Int32
		var mended atomic.Bool
		register(t, q, "flaky", jobs.Worker{MaxAttempts: 3, Backoff: noPause, Run: func(context.Context, json.RawMessage) error {
			calls.Add(1)
			switch {
			case mended.Load():
				return nil
			case calls.Load() == 2:
				panic("a secret of the stack")
			}
			return errors.New("no answer from https://ada:hunter2@example.com/x\nBearer abcdef")
		}})
		start(t, q)
		r := enqueue(t, q, "flaky", nil, jobs.EnqueueOptions{})
		j := await(t, q, r.ID, jobs.Failed)
		if calls.Load() != 3 || j.Attempt != 3 || j.MaxAttempts != 3 {
			t.Errorf("%d calls, %+v", calls.Load(), j)
		}
		if want := "no answer from https://ada:********@example.com/x Bearer ********"; j.Error != want || j.ErrorAt.IsZero() {
			t.Errorf("error %q at %v, want %q", j.Error, j.ErrorAt, want)
		}
		mended.Store(true)
		if _, err := q.Retry(t.Context(), r.ID); err != nil {
			t.Fatal(err)
		}
		if j := await(t, q, r.ID, jobs.Completed); j.Attempt != 4 {
			t.Errorf("after the retry: %+v", j)
		}
	})
}

func TestPanicIsAFailureWithoutDetails(t *testing.T) {
	q := open(t, onSQLite(t))
	register(t, q, "boom", jobs.Worker{MaxAttempts: 1, Run: func(context.Context, json.RawMessage) error {
		panic("postgres://ada:hunter2@db")
	}})
	start(t, q)
	j := await(t, q, enqueue(t, q, "boom", nil, jobs.EnqueueOptions{}).ID, jobs.Failed)
	if j.Error != "the job panicked; the log has the details" {
		t.Errorf("error %q", j.Error)
	}
}

func TestUnique(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		release, began := make(chan struct{}), make(chan string, 10)
		var wait run = func(_ context.Context, args json.RawMessage) error {
			began <- string(args)
			<-release
			return nil
		}
		register(t, q, "single", jobs.Worker{Run: wait, Unique: true})
		register(t, q, "keyed", jobs.Worker{Run: wait})
		start(t, q)
		first := enqueue(t, q, "single", nil, jobs.EnqueueOptions{})
		receive(t, began)
		if r := enqueue(t, q, "single", map[string]int{"other": 1}, jobs.EnqueueOptions{}); !r.Duplicate || r.ID != first.ID {
			t.Errorf("a second one beside a running one: %+v, want a duplicate of %d", r, first.ID)
		}
		a := enqueue(t, q, "keyed", nil, jobs.EnqueueOptions{UniqueKey: "a"})
		if r := enqueue(t, q, "keyed", nil, jobs.EnqueueOptions{UniqueKey: "a"}); !r.Duplicate || r.ID != a.ID {
			t.Errorf("the same key: %+v", r)
		}
		if r := enqueue(t, q, "keyed", nil, jobs.EnqueueOptions{UniqueKey: "b"}); r.Duplicate {
			t.Errorf("another key: %+v", r)
		}
		if r := enqueue(t, q, "keyed", nil, jobs.EnqueueOptions{}); r.Duplicate {
			t.Errorf("no key: %+v", r)
		}
		close(release)
		await(t, q, first.ID, jobs.Completed)
		if r := enqueue(t, q, "single", nil, jobs.EnqueueOptions{}); r.Duplicate {
			t.Errorf("after the first has ended: %+v", r)
		}
	})
}

// TestLast: a job of a kind that comes last waits for the others, though it was first.
func TestLast(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		o.Workers = 1
		q := open(t, o)
		got := make(chan string, 3)
		for kind, last := range map[string]bool{"small": true, "great": false} {
			register(t, q, kind, jobs.Worker{Last: last, Run: func(context.Context, json.RawMessage) error {
				got <- kind
				return nil
			}})
		}
		for _, kind := range []string{"small", "great", "great"} {
			enqueue(t, q, kind, nil, jobs.EnqueueOptions{})
		}
		start(t, q)
		if order := receive(t, got) + " " + receive(t, got) + " " + receive(t, got); order != "great great small" {
			t.Error(order)
		}
	})
}

func TestConcurrentUniqueEnqueues(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		register(t, q, "single", jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }, Unique: true})
		var wg sync.WaitGroup
		var fresh atomic.Int32
		for range 20 {
			wg.Go(func() {
				r, err := q.Enqueue(t.Context(), "single", nil, jobs.EnqueueOptions{})
				if err != nil {
					t.Error(err)
				} else if !r.Duplicate {
					fresh.Add(1)
				}
			})
		}
		wg.Wait()
		if fresh.Load() != 1 {
			t.Errorf("%d of 20 were added", fresh.Load())
		}
	})
}

func TestCancel(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		began := make(chan struct{}, 1)
		register(t, q, "long", jobs.Worker{Run: func(ctx context.Context, _ json.RawMessage) error {
			began <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}})
		start(t, q)
		running := enqueue(t, q, "long", nil, jobs.EnqueueOptions{})
		later := enqueue(t, q, "long", nil, jobs.EnqueueOptions{RunAt: time.Now().Add(time.Hour)})
		receive(t, began)
		if _, err := q.Retry(t.Context(), running.ID); !errors.Is(err, jobs.ErrRunning) {
			t.Errorf("retry of a running job: %v", err)
		}
		for _, id := range []int64{running.ID, later.ID} {
			if _, err := q.Cancel(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			await(t, q, id, jobs.Cancelled)
			if j, err := q.Cancel(t.Context(), id); err != nil || j.State != jobs.Cancelled {
				t.Errorf("cancelled twice: %+v, %v", j, err)
			}
		}
		for _, do := range []func(context.Context, int64) (jobs.Job, error){q.Cancel, q.Retry} {
			if _, err := do(t.Context(), 4711); !errors.Is(err, jobs.ErrNotFound) {
				t.Errorf("an unknown id: %v", err)
			}
		}
	})
}

// TestCloseWaits: Close lets a running job end.
func TestCloseWaits(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		began, release := make(chan struct{}), make(chan struct{})
		register(t, q, "slow", jobs.Worker{Run: func(ctx context.Context, _ json.RawMessage) error {
			close(began)
			<-release
			return ctx.Err()
		}})
		start(t, q)
		r := enqueue(t, q, "slow", nil, jobs.EnqueueOptions{})
		receive(t, began)
		closed := make(chan error)
		go func() { closed <- q.Close(within(t, 20*time.Second)) }()
		close(release)
		if err := receive(t, closed); err != nil {
			t.Fatal(err)
		}
		if _, err := q.Enqueue(t.Context(), "slow", nil, jobs.EnqueueOptions{}); !errors.Is(err, jobs.ErrClosed) {
			t.Errorf("enqueue after the close: %v", err)
		}
		if j := job(t, open(t, o), r.ID); j.State != jobs.Completed {
			t.Errorf("the job is %s", j.State)
		}
	})
}

// TestCloseCancels: the next process repeats a job that takes too long, and the attempt
// does not count.
func TestCloseCancels(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		began := make(chan struct{}, 2)
		register(t, q, "endless", jobs.Worker{MaxAttempts: 1, Run: func(ctx context.Context, _ json.RawMessage) error {
			began <- struct{}{}
			<-ctx.Done()
			return fmt.Errorf("interrupted: %w", ctx.Err())
		}})
		start(t, q)
		r := enqueue(t, q, "endless", nil, jobs.EnqueueOptions{})
		receive(t, began)
		if err := q.Close(within(t, 50*time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		next := open(t, o)
		if j := job(t, next, r.ID); j.State != jobs.Pending || j.Attempt != 0 || j.Error != "" {
			t.Errorf("between the processes: %+v", j)
		}
		register(t, next, "endless", jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }})
		start(t, next)
		await(t, next, r.ID, jobs.Completed)
	})
}

// TestAgain: a job may ask to run again without failing.
func TestAgain(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		var calls atomic.Int32
		register(t, q, "parts", jobs.Worker{MaxAttempts: 1, Run: func(context.Context, json.RawMessage) error {
			if calls.Add(1) < 4 {
				return fmt.Errorf("not yet: %w", jobs.Again(0))
			}
			return nil
		}})
		start(t, q)
		if j := await(t, q, enqueue(t, q, "parts", nil, jobs.EnqueueOptions{}).ID, jobs.Completed); j.Attempt != 1 || j.Error != "" {
			t.Errorf("%+v", j)
		}
		if calls.Load() != 4 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}

func TestTimeout(t *testing.T) {
	q := open(t, onSQLite(t))
	register(t, q, "stuck", jobs.Worker{MaxAttempts: 1, Timeout: 30 * time.Millisecond, Run: func(ctx context.Context, _ json.RawMessage) error {
		<-ctx.Done()
		return ctx.Err()
	}})
	start(t, q)
	if j := await(t, q, enqueue(t, q, "stuck", nil, jobs.EnqueueOptions{}).ID, jobs.Failed); !strings.Contains(j.Error, "deadline") {
		t.Errorf("error %q", j.Error)
	}
}

func TestList(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		q := open(t, o)
		nothing := jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }}
		register(t, q, "aa", nothing)
		register(t, q, "bb", nothing)
		var ids []int64
		for i := range 6 {
			kind := "aa"
			if i%2 == 1 {
				kind = "bb"
			}
			var at jobs.EnqueueOptions
			if i >= 4 {
				at = jobs.EnqueueOptions{RunAt: time.Now().Add(time.Hour), UniqueKey: "k"}
			}
			ids = append(ids, enqueue(t, q, kind, i, at).ID)
		}
		tests := []struct {
			name   string
			filter jobs.Filter
			want   []int64
		}{
			{"all, newest first", jobs.Filter{}, []int64{ids[5], ids[4], ids[3], ids[2], ids[1], ids[0]}},
			{"a kind", jobs.Filter{Kinds: []string{"bb"}}, []int64{ids[5], ids[3], ids[1]}},
			{"a state", jobs.Filter{States: []jobs.State{jobs.Scheduled, jobs.Failed}}, []int64{ids[5], ids[4]}},
			{"a page", jobs.Filter{Limit: 2, Before: ids[4]}, []int64{ids[3], ids[2]}},
			{"both", jobs.Filter{Kinds: []string{"aa"}, States: []jobs.State{jobs.Pending}}, []int64{ids[2], ids[0]}},
			{"none", jobs.Filter{Kinds: []string{"cc"}}, nil},
		}
		for _, test := range tests {
			found, err := q.List(t.Context(), test.filter)
			var got []int64
			for _, j := range found {
				got = append(got, j.ID)
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("%s: %v, %v; want %v", test.name, got, err, test.want)
			}
		}
		if j := job(t, q, ids[5]); j.Key != "k" || string(j.Args) != "5" {
			t.Errorf("key %q, args %s", j.Key, j.Args)
		}
		if _, err := q.List(t.Context(), jobs.Filter{States: []jobs.State{"asleep"}}); err == nil || !strings.Contains(err.Error(), "pending, scheduled") {
			t.Errorf("an unknown state: %v", err)
		}
	})
}

func TestRefusals(t *testing.T) {
	q := open(t, onSQLite(t))
	nothing := jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }}
	register(t, q, "known", nothing)
	put := func(kind string, args any, o jobs.EnqueueOptions) error {
		_, err := q.Enqueue(t.Context(), kind, args, o)
		return err
	}
	open := func(o jobs.Options) error { _, err := jobs.Open(t.Context(), o); return err }
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"a short kind", q.Register("x", nothing), "is not 2-64 letters"},
		{"no worker", q.Register("xx", jobs.Worker{}), "nothing to run"},
		{"twice", q.Register("known", nothing), "registered already"},
		{"unknown kind", put("unknown", nil, jobs.EnqueueOptions{}), "no worker is registered"},
		{"large arguments", put("known", strings.Repeat("x", 70_000), jobs.EnqueueOptions{}), "more than 65536"},
		{"arguments that are not JSON", put("known", make(chan int), jobs.EnqueueOptions{}), "not JSON"},
		{"long key", put("known", nil, jobs.EnqueueOptions{UniqueKey: strings.Repeat("x", 600)}), "512 bytes"},
		{"no schedule", q.Periodic("known", jobs.Schedule{}), "either a cron expression or an interval"},
		{"two schedules", q.Periodic("known", jobs.Schedule{Cron: "@daily", Every: time.Hour}), "either"},
		{"too often", q.Periodic("known", jobs.Schedule{Every: time.Millisecond}), "less than a second"},
		{"a bad expression", q.Periodic("known", jobs.Schedule{Cron: "61 * * * *"}), "cannot be read"},
		{"a zone alone", q.Periodic("known", jobs.Schedule{Cron: "CRON_TZ=Europe/Vienna"}), "only a time zone"},
		{"an unknown zone", q.Periodic("known", jobs.Schedule{Cron: "CRON_TZ=Nowhere 0 6 * * *"}), "cannot be read"},
		{"never", q.Periodic("known", jobs.Schedule{Cron: "0 0 30 2 *"}), "never comes due"},
		{"a schedule of an unknown kind", q.Periodic("unknown", jobs.Schedule{Every: time.Hour}), "no worker is registered"},
		{"no database", open(jobs.Options{}), "give one of"},
		{"two databases", open(jobs.Options{SQLite: "a", PostgresURL: "b"}), "give one of"},
		{"a missing file", open(jobs.Options{SQLite: t.TempDir() + "/none.db"}), "there is no database"},
		{"a bad URL", open(jobs.Options{PostgresURL: "postgres://u:hunter2@[::1/x"}), "cannot be read: write postgres://"},
	}
	for _, test := range tests {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) || strings.Contains(test.err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", test.name, test.err, test.want)
		}
	}
	start(t, q)
	if err := q.Register("late", nothing); err == nil {
		t.Error("registered after the start")
	}
	if err := q.Start(t.Context()); err == nil {
		t.Error("started twice")
	}
}
