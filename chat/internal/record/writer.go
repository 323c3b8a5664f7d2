// Package record stores what a run does: its rows, its journal and its events.
//
// All writes of a run go through its [Writer]. It stores a row before a reader sees the
// event that names it. A call that acts is stored before it is made; a call that only reads
// is stored with its result. If a write fails, the event is shown without its row, and the
// row goes with the next write ([Batch]); a call that acts is then not made, and the run
// stops.
//
// [Rows] makes the rows, [Journal] records the finished calls so that they are not repeated,
// [Text] and [Asides] gather the text, thoughts and observations for the answer's rows.
package record

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// Options are what a Writer works with.
type Options struct {
	// Context carries the identity for calls of the store. It outlives the run.
	Context context.Context
	// Lookup finds rows; nil if nothing is stored.
	Lookup  Lookup
	Log     *live.Log
	Journal *Journal
	Account *live.Account
	// Stop ends the run; it is called with ErrLost, ErrUnrecorded or ErrUnstorable.
	Stop func(error)
	// Warn shows the client, once, that rows may be missing in the session.
	Warn func()
	// RunID and SessionID are for the log.
	RunID, SessionID string
	Logger           *slog.Logger
}

// Writer stores the events of calls with their rows and journal entries, and shows them.
// It is safe for concurrent use.
type Writer struct {
	o Options

	mu sync.Mutex
	// held are items that wait up to holdFor, to be stored in one write: a call that only
	// reads with its result, the calls of a step with each other. No reader has seen them.
	held []item
	// acts: one of the items is a call that acts, and must be stored before it is made.
	acts  bool
	timer *time.Timer
	// late was shown and is not stored yet: it goes with the next write.
	late      []Batch
	lateBytes int
	// broken is the error that forbids further calls that act.
	broken error
	// tokens is the number of tokens in the run's rows.
	tokens int

	warned sync.Once
}

// NewWriter makes the Writer of a run, and binds its journal to it.
func NewWriter(o Options) *Writer {
	w := &Writer{o: o}
	o.Journal.commit = w.commit
	return w
}

// ErrNotStored is the error of writes if nothing is stored.
var ErrNotStored = errors.New("chat: nothing is stored here")

const (
	// holdFor is how long an item waits at most.
	holdFor = 5 * time.Millisecond
	// maxHeld bounds the items of one write.
	maxHeld = 64
)

// Save stores the row of a call and shows the event with the row's id, at once or together
// with other items within holdFor. A call that acts is stored before it is made.
func (w *Writer) Save(e event.Event, d *event.ToolCallData, row *store.Message) {
	w.SavePair(e, d, nil, row)
}

// SavePair is Save for a result whose call has no event of its own; call is nil for none.
func (w *Writer) SavePair(e event.Event, d *event.ToolCallData, call, row *store.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d.MessageID = row.ID
	i := item{e, call, row, w.o.Journal.take()}
	w.held, w.acts = append(w.held, i), w.acts || i.acts()
	w.tokens += row.TokenCount
	if call != nil {
		w.tokens += call.TokenCount
	}
	if w.o.Lookup == nil || len(w.held) >= maxHeld || w.acts && !d.More {
		w.storeHeld()
		return
	}
	if len(w.held) > 1 {
		return
	}
	if w.timer == nil {
		w.timer = time.AfterFunc(holdFor, w.Flush)
	} else {
		w.timer.Reset(holdFor)
	}
}

// Append shows an event that has no rows, after the held items.
func (w *Writer) Append(e event.Event) {
	w.Flush()
	w.o.Log.Append(e)
}

// Write stores what is new, with the pending journal, and then shows the events. If it
// fails, the journal stays for the next write, and the events are not shown.
func (w *Writer) Write(write store.RunWrite, events ...event.Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.storeHeld()
	write.Journal = w.o.Journal.take()
	for _, m := range write.Messages {
		w.tokens += m.TokenCount
	}
	if write.Answer != nil {
		w.tokens += write.Answer.TokenCount
	}
	err := w.put(write, events...)
	if err != nil {
		w.o.Journal.putBack(write.Journal)
	}
	return err
}

// Flush stores and shows what is held.
func (w *Writer) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.storeHeld()
}

// Tokens returns the number of tokens in the rows that were written.
func (w *Writer) Tokens() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tokens
}

// Left removes and returns what is not stored when the run is over: the late batches and
// the pending journal.
func (w *Writer) Left() ([]Batch, []store.JournalEntry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clip(w.late), w.o.Journal.take()
}

// put makes every write to the store: what is late, then write and the events. The caller
// holds the lock.
func (w *Writer) put(write store.RunWrite, events ...event.Event) error {
	if w.o.Lookup == nil {
		return ErrNotStored
	}
	for again := true; ; again = false {
		late, err := Unstored(w.o.Context, w.o.Lookup, w.late)
		if err == nil {
			err = w.o.Log.Write(AddLate(write, late), events...)
		}
		if again && len(late) > 0 && errors.Is(err, store.ErrConflict) {
			continue // the write that seemed to fail had succeeded
		}
		if err == nil {
			w.o.Account.Hold(-w.lateBytes)
			w.late, w.lateBytes = nil, 0
		}
		return err
	}
}

// storeHeld is Flush for a caller that holds the lock.
func (w *Writer) storeHeld() {
	if len(w.held) == 0 {
		return
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	// The log keeps the events.
	events := make([]event.Event, len(w.held))
	rows := make([]*store.Message, 0, len(w.held)+1)
	entries := make([]store.JournalEntry, 0, len(w.held)+1)
	for i := range w.held {
		events[i], rows = w.held[i].event, w.held[i].rows(rows)
		entries = append(entries, w.held[i].entries...)
	}
	if err := w.put(store.RunWrite{Messages: rows, Journal: entries}, events...); err != nil {
		w.notStored(err)
	}
	clear(w.held)
	w.held, w.acts = w.held[:0], false
}

// commit returns when everything held is stored, and the entries with it. After an error, no
// call that acts may be made.
func (w *Writer) commit(entries []store.JournalEntry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.storeHeld()
	if w.broken == nil && len(entries) > 0 && w.o.Lookup != nil {
		if err := w.put(store.RunWrite{Journal: entries}); err != nil {
			w.stopFor(err)
		}
	}
	return w.broken
}
