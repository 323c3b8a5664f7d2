package command

import (
	"errors"
	"fmt"
)

// The exit codes.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// exitError is an error with an exit code.
type exitError struct {
	code int
	err  error
}

// Error returns the text of the error.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap returns the error without its code.
func (e *exitError) Unwrap() error { return e.err }

// Usage returns the error of a mistake on the command line.
func Usage(format string, args ...any) error {
	return Fail(ExitUsage, fmt.Errorf(format, args...))
}

// Fail returns an error that ends p8 with an exit code.
func Fail(code int, err error) error { return &exitError{code, err} }

// ErrSilent ends p8 with a failure whose cause was printed already.
var ErrSilent = errors.New("failed")
