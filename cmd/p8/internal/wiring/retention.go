package wiring

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// Retention returns how long tenants without a retention of their own keep rows, by kind. What
// is kept for ever is left out.
func Retention(cfg *config.Config) (map[string]time.Duration, error) {
	keep, err := config.ParseRetention(cfg.Retention)
	if err == nil && cfg.AuditKeep > 0 {
		keep[store.KeepAudit] = time.Duration(cfg.AuditKeep)
	}
	return keep, err
}

// expire deletes the rows that are too old. A job that has no time left is continued.
func (p *Parts) expire(ctx context.Context, cfg *config.Config) error {
	keep, err := Retention(cfg)
	if err != nil {
		return err
	}
	m := p.Store.Maintenance()
	list, err := m.Retentions(ctx)
	if err != nil {
		return err
	}
	for _, kind := range store.KeptKinds() {
		list = append(list, store.Retention{Kind: kind, Keep: keep[kind]})
	}
	var gone int64
	for _, r := range list {
		if r.Keep == 0 {
			continue
		}
		for n := int64(1); n > 0; gone += n {
			n, err = m.Expire(ctx, r.Kind, r.TenantID, time.Now().Add(-r.Keep))
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return jobs.Again(time.Minute)
			}
			if err != nil {
				return err
			}
		}
	}
	if gone > 0 {
		p.Log.InfoContext(ctx, "rows that were too old are deleted", "rows", gone)
	}
	return nil
}
