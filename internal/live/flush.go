package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

const (
	// callTime bounds a call of the store.
	callTime = 10 * time.Second
	// The pauses between tries grow from firstPause to lastPause.
	firstPause, lastPause = 100 * time.Millisecond, 5 * time.Second
	// lastTries is how often Close tries to store what is left.
	lastTries = 3
	// pieceSize is how large a piece of the log becomes, in bytes, of several events.
	pieceSize = 64 << 10
)

// schedule sees to it that a new event is stored in time.
func (l *Log) schedule() {
	if l.timer == nil || l.busy || l.tries > 0 {
		return // tick looks itself
	}
	switch n := l.unstored(); {
	case n == l.o.Batch, l.behind():
		l.timer.Reset(0)
	case n == 1:
		l.timer.Reset(l.o.Every)
	}
}

// tick runs when the timer says so, in a goroutine of its own: it stores what is
// there, or says that the run lives, and sets the timer again.
func (l *Log) tick() {
	l.mu.Lock()
	if l.busy || l.over {
		l.mu.Unlock()
		return
	}
	l.busy = true
	var stop bool
	var err error
	if l.enter() {
		if l.unstored() > 0 || time.Since(l.written) >= l.o.Beat {
			began := time.Now()
			l.mu.Unlock()
			stop, err = l.write()
			l.mu.Lock()
			l.exit(time.Since(began))
		} else {
			l.exit(0)
		}
	}
	l.busy = false
	l.trim()
	if !l.over {
		l.timer.Reset(l.pause(err))
	}
	failed := l.failed
	l.room.Broadcast()
	l.mu.Unlock()
	l.tell(stop, err)
	if failed {
		l.giveUp(err)
	}
}

// enter waits for a slot, if there is something to store; false when there is
// none, or the log is over. The log is unlocked meanwhile.
func (l *Log) enter() bool {
	if l.unstored() == 0 && time.Since(l.written) < l.o.Beat {
		return false
	}
	if l.o.Slots == nil {
		return true
	}
	select {
	case l.o.Slots <- struct{}{}:
		return true
	default:
	}
	leave := make(chan struct{})
	l.leave = leave
	l.mu.Unlock()
	entered := false
	select {
	case l.o.Slots <- struct{}{}:
		entered = true
	case <-leave:
	}
	l.mu.Lock()
	l.leave = nil
	return entered
}

// exit gives the slot back, after a write not before as much time again has
// passed: half of the store's time is for what runs wait for.
func (l *Log) exit(rest time.Duration) {
	slots := l.o.Slots
	switch {
	case slots == nil:
	case rest == 0:
		<-slots
	default:
		time.AfterFunc(rest, func() { <-slots })
	}
}

// pause is how long until the next tick, after one that ended with err.
func (l *Log) pause(err error) time.Duration {
	if err != nil {
		return l.retry(err)
	}
	switch n := l.unstored(); {
	case l.writes:
		return l.o.Beat // insist sets the timer
	case n >= l.o.Batch:
		return 0
	case n > 0:
		return l.o.Every
	}
	return max(0, l.o.Beat-time.Since(l.written))
}

// retry is how long until the store is tried again after a failure.
func (l *Log) retry(err error) time.Duration {
	if l.tries == 0 {
		l.outage(err)
	}
	if time.Since(l.since) >= l.o.Patience {
		l.failed = l.unstored() > 0
		return l.o.Beat
	}
	l.tries++
	return min(firstPause<<min(l.tries-1, maxShift), lastPause)
}

// write stores what is shown and not stored. It does nothing while a Write waits for
// the store: that one stores everything.
func (l *Log) write() (stop bool, err error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	waits := l.writes
	l.mu.Unlock()
	if waits {
		return false, nil
	}
	return l.try(store.RunWrite{}, nil)
}

