package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/p8-org/p8/event"
)

// Log is what a run has said so far. Any number of goroutines may use it; who
// appends from several says nothing about the order.
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
	// dropped that of the newest one which is not in memory.
	last, stored, dropped int64
	unstoredBytes         int
	said, saidBytes       int
	// holes: there are numbers without an event.
	holes bool
	// more, where a reader waits, is closed when there is something new for it.
	more chan struct{}
	// room is told when Append may go on, and when tick has ended.
	room sync.Cond

	// leave, where tick waits for a slot, is closed when the log is over.
	leave chan struct{}

	busy    bool  // tick is storing, or waits for its turn
	writes  bool  // Write is storing events that will be the next ones, or waits to
	closing bool  // Close was called
	over    bool  // nothing is appended any more
	ended   error // why nothing is stored any more
	// tries is how often tick has failed without a break, since when it began to.
	// failed: it did for so long that nobody waits for the store any more.
	tries  int
	since  time.Time
	failed bool
	// written is when the store last heard of the run.
	written time.Time
}

// errOver: the run has ended, or the log was closed.
var errOver = errors.New("live: the log has ended")

// add shows an event, and says what it takes.
func (l *Log) add(e event.Event) int {
	size := l.memory.add(e)
	l.last = l.memory.next - 1
	l.said++
	l.saidBytes += size
	l.o.Account.Hold(size)
	return size
}

// unstored is how many events are shown and not stored.
func (l *Log) unstored() int { return int(l.memory.next - max(l.memory.first, l.stored+1)) }

// wake tells the readers that wait.
func (l *Log) wake() {
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
}

// stop says that nothing is appended any more.
func (l *Log) stop() {
	l.over = true
	if l.leave != nil {
		close(l.leave)
		l.leave = nil
	}
}

// advance says that the events up to a number are stored, and drops those that
// the window has no room for.
func (l *Log) advance(to int64) {
	for n := max(l.stored+1, l.memory.first); n <= to; n++ {
		l.unstoredBytes -= size(l.memory.at(n))
	}
	l.stored = max(l.stored, to)
	l.trim()
}

// trim drops the stored events that the window has no room for.
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
