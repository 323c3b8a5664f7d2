package wiring

import (
	"context"
	"log/slog"
	"sync"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// work is the queue of background jobs. It is opened on first use, as most commands need
// none.
type work struct {
	open func(ctx context.Context) (*jobs.Queue, error)
	// kinds has the worker of each kind of job.
	kinds map[string]jobs.Worker

	mu    sync.Mutex
	queue *jobs.Queue
}

// newWork returns the queue in the database of s.
func newWork(cfg *config.Config, s *store.Store, p *Parts) *work {
	return &work{kinds: map[string]jobs.Worker{}, open: func(ctx context.Context) (*jobs.Queue, error) {
		o := JobOptions(cfg, p.Log)
		o.Turn, o.Telemetry = s.Maintenance().Turn, p.observer.Telemetry
		return jobs.Open(ctx, o)
	}}
}

// get opens the queue, once.
func (w *work) get(ctx context.Context) (*jobs.Queue, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue != nil {
		return w.queue, nil
	}
	q, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	for kind, worker := range w.kinds {
		if err := q.Register(kind, worker); err != nil {
			_ = q.Close(ctx)
			return nil, err
		}
	}
	w.queue = q
	return q, nil
}

// Enqueue adds a job.
func (w *work) Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error) {
	q, err := w.get(ctx)
	if err != nil {
		return jobs.Receipt{}, err
	}
	return q.Enqueue(ctx, kind, args, o)
}

// Forget removes the jobs of a user.
func (w *work) Forget(ctx context.Context, tenant, user string) (running int, err error) {
	q, err := w.get(ctx)
	if err != nil {
		return 0, err
	}
	return q.Forget(ctx, tenant, user)
}

// Stats counts jobs by kind: all of them, or those of a tenant.
func (w *work) Stats(ctx context.Context, tenant string) ([]jobs.KindStats, error) {
	q, err := w.get(ctx)
	if err != nil {
		return nil, err
	}
	return q.Stats(ctx, tenant)
}

// close waits for running jobs until ctx ends. They may still call Enqueue, which then
// fails.
func (w *work) close(ctx context.Context) error {
	w.mu.Lock()
	q := w.queue
	w.mu.Unlock()
	if q == nil {
		return nil
	}
	return q.Close(ctx)
}

// OpenJobs opens the queue of background jobs in the store's database.
func OpenJobs(ctx context.Context, cfg *config.Config, s *store.Store, log *slog.Logger) (*jobs.Queue, error) {
	o := JobOptions(cfg, log)
	o.Turn = s.Maintenance().Turn
	return jobs.Open(ctx, o)
}

// JobOptions returns the options of a queue in the database of the settings.
func JobOptions(cfg *config.Config, log *slog.Logger) jobs.Options {
	db := cfg.Database()
	return jobs.Options{PostgresURL: db.Postgres, SQLite: db.Path, Workers: cfg.JobWorkers, Logger: log}
}
