package wiring

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/embed/worker"
	"github.com/p8-org/p8/internal/jobs"
)

// background runs the jobs of a server.
type background struct {
	stop context.CancelFunc
	done chan struct{}
}

// dreamEvery, pruneEvery and expireEvery are how often a server checks for due dreams, cleans
// up, and looks for rows that are too old.
const (
	dreamEvery  = time.Minute
	pruneEvery  = 10 * time.Minute
	expireEvery = time.Hour
)

// usageKept is how long counts for quotas are kept after their day, for servers whose clocks are
// behind.
const usageKept = time.Hour

// StartBackground runs the jobs of the queue until Close: embedding, moments, dreams,
// reminders, the clean-up and the retention.
func (p *Parts) StartBackground(ctx context.Context, cfg *config.Config) (_ *background, err error) {
	p.Work.kinds[kindCleanUp] = jobs.Worker{
		Run: func(ctx context.Context, _ json.RawMessage) error { return p.cleanUp(ctx, cfg) }, Unique: true,
	}
	p.Work.kinds[kindRetention] = jobs.Worker{
		Run: func(ctx context.Context, _ json.RawMessage) error { return p.expire(ctx, cfg) }, Unique: true,
	}
	q, err := p.Work.get(ctx)
	if err != nil {
		return nil, err
	}
	var vectors *worker.Worker
	if p.embedder != nil {
		vectors, err = worker.New(worker.Options{Store: p.Store.Maintenance(), Model: p.embedder, Logger: p.Log})
		if err == nil {
			err = vectors.Register(q)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := q.Periodic(kindCleanUp, jobs.Schedule{Every: pruneEvery}); err != nil {
		return nil, err
	}
	if err := q.Periodic(kindRetention, jobs.Schedule{Every: expireEvery, AtStart: true}); err != nil {
		return nil, err
	}
	if cfg.DreamSchedule != "" || cfg.DreamTenants != "" {
		if err := q.Periodic(dream.KindSchedule, jobs.Schedule{Every: dreamEvery, AtStart: true}); err != nil {
			return nil, err
		}
	}
	// The interval starts with the process, which may end before the first one.
	if _, err := q.Enqueue(ctx, kindCleanUp, struct{}{}, jobs.EnqueueOptions{}); err != nil {
		return nil, err
	}
	b := &background{done: make(chan struct{})}
	ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := q.Start(ctx); err != nil {
		b.stop()
		return nil, err
	}
	var watching sync.WaitGroup
	if vectors != nil {
		watching.Go(func() { vectors.Watch(ctx, q) })
	}
	watching.Go(func() { p.Privacy.Watch(ctx) })
	if p.A2A != nil {
		watching.Go(func() { p.A2A.Watch(ctx) })
	}
	go func() {
		defer close(b.done)
		watching.Wait()
	}()
	return b, nil
}

// Close stops adding jobs. Parts.Close closes the queue.
func (b *background) Close() {
	b.stop()
	<-b.done
}

// cleanUp ends runs that nobody resumed, and deletes the logs of old runs, ended keys and old
// counts.
func (p *Parts) cleanUp(ctx context.Context, cfg *config.Config) error {
	m := p.Store.Maintenance()
	if err := p.Privacy.Prune(ctx); err != nil {
		return err
	}
	if err := p.Chat.EndLeft(ctx, m, time.Now().Add(-cfg.RunKeep)); err != nil {
		return err
	}
	for n := 1; n > 0; {
		var err error
		if n, err = m.PruneRuns(ctx, time.Now().Add(-cfg.RunKeep), int64(cfg.RunKeepBytes)); err != nil {
			return err
		}
	}
	for n := int64(1); n > 0; {
		var err error
		if n, err = m.PruneQuotaUsage(ctx, time.Now().Add(-usageKept)); err != nil {
			return err
		}
	}
	for n := int64(1); n > 0; {
		var err error
		if n, err = m.PruneAccess(ctx); err != nil {
			return err
		}
	}
	return nil
}
