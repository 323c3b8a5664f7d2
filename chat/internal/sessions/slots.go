// Package sessions allows one turn at a time for each session of this process, and queues
// the others: two runs of a session at once would not see each other's messages.
//
// [Slots] gives a session to one turn at a time; [Inbox] holds the messages that steer a
// run which is under way.
package sessions

import (
	"context"
	"sync"
)

// Options are what Slots work with.
type Options struct {
	// Most bounds the concurrent turns.
	Most int
	// Busy, Overloaded and Closed are the errors of Take: another turn has the session,
	// Most turns are under way, Close was called.
	Busy, Overloaded, Closed error
}

// Key names a session across callers.
type Key struct{ Tenant, User, Session string }

// Claim is a turn that wants a session.
type Claim struct {
	RunID string
	// IdempotencyKey is the request's; "" if it has no key.
	IdempotencyKey string
	// Cancel ends the turn.
	Cancel context.CancelCauseFunc
	// Wait queues the turn while the session is taken; Interrupt, unless nil, is also the
	// cause with which the other turn is cancelled.
	Wait      bool
	Interrupt error
}

// Slots are the sessions with a turn under way; T is a turn as its readers see it.
type Slots[T any] struct {
	o       Options
	mu      sync.Mutex
	waiting int // callers of Take
	taken   map[Key]*slot[T]
	closed  bool
	turns   sync.WaitGroup
}

// NewSlots makes Slots.
func NewSlots[T any](o Options) *Slots[T] {
	return &Slots[T]{o: o, taken: make(map[Key]*slot[T])}
}

// slot is the slot of one session.
type slot[T any] struct {
	// claim belongs to the turn that has the session; nil while the session is kept for the
	// next in the queue.
	claim *Claim
	turn  T
	// ready: the turn can be read. begun is closed then, or when the turn fails to begin; nil
	// if no caller waits for it.
	ready bool
	begun chan struct{}
	// ending: the run is over, and about to release the session.
	ending bool
	queue  []chan struct{}
}

// The bounds of queues.
const (
	maxQueue   = 16   // messages that wait for one session
	maxWaiting = 1000 // messages that wait, for all sessions together
)

// Load returns the turns that can be read, the number of all turns under way, and how many
// callers wait for a session.
func (s *Slots[T]) Load() (turns []T, underWay, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	turns = make([]T, 0, len(s.taken))
	for _, own := range s.taken {
		if own.claim != nil {
			underWay++
		}
		if own.ready {
			turns = append(turns, own.turn)
		}
	}
	return turns, underWay, s.waiting
}

// Take gives the session to a turn, until Release. While another turn has it, the claim says
// whether to wait; Take always waits for a turn that is about to end. Done must be called
// when the turn is over.
func (s *Slots[T]) Take(ctx context.Context, k Key, c Claim) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		own := s.taken[k]
		switch {
		case s.closed:
			return s.o.Closed
		case own == nil && len(s.taken) >= s.o.Most:
			return s.o.Overloaded
		case own == nil:
			s.taken[k] = &slot[T]{claim: &c}
			s.turns.Add(1)
			return nil
		case own.ending && len(own.queue) == 0, c.Wait:
			if err := s.wait(ctx, k, own, c.Interrupt); err != nil {
				return err
			}
		default:
			return s.o.Busy
		}
		if own := s.taken[k]; own != nil && own.claim == nil && !s.closed {
			own.claim = &c // it was kept for the first in the queue
			s.turns.Add(1)
			return nil
		}
	}
}

