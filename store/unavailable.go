package store

import "errors"

// ErrUnavailable: the database cannot be used now; test with errors.Is. The error is an
// [*UnavailableError].
var ErrUnavailable = errors.New("the database is not available")

// UnavailableError is the reason why the database cannot be used now: it is gone,
// damaged, full, read-only, or not reachable. The operation had no effect.
type UnavailableError struct {
	// Reason is fit for a client: it holds no path and no address.
	Reason string
	// Err is the cause; it may be nil.
	Err error
}

// Error returns the reason.
func (e *UnavailableError) Error() string { return e.Reason }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Is reports that it is an ErrUnavailable.
func (e *UnavailableError) Is(target error) bool { return target == ErrUnavailable }
