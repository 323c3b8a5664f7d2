package live

import (
	"context"
	"iter"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

const (
	// batch is how many events a reader takes at once. They are on its stack: with twice
	// as many, the garbage collector does not halve the stack of a client's request,
	// which costs 16 KB for each open stream.
	batch = 16
	// blockSize is about how much a reader reads from the store at once, in bytes.
	blockSize = 64 << 10
)

// Read yields the events after a number, from memory or the store, and waits for more
// until the log is closed. The only error is that of ctx or of the store.
func (l *Log) Read(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	return l.Follow(ctx, after, nil)
}

// Follow is Read for a reader that buffers: idle, unless nil, is called before each wait.
func (l *Log) Follow(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		// A reader copies what it takes, so that a stalled one holds no more than this.
		var buf [batch]event.Event
		for {
			n, dropped, err := l.take(ctx, after, idle, &buf)
			switch {
			case err != nil:
				yield(event.Event{}, err)
				return
			case after < dropped:
				if !l.readStored(ctx, after, dropped, yield) {
					return
				}
				after = dropped
				continue
			case n == 0:
				return
			}
			for i := range n {
				if isHole(&buf[i]) {
					continue
				}
				if !yield(buf[i], nil) {
					return
				}
			}
			after = buf[n-1].Seq
			clear(buf[:n])
		}
	}
}

// take copies events after a number into buf, and waits for them; it returns none when
// the log has ended. If some of them are no longer in memory, it returns the last of
// those.
func (l *Log) take(ctx context.Context, after int64, idle func(), buf *[batch]event.Event) (n int, dropped int64, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		l.mu.Lock()
		if after < l.dropped {
			dropped = l.dropped
			l.mu.Unlock()
			return 0, dropped, nil
		}
		if n = l.memory.copy(buf[:], after); n > 0 || l.closed() {
			l.mu.Unlock()
			return n, 0, nil
		}
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		if idle != nil {
			idle()
		}
		select {
		case <-more:
		case <-ctx.Done():
		}
	}
}

// closed reports whether the log has ended.
func (l *Log) closed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// readStored yields the stored events after one number, up to another. It reports whether
// the reader wants more.
func (l *Log) readStored(ctx context.Context, after, last int64, yield func(event.Event, error) bool) bool {
	if l.o.Store == nil {
		return true
	}
	if who, err := identity.From(l.ctx); err == nil {
		ctx = identity.With(ctx, who)
	}
	for after < last {
		next, more := readBlock(ctx, l.o.Store, l.o.RunID, after, last, yield)
		if !more {
			return false
		}
		if next == after {
			break // the numbers up to the last one have no events
		}
		after = next
	}
	return true
}

// readBlock yields some of the stored events after one number, up to another, and returns
// the number of the last one; the first number if there are none.
func readBlock(ctx context.Context, s Store, runID string, after, last int64, yield func(event.Event, error) bool) (int64, bool) {
	pieces, err := s.RunEvents(ctx, runID, after, blockSize)
	if err != nil {
		yield(event.Event{}, err)
		return after, false
	}
	for _, p := range pieces {
		for e, err := range event.ReadLog(p.Data, after) {
			if err == nil {
				if e.Seq > last {
					return last, true
				}
				after = e.Seq
			}
			if !yield(e, err) || err != nil {
				return after, false
			}
		}
	}
	return after, true
}

// FollowOptions are the options of Follow.
type FollowOptions struct {
	// After is the number of the last event that the reader has.
	After int64
	// Poll is how often the store is read while the run is under way; 250 ms when 0.
	Poll time.Duration
	// Idle, unless nil, is called before each wait.
	Idle func()
}

// Follow reads the log of a run from the store, and polls it while the run is under way.
// It ends when the run waits, is interrupted or has ended, and all of the log was read.
func Follow(ctx context.Context, s Store, runID string, o FollowOptions) iter.Seq2[event.Event, error] {
	if o.Poll == 0 {
		o.Poll = 250 * time.Millisecond
	}
	return func(yield func(event.Event, error) bool) {
		after := o.After
		for {
			// The status is read first: the last events of a run are stored with its end.
			r, err := s.Run(ctx, runID)
			if err != nil {
				yield(event.Event{}, err)
				return
			}
			for after < r.LastSeq {
				next, more := readBlock(ctx, s, runID, after, r.LastSeq, yield)
				if !more {
					return
				}
				if next == after {
					break // the log was deleted, or this read is older than the last one
				}
				after = next
			}
			if r.Status != store.RunRunning {
				return
			}
			if o.Idle != nil {
				o.Idle()
			}
			if err := pause(ctx, o.Poll); err != nil {
				yield(event.Event{}, err)
				return
			}
		}
	}
}

// pause waits until the time is over or ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
