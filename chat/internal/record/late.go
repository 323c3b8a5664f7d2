package record

import (
	"context"
	"errors"
	"fmt"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// The reasons to stop a run whose calls cannot be recorded.
var (
	// ErrUnrecorded: the store fails. The run can be resumed when it works again.
	ErrUnrecorded = fmt.Errorf("chat: the run cannot be recorded: %w", run.ErrInterrupted)
	// ErrUnstorable: the store works, and refuses the content of a record.
	ErrUnstorable = errors.New("chat: a call cannot be recorded as it is")
	// ErrLost: another process owns the run.
	ErrLost = errors.New("chat: the run belongs to another process now")
)

// Batch holds the rows and entries of one failed write. The store has all of them or none;
// it may have them although the write failed.
type Batch struct {
	rows    []*store.Message
	entries []store.JournalEntry
}

// Lookup finds a row of the caller by its id. If no row has it, the error is
// store.ErrNotFound.
type Lookup interface {
	Message(ctx context.Context, id string) (store.Message, error)
}

// maxLate bounds the batches that wait for the store, in bytes.
const maxLate = 8 << 20

// Unstored returns the batches that are not in the store.
func Unstored(ctx context.Context, s Lookup, late []Batch) ([]Batch, error) {
	for i, b := range late {
		_, err := s.Message(ctx, b.rows[0].ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			// Batches are written in order: the later ones are not stored either.
			return late[i:], nil
		case err != nil:
			return nil, err
		}
	}
	return nil, nil
}

// AddLate puts the rows and entries of late batches before those of the write.
func AddLate(w store.RunWrite, late []Batch) store.RunWrite {
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

// item is an event of a call with its row and its journal entries. pair is the row of the
// call that the row answers, if the call has no event of its own.
type item struct {
	event     event.Event
	pair, row *store.Message
	entries   []store.JournalEntry
}

// rows appends the item's rows to a list.
func (i *item) rows(list []*store.Message) []*store.Message {
	if i.pair != nil {
		list = append(list, i.pair)
	}
	return append(list, i.row)
}

// acts reports whether the item is a call that acts.
func (i *item) acts() bool {
	d, ok := i.event.Data.(*event.ToolCallData)
	return ok && d.Status == event.ToolExecuting && !d.Reads
}

// Call names a call of a run: agents of one name may run side by side.
type Call struct{ Run, ID string }

// call returns the call of the item; begins is true if the item is its beginning.
func (i *item) call() (call Call, begins bool) {
	d, ok := i.event.Data.(*event.ToolCallData)
	if !ok {
		return call, false
	}
	return Call{i.event.RunID, d.ID}, d.Status == event.ToolExecuting
}

// notStored handles a failed write: it shows the held items without their rows, and keeps
// the rows for the next write. If an item is a call that acts, the call is not made and the
// run stops.
func (w *Writer) notStored(err error) {
	refused := isRefused(err)
	if w.acts && !errors.Is(err, ErrNotStored) {
		w.stopFor(err)
	}
	items := w.keptItems()
	for i := range items {
		w.o.Log.Append(withoutRow(items[i].event))
	}
	switch {
	case errors.Is(err, ErrNotStored), errors.Is(err, store.ErrRunTaken), len(items) == 0:
	case refused:
		// The rows are lost. A result is lost to the journal, too: its call counts as
		// interrupted.
		for i := range items {
			if _, begins := items[i].call(); begins {
				w.o.Journal.putBack(items[i].entries)
			}
		}
		w.Incomplete(err)
	default:
		w.keepLate(items, err)
	}
}

// keptItems returns the held items that are shown although they are not stored. If the run
// stops for a call that acts, no beginning of a call is shown, and no end of a call whose
// beginning is left out.
func (w *Writer) keptItems() []item {
	if w.broken == nil || !w.acts {
		return w.held
	}
	var kept []item
	left := map[Call]bool{}
	for _, i := range w.held {
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
func (w *Writer) keepLate(items []item, err error) {
	var b Batch
	size := 0
	for _, i := range items {
		b.rows, b.entries = i.rows(b.rows), append(b.entries, i.entries...)
		if i.row.Content != nil {
			size += len(*i.row.Content)
		}
		for _, e := range i.entries {
			size += len(e.Data)
		}
	}
	w.late, w.lateBytes = append(w.late, b), w.lateBytes+size
	w.o.Account.Hold(size)
	w.o.Logger.Warn("rows of a run wait to be stored", "run", w.o.RunID, "session", w.o.SessionID, "rows", len(b.rows), "error", err)
	if w.lateBytes > maxLate {
		w.stopFor(err)
	}
}

// stopFor ends the run because its calls cannot be recorded.
func (w *Writer) stopFor(err error) {
	if w.broken != nil {
		return
	}
	switch {
	case errors.Is(err, store.ErrRunTaken):
		w.broken = ErrLost
	case isRefused(err):
		w.broken = ErrUnstorable
	default:
		w.broken = ErrUnrecorded
	}
	w.o.Logger.Error("a run stops: what it does cannot be recorded", "run", w.o.RunID, "session", w.o.SessionID, "error", err)
	w.o.Stop(w.broken)
}

// isRefused reports whether the store refuses a write for its content: it would refuse
// it again.
func isRefused(err error) bool {
	for _, refused := range []error{store.ErrInvalid, store.ErrConflict, store.ErrNotFound, identity.ErrMissing} {
		if errors.Is(err, refused) {
			return true
		}
	}
	return false
}

// Incomplete logs that a row is not stored, and warns the client once.
func (w *Writer) Incomplete(err error) {
	w.o.Logger.Error("a row could not be stored", "run", w.o.RunID, "session", w.o.SessionID, "error", err)
	w.warned.Do(w.o.Warn)
}

// withoutRow returns a copy of the event of a call that names no row. e itself is not
// changed, because a reader may have it already.
func withoutRow(e event.Event) event.Event {
	if d, ok := e.Data.(*event.ToolCallData); ok {
		other := *d
		other.MessageID = ""
		e.Data = &other
	}
	return e
}
