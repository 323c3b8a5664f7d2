// Package fair shares a store's connections and time among tenants, and within a tenant
// among its users.
//
// [Turns] is a semaphore for short statements: when it is contended, tenants take
// turns. [Queue] is for queries that callers write, which may take seconds: it
// also preempts queries of a tenant that holds more than its share while another one
// waits.
package fair

import "errors"

// Key names a caller; User is "" for an anonymous one.
type Key struct{ Tenant, User string }

// The errors of a caller that gets no slot.
var (
	// ErrFull: the queue is full.
	ErrFull = errors.New("fair: too many are waiting")
	// ErrWaited: the caller's time to wait is over.
	ErrWaited = errors.New("fair: waited too long")
	// ErrClosed: Close was called.
	ErrClosed = errors.New("fair: closed")
)
