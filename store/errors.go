package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/p8-org/p8/identity"
)

// Errors that a caller can act on; test with errors.Is. The texts of the errors that wrap
// them are fit for a client.
var (
	// ErrNotFound: the row does not exist, or the caller may not see it.
	ErrNotFound = errors.New("not found")
	// ErrConflict: another row is in the way.
	ErrConflict = errors.New("conflict")
	// ErrForbidden: the caller may not write such rows.
	ErrForbidden = errors.New("forbidden")
	// ErrInvalid: a value that cannot be stored.
	ErrInvalid = errors.New("invalid")
	// ErrDisk: the disk of the database is full or does not work. It is the cause of
	// a [Failure]. A retry helps only after space was freed.
	ErrDisk = errors.New("the disk is full or does not work")
)

// Failure is an error of the storage: a full disk, a damaged file, a lost connection. Its
// text holds no SQL and no path; slog prints the cause.
type Failure struct {
	// Op is the operation that failed: "append messages".
	Op  string
	Err error
}

// Error returns "<op>: storage failed".
func (e *Failure) Error() string { return e.Op + ": storage failed" }

// Unwrap returns the cause.
func (e *Failure) Unwrap() error { return e.Err }

// LogValue shows the cause in a log.
func (e *Failure) LogValue() slog.Value {
	return slog.StringValue(e.Error() + ": " + e.Err.Error())
}

// fail adds the operation to an error and hides the engine's text.
func fail(op string, err error) error {
	switch {
	case err == nil, errors.Is(err, identity.ErrMissing),
		errors.Is(err, ErrNotFound), errors.Is(err, ErrInvalid), errors.Is(err, ErrForbidden),
		errors.Is(err, ErrRunTaken), errors.Is(err, ErrKeyUsed), errors.Is(err, ErrDecided), errors.Is(err, ErrNameTaken),
		errors.Is(err, ErrBusy):
		return err
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w", op, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s: %w", op, context.DeadlineExceeded)
	}
	if wrong := (*SelectError)(nil); errors.As(err, &wrong) {
		return wrong
	}
	if many := (*TooManyRunsError)(nil); errors.As(err, &many) {
		return many
	}
	var c *conflict
	if errors.As(err, &c) {
		return c
	}
	if errors.Is(err, ErrConflict) {
		return &conflict{op + ": such a row exists"}
	}
	return &Failure{op, err}
}

// conflict is an ErrConflict with a text for clients.
type conflict struct{ text string }

func (e *conflict) Error() string        { return e.text }
func (e *conflict) Is(target error) bool { return target == ErrConflict }

func conflictf(format string, args ...any) error {
	return &conflict{fmt.Sprintf(format, args...)}
}

func invalidf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

func forbiddenf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrForbidden, fmt.Sprintf(format, args...))
}

func notFound(what, name string) error {
	return fmt.Errorf("%s %.128q: %w", what, name, ErrNotFound)
}

// The refusals of runs.
var (
	// ErrRunTaken: another process has the run now, or the run has ended.
	ErrRunTaken = errors.New("the run belongs to another process")
	// ErrKeyUsed: the caller has begun a run with that idempotency key.
	ErrKeyUsed = errors.New("the idempotency key was used")
	// ErrDecided: the request is not open any more.
	ErrDecided = errors.New("the request was decided already")
)

// ErrNameTaken: another of the caller's moments already has the name of a Chunk's moment.
var ErrNameTaken = errors.New("the name of the moment is taken")

// ErrBusy: a query was refused because others were running; test with errors.Is. The
// error is a [*BusyError].
var ErrBusy = errors.New("busy")

// BusyError is the refusal of a query that found no place among others. Its text is fit
// for a client.
type BusyError struct {
	// Own is true if only queries of the caller's tenant were running.
	Own bool
	// Waited is how long the query waited; 0 if too many waited already.
	Waited time.Duration
	// RetryAfter is how long to wait before the next try.
	RetryAfter time.Duration
}

// Error names the tenant's own queries or others', and when to try again.
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
