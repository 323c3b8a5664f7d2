package chat

import (
	"context"
	"sync"

	"p8/event"
)

// liveLog is what a run has said so far. One goroutine appends; any number of
// readers wait for more. Elements are never changed once they are in, so a
// reader keeps a slice of them without holding the lock.
type liveLog struct {
	mu     sync.Mutex
	more   sync.Cond
	events []event.Event
	bytes  int
	ended  bool
}

// firstEvents is the room that most turns need.
const firstEvents = 16

func (l *liveLog) init() {
	l.more.L = &l.mu
	l.events = make([]event.Event, 0, firstEvents)
}

// append gives the event its number and shows it to the readers.
func (l *liveLog) append(e event.Event) {
	l.mu.Lock()
	e.Seq = int64(len(l.events) + 1)
	l.events = append(l.events, e)
	l.bytes += size(&e)
	l.mu.Unlock()
	l.more.Broadcast()
}

// end says that nothing follows.
func (l *liveLog) end() {
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	l.more.Broadcast()
}

// full reports whether the log has reached a bound.
func (l *liveLog) full(events, bytes int) bool {
	return len(l.events) >= events || l.bytes >= bytes
}

// after blocks for events after the first n; none means that the log has ended,
// or that ctx has.
func (l *liveLog) after(ctx context.Context, n int) ([]event.Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.events) <= n && !l.ended {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l.more.Wait()
	}
	return l.events[n:len(l.events):len(l.events)], nil
}

// wait blocks until the log has ended or ctx has.
func (l *liveLog) wait(ctx context.Context) error {
	defer l.wakeWith(ctx)()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.ended {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.more.Wait()
	}
	return nil
}

// wakeWith wakes the readers when ctx ends; the result undoes it.
func (l *liveLog) wakeWith(ctx context.Context) func() bool {
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.more.Broadcast()
	})
}

// size is about what an event keeps in memory, in bytes.
func size(e *event.Event) int {
	const fixed = 96
	n := fixed + len(e.Text)
	switch d := e.Data.(type) {
	case *event.ToolCallData:
		n += len(d.Arguments) + len(d.Result) + len(d.Content)
	case *event.ActionData:
		n += len(d.Payload)
	case *event.ActionRequestData:
		n += len(d.Card)
	}
	return n
}
