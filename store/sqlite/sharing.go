package sqlite

import (
	"context"
	"errors"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/fair"
)

// Queries implements store.Sharer. Half of the readers stay free for short statements. By
// default about one query per processor may run: more would only slow everything else down.
// More may be under way, since a paused SELECT keeps its connection.
func (e *engine) Queries() (running, underWay int) {
	running = max(1, cap(e.readers)/2)
	return running, min(16, max(8, 2*running))
}

// take takes a connection from a pool when it is the caller's turn. If it is nil, the
// caller opens one.
func (e *engine) take(ctx context.Context, turns *fair.Turns, pool chan *conn) (*conn, error) {
	id, _ := identity.From(ctx) // without an identity: p8 itself
	err := turns.Take(ctx, fair.Key{Tenant: id.TenantID, User: id.UserID})
	if errors.Is(err, fair.ErrClosed) {
		return nil, errClosed
	}
	if err != nil {
		return nil, err
	}
	select {
	case c := <-pool:
		return c, nil
	case <-e.closed: // Close takes all connections
		return nil, errClosed
	}
}

// Pools implements store.Pooled.
func (e *engine) Pools() []store.Pool {
	all := []store.Pool{{Name: "read"}, {Name: "write"}}
	for i, t := range [...]*fair.Turns{e.reading, e.writing} {
		all[i].Most, all[i].InUse, all[i].Waiting = t.Load()
	}
	return all
}

// give returns a connection to the pool.
func give(turns *fair.Turns, pool chan *conn, c *conn) {
	pool <- c
	turns.Give()
}

// yielding is a context whose Err pauses a SELECT. SQLite calls Err every thousand steps of
// a statement; a statement cannot be paused in another way.
type yielding struct {
	context.Context
	yield func(context.Context) error
	err   error
}

// Err waits while other queries go first.
func (y *yielding) Err() error {
	if err := y.Context.Err(); err != nil {
		return err
	}
	if y.err == nil {
		y.err = y.yield(y.Context)
	}
	return y.err
}

// interrupt returns the context that ends or pauses a SELECT.
func interrupt(ctx context.Context, b store.SelectBounds) context.Context {
	if b.Yield == nil {
		return ctx
	}
	return &yielding{Context: ctx, yield: b.Yield}
}
