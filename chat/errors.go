package chat

import (
	"errors"
	"fmt"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/run"
)

// Why a turn was not started.
var (
	// ErrBusy: the session's last turn is still running.
	ErrBusy = errors.New("chat: the session has a turn under way")
	// ErrOverloaded: this process has as many runs as it takes.
	ErrOverloaded = errors.New("chat: too many runs at once")
	// ErrClosed: the service is shutting down.
	ErrClosed = errors.New("chat: the service is closed")
)

// Why a run cannot be used as the request wants.
var (
	// ErrNotResumable: the run is under way, waits for answers, or has ended.
	ErrNotResumable = errors.New("chat: the run cannot be resumed")
	// ErrKeyReused: the idempotency key was used with another request.
	ErrKeyReused = errors.New("chat: the idempotency key belongs to another request")
	// ErrNoRuns: the Service has no Store.
	ErrNoRuns = errors.New("chat: runs are not kept")
	// ErrRunning: the run is under way.
	ErrRunning = errors.New("chat: the run is under way")

	// ErrHandedOver: this process stops, and the run goes on in another one, or after a
	// restart. The reader reconnects for the rest.
	ErrHandedOver = errors.New("chat: the run goes on in another process")
)

// Causes with which the context of a run is cancelled.
var (
	errCancelled = errors.New("chat: the run was stopped")
	errLost      = record.ErrLost
	errTooLong   = errors.New("chat: the run said too much")
	// errMemory: the runs of this process held too much memory together, and this run held
	// the most.
	errMemory   = errors.New("chat: the runs of this process hold too much")
	errShutdown = fmt.Errorf("chat: the server is shutting down: %w", run.ErrInterrupted)
)

// Other reasons for which a run ends.
var (
	errInterrupted = errors.New("chat: the run was interrupted")
	errPanic       = errors.New("chat: the run panicked")
	// errHandedOn: agents handed one turn over too often.
	errHandedOn = errors.New("chat: the turn was handed over too often")
)

// InputError is a wrong field of a request. Message is for the client.
type InputError struct{ Field, Message string }

// Error returns the message.
func (e *InputError) Error() string { return e.Message }
