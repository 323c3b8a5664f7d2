package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/p8-org/p8/store/internal/fair"
)

// ErrBusy says that a query was not run because others were; test with
// errors.Is. The error is a [*BusyError].
var ErrBusy = errors.New("busy")

// BusyError says that a query of a caller waited as long as it may. Its text is
// fit for a client.
type BusyError struct {
	// Own: only queries of the caller's tenant were in the way.
	Own bool
	// Waited is how long the query waited; 0 if too many waited already.
	Waited time.Duration
	// RetryAfter is when to try again.
	RetryAfter time.Duration
}

// Error says whose queries were in the way, and when to try again.
func (e *BusyError) Error() string {
	whose := "other queries are running"
	if e.Own {
		whose = "your tenant's other queries are still running"
	}
	if e.Waited > 0 {
		whose += fmt.Sprintf(" (it waited %s)", e.Waited.Round(time.Millisecond))
	}
	return fmt.Sprintf("the query was not run, as %s; try again in %s", whose, e.RetryAfter)
}

// Is reports that it is an ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// Sharer is an engine that says how many queries of callers may run at once; for
// others it is defaultQueries.
type Sharer interface {
	// Queries is how many queries run at once, and how many may be under way: those
	// beyond the first number are paused by SelectBounds.Yield.
	Queries() (running, underWay int)
}

const (
	defaultQueries = 4
	// querySlice is how long a SELECT runs before one that waits may go first.
	querySlice = 10 * time.Millisecond
	// maxWaiting bounds the queries of one tenant that wait.
	maxWaiting = 256
	// maxQueryWait bounds the wait of a query whose context has no deadline; with one
	// it is half of what is left.
	maxQueryWait = 5 * time.Second
	busyRetry    = time.Second
)

func newQueries(e Engine) *fair.Queue {
	o := fair.Options{Slots: defaultQueries, Slice: querySlice, Waiting: maxWaiting}
	if x, ok := e.(Sharer); ok {
		o.Slots, o.Members = x.Queries()
	}
	return fair.NewQueue(o)
}

// errMadeWay is the cause of a query's end that has to begin anew.
var errMadeWay = errors.New("the query made way for another one")

// shared runs a query of the caller when its turn comes. Tenants share what runs
// at once, and so do users within a tenant: fn is cancelled and run again, later,
// when somebody else is entitled to its place. So it only reads, and sets its
// results anew each time.
func (s *Store) shared(ctx context.Context, fn func(context.Context) error) error {
	sc, err := scopeOf(ctx)
	if err != nil {
		return err
	}
	for {
		again, err := s.sharedOnce(ctx, fair.Key{Tenant: sc.TenantID, User: sc.UserID}, fn)
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

// sharedSelect is shared for a SELECT of an engine that can pause it: it does not
// begin anew.
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
		// It would have had the time, had it run alone.
		return Selection{}, &BusyError{Own: s.queries.Alone(k.Tenant), Waited: waited, RetryAfter: busyRetry}
	}
	return sel, err
}

// sharedRead is read for queries of callers.
func (s *Store) sharedRead(ctx context.Context, op string, fn func(Conn, scope) error) error {
	return s.shared(ctx, func(ctx context.Context) error { return s.read(ctx, op, fn) })
}
