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
	// breakAfter failures in a row take an endpoint for down.
	breakAfter = 5
	// breakFor is how long it is left alone before one request tries it again.
	breakFor = 15 * time.Second
)

// breaker keeps requests from an endpoint that is down. Closed, it lets all
// pass; open, none until a time. One request then probes the endpoint, and closes
// or opens it again; one that says nothing for too long no longer keeps the next
// from trying. A rate limit is no outage: it is one model's or one key's, and the
// endpoint answers the others.
type breaker struct {
	now func() time.Time

	mu       sync.Mutex
	failures int // in a row
	open     bool
	until    time.Time
	// epoch counts the times that it opened or closed. What was let pass before
	// says nothing about the endpoint afterwards.
	epoch int
}

// enter lets a request pass, or says how long none may.
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

// alive says that the endpoint answered a request of this epoch.
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

// failed says how a request of this epoch ended before the endpoint had said
// anything.
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
		b.close() // it refused the request, so it is there
	case known:
		b.failures = 0
	case b.open:
		b.until = b.now() // nothing is known: the next one probes
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

// Stream passes on what the model says, or fails at once while its endpoint is
// down. The first word settles how the endpoint is; the rest only passes by.
func (g *guarded) Stream(ctx context.Context, req *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		epoch, wait := g.breaker.enter()
		if wait > 0 {
			yield(Chunk{}, g.refuse(wait))
			return
		}
		settled := false
		defer func() {
			if !settled { // nobody waited for its answer
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

// ofProvider is true for what only a provider can have said.
func (c *Chunk) ofProvider() bool { return c.Kind != ChunkWarning && c.Kind != ChunkModel }

// refuse is the error of a request that is not sent.
func (g *guarded) refuse(wait time.Duration) error {
	seconds := int((wait + time.Second - 1) / time.Second)
	return &Error{
		Kind: Unavailable, Model: g.Name(), RetryAfter: wait,
		Hint: fmt.Sprintf("its server failed several times in a row and is asked again in %d s; wait, or choose another model", seconds),
	}
}
