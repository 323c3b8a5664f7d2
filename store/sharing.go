package store

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store/internal/fair"
)

// errMadeWay is the cause of the cancellation of a query that must start again.
var errMadeWay = errors.New("the query made way for another one")

// shared runs a query of the caller when its turn comes. Tenants share the running slots
// fairly, and so do users within a tenant: fn is cancelled and runs again later if
// another caller is entitled to its slot. So fn may only read, and must set its results
// each time.
func (s *Store) shared(ctx context.Context, fn func(context.Context) error) error {
	// A query of the manual counts against the caller's share, too.
	by, err := identity.From(ctx)
	if err != nil {
		return err
	}
	for {
		again, err := s.sharedOnce(ctx, fair.Key{Tenant: by.TenantID, User: by.UserID}, fn)
		if !again {
			return err
		}
	}
}

func (s *Store) sharedOnce(ctx context.Context, k fair.Key, fn func(context.Context) error) (again bool, err error) {
	run, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slot, err := s.acquire(ctx, k, func() { cancel(errMadeWay) })
	if err != nil {
		return false, err
	}
	defer slot.Release()
	err = fn(run)
	return err != nil && ctx.Err() == nil && context.Cause(run) == errMadeWay, err
}

// acquire waits for a query's turn.
func (s *Store) acquire(ctx context.Context, k fair.Key, ask func()) (*fair.Slot, error) {
	wait := maxQueryWait
	if deadline, ok := ctx.Deadline(); ok {
		wait = time.Until(deadline) / 2
	}
	slot, err := s.queries.Acquire(ctx, k, wait, ask)
	switch {
	case errors.Is(err, fair.ErrFull):
		return nil, &BusyError{Own: s.queries.Alone(k.Tenant), RetryAfter: busyRetry}
	case errors.Is(err, fair.ErrWaited):
		return nil, &BusyError{Own: s.queries.Alone(k.Tenant), Waited: wait, RetryAfter: busyRetry}
	}
	return slot, err
}

// sharedSelect is shared for a SELECT. On an engine that can pause a SELECT, it is paused
// instead of started again.
func (s *Store) sharedSelect(ctx context.Context, sc Scope, sql string, b SelectBounds) (Selection, error) {
	if s.dialect != DialectSQLite {
		var sel Selection
		err := s.shared(ctx, func(ctx context.Context) (err error) {
			sel, err = s.engine.Select(ctx, sc, sql, b)
			return err
		})
		return sel, err
	}
	k := fair.Key{Tenant: sc.Tenant, User: sc.User}
	slot, err := s.acquire(ctx, k, nil)
	if err != nil {
		return Selection{}, err
	}
	defer slot.Release()
	b.Yield = slot.Yield
	sel, err := s.engine.Select(ctx, sc, sql, b)
	if waited := slot.Waited(); err != nil && waited > b.Timeout/2 {
		// It would have had enough time if it had not waited.
		return Selection{}, &BusyError{Own: s.queries.Alone(k.Tenant), Waited: waited, RetryAfter: busyRetry}
	}
	return sel, err
}

// sharedRead is read under the limits of shared.
func (s *Store) sharedRead(ctx context.Context, op string, fn func(Conn, caller) error) error {
	return s.shared(ctx, func(ctx context.Context) error { return s.read(ctx, op, fn) })
}
