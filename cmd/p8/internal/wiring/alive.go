package wiring

import (
	"context"
	"time"

	"github.com/p8-org/p8/internal/config"
)

// StayAlive makes the runs of a command that works for long its own: it interrupts those of
// dead processes, and on PostgreSQL says that this one lives, until stop is called. A server
// would otherwise take over a run that waits for its provider.
func (p *Parts) StayAlive(ctx context.Context, cfg *config.Config) (stop func(), err error) {
	m := p.Store.Maintenance()
	if cfg.Database().Postgres == "" { // no other process has it
		if _, err := m.RecoverRuns(ctx, p.Chat.Process(), time.Now()); err != nil {
			return nil, err
		}
		return func() {}, m.FreeLeases(ctx)
	}
	beat := func(ctx context.Context) error { _, err := m.Beat(ctx, p.Chat.Process()); return err }
	if err := beat(ctx); err != nil {
		return nil, err
	}
	if _, err := m.RecoverRuns(ctx, p.Chat.Process(), time.Now().Add(-silentRun)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	k := &keeper{Parts: p, done: make(chan struct{})}
	go func() {
		defer close(k.done)
		k.every(ctx, cfg.RunGrace/beatsPerGrace, "the command could not say that it lives", beat)
	}()
	return func() {
		cancel()
		<-k.done
		ctx, cancel := context.WithTimeout(context.Background(), maintenanceTime)
		defer cancel()
		if err := m.LeaveProcess(ctx, p.Chat.Process()); err != nil {
			p.Log.Warn("the command could not say that it ends; others notice", "error", err)
		}
	}, nil
}
