package evals

import (
	"context"
	"fmt"
	"time"

	"github.com/p8-org/p8/store"
)

// lease names the lease of an evaluation, which one process has at a time.
func lease(id string) string { return "evaluation " + id }

// leaseTime is how long a lease lasts that is not renewed.
const leaseTime = time.Minute

// hold takes the lease of an evaluation and renews it until release is called.
func hold(ctx context.Context, s *store.Store, id, holder string) (release func(), err error) {
	taken, err := s.Leases().Take(ctx, lease(id), holder, leaseTime)
	if err != nil {
		return nil, err
	}
	if !taken {
		return nil, fmt.Errorf("another process runs the evaluation %s, or did a moment ago: try again in a minute", id)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		renew := time.NewTicker(leaseTime / 3)
		defer renew.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-renew.C:
				_, _ = s.Leases().Take(ctx, lease(id), holder, leaseTime) // the next renewal tries again
			}
		}
	}()
	return func() {
		cancel()
		<-done
		_ = s.Leases().Release(context.WithoutCancel(ctx), lease(id), holder) // else it expires
	}, nil
}
