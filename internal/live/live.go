// Package live is the log of a run: its events in order, for any number of readers, now,
// after a reconnect, and after the run's process has died.
//
//	log := live.Open(ctx, live.Options{RunID: id, Process: process, Store: store})
//	log.Append(ev)                                             // shown at once, stored soon
//	err := log.Write(store.RunWrite{Messages: rows}, ev)       // stored with its rows, then shown
//	for ev, err := range log.Read(ctx, after) { … }            // from any number on
//	log.Close()
//
// Events are numbered when they are appended. Readers of this process get them from
// memory; pieces of the log (some events, or a few milliseconds of them) are stored in
// the background. Only the newest events stay in memory. A reader that is further behind
// reads from the store, so that a slow reader costs no more than a fast one and the run
// never waits for a reader.
//
// Events that are shown before they are stored may be lost with the process, at most
// [Gap] of them. A resumed run skips that many numbers, so that no number stands for two
// events. If its process dies, too, before it stored anything, twice as many are lost:
// [Lost].
//
// [Follow] reads a run that another process executes, or that has ended.
//
// A [Budget] bounds the memory of all logs of a process. Above half of it, logs drop what
// the store has and read it back on demand; at its end, the run that holds most ends with
// memory_limit. While the store fails, Write retries for Options.Patience and recognises
// a write whose answer was lost by the number of its last event, which is never used
// twice.
package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// Store keeps logs; *store.Store implements it.
type Store interface {
	// WriteRun stores events and what belongs to them, all or nothing.
	WriteRun(ctx context.Context, w store.RunWrite) (stop bool, err error)
	Run(ctx context.Context, id string) (store.Run, error)
	// RunEvents returns whole pieces of the log that hold events after a number.
	RunEvents(ctx context.Context, id string, after int64, most int) ([]store.RunEvents, error)
}

// Gap is how many events may be shown and not yet stored. A resumed run skips as many
// numbers.
const Gap = 1024

// Lost bounds how far the numbers that were shown are ahead of the last stored event of a
// run whose process died: the process may have skipped Gap numbers and stored nothing.
const Lost = 2 * Gap

// ErrStopped: a caller asked the run to stop.
var ErrStopped = errors.New("live: somebody asked the run to stop")

