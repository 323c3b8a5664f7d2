package store

import (
	"context"
	"time"
)

// Maintenance is the operator's view of the store: across tenants, without a
// caller. Nothing that serves a request may hold one, but for the probe of
// readiness; the background jobs and the maintenance verbs of the command line do.
type Maintenance struct{ store *Store }

// Maintenance is the operator's view.
func (s *Store) Maintenance() Maintenance { return Maintenance{s} }

func (m Maintenance) read(ctx context.Context, op string, fn func(Conn) error) error {
	return fail(op, m.store.engine.Read(ctx, fn))
}

func (m Maintenance) write(ctx context.Context, op string, fn func(Conn) error) error {
	return fail(op, m.store.engine.Write(ctx, fn))
}

// Check says whether the database can be read and written: an error is an
// [*UnavailableError]. It may be called at any rate: the database is asked once a
// second, by one caller.
func (m Maintenance) Check(ctx context.Context) error {
	c, ok := m.store.engine.(Checker)
	if !ok {
		return nil
	}
	h := &m.store.health
	h.mu.Lock()
	if h.running == nil && !h.at.IsZero() && time.Since(h.at) < checkEvery {
		defer h.mu.Unlock()
		return h.err
	}
	if h.running == nil {
		h.running = make(chan struct{})
		go h.run(context.WithoutCancel(ctx), c)
	}
	running := h.running
	h.mu.Unlock()
	late := time.NewTimer(checkWithin + time.Second)
	defer late.Stop()
	select {
	case <-running:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.err
	case <-late.C:
		return noAnswer()
	case <-ctx.Done():
		return noAnswer()
	}
}

// Turn waits until this process does not write to the database and keeps it
// from writing until release is called, for others that write to the same file.
// On an engine whose writers do not wait for each other it does nothing.
func (m Maintenance) Turn(ctx context.Context) (release func(), err error) {
	e, ok := m.store.engine.(interface {
		Turn(ctx context.Context) (release func(), err error)
	})
	if !ok {
		return func() {}, nil
	}
	return e.Turn(ctx)
}
