package dream

import (
	"context"
	"errors"
	"time"
)

// The lease of a user's dreams: while one process has it, no other dreams for the
// user. The lease of a dead process expires.
const (
	leaseName = "dream"
	// leaseFor is the default lifetime of a lease.
	leaseFor = time.Minute
	// The lease is renewed every ttl/renewals. Each call may take a part of that time,
	// with this upper bound.
	renewals  = 3
	callParts = 6
	leaseCall = 10 * time.Second
)

// leaser has leases. Implemented by store.Leases.
type leaser interface {
	Take(ctx context.Context, name, holder string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name, holder string) error
}

// errLost means that another process has taken the lease.
var errLost = errors.New("dream: another process dreams for this user now")

// hold calls fn while it has the caller's lease, which it takes for ttl and renews; it
// returns false if another process has the lease. fn's context ends when the lease is
// lost.
func hold(ctx context.Context, l leaser, holder string, ttl time.Duration, fn func(context.Context) error) (bool, error) {
	held, err := l.Take(ctx, leaseName, holder, ttl)
	if err != nil || !held {
		return false, err
	}
	working, stop := context.WithCancelCause(ctx)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		renew(working, l, holder, ttl, stop)
	}()
	err = fn(working)
	if lost := context.Cause(working); errors.Is(lost, errLost) {
		err = lost
	}
	stop(nil)
	<-renewed
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseCall)
	defer cancel()
	_ = l.Release(last, leaseName, holder) // a lease that cannot be released expires
	return true, err
}

// renew renews the lease until ctx ends. While the store fails, the lease is valid to
// the end of its ttl.
func renew(ctx context.Context, l leaser, holder string, ttl time.Duration, stop context.CancelCauseFunc) {
	ticker := time.NewTicker(ttl / renewals)
	defer ticker.Stop()
	since := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		asked := time.Now()
		call, cancel := context.WithTimeout(ctx, min(leaseCall, ttl/callParts))
		held, err := l.Take(call, leaseName, holder, ttl)
		cancel()
		switch {
		case err == nil && held:
			since = asked
		case err == nil, time.Since(since) >= ttl-ttl/renewals:
			stop(errLost)
			return
		}
	}
}