// Options describe a log that this process writes.
type Options struct {
	RunID string
	// Process is the name with which this process began or claimed the run.
	Process string
	// Store may be nil: then everything stays in memory as long as the log is referenced.
	Store Store
	// After is the number of the last stored event of a resumed run: its next event gets
	// After+Gap+1. The first event of a new run gets 1.
	After int64
	// MaxEvents and MaxBytes bound the events of the run in this process; 100,000 and 16
	// MiB when 0, and 4 MiB without a Store.
	MaxEvents, MaxBytes int
	// Every is how long an event waits for others before it is stored; 25 ms when 0.
	// Batch is how many are stored at once; 64 when 0.
	Every time.Duration
	Batch int
	// Slots is shared by the logs of a process. Its capacity bounds the logs that store
	// events in the background at one time. The others wait and then store more at once,
	// so that a Write waits behind few of them. nil has no bound.
	Slots chan struct{}
	// Window is about how many bytes of stored events stay in memory for readers; 256 KiB
	// when 0. While memory is tight, it is an eighth of the run's share.
	Window int
	// Account counts what the log holds in memory. nil counts nothing.
	Account *Account
	// Beat is how often a silent run reports to the store that it is alive; 5 s when 0.
	Beat time.Duration
	// Stop is called once, if a caller asked the run to stop (ErrStopped), or another process
	// has the run now (store.ErrRunTaken). After the latter nothing is shown any more: the
	// other process shows the rest.
	Stop func(error)
	// Failed is called once, if events could not be stored for Patience. The log then
	// goes on in memory and retries at every Beat.
	Failed func(error)
	// Stored is called after each write to the store with the time for which the oldest of its
	// events waited. It must not block. It may be nil.
	Stored func(waited time.Duration)
	// Patience is how long Write retries while the store fails, counted from the first
	// failure of the outage; 30 s when 0. Write gives up after 5 s of store.ErrDisk.
	Patience time.Duration
	// Run is the run's context: once it is done, Write gives up after a few tries. nil is
	// never done.
	Run    context.Context
	Logger *slog.Logger
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	o.MaxEvents = cmp.Or(o.MaxEvents, 100_000)
	most := 16 << 20
	if o.Store == nil {
		most = 4 << 20
	}
	o.MaxBytes = cmp.Or(o.MaxBytes, most)
	o.Every = cmp.Or(o.Every, 25*time.Millisecond)
	o.Batch = min(cmp.Or(o.Batch, 64), Gap)
	o.Window = cmp.Or(o.Window, 256<<10)
	o.Beat = cmp.Or(o.Beat, 5*time.Second)
	o.Patience = cmp.Or(o.Patience, 30*time.Second)
	if o.Run == nil {
		o.Run = context.Background()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// Open opens the log of a new or resumed run. ctx carries the identity of the store's
// calls and must outlive the run. Close must be called.
func Open(ctx context.Context, o Options) *Log {
	l := &Log{ctx: ctx, o: o.withDefaults(), last: o.After, dropped: o.After, stored: o.After, done: make(chan struct{})}
	l.room.L = &l.mu
	next := int64(1)
	if o.After > 0 {
		next = o.After + Gap + 1
	}
	l.memory.init(next)
	if o.Store != nil {
		l.mu.Lock() // tick may run before l.timer is set
		defer l.mu.Unlock()
		l.written = time.Now()
		l.timer = time.AfterFunc(l.o.Beat, l.tick)
	}
	return l
}

// Append numbers the event and shows it to the readers; it is stored with the next ones.
// Append waits only if the store is far behind. After the end (see Write and Close) it
// does nothing.
func (l *Log) Append(e event.Event) {
	l.mu.Lock()
	for l.behind() {
		l.room.Wait()
	}
	if !l.over {
		if l.o.Stored != nil && l.unstored() == 0 {
			l.waits = time.Now()
		}
		l.unstoredBytes += l.add(e)
		l.schedule()
		l.wake()
	}
	l.mu.Unlock()
}

// maxUnstored is how many bytes may wait to be stored. While memory is tight, the run's
// share is the bound.
const maxUnstored = 512 << 10

// behind reports whether Append has to wait.
func (l *Log) behind() bool {
	switch {
	case l.over || l.writes:
		return !l.over
	case l.o.Store == nil || l.failed:
		return false
	}
	if l.unstored() >= Gap || l.unstoredBytes >= maxUnstored {
		return true
	}
	share, tight := l.o.Account.Share()
	return tight && l.unstoredBytes >= share
}

// Write stores what was appended and, in the same transaction, w and the events with it.
// Only then it shows these events. It retries while the store fails, and writes nothing
// twice if only the store's answer was lost. If Write gives up, the events are not shown
// and their numbers are skipped; what was appended before is still to be stored, and w
// may still reach the store. A w with a Status other than running is the last: nothing is
// appended or written after it.
func (l *Log) Write(w store.RunWrite, with ...event.Event) error {
	stop, err := l.insist(w, with)
	l.notify(stop, err)
	return err
}

// Unstored returns how many events are shown and not stored yet; 0 without a store.
func (l *Log) Unstored() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.o.Store == nil {
		return 0
	}
	return l.unstored()
}

// Full reports whether the run has reached the bounds of its log.
func (l *Log) Full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said >= l.o.MaxEvents || l.saidBytes >= l.o.MaxBytes
}

// Last returns the number of the newest event.
func (l *Log) Last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Wait blocks until the log is closed. The only error is that of ctx.
func (l *Log) Wait(ctx context.Context) error {
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the log in this process and stores what is left. Readers get the rest and
// end.
func (l *Log) Close() {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		<-l.done
		return
	}
	l.closing = true
	l.stop()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.room.Broadcast()
	for l.busy {
		l.room.Wait()
	}
	l.mu.Unlock()
	stop, err := l.storeRest()
	l.mu.Lock()
	l.ended = cmp.Or(l.ended, errOver)
	l.trim()
	close(l.done)
	l.wake()
	l.mu.Unlock()
	l.notify(stop, err)
	l.giveUp(err)
}
