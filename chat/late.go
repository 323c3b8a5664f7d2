package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// The ends of a run whose calls cannot be recorded.
var (
	// errUnrecorded: the store fails. The run can be resumed when it works again.
	errUnrecorded = fmt.Errorf("chat: the run cannot be recorded: %w", run.ErrInterrupted)
	// errUnstorable: the store works and refuses what the run wants to record.
	errUnstorable = errors.New("chat: a call cannot be recorded as it is")
)

// batch is what one failed write had of calls: it was written as a whole or not at
// all, and may be in the store although the write failed.
type batch struct {
	rows    []*store.Message
	entries []store.JournalEntry
}

// maxLate bounds what waits for the store, in bytes.
const maxLate = 8 << 20

// unstored are the batches that are not in the store.
func unstored(ctx context.Context, s Conversations, late []batch) ([]batch, error) {
	for i, b := range late {
		_, err := s.Message(ctx, b.rows[0].ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			// What was written later is not there either.
			return late[i:], nil
		case err != nil:
			return nil, err
		}
	}
	return nil, nil
}

// addLate is a write with what is late before its own.
func addLate(w store.RunWrite, late []batch) store.RunWrite {
	if len(late) == 0 {
		return w
	}
	var rows []*store.Message
	var entries []store.JournalEntry
	for _, b := range late {
		rows, entries = append(rows, b.rows...), append(entries, b.entries...)
	}
	w.Messages, w.Journal = append(rows, w.Messages...), append(entries, w.Journal...)
	return w
}

// notStored deals with held items that could not be stored. A call that acts is not
// made: the run stops. Everything else is shown without its row, which is late.
func (r *recorder) notStored(err error) {
	h := &r.held
	refused := isRefused(err)
	if h.acts && !errors.Is(err, errNotStored) {
		r.stopFor(err)
	}
	items := r.keptItems()
	for i := range items {
		r.log.Append(withoutRow(items[i].event))
	}
	switch {
	case errors.Is(err, errNotStored), errors.Is(err, store.ErrNotOwner), len(items) == 0:
	case refused:
		// The rows are lost. A result is lost to the journal, too: its call counts as
		// interrupted.
		for i := range items {
			if _, begins := items[i].call(); begins {
				r.journal.putBack(items[i].entries)
			}
		}
		r.tellNotStored(err)
	default:
		r.keepLate(items, err)
	}
}

// keptItems are the held items that are shown although they are not stored: all of
// them, but where the run stops for a call that acts, no beginning of a call, and no
// end of one whose beginning is left out.
func (r *recorder) keptItems() []heldItem {
	h := &r.held
	if h.broken == nil || !h.acts {
		return h.items
	}
	var kept []heldItem
	left := map[callKey]bool{}
	for _, i := range h.items {
		switch key, begins := i.call(); {
		case begins:
			left[key] = true
		case !left[key]:
			kept = append(kept, i)
		}
	}
	return kept
}

// keepLate keeps rows for the next write.
func (r *recorder) keepLate(items []heldItem, err error) {
	h := &r.held
	var b batch
	size := 0
	for _, i := range items {
		b.rows, b.entries = append(b.rows, i.row), append(b.entries, i.entries...)
		if i.row.Content != nil {
			size += len(*i.row.Content)
		}
		for _, e := range i.entries {
			size += len(e.Data)
		}
	}
	h.late, h.lateBytes = append(h.late, b), h.lateBytes+size
	r.account.Hold(size)
	r.o.Logger.Warn("rows of a run wait to be stored", "run", r.RunID, "session", r.SessionID, "rows", len(b.rows), "error", err)
	if h.lateBytes > maxLate {
		r.stopFor(err)
	}
}

// stopFor ends the run because what it does cannot be recorded.
func (r *recorder) stopFor(err error) {
	h := &r.held
	if h.broken != nil {
		return
	}
	switch {
	case errors.Is(err, store.ErrNotOwner):
		h.broken = errLost
	case isRefused(err):
		h.broken = errUnstorable
	default:
		h.broken = errUnrecorded
	}
	r.o.Logger.Error("a run stops: what it does cannot be recorded", "run", r.RunID, "session", r.SessionID, "error", err)
	r.cancel(h.broken)
}

// isRefused reports whether the store refuses a write for what is in it: it would
// refuse it again.
func isRefused(err error) bool {
	for _, refused := range []error{store.ErrInvalid, store.ErrConflict, store.ErrNotFound, identity.ErrMissing} {
		if errors.Is(err, refused) {
			return true
		}
	}
	return false
}

// tellNotStored warns the client, once, that the session may lack something.
func (r *recorder) tellNotStored(err error) {
	r.o.Logger.Error("a row could not be stored", "run", r.RunID, "session", r.SessionID, "error", err)
	if r.failed {
		return
	}
	r.failed = true
	r.log.Append(r.own(&event.WarningData{
		Code: codeStorage, Message: "this turn could not be stored completely; the session may not remember it",
	}))
}

// codeStorage is the code of everything that the store's failure costs a client.
const codeStorage = "storage_failed"

// withoutRow is an event of a call that names no row. The event may be on its way to
// somebody already: it is not changed.
func withoutRow(e event.Event) event.Event {
	if d, ok := e.Data.(*event.ToolCallData); ok {
		other := *d
		other.MessageID = ""
		e.Data = &other
	}
	return e
}

// late takes the rows and events that were shown and are not stored, for the write
// that ends the run.
func (r *recorder) late() []batch {
	r.held.mu.Lock()
	defer r.held.mu.Unlock()
	return slices.Clip(r.held.late)
}
