package run

import (
	"sync"

	"github.com/p8-org/p8/event"
)

// queueRoom is how many events of nested runs may wait for the reader.
const queueRoom = 64

// queue carries the events of nested runs to the goroutine that yields to the reader. A
// child does not wait for its text to be taken. It waits for an event that must be stored
// before it goes on (binding).
type queue struct {
	mu     sync.Mutex
	filled sync.Cond // there is an item
	room   sync.Cond // there is room
	items  []item
	closed bool
	left   chan struct{} // closed by close
}

// item is an event of a call, or the call's end.
type item struct {
	event event.Event
	call  *call
	ended bool
	taken chan struct{} // closed when the event was yielded; may be nil
}

func newQueue() *queue {
	q := &queue{left: make(chan struct{})}
	q.filled.L, q.room.L = &q.mu, &q.mu
	return q
}

// emitter returns the function that puts the events of a call, until the call is over or
// the queue is closed.
func (q *queue) emitter(c *call) func(event.Event) bool {
	return func(e event.Event) bool {
		if !binding(&e) {
			return q.put(c, &e, nil)
		}
		taken := make(chan struct{})
		if !q.put(c, &e, taken) {
			return false
		}
		select {
		case <-taken:
			return true
		case <-q.left:
			return false
		}
	}
}

// binding reports whether an event must be stored before its run goes on.
func binding(e *event.Event) bool {
	switch d := e.Data.(type) {
	case *event.ToolCallData:
		return d.Status != event.ToolStarted
	case *event.ActionRequestData, *event.ChildRunData, *event.StateData:
		return true
	}
	return false
}

// end puts the end of a call. None of its events follows.
func (q *queue) end(c *call) {
	q.put(c, nil, nil)
}

// put adds an event of a call; nil is the call's end.
func (q *queue) put(c *call, e *event.Event, taken chan struct{}) bool {
	q.mu.Lock()
	for len(q.items) >= queueRoom && !q.closed && e != nil {
		q.room.Wait()
	}
	if q.closed || c.over {
		q.mu.Unlock()
		return false
	}
	i := item{call: c, taken: taken}
	if e != nil {
		i.event = *e
	} else {
		i.ended, c.over = true, true
	}
	q.items = append(q.items, i)
	first := len(q.items) == 1
	q.mu.Unlock()
	if first {
		q.filled.Signal()
	}
	return true
}

// take waits for items and swaps them for an empty slice.
func (q *queue) take(empty []item) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		q.filled.Wait()
	}
	items := q.items
	q.items = empty[:0]
	if len(items) >= queueRoom {
		q.room.Broadcast()
	}
	return items
}

// close ends the queue: no more items are taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	close(q.left)
	q.room.Broadcast()
}
