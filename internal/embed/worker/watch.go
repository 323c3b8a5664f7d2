package worker

import (
	"context"
	"time"

	"github.com/p8-org/p8/internal/jobs"
)

const (
	// lookEvery is how often the worker checks for due tasks without a notification: failed
	// ones, and those of other processes.
	lookEvery = time.Minute
	// settle delays the job, so that several writes start one job.
	settle = 200 * time.Millisecond
	// busyPause is the first pause if a job runs or waits already. That job may have
	// checked for tasks a last time, so another one must follow.
	busyPause = time.Second
)

// Watch enqueues the job at once, when the store notifies of queued texts, and when tasks
// become due, until ctx ends. Every replica watches, at the cost of one small read a minute.
func (w *Worker) Watch(ctx context.Context, q Queue) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	queued := w.Store.Queued()
	busy := time.Duration(0) // last pause because of another job
	for first := true; ; first = false {
		announced := queued
		if busy > 0 {
			announced = nil // the timer comes soon
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
