package live

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// diskPatience is how long Write retries on a disk that is full or fails: that rarely
// mends itself, and the run can be resumed.
const diskPatience = 5 * time.Second

// insist does the work of Write. No other event gets a number until the events of the write
// have theirs.
func (l *Log) insist(w store.RunWrite, with []event.Event) (stop bool, err error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	l.mu.Lock()
	l.writes = true
	l.mu.Unlock()
	uncertain := false
	for tries := 1; ; tries++ {
		l.writing.Lock()
		stop, err = l.try(w, with)
		l.writing.Unlock()
		uncertain = uncertain || err != nil && transient(err)
		if err == nil || !l.again(err, tries) {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes = false
	if err != nil && uncertain {
		l.skip(len(with))
	}
	if uncertain && l.timer != nil && !l.busy && !l.over {
		l.timer.Reset(l.pause(nil))
	}
	l.room.Broadcast()
	return stop, err
}

// again waits until a Write that failed may be tried once more, and reports whether it
// may. Patience counts from the first failure of the outage, in any write; tries counts
// those of this write.
func (l *Log) again(err error, tries int) bool {
	if !transient(err) {
		return false
	}
	l.mu.Lock()
	if l.tries == 0 {
		l.outage(err)
	}
	patience := l.o.Patience
	if errors.Is(err, store.ErrDisk) {
		patience = min(patience, diskPatience)
	}
	left := patience - time.Since(l.since)
	pause := min(firstPause<<min(l.tries, maxShift), lastPause, left)
	l.tries++
	l.mu.Unlock()
	if left <= 0 {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.o.Run.Done():
	}
	if tries >= lastTries {
		return false
	}
	<-timer.C
	return true
}

// maxShift bounds the shift of firstPause, which must not overflow.
const maxShift = 10

// outage records the first of several failures in a row.
func (l *Log) outage(err error) {
	l.since = time.Now()
	l.o.Logger.WarnContext(l.ctx, "a run waits to be stored", "run", l.o.RunID, "error", err)
}

// errUnknown: the store refused a write, and it is unknown what the store has.
var errUnknown = errors.New("live: the store does not say whether it has the events")

// transient reports whether the same write may succeed later, or may have succeeded with
// only its answer lost.
func transient(err error) bool {
	for _, certain := range []error{
		store.ErrRunTaken, store.ErrInvalid, store.ErrNotFound, store.ErrConflict, identity.ErrMissing, context.Canceled, errOver,
	} {
		if errors.Is(err, certain) {
			return false
		}
	}
	return true
}

// hole stands for an event of a failed Write that the store may have, or may still get:
// its number is never given to another event.
type hole struct{}

// EventType returns no type that a reader sees.
func (hole) EventType() event.Type { return event.Progress }

// isHole reports whether an event is a hole.
func isHole(e *event.Event) bool {
	_, ok := e.Data.(hole)
	return ok
}

// skip skips the next numbers.
func (l *Log) skip(n int) {
	for range n {
		size := l.memory.add(event.Event{Data: hole{}})
		l.unstoredBytes += size
		l.o.Account.Hold(size)
		l.holes = true
	}
}

// Left returns the events that are not stored after Close: the newest ones, of about most
// bytes. Pieces encodes them for a later RunWrite.
func (l *Log) Left(most int) []event.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o.Store == nil || errors.Is(l.ended, store.ErrRunTaken) {
		return nil
	}
	from := l.memory.next
	for n := from - 1; n > l.stored && n >= l.memory.first; n-- {
		if most -= size(l.memory.at(n)); most < 0 {
			break
		}
		from = n
	}
	var left []event.Event
	for n := from; n < l.memory.next; n++ {
		if e := l.memory.at(n); !isHole(e) {
			left = append(left, *e)
		}
	}
	return left
}

// Pieces encodes events for a RunWrite.
func Pieces(events []event.Event) []store.RunEvents { return pieces(events, Size(events)) }

// Size is about how much memory events take, in bytes.
func Size(events []event.Event) (bytes int) {
	for i := range events {
		bytes += size(&events[i])
	}
	return bytes
}
