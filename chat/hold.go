package chat

import (
	"slices"
	"sync"
	"time"

	"p8/event"
	"p8/store"
)

// held is what waits a moment to be stored with what comes next: a call that only reads
// with its result, the calls of a step with each other. Nobody has seen any of it.
type held struct {
	mu      sync.Mutex
	events  []event.Event
	rows    []*store.Message
	entries []store.JournalEntry
	timer   *time.Timer
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
	d.MessageID = row.ID
	h.events, h.rows = append(h.events, e), append(h.rows, row)
	h.entries = append(h.entries, r.journal.take()...)
	waits := r.o.Store != nil && len(h.events) < maxHeld && (d.More || d.Reads || d.Status != event.ToolExecuting)
	if waits && len(h.events) == 1 {
		if h.timer == nil {
			h.timer = time.AfterFunc(holdFor, r.flush)
		} else {
			h.timer.Reset(holdFor)
		}
	}
	h.mu.Unlock()
	if !waits {
		r.flush()
	}
}

// flush stores and shows what is held.
func (r *recorder) flush() {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) == 0 {
		return
	}
	if h.timer != nil {
		h.timer.Stop()
	}
	// The log keeps the events; the rows are done with.
	events := slices.Clone(h.events)
	rows, entries := h.rows, h.entries
	h.events, h.rows, h.entries = h.events[:0], nil, nil
	if r.store(store.RunWrite{Messages: rows}, entries, events...) == nil {
		return
	}
	for _, e := range events {
		// The event may be on its way to somebody already: it is not changed.
		if d, ok := e.Data.(*event.ToolCallData); ok {
			other := *d
			other.MessageID = ""
			e.Data = &other
		}
		r.log.Append(e)
	}
}

// append shows an event that nothing is stored with, after those that are held.
func (r *recorder) append(e event.Event) {
	r.flush()
	r.log.Append(e)
}
