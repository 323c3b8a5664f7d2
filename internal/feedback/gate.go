package feedback

import (
	"math/rand/v2"
	"sync"
	"time"
)

// The pauses of a gate.
const (
	// busyPause is about how long a job waits for the one that runs.
	busyPause = time.Second
	// A server that fails is left alone for firstPause, and twice as long after each further
	// failure, at most maxPause.
	firstPause = 10 * time.Second
	maxPause   = 5 * time.Minute
)

// gate lets one job at a time through, and none while the server is left alone. So feedback holds
// one worker of the queue at most, and that seldom while Phoenix is slow or away.
type gate struct {
	mu    sync.Mutex
	busy  bool
	pause time.Duration
	until time.Time
}

// enter returns how long to wait before another try; 0 is let through and must leave.
func (g *gate) enter(now time.Time) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.busy:
		wait = busyPause
	case now.Before(g.until):
		wait = g.until.Sub(now)
	default:
		g.busy = true
		return 0
	}
	return wait + rand.N(wait) // those who wait do not come back all at once
}

// leave ends what enter began.
func (g *gate) leave(now time.Time, failed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy = false
	if !failed {
		g.pause = 0
		return
	}
	g.pause = min(max(firstPause, 2*g.pause), maxPause)
	g.until = now.Add(g.pause)
}
