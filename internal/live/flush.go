package live

import (
	"context"
	"errors"
	"fmt"
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
	// pieceSize bounds a piece of the log with several events, in bytes.
	pieceSize = 64 << 10
)

// schedule sets the timer for a new event.
func (l *Log) schedule() {
	if l.timer == nil || l.busy || l.tries > 0 {
		return // tick sets the timer itself
	}
	switch n := l.unstored(); {
	case n == l.o.Batch, l.behind():
		l.timer.Reset(0)
	case n == 1:
		l.timer.Reset(l.o.Every)
	}
}

// tick runs on the timer's goroutine. It stores what is there, or reports to the store
// that the run is alive, and sets the timer again.
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
	l.notify(stop, err)
	if failed {
		l.giveUp(err)
	}
}

// enter waits for a slot if there is something to store. It returns false if there is
// nothing to store, or the log is over. The log is unlocked meanwhile.
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

// exit releases the slot. After a write, it first waits as long as the write took: half
// of the store's time is for writes that runs wait for.
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

// pause returns the time until the next tick after one that ended with err.
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

// retry returns the time until the next try after a failure of the store.
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

// write stores what is shown and not stored. It does nothing while a Write waits for the
// store: the Write stores everything.
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

// try stores what is shown and not stored, w, and the events with it. If the store
// succeeds, it shows these events. The caller holds l.writing.
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
	bytes, waits := l.unstoredBytes, l.waiting(len(events) > len(with))
	l.mu.Unlock()

	known := shown
	if l.o.Store != nil {
		w.Events = pieces(events, bytes)
		if stop, err = l.call(w); err != nil && (len(events) > 0 || rests(w)) {
			// The store may have taken the write, and its answer was lost.
			var has, says bool
			if known, has, says = l.inStore(events, w); has {
				err = nil
			} else if !says && (errors.Is(err, store.ErrInvalid) || errors.Is(err, store.ErrRunTaken)) {
				err = errUnknown // the store may refuse the write because it has it
			}
		}
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if errors.Is(err, store.ErrRunTaken) {
			l.ended = err
			l.stop()
		}
		l.advance(min(known, shown))
		l.waits = waits
		return false, err
	}
	for _, e := range with {
		l.unstoredBytes += l.add(e)
		shown = l.last
	}
	if l.o.Store != nil {
		l.advance(shown)
		l.written, l.tries, l.failed = time.Now(), 0, false
		if l.o.Stored != nil && len(events) > 0 {
			l.o.Stored(l.written.Sub(waits))
		}
	}
	if rests(w) {
		l.ended = errOver
		l.stop() // the next process has a log of its own
	}
	l.wake()
	return stop, nil
}

// call calls WriteRun within callTime. A panic of the store is a failure that is retried:
// it must not end the process, or leave the log locked.
func (l *Log) call(w store.RunWrite) (stop bool, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = &store.Failure{Op: "write run", Err: fmt.Errorf("panic: %v", x)}
		}
	}()
	ctx, cancel := context.WithTimeout(l.ctx, callTime)
	defer cancel()
	w.RunID, w.Process = l.o.RunID, l.o.Process
	return l.o.Store.WriteRun(ctx, w)
}

// inStore reports whether the store has a write with events, and returns the number of the
// newest event of this process that the store has, 0 if another process owns the run. says
// is false if the store does not answer.
func (l *Log) inStore(events []event.Event, w store.RunWrite) (known int64, has, says bool) {
	ctx, cancel := context.WithTimeout(l.ctx, callTime)
	defer cancel()
	r, err := l.o.Store.Run(ctx, l.o.RunID)
	if err != nil || r.Process != l.o.Process {
		return 0, false, err == nil
	}
	if n := len(events); n > 0 {
		return r.LastSeq, r.LastSeq >= events[n-1].Seq, true
	}
	return r.LastSeq, rests(w) && r.Status != store.RunRunning, true
}

// rests reports whether a write ends the run, or this process's part of it.
func rests(w store.RunWrite) bool { return w.Status != "" && w.Status != store.RunRunning }

// pieces encodes events; bytes is about their size. A large event has a piece of its own.
func pieces(events []event.Event, bytes int) []store.RunEvents {
	const more, dataMore = 32, 256 // about how much longer a line is than size says
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

// storeRest stores what is left at the end, and returns the last answer of the store.
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

// notify calls Stop if the store answered that the run should stop, or belongs to another
// process.
func (l *Log) notify(stop bool, err error) {
	why := ErrStopped
	if errors.Is(err, store.ErrRunTaken) {
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

// giveUp calls Failed once.
func (l *Log) giveUp(err error) {
	if err == nil || errors.Is(err, store.ErrRunTaken) {
		return
	}
	l.gaveUp.Do(func() {
		l.o.Logger.ErrorContext(l.ctx, "events of a run could not be stored", "run", l.o.RunID, "error", err)
		if l.o.Failed != nil {
			l.o.Failed(err)
		}
	})
}