// try stores what is shown and not stored, w and the events with it, and shows these,
// if the store takes it. The caller holds l.writing.
func (l *Log) try(w store.RunWrite, with []event.Event) (stop bool, err error) {
	l.mu.Lock()
	if err := l.ended; err != nil {
		l.mu.Unlock()
		return false, err
	}
	shown := l.memory.next - 1
	var events []event.Event
	if l.o.Store != nil {
		n := l.unstored()
		events = make([]event.Event, n, n+len(with))
		l.memory.copy(events, l.stored)
		if l.holes {
			events = slices.DeleteFunc(events, func(e event.Event) bool { return isHole(&e) })
		}
		for i, e := range with {
			e.Seq = l.memory.next + int64(i)
			events = append(events, e)
		}
	}
	bytes := l.unstoredBytes
	l.mu.Unlock()

	known := shown
	if l.o.Store != nil {
		w.Events = pieces(events, bytes)
		if stop, err = l.call(w); err != nil && len(events) > 0 {
			// The answer may be all that was lost.
			var says bool
			if known, says = l.inStore(); known >= events[len(events)-1].Seq {
				err = nil
			} else if !says && errors.Is(err, store.ErrInvalid) {
				err = errUnknown // the events may be refused because they are there
			}
		}
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if errors.Is(err, store.ErrNotOwner) {
			l.ended = err
			l.stop()
		}
		l.advance(min(known, shown))
		return false, err
	}
	for _, e := range with {
		l.unstoredBytes += l.add(e)
		shown = l.last
	}
	if l.o.Store != nil {
		l.advance(shown)
		l.written, l.tries, l.failed = time.Now(), 0, false
	}
	if w.Status != "" && w.Status != store.RunRunning {
		l.ended = errOver
		l.stop() // whoever is at it next has a log of its own
	}
	l.wake()
	return stop, nil
}

// call is WriteRun.
func (l *Log) call(w store.RunWrite) (stop bool, err error) {
	ctx, cancel := context.WithTimeout(l.ctx, callTime)
	defer cancel()
	w.RunID, w.Owner = l.o.RunID, l.o.Owner
	return l.o.Store.WriteRun(ctx, w)
}

// inStore is the number of the newest event of this process that the store has, 0 if
// another process writes the run. says is false if the store does not say.
func (l *Log) inStore() (known int64, says bool) {
	ctx, cancel := context.WithTimeout(l.ctx, callTime)
	defer cancel()
	r, err := l.o.Store.Run(ctx, l.o.RunID)
	if err != nil || r.Owner != l.o.Owner {
		return 0, err == nil
	}
	return r.LastSeq, true
}

// pieces writes events down; bytes is about their size. An event that is large has
// a piece of its own.
func pieces(events []event.Event, bytes int) []store.RunEvents {
	const more, dataMore = 32, 256 // what a line takes more than size says, mostly
	var all []store.RunEvents
	bytes += more * len(events)
	for i := range events {
		if events[i].Data != nil {
			bytes += dataMore
		}
	}
	data := make([]byte, 0, min(bytes, pieceSize))
	first := 0
	for i := range events {
		start := len(data)
		if data = event.AppendLog(data, &events[i]); len(data) > pieceSize && start > 0 {
			all = append(all, store.RunEvents{First: events[first].Seq, Last: events[i-1].Seq, Data: data[:start:start]})
			data, first = append(make([]byte, 0, pieceSize), data[start:]...), i
		}
	}
	if len(events) > 0 {
		all = append(all, store.RunEvents{First: events[first].Seq, Last: events[len(events)-1].Seq, Data: data})
	}
	return all
}

// storeRest stores what is left at the end, and says what the store said last.
func (l *Log) storeRest() (stop bool, err error) {
	for try := range lastTries {
		if try > 0 {
			time.Sleep(firstPause << try)
		}
		l.mu.Lock()
		done := l.o.Store == nil || l.ended != nil || l.unstored() == 0
		l.mu.Unlock()
		if done {
			return stop, err
		}
		if stop, err = l.write(); err == nil {
			return stop, nil
		}
	}
	return stop, err
}

// tell calls Stop when the store said that the run shall, or must, stop.
func (l *Log) tell(stop bool, err error) {
	why := ErrStopped
	if errors.Is(err, store.ErrNotOwner) {
		why = err
	} else if !stop {
		return
	}
	l.stopped.Do(func() {
		if l.o.Stop != nil {
			l.o.Stop(why)
		}
	})
}

// giveUp calls Failed.
func (l *Log) giveUp(err error) {
	if err == nil || errors.Is(err, store.ErrNotOwner) {
		return
	}
	l.gaveUp.Do(func() {
		l.o.Logger.ErrorContext(l.ctx, "events of a run could not be stored", "run", l.o.RunID, "error", err)
		if l.o.Failed != nil {
			l.o.Failed(err)
		}
	})
}