// wait blocks until the session is handed to this caller. It releases the lock meanwhile.
func (s *Slots[T]) wait(ctx context.Context, k Key, own *slot[T], interrupt error) error {
	if len(own.queue) >= maxQueue || s.waiting >= maxWaiting {
		return s.o.Overloaded
	}
	if interrupt != nil && own.claim != nil && !own.ending {
		own.claim.Cancel(interrupt)
	}
	turn := make(chan struct{})
	own.queue = append(own.queue, turn)
	s.waiting++
	s.mu.Unlock()
	var err error
	select {
	case <-turn:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	s.mu.Lock()
	s.waiting--
	if err == nil {
		return nil
	}
	for i, other := range own.queue {
		if other == turn {
			own.queue = append(own.queue[:i], own.queue[i+1:]...)
			return err
		}
	}
	if own.claim == nil && s.taken[k] == own {
		// The session was handed over while ctx ended: it goes to the next in the queue.
		s.next(k, own)
	}
	return err
}

// next keeps the session for the first in its queue, or frees it.
func (s *Slots[T]) next(k Key, own *slot[T]) {
	var none T
	own.claim, own.turn, own.ready, own.ending = nil, none, false, false
	own.wake()
	if len(own.queue) == 0 {
		delete(s.taken, k)
		return
	}
	close(own.queue[0])
	own.queue = own.queue[1:]
}

// Ready reports that the turn can be read.
func (s *Slots[T]) Ready(k Key, turn T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.taken[k]; own != nil {
		own.turn, own.ready = turn, true
		own.wake()
	}
}

// wake wakes the callers of Begun.
func (own *slot[T]) wake() {
	if own.begun != nil {
		close(own.begun)
		own.begun = nil
	}
}

// Begun waits until the session's turn can be read or has failed to begin, if the turn's
// request had this idempotency key. It does not wait for any other turn.
func (s *Slots[T]) Begun(ctx context.Context, k Key, key string) error {
	s.mu.Lock()
	own := s.taken[k]
	if own == nil || own.claim == nil || own.claim.IdempotencyKey != key || own.ready {
		s.mu.Unlock()
		return nil
	}
	if own.begun == nil {
		own.begun = make(chan struct{})
	}
	begun := own.begun
	s.mu.Unlock()
	select {
	case <-begun:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// End reports that the turn's run is over: later claims wait for Release.
func (s *Slots[T]) End(k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.taken[k]; own != nil {
		own.ending = true
	}
}

// Release hands the session to the next in its queue, or frees it.
func (s *Slots[T]) Release(k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.taken[k]; own != nil {
		s.next(k, own)
	}
}

// Of returns the session's turn; ok is false if the session has none, or its turn is over.
func (s *Slots[T]) Of(k Key) (turn T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.taken[k]; own != nil && own.ready && !own.ending {
		return own.turn, true
	}
	return turn, false
}

// Run returns the turn of a run; ok is false if this process does not execute the run.
func (s *Slots[T]) Run(id string) (turn T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.taken {
		if own.ready && own.claim.RunID == id {
			return own.turn, true
		}
	}
	return turn, false
}

// RunReady is like Run, and waits for a run that is being resumed.
func (s *Slots[T]) RunReady(ctx context.Context, id string) (turn T, ok bool) {
	s.mu.Lock()
	var begun chan struct{}
	for _, own := range s.taken {
		if own.claim != nil && own.claim.RunID == id && !own.ready {
			if own.begun == nil {
				own.begun = make(chan struct{})
			}
			begun = own.begun
		}
	}
	s.mu.Unlock()
	if begun != nil {
		select {
		case <-begun:
		case <-ctx.Done():
		}
	}
	return s.Run(id)
}

// Count returns the number of turns under way.
func (s *Slots[T]) Count() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.taken {
		if own.claim != nil {
			n++
		}
	}
	return n
}

// CancelAll cancels all turns.
func (s *Slots[T]) CancelAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.taken {
		if own.claim != nil {
			own.claim.Cancel(cause)
		}
	}
}

// Done reports that a turn to which Take gave a session is over.
func (s *Slots[T]) Done() { s.turns.Done() }

// Wait blocks until all turns are over.
func (s *Slots[T]) Wait() { s.turns.Wait() }

// Close makes Take refuse further turns.
func (s *Slots[T]) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, own := range s.taken {
		for _, waiting := range own.queue {
			close(waiting)
		}
		own.queue = nil
	}
}
