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

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

// Error is that of the error.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap gives the error without its code.
func (e *exitError) Unwrap() error { return e.err }

// Usage is a mistake on the command line.
func Usage(format string, args ...any) error {
	return Fail(ExitUsage, fmt.Errorf(format, args...))
}

// Fail gives an error an exit code.
func Fail(code int, err error) error { return &exitError{code, err} }

// ErrSilent fails without another word: everything was said already.
var ErrSilent = errors.New("failed")
