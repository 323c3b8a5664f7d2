package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Checker is implemented by an engine that can check its database.
type Checker interface {
	// Check reads a row, and writes one unless a write succeeded lately. Its error is an
	// [*UnavailableError] or the context's.
	Check(ctx context.Context) error
}

const (
	// checkEvery is how long the result of a check is used.
	checkEvery = time.Second
	// checkWithin bounds a check.
	checkWithin = 3 * time.Second
)

// health is the outcome of the last check of the engine.
type health struct {
	mu      sync.Mutex
	at      time.Time
	err     error
	running chan struct{}
}

func (h *health) run(ctx context.Context, c Checker) {
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	err := c.Check(ctx)
	if err != nil && !errors.Is(err, ErrUnavailable) {
		err = &UnavailableError{Reason: noAnswer().Reason, Err: err}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at, h.err = time.Now(), err
	close(h.running)
	h.running = nil
}

func noAnswer() *UnavailableError {
	return &UnavailableError{Reason: "the database does not answer in time"}
}
