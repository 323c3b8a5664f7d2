package live

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// diskPatience is how long Write waits for a disk that is full or does not work: room
// rarely comes by itself, and the run can be resumed.
const diskPatience = 5 * time.Second

// insist is Write. As long as its events have no numbers, nothing else gets any.
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

// again waits until a Write that failed may be tried once more, and reports whether
// it may. The patience of an outage counts from its first failure, in whatever write;
// tries counts those of this one.
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

// maxShift keeps firstPause shifted by it far above lastPause and in range.
const maxShift = 10

// outage notes the first failure of the store in a row.
func (l *Log) outage(err error) {
	l.since = time.Now()
	l.o.Logger.WarnContext(l.ctx, "a run waits to be stored", "run", l.o.RunID, "error", err)
}

// errUnknown says that the store refused a write and does not tell what it has.
var errUnknown = errors.New("live: the store does not say whether it has the events")

// transient reports whether the same write may succeed later, and whether it may have
// succeeded: the answer may be all that was lost.
func transient(err error) bool {
	for _, certain := range []error{
		store.ErrNotOwner, store.ErrInvalid, store.ErrNotFound, store.ErrConflict, identity.ErrMissing, context.Canceled, errOver,
	} {
		if errors.Is(err, certain) {
			return false
		}
	}
	return true
}

// hole stands for an event of a Write that failed although the store may have it, or
// may still get it: its number is never given to another event.
type hole struct{}

// EventType is none that a reader sees.
func (hole) EventType() event.Type { return event.Progress }

// isHole reports whether an event is none.
func isHole(e *event.Event) bool {
	_, ok := e.Data.(hole)
	return ok
}

// skip leaves out the next numbers.
func (l *Log) skip(n int) {
	for range n {
		size := l.memory.add(event.Event{Data: hole{}})
		l.unstoredBytes += size
		l.o.Account.Hold(size)
		l.holes = true
	}
}

// Left are the events that are not stored, after Close: the newest ones of about so
// many bytes at most. Pieces writes them down for a later RunWrite.
func (l *Log) Left(most int) []event.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o.Store == nil || errors.Is(l.ended, store.ErrNotOwner) {
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

// Pieces are events as a RunWrite takes them.
func Pieces(events []event.Event) []store.RunEvents { return pieces(events, Size(events)) }

// Size is about what events keep in memory, in bytes.
func Size(events []event.Event) (bytes int) {
	for i := range events {
		bytes += size(&events[i])
	}
	return bytes
}
