package chat

import (
	"sync"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// held is what waits a moment to be stored with what comes next: a call that only reads
// with its result, the calls of a step with each other. Nobody has seen any of it.
type held struct {
	mu    sync.Mutex
	items []heldItem
	// acts: one of the items is a call that acts, and must be stored before it is made.
	acts  bool
	timer *time.Timer
	// late was shown and is not stored yet: it goes with the next write. lateBytes is
	// about its size.
	late      []batch
	lateBytes int
	// broken is why no call that acts may be made any more.
	broken error
}

// heldItem is an event of a call with its row and what the journal says of it.
type heldItem struct {
	event   event.Event
	row     *store.Message
	entries []store.JournalEntry
}

// acts reports whether the item is a call that acts.
func (i *heldItem) acts() bool {
	d, ok := i.event.Data.(*event.ToolCallData)
	return ok && d.Status == event.ToolExecuting && !d.Reads
}

// call is the call that the item tells of, and begins whether of its beginning.
func (i *heldItem) call() (key callKey, begins bool) {
	d, ok := i.event.Data.(*event.ToolCallData)
	if !ok {
		return key, false
	}
	return callKey{i.event.RunID, d.ID}, d.Status == event.ToolExecuting
}

const (
	// holdFor is how long something waits at most.
	holdFor = 5 * time.Millisecond
	// maxHeld bounds what one write holds.
	maxHeld = 64
)

// save stores the row of a call and shows the event, with the row's id if there
// is such a row; now, or with what comes within a moment. A call that acts is stored
// before it is made.
func (r *recorder) save(e event.Event, d *event.ToolCallData, row *store.Message) {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	d.MessageID = row.ID
	item := heldItem{e, row, r.journal.take()}
	h.items, h.acts = append(h.items, item), h.acts || item.acts()
	r.added += row.TokenCount
	if r.o.Store == nil || len(h.items) >= maxHeld || h.acts && !d.More {
		r.storeHeld()
		return
	}
	if len(h.items) > 1 {
		return
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(holdFor, r.flush)
	} else {
		h.timer.Reset(holdFor)
	}
}

// flush stores and shows what is held.
func (r *recorder) flush() {
	r.held.mu.Lock()
	defer r.held.mu.Unlock()
	r.storeHeld()
}

// storeHeld is flush for a caller that has the lock.
func (r *recorder) storeHeld() {
	h := &r.held
	if len(h.items) == 0 {
		return
	}
	if h.timer != nil {
		h.timer.Stop()
	}
	// The log keeps the events; the rows are done with.
	events := make([]event.Event, len(h.items))
	rows := make([]*store.Message, len(h.items))
	entries := make([]store.JournalEntry, 0, len(h.items)+1)
	for i := range h.items {
		events[i], rows[i] = h.items[i].event, h.items[i].row
		entries = append(entries, h.items[i].entries...)
	}
	if err := r.put(store.RunWrite{Messages: rows, Journal: entries}, events...); err != nil {
		r.notStored(err)
	}
	clear(h.items)
	h.items, h.acts = h.items[:0], false
}

// commit returns when everything held is stored, and the entries with it. Its error
// says that no call that acts may be made.
func (r *recorder) commit(entries []store.JournalEntry) error {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	r.storeHeld()
	if h.broken == nil && len(entries) > 0 && r.o.Store != nil {
		if err := r.put(store.RunWrite{Journal: entries}); err != nil {
			r.stopFor(err)
		}
	}
	return h.broken
}

// append shows an event that nothing is stored with, after those that are held.
func (r *recorder) append(e event.Event) {
	r.flush()
	r.log.Append(e)
}
