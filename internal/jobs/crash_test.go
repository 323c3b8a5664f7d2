package jobs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestCrash: a process is killed while a job runs, and the next process runs the job.
func TestCrash(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, o jobs.Options) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		child := exec.Command(exe, "-test.run=^TestCrashChild$")
		child.Env = append(os.Environ(), "JOBS_CHILD_SQLITE="+o.SQLite, "JOBS_CHILD_POSTGRES="+o.PostgresURL)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 7)
		if _, err := out.Read(buf); err != nil || string(buf) != "running" {
			t.Errorf("the child said %q, %v", buf, err)
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // killed

		q := open(t, o)
		all, err := q.List(t.Context(), jobs.Filter{})
		if err != nil || len(all) != 2 {
			t.Fatalf("after the crash: %+v, %v", all, err)
		}
		running, waiting := all[0], all[1]
		if running.State != jobs.Running || waiting.State != jobs.Scheduled {
			t.Fatalf("after the crash: %+v", all)
		}
		age(t, o, running.ID)
		register(t, q, "victim", jobs.Worker{Backoff: noPause, Run: func(context.Context, json.RawMessage) error { return nil }})
		start(t, q)
		if j := await(t, q, running.ID, jobs.Completed); j.Attempt != 2 || j.Error == "" {
			t.Errorf("%+v", j)
		}
		if _, err := q.Retry(t.Context(), waiting.ID); err != nil {
			t.Fatal(err)
		}
		await(t, q, waiting.ID, jobs.Completed)
	})
}

// TestCrashChild is the process that TestCrash kills.
func TestCrashChild(t *testing.T) {
	o := jobs.Options{SQLite: os.Getenv("JOBS_CHILD_SQLITE"), PostgresURL: os.Getenv("JOBS_CHILD_POSTGRES")}
	if o.SQLite == "" && o.PostgresURL == "" {
		return // not started by TestCrash
	}
	q := open(t, options(o))
	register(t, q, "victim", jobs.Worker{Run: func(context.Context, json.RawMessage) error {
		fmt.Print("running")
		select {}
	}})
	enqueue(t, q, "victim", nil, jobs.EnqueueOptions{RunAt: time.Now().Add(time.Hour)})
	enqueue(t, q, "victim", nil, jobs.EnqueueOptions{})
	start(t, q)
	select {}
}

// age makes a running job an hour old, in place of waiting for PostgreSQL's timeout.
func age(t *testing.T, o jobs.Options, id int64) {
	t.Helper()
	if o.PostgresURL == "" {
		return
	}
	harness.Execute(t, o.PostgresURL, fmt.Sprintf(`UPDATE river_job SET attempted_at = now() - interval '1 hour' WHERE id = %d`, id))
}

// TestPoison: a job that kills its process is not run for ever.
func TestPoison(t *testing.T) {
	o := onSQLite(t)
	q := open(t, o)
	register(t, q, "poison", jobs.Worker{MaxAttempts: 1, Run: func(context.Context, json.RawMessage) error { return nil }})
	r := enqueue(t, q, "poison", nil, jobs.EnqueueOptions{})
	db, err := driver.Open("file:" + (&url.URL{Path: o.SQLite}).EscapedPath())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE river_job SET state = 'running', attempt = 1, attempted_at = datetime('now', 'subsec')`); err != nil {
		t.Fatal(err)
	}
	start(t, q)
	if j := await(t, q, r.ID, jobs.Failed); j.Error != "the process ended while the job ran" {
		t.Errorf("%+v", j)
	}
}

// TestDeadLeader: due jobs do not wait until a dead process's leadership would expire.
func TestDeadLeader(t *testing.T) {
	t.Parallel()
	o := onSQLite(t)
	q := open(t, o)
	register(t, q, "due", jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }})
	db, err := driver.Open("file:" + (&url.URL{Path: o.SQLite}).EscapedPath())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO river_leader (elected_at, expires_at, leader_id, name)
		VALUES (datetime('now', 'subsec'), datetime('now', '+1 hour', 'subsec'), 'dead', 'default')`); err != nil {
		t.Fatal(err)
	}
	r := enqueue(t, q, "due", nil, jobs.EnqueueOptions{RunAt: time.Now().Add(time.Second)})
	start(t, q)
	await(t, q, r.ID, jobs.Completed)
}

// TestReplicas: several replicas open, migrate and work at once; each job runs once.
func TestReplicas(t *testing.T) {
	o := onPostgres(t)
	const replicas, each = 3, 40
	var mu sync.Mutex
	runs := map[string]int{}
	done := make(chan struct{}, replicas*each)
	var wg sync.WaitGroup
	for range replicas {
		wg.Go(func() {
			q, err := jobs.Open(t.Context(), o)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() {
				if err := q.Close(within(t, 20*time.Second)); err != nil {
					t.Error(err)
				}
			})
			register(t, q, "count", jobs.Worker{Run: func(_ context.Context, args json.RawMessage) error {
				mu.Lock()
				runs[string(args)]++
				mu.Unlock()
				done <- struct{}{}
				return nil
			}})
			if err := q.Start(t.Context()); err != nil {
				t.Error(err)
				return
			}
			for n := range each {
				// Every replica enqueues the same jobs; a key excludes those that wait or
				// run.
				if _, err := q.Enqueue(t.Context(), "count", fmt.Sprintf("%p-%d", q, n), jobs.EnqueueOptions{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for range replicas * each {
		receive(t, done)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(runs) != replicas*each {
		t.Errorf("%d jobs ran", len(runs))
	}
	for args, n := range runs {
		if n != 1 {
			t.Errorf("%s ran %d times", args, n)
		}
	}
}

// TestReadOnly lists jobs beside the process that runs them, and cannot write.
func TestReadOnly(t *testing.T) {
	engines(t, func(t *testing.T, o jobs.Options) {
		look := o
		look.ReadOnly = true
		before := open(t, look)
		if all, err := before.List(t.Context(), jobs.Filter{}); err != nil || len(all) != 0 {
			t.Errorf("a database without the tables: %v, %v", all, err)
		}
		q := open(t, o)
		register(t, q, "task", jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }})
		start(t, q)
		r := enqueue(t, q, "task", nil, jobs.EnqueueOptions{})
		beside := open(t, look)
		await(t, beside, r.ID, jobs.Completed)
		register(t, beside, "task", jobs.Worker{Run: func(context.Context, json.RawMessage) error { return nil }})
		_, put := beside.Enqueue(t.Context(), "task", nil, jobs.EnqueueOptions{})
		_, cancel := beside.Cancel(t.Context(), r.ID)
		for _, err := range []error{put, cancel, beside.Start(t.Context())} {
			if err != jobs.ErrReadOnly {
				t.Errorf("%v, want ErrReadOnly", err)
			}
		}
	})
}
