package store

import (
	"context"
	"time"
)

// Maintenance is the operator's view of the store: across tenants, without a caller.
// Background jobs and the maintenance commands use it. Code that serves a request must
// not, except for the readiness probe and the links of shared sessions.
type Maintenance struct{ store *Store }

// Maintenance returns the operator's view.
func (s *Store) Maintenance() Maintenance { return Maintenance{s} }

// opened returns fn with a connection that opens the sealed values of all tenants.
func (s *Store) opened(fn func(Conn) error) func(Conn) error {
	if s.seals == nil {
		return fn
	}
	opens := &opener{seals: s.seals}
	return func(c Conn) error { return fn(opens.conn(c)) }
}

func (m Maintenance) read(ctx context.Context, op string, fn func(Conn) error) error {
	return fail(op, m.store.engine.ReadSystem(ctx, m.store.opened(fn)))
}

func (m Maintenance) write(ctx context.Context, op string, fn func(Conn) error) error {
	return fail(op, m.store.engine.WriteSystem(ctx, m.store.opened(fn)))
}

// Check returns an [*UnavailableError] if the database cannot be read and written. It may
// be called at any rate: at most one check a second reaches the database.
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

// Turn waits for this process's writer and keeps it from writing until release is called,
// so that a library can write to the same file. It does nothing on an engine with
// concurrent writers.
func (m Maintenance) Turn(ctx context.Context) (release func(), err error) {
	e, ok := m.store.engine.(interface {
		Turn(ctx context.Context) (release func(), err error)
	})
	if !ok {
		return func() {}, nil
	}
	return e.Turn(ctx)
}
