package worker

import (
	"context"
	"time"

	"github.com/p8-org/p8/internal/jobs"
)

const (
	// lookEvery is how often due tasks are looked for that nobody announced:
	// those that failed, and those of other processes.
	lookEvery = time.Minute
	// settle lets the writes of a moment wake one job.
	settle = 200 * time.Millisecond
	// busyPause is the first pause when a job runs or waits already; it may have
	// looked for tasks for the last time, so it must be followed by another.
	busyPause = time.Second
)

// Watch enqueues the job at once, when the store says that it has queued texts,
// and when others have come due, until ctx ends. Every replica watches; it costs
// one small read a minute.
func (w *Worker) Watch(ctx context.Context, q Queue) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	queued := w.Store.Queued()
	busy := time.Duration(0) // the last pause because of another job
	for first := true; ; first = false {
		announced := queued
		if busy > 0 {
			announced = nil // it is looked for soon anyway
		}
		needed := first
		select {
		case <-ctx.Done():
			return
		case <-announced:
			needed = true
		case <-timer.C:
			if !first {
				tasks, err := w.Store.EmbeddingTasks(ctx, 1)
				if err != nil {
					w.complain(ctx, "look for texts to embed", err)
				}
				needed = len(tasks) > 0
			}
		}
		next := lookEvery
		if needed {
			r, err := q.Enqueue(ctx, Kind, nil, jobs.EnqueueOptions{})
			switch {
			case err != nil:
				w.complain(ctx, "enqueue the embedding of texts", err)
				busy = 0
			case r.Duplicate:
				busy = min(max(busyPause, 2*busy), lookEvery)
				next = busy
			default:
				busy = 0
				if !sleep(ctx, settle) {
					return
				}
			}
		} else {
			busy = 0
		}
		timer.Reset(next)
	}
}

func (w *Worker) complain(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		w.Logger.WarnContext(ctx, "could not "+what, "error", err)
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
