package metrics

import (
	"context"
	"sync"
	"time"
)

const (
	// kept is how long a value from the database is shown before it is read again, old how long it is
	// shown if it cannot be read.
	kept, old = 10 * time.Second, time.Minute
	// readWithin bounds a read, waitWithin how long a scrape waits for one.
	readWithin, waitWithin = 5 * time.Second, 2 * time.Second
)

// cached is a value that must be read from the database: by one read at a time, at most every few
// seconds. Who asks does not wait long.
type cached[T any] struct {
	read func(context.Context) (T, error)
	// failed is called with the error of a read.
	failed func(error)

	mu      sync.Mutex
	value   T
	got, at time.Time // when the value was read, when a read ended
	running chan struct{}
}

// get returns the value; ok is false if there is none that is new enough.
func (c *cached[T]) get() (value T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil && (c.at.IsZero() || time.Since(c.at) >= kept) {
		c.running = make(chan struct{})
		go c.fetch()
	}
	if running := c.running; running != nil {
		c.mu.Unlock()
		late := time.NewTimer(waitWithin)
		select {
		case <-running:
		case <-late.C:
		}
		late.Stop()
		c.mu.Lock()
	}
	return c.value, !c.got.IsZero() && time.Since(c.got) < old
}

func (c *cached[T]) fetch() {
	ctx, cancel := context.WithTimeout(context.Background(), readWithin)
	defer cancel()
	value, err := c.read(ctx)
	if err != nil {
		c.failed(err)
	}
	c.mu.Lock()
	c.at = time.Now()
	if err == nil {
		c.value, c.got = value, c.at
	}
	close(c.running)
	c.running = nil
	c.mu.Unlock()
}

// wait waits until no read is under way.
func (c *cached[T]) wait() {
	c.mu.Lock()
	running := c.running
	c.mu.Unlock()
	if running != nil {
		<-running
	}
}
