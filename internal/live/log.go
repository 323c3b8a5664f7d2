package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/p8-org/p8/event"
)

// Log holds the events of a run. It is safe for concurrent use.
type Log struct {
	ctx context.Context
	o   Options
	// writing is held during a call of the store, so that pieces are stored in order,
	// turn during a whole Write.
	writing, turn sync.Mutex
	done          chan struct{}
	timer         *time.Timer // nil without a store
	stopped       sync.Once
	gaveUp        sync.Once

	mu     sync.Mutex
	memory memory
	// last is the number of the newest event, stored that of the newest stored one,
	// dropped that of the newest one that is not in memory.
	last, stored, dropped int64
	unstoredBytes         int
	said, saidBytes       int
	// holes says that some numbers have no event.
	holes bool
	// more is closed when there is something new; nil if no reader waits.
	more chan struct{}
	// room is signalled when Append may go on, and when tick has ended.
	room sync.Cond

	// leave is closed when the log is over; nil unless tick waits for a slot.
	leave chan struct{}

	busy    bool  // tick is storing, or waits for a slot
	writes  bool  // Write is storing the next events, or waits to
	closing bool  // Close was called
	over    bool  // nothing is appended any more
	ended   error // why nothing is stored any more
	// tries counts the failures of tick in a row, since is the time of the first. failed:
	// they lasted so long that nobody waits for the store any more.
	tries  int
	since  time.Time
	failed bool
	// waits is when the oldest event that is not stored was shown, zero if nobody asks.
	waits time.Time
	// written is the time of the last write to the store.
	written time.Time
}

// errOver: the run has ended, or the log was closed.
var errOver = errors.New("live: the log has ended")

// add shows an event and returns its size.
func (l *Log) add(e event.Event) int {
	size := l.memory.add(e)
	l.last = l.memory.next - 1
	l.said++
	l.saidBytes += size
	l.o.Account.Hold(size)
	return size
}

// unstored returns how many events are shown and not stored.
func (l *Log) unstored() int { return int(l.memory.next - max(l.memory.first, l.stored+1)) }

// waiting returns since when the events of a write have waited, and counts for later ones from
// now on. shown: some of the events are shown already.
func (l *Log) waiting(shown bool) time.Time {
	if l.o.Stored == nil {
		return time.Time{}
	}
	since, now := l.waits, time.Now()
	l.waits = now
	if !shown && l.tries == 0 {
		return now
	}
	return since
}

// wake wakes the readers that wait.
func (l *Log) wake() {
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

// stop ends appending.
func (l *Log) stop() {
	l.over = true
	if l.leave != nil {
		close(l.leave)
		l.leave = nil
	}
}

// advance records that the events up to a number are stored, and drops those that exceed
// the window.
func (l *Log) advance(to int64) {
	for n := max(l.stored+1, l.memory.first); n <= to; n++ {
		l.unstoredBytes -= size(l.memory.at(n))
	}
	l.stored = max(l.stored, to)
	l.trim()
}

// trim drops the stored events that exceed the window.
func (l *Log) trim() {
	window := l.o.Window
	if share, tight := l.o.Account.Share(); tight {
		window = min(window, share/8)
	}
	before := l.memory.bytes
	for l.memory.bytes-l.unstoredBytes > window && l.memory.first <= l.stored {
		l.dropped = l.memory.first
		l.memory.drop()
	}
	l.o.Account.Hold(l.memory.bytes - before)
}
