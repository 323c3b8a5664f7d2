package run

import (
	"sync"

	"github.com/p8-org/p8/event"
)

// queueRoom is how many events of nested runs may wait for the reader.
const queueRoom = 64

// queue brings the events of nested runs to the one goroutine that talks to the
// reader. What a child says is only put down, and taken several pieces at once
// where the reader is slower; what must be stored before the child goes on is
// waited for.
type queue struct {
	mu     sync.Mutex
	filled sync.Cond // something is there
	room   sync.Cond // there is room again
	items  []item
	closed bool
	left   chan struct{} // closed when nobody takes any more
}

// item is an event of a call, or the call's end.
type item struct {
	event event.Event
	call  *call
	ended bool
	taken chan struct{} // closed when the event has been dealt with; may be nil
}

func newQueue() *queue {
	q := &queue{left: make(chan struct{})}
	q.filled.L, q.room.L = &q.mu, &q.mu
	return q
}

// emitter puts down the events of a call, until it is over or nobody reads.
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
	case *event.ActionRequestData, *event.ChildRunData:
		return true
	}
	return false
}

// end says that a call is over; nothing of it follows.
func (q *queue) end(c *call) {
	q.put(c, nil, nil)
}

// put adds an event of a call; nil is its end.
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

// take waits for items and exchanges them for an empty slice.
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

// close says that nobody takes any more.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	close(q.left)
	q.room.Broadcast()
}
