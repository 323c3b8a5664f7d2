// Package pace spaces out requests to models and waits while a provider refuses more of them.
package pace

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/llm"
)

// Options say how fast requests may follow each other.
type Options struct {
	// PerMinute is how many requests a model gets in a minute, by "provider:model"; the key ""
	// is for all models that are not named, each for itself. 0 is no limit.
	PerMinute map[string]int
	// Patience is how long one request waits in all for a provider that refuses it (429) or is
	// overloaded; 0 gives up at once.
	Patience time.Duration
	// Refused is called with each refusal and the pause after it; it may be nil.
	Refused func(model string, pause time.Duration)
}

// Pacer paces the requests to models. It is safe for concurrent use.
type Pacer struct {
	o  Options
	mu sync.Mutex
	// lanes are by the names of models.
	lanes map[string]*lane
}

// lane is when the next request to a model may begin.
type lane struct{ next time.Time }

// New returns a pacer.
func New(o Options) *Pacer { return &Pacer{o: o, lanes: map[string]*lane{}} }

// Wrap returns the model with paced requests. The model should not repeat requests itself.
func (p *Pacer) Wrap(m llm.Model) llm.Model { return &paced{m, p} }

type paced struct {
	llm.Model
	pacer *Pacer
}

// The pauses after refusals that name none.
const (
	firstPause = 2 * time.Second
	longPause  = time.Minute
)

// Stream waits for its turn. It repeats a request that was refused before its first chunk.
func (m *paced) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		left, pause := m.pacer.o.Patience, firstPause
		for try := 0; ; try++ {
			if err := m.pacer.turn(ctx, m.Name()); err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			begun := false
			var refused error
			for chunk, err := range m.Model.Stream(ctx, req) {
				if err != nil && !begun && again(err, try) {
					refused = err
					break
				}
				begun = true
				if !yield(chunk, err) || err != nil {
					return
				}
			}
			if refused == nil {
				return
			}
			wait := asked(refused)
			if wait == 0 {
				wait, pause = pause, min(2*pause, longPause)
			}
			if wait > left || ctx.Err() != nil {
				yield(llm.Chunk{}, refused)
				return
			}
			left -= wait
			m.pacer.hold(m.Name(), wait)
		}
	}
}

// lostTries is how often a request is repeated whose connection failed.
const lostTries = 2

// again reports whether a request is repeated: the provider wants fewer requests, or the
// connection failed, which may be because nothing is there.
func again(err error, try int) bool {
	var failure *llm.Error
	if !errors.As(err, &failure) {
		return false
	}
	return failure.Kind == llm.RateLimit || failure.Kind == llm.Unavailable && (failure.Status != 0 || try < lostTries)
}

// asked returns the pause that the provider asks for, 0 if none.
func asked(err error) time.Duration {
	var failure *llm.Error
	errors.As(err, &failure)
	return failure.RetryAfter
}

// turn waits until the next request to a model may begin.
func (p *Pacer) turn(ctx context.Context, model string) error {
	begun := time.Now()
	for {
		pause := p.take(model)
		if pause <= 0 {
			waited(ctx).Add(int64(time.Since(begun)))
			return ctx.Err()
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}

// take takes the next place in the lane of a model; pause is how long it is until then.
func (p *Pacer) take(model string) (pause time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, now := p.lane(model), time.Now()
	if pause = l.next.Sub(now); pause > 0 {
		return pause
	}
	rate, ok := p.o.PerMinute[model]
	if !ok {
		rate = p.o.PerMinute[""]
	}
	if rate > 0 {
		l.next = now.Add(time.Minute / time.Duration(rate))
	}
	return 0
}

// hold stops all requests to a model for a while.
func (p *Pacer) hold(model string, pause time.Duration) {
	p.mu.Lock()
	if l, until := p.lane(model), time.Now().Add(pause); until.After(l.next) {
		l.next = until
	}
	p.mu.Unlock()
	if p.o.Refused != nil {
		p.o.Refused(model, pause)
	}
}

func (p *Pacer) lane(model string) *lane {
	l := p.lanes[model]
	if l == nil {
		l = &lane{}
		p.lanes[model] = l
	}
	return l
}

type waitedKey struct{}

// Waiting returns a context that counts, in nanoseconds, how long requests in it waited for
// their turn: that is no part of an agent's latency.
func Waiting(ctx context.Context) (context.Context, *atomic.Int64) {
	n := new(atomic.Int64)
	return context.WithValue(ctx, waitedKey{}, n), n
}

func waited(ctx context.Context) *atomic.Int64 {
	if n, ok := ctx.Value(waitedKey{}).(*atomic.Int64); ok {
		return n
	}
	return new(atomic.Int64)
}
