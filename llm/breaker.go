package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"
)

// The bounds of a breaker.
const (
	// breakAfter is the number of failures in a row that opens the breaker.
	breakAfter = 5
	// breakFor is the time until one request probes the endpoint again.
	breakFor = 15 * time.Second
)

// breaker keeps requests from an endpoint that is down. A closed breaker lets all requests
// pass; an open one refuses them for breakFor. Then one request probes the endpoint and
// closes or reopens the breaker; if the probe is silent for too long, the next request
// probes. A rate limit does not count as an outage: it concerns one model or key.
type breaker struct {
	now func() time.Time

	mu       sync.Mutex
	failures int // in a row
	open     bool
	until    time.Time
	// epoch counts how often the breaker opened or closed. Requests of an earlier
	// epoch do not change it.
	epoch int
}

// enter lets a request pass, or returns the time until one may.
func (b *breaker) enter() (epoch int, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return b.epoch, 0
	}
	now := b.now()
	if wait := b.until.Sub(now); wait > 0 {
		return 0, wait
	}
	b.until = now.Add(breakFor) // this one is the probe
	return b.epoch, 0
}

// alive records that the endpoint answered a request of this epoch.
func (b *breaker) alive(epoch int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case epoch != b.epoch:
	case b.open:
		b.close()
	default:
		b.failures = 0
	}
}

// failed records how a request of this epoch ended before the endpoint answered.
func (b *breaker) failed(epoch int, err error) {
	var e *Error
	known := errors.As(err, &e)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case epoch != b.epoch:
	case known && (e.Kind == Unavailable || e.Kind == Timeout):
		if b.failures++; b.open || b.failures >= breakAfter {
			b.trip()
		}
	case known && b.open:
		b.close() // the endpoint refused the request, so it is up
	case known:
		b.failures = 0
	case b.open:
		b.until = b.now() // unknown: the next request probes
	}
}

func (b *breaker) trip() {
	b.open, b.until = true, b.now().Add(breakFor)
	b.epoch++
}

func (b *breaker) close() {
	b.open, b.failures = false, 0
	b.epoch++
}

// guarded is a model behind the breaker of its endpoint.
type guarded struct {
	Model
	breaker *breaker
}

// Stream passes the model's chunks on, or fails at once while its endpoint is down.
// The first chunk decides whether the endpoint is up.
func (g *guarded) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		epoch, wait := g.breaker.enter()
		if wait > 0 {
			yield(Chunk{}, g.refuse(wait))
			return
		}
		settled := false
		defer func() {
			if !settled { // the caller left before the answer
				g.breaker.failed(epoch, context.Canceled)
			}
		}()
		for chunk, err := range g.Model.Stream(ctx, req) {
			switch {
			case settled:
			case err == nil && !chunk.ofProvider():
			case err == nil:
				settled = true
				g.breaker.alive(epoch)
			case ctx.Err() == nil:
				settled = true
				g.breaker.failed(epoch, err)
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// ofProvider reports whether an error can only come from a provider.
func (c *Chunk) ofProvider() bool { return c.Kind != ChunkWarning && c.Kind != ChunkModel }

// refuse returns the error of a request that is not sent.
func (g *guarded) refuse(wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	return &Error{
		Kind: Unavailable, Model: g.Name(), RetryAfter: wait,
		Hint: fmt.Sprintf("its server failed several times in a row; p8 tries it again in %d s; wait, or choose another model", seconds),
	}
}
