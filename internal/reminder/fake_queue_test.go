package reminder

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/jobs"
)

// fakeJob is a job of fakeQueue.
type fakeJob struct {
	args     json.RawMessage
	key      string
	runAt    time.Time
	attempts int
	ended    bool // done or failed for good
	failed   error
}

// fakeQueue is a queue that runs jobs by the test's clock.
type fakeQueue struct {
	clock *clock
	mu    sync.Mutex
	all   []*fakeJob
}

func (q *fakeQueue) Enqueue(_ context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if kind != Kind || o.UniqueKey == "" {
		return jobs.Receipt{}, errors.New("not a job of this room")
	}
	for i, j := range q.all {
		if j.key == o.UniqueKey && !j.ended {
			return jobs.Receipt{ID: int64(i), Duplicate: true}, nil
		}
	}
	raw, err := json.Marshal(args)
	q.all = append(q.all, &fakeJob{args: raw, key: o.UniqueKey, runAt: o.RunAt})
	return jobs.Receipt{ID: int64(len(q.all) - 1)}, err
}

// due returns the first waiting job that is due by then.
func (q *fakeQueue) due(by time.Time) *fakeJob {
	q.mu.Lock()
	defer q.mu.Unlock()
	var first *fakeJob
	for _, j := range q.all {
		if !j.ended && !j.runAt.After(by) && (first == nil || j.runAt.Before(first.runAt)) {
			first = j
		}
	}
	return first
}

func (q *fakeQueue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, j := range q.all {
		if !j.ended {
			n++
		}
	}
	return n
}

// run makes one attempt of a job, as the queue does.
func (q *fakeQueue) run(ctx context.Context, j *fakeJob, w jobs.Worker) {
	err := w.Run(ctx, j.args)
	q.mu.Lock()
	defer q.mu.Unlock()
	if after, again := jobs.AgainAfter(err); again {
		j.runAt = q.clock.now().Add(after)
		return
	}
	j.attempts++
	j.failed = err
	j.ended = err == nil || j.attempts >= w.MaxAttempts
	j.runAt = q.clock.now().Add(time.Duration(j.attempts) * time.Minute)
}
