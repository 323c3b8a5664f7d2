// Package live is the log of a run: what it said, in order, for any number of
// readers, now, after a reconnect, and after the process that ran it has gone.
//
//	log := live.Open(ctx, live.Options{RunID: id, Owner: process, Store: store})
//	log.Append(ev)                                             // shown at once, stored soon
//	err := log.Write(store.RunWrite{Messages: rows}, ev)       // stored with its rows, then shown
//	for ev, err := range log.Read(ctx, after) { … }            // from any number on
//	log.Close()
//
// Events are numbered when they are appended. Readers of this process get them
// from memory; a piece of the log (some events, or a few milliseconds of them) is
// written at once in the background. Only the newest events stay in memory:
// a reader who is further behind reads the rest from the store, so that the
// slowest reader costs what the fastest does and the run never waits for one.
//
// [Follow] reads a run that another process runs, or that has ended.
package live

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"p8/event"
	"p8/store"
)

// Store keeps logs; *store.Store is one. Another implementation, over a
// distributed log, has to append, to replay, and to say what became of a run.
type Store interface {
	// WriteRun stores events and what belongs to them at once or not at all.
	WriteRun(ctx context.Context, w store.RunWrite) (stop bool, err error)
	Run(ctx context.Context, id string) (store.Run, error)
	// RunEvents are whole pieces of the log that hold events after a number.
	RunEvents(ctx context.Context, id string, after int64, most int) ([]store.RunEvents, error)
}

// Options describe a log that this process writes.
type Options struct {
	RunID string
	// Owner is this process, by the name with which it began or claimed the run.
	Owner string
	// Store may be nil: then everything stays in memory, as long as anybody holds the
	// log.
	Store Store
	// After is the number of the last event of a run that is taken up again.
	After int64
	// MaxEvents and MaxBytes bound what the run may say; 100,000 and 16 MiB when 0.
	MaxEvents, MaxBytes int
	// Every is how long an event waits for others before it is stored; 25 ms when 0.
	// Batch is the number that are stored at once; 64 when 0.
	Every time.Duration
	Batch int
	// Window is about how many bytes of stored events stay in memory for readers;
	// 256 KiB when 0.
	Window int
	// Beat is how often the store hears that the run lives while it says nothing; 5 s
	// when 0.
	Beat time.Duration
	// Stop is called, once, when the store says that somebody asked the run to stop,
	// or that it has another owner.
	Stop func(error)
	// Failed is called when events could not be stored, once.
	Failed func(error)
	Logger *slog.Logger
}

// Log is what a run has said so far. One goroutine appends and writes.
type Log struct{}

// Open begins the log of a run, or goes on with it. ctx carries the identity of
// the store's calls and must outlive the run. Close must be called.
func Open(ctx context.Context, o Options) *Log { return new(Log) }

// Append numbers the event and shows it to the readers; it is stored with the next
// ones. It waits only when the store is far behind.
func (l *Log) Append(e event.Event) {}

// Full reports whether the run has said as much as it may.
func (l *Log) Full() bool { return false }

// Last is the number of the newest event.
func (l *Log) Last() int64 { return 0 }

// Write stores what was appended, then, in the same transaction, w and the
// events with it, and only then shows these. When it fails, they are not shown and
// have no number; what was appended before stays to be stored.
func (l *Log) Write(w store.RunWrite, with ...event.Event) error { return errNotYet }

// Read gives the events after a number, from wherever they are, and blocks for
// those to come until the log is closed. The only error is that of ctx or of the
// store. Any number may read.
func (l *Log) Read(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {}
}

// Wait blocks until the log is closed.
func (l *Log) Wait(ctx context.Context) error { return nil }

// Close says that nothing follows in this process and stores what is left.
// Readers get the rest and end.
func (l *Log) Close() {}

// FollowOptions say how to read a run of elsewhere.
type FollowOptions struct {
	// After is the number of the last event that the reader has.
	After int64
	// Poll is how often the store is asked while the run is at it; 250 ms when 0.
	Poll time.Duration
}

// Follow reads the log of a run from the store, and polls it as long as the run
// is running. It ends when the run waits, is interrupted or has ended, and all of
// the log was read.
func Follow(ctx context.Context, s Store, runID string, o FollowOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {}
}

var errNotYet = errors.New("not yet")
