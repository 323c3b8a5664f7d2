package chat

import (
	"context"
	"sync"
)

// sessionKey names a session across callers.
type sessionKey struct{ tenant, user, session string }

// slots are the sessions that have a run under way, and who waits for them: two
// runs at once would not know of each other's messages.
type slots struct {
	mu      sync.Mutex
	most    int
	waiting int // callers of take
	taken   map[sessionKey]*slot
	closed  bool
	turns   sync.WaitGroup
	unended unended
}

// slot is one session's.
type slot struct {
	turn *Turn
	// ready: the turn can be read. begun, where somebody waits for that, is closed
	// then, or when it comes to nothing.
	ready bool
	begun chan struct{}
	// ending: the run is over, and about to give the session free.
	ending bool
	queue  []chan struct{}
}

// The bounds of queues.
const (
	maxQueue   = 16   // messages that wait for one session
	maxWaiting = 1000 // and for all
)

// take gives the session to a turn. While another has it, busy decides; a run
// that is about to end is waited for in any case. release gives it free.
func (s *slots) take(ctx context.Context, k sessionKey, t *Turn, busy string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		own := s.taken[k]
		switch {
		case s.closed:
			return ErrClosed
		case own == nil && len(s.taken) >= s.most:
			return ErrOverloaded
		case own == nil:
			s.taken[k] = &slot{turn: t}
			s.turns.Add(1)
			return nil
		case own.ending && len(own.queue) == 0, busy == BusyQueue, busy == BusyInterrupt:
			if err := s.wait(ctx, k, own, busy); err != nil {
				return err
			}
		default:
			return ErrBusy
		}
		if own := s.taken[k]; own != nil && own.turn == nil && !s.closed {
			own.turn = t // it was kept for the first who waited
			s.turns.Add(1)
			return nil
		}
	}
}

// wait blocks, the lock given away, until it is this caller's turn.
func (s *slots) wait(ctx context.Context, k sessionKey, own *slot, busy string) error {
	if len(own.queue) >= maxQueue || s.waiting >= maxWaiting {
		return ErrOverloaded
	}
	if busy == BusyInterrupt && own.turn != nil && !own.ending {
		own.turn.cancel(errCancelled)
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
	if own.turn == nil && s.taken[k] == own {
		// The session came while ctx ended: the next one has it.
		s.next(k, own)
	}
	return err
}

// next gives the session to the first who waits, or free.
func (s *slots) next(k sessionKey, own *slot) {
	own.turn, own.ready, own.ending = nil, false, false
	own.told()
	if len(own.queue) == 0 {
		delete(s.taken, k)
		return
	}
	close(own.queue[0])
	own.queue = own.queue[1:]
}

// ready says that the turn can be read.
func (s *slots) ready(k sessionKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.taken[k]; own != nil {
		own.ready = true
		own.told()
	}
}

// told wakes those who wait for the turn to begin.
func (own *slot) told() {
	if own.begun != nil {
		close(own.begun)
		own.begun = nil
	}
}

// begun waits until the turn that has the session, and was asked for with this key,
// can be read, or has come to nothing; it does not wait for another one.
func (s *slots) begun(ctx context.Context, k sessionKey, key string) error {
	s.mu.Lock()
	own := s.taken[k]
	if own == nil || own.turn == nil || own.turn.key != key || own.ready {
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

// end says that the turn's run is over: whoever comes now waits for release.
func (s *slots) end(k sessionKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.taken[k]; own != nil {
		own.ending = true
	}
}

// release gives the session to who waits for it, or free.
func (s *slots) release(k sessionKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.taken[k]; own != nil {
		s.next(k, own)
	}
}

// of is the session's turn, nil when it has none, or one that is over.
func (s *slots) of(k sessionKey) *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own := s.taken[k]; own != nil && own.ready && !own.ending {
		return own.turn
	}
	return nil
}

// run is the turn with that run, nil when it is not under way here.
func (s *slots) run(id string) *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, own := range s.taken {
		if own.ready && own.turn.RunID == id {
			return own.turn
		}
	}
	return nil
}

// runReady is run, and waits for one that is being taken up.
func (s *slots) runReady(ctx context.Context, id string) *Turn {
	s.mu.Lock()
	var begun chan struct{}
	for _, own := range s.taken {
		if own.turn != nil && own.turn.RunID == id && !own.ready {
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
	return s.run(id)
}

// all are the turns under way.
func (s *slots) all() []*Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*Turn, 0, len(s.taken))
	for _, own := range s.taken {
		if own.turn != nil {
			list = append(list, own.turn)
		}
	}
	return list
}

// close takes no more turns.
func (s *slots) close() {
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
