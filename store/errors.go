package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/p8-org/p8/identity"
)

// What a caller can do something about; test with errors.Is. The texts of the
// errors that wrap them are fit for a client.
var (
	// ErrNotFound: no such row, or none that the caller may see.
	ErrNotFound = errors.New("not found")
	// ErrConflict: another row is in the way.
	ErrConflict = errors.New("conflict")
	// ErrForbidden: the caller lacks the right, whatever the row.
	ErrForbidden = errors.New("forbidden")
	// ErrInvalid: a value that cannot be stored.
	ErrInvalid = errors.New("invalid")
	// ErrDisk: the disk of the database is full or does not work. It is the cause of
	// a [Failure]; trying again helps only when somebody has made room.
	ErrDisk = errors.New("the disk is full or does not work")
)

// Failure says that storage failed: a full disk, a damaged file, a lost
// connection. Its text holds no SQL and no path; the cause does, and is what
// slog prints.
type Failure struct {
	// Op is what was being done: "append messages".
	Op  string
	Err error
}

// Error is "<op>: storage failed".
func (e *Failure) Error() string { return e.Op + ": storage failed" }

// Unwrap is the cause.
func (e *Failure) Unwrap() error { return e.Err }

// LogValue shows the cause in a log.
func (e *Failure) LogValue() slog.Value {
	return slog.StringValue(e.Error() + ": " + e.Err.Error())
}

// fail names the operation that an error ended and hides the engine's words.
func fail(op string, err error) error {
	switch {
	case err == nil, errors.Is(err, identity.ErrMissing),
		errors.Is(err, ErrNotFound), errors.Is(err, ErrInvalid), errors.Is(err, ErrForbidden),
		errors.Is(err, ErrNotOwner), errors.Is(err, ErrKeyUsed), errors.Is(err, ErrDecided), errors.Is(err, ErrNameTaken),
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
	var c *conflict
	if errors.As(err, &c) {
		return c
	}
	if errors.Is(err, ErrConflict) {
		return &conflict{op + ": such a row exists"}
	}
	return &Failure{op, err}
}

// conflict is an ErrConflict in words of our own, not the engine's.
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
