package jobs

import (
	"context"
	"errors"
	"time"
)

// KindStats is how the jobs of a kind fare, those of every process.
type KindStats struct {
	Kind string `json:"kind"`
	// States counts the jobs that are kept by their state; completed and cancelled ones
	// are kept a day, failed ones a week.
	States map[State]int `json:"states"`
	// Attempts counts what was tried, Errors what failed of it.
	Attempts int `json:"attempts"`
	Errors   int `json:"errors"`
	// Average and Longest are how long the completed ones took, Oldest is how long the
	// first of those that are due waits already.
	Average time.Duration `json:"average_ns"`
	Longest time.Duration `json:"longest_ns"`
	Oldest  time.Duration `json:"oldest_waiting_ns"`
}

// Stats are the kinds of jobs that are kept, by name.
func (q *Queue) Stats(ctx context.Context) ([]KindStats, error) { return nil, errors.ErrUnsupported }
