package main

import (
	"context"
	"time"

	"p8/config"
)

// recoverEvery is how often a server looks after runs that nobody is at.
const recoverEvery = 5 * time.Second

// keepRuns marks the runs that an earlier process left behind, and from then on
// looks after runs until stop is called.
func (p *parts) keepRuns(cfg *config.Config) (stop func(), err error) {
	if p.store == nil {
		return func() {}, nil
	}
	stale := cfg.RunGrace
	if cfg.Database().Path != "" {
		stale = 0 // the lock says that nobody else is there
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := p.store.Maintenance()
	if err := p.chat.Recover(ctx, m, time.Now().Add(-stale)); err != nil {
		cancel()
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.recoverRuns(ctx, cfg)
	}()
	return func() {
		cancel()
		<-done
	}, nil
}

// recoverRuns looks after runs until ctx ends.
func (p *parts) recoverRuns(ctx context.Context, cfg *config.Config) {
	m := p.store.Maintenance()
	look := time.NewTicker(recoverEvery)
	defer look.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			err = p.chat.Recover(ctx, m, time.Now().Add(-cfg.RunGrace))
		}
		if err != nil && ctx.Err() == nil {
			p.log.Warn("runs could not be looked after", "error", err)
		}
	}
}
