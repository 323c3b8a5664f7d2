package chat

import (
	"errors"
	"time"

	"p8/event"
	"p8/store"
)

// begins notes that a call has a row without a result; false when it had one.
func (r *recorder) begins(run, id string) bool {
	key := callKey{run, id}
	if r.called[key] {
		return false
	}
	if r.called == nil {
		r.called = make(map[callKey]bool)
	}
	r.called[key] = true
	return true
}

// save stores the row of a call and shows the event, with the row's id if there
// is such a row. A call that needs no row has none. What comes at once is stored at
// once: one write for all calls of a step.
func (r *recorder) save(e event.Event, d *event.ToolCallData, row *store.Message) {
	d.MessageID = row.ID
	r.held, r.heldRows = append(r.held, e), append(r.heldRows, row)
	if !d.More || len(r.held) == maxHeld {
		r.flush()
	}
}

// maxHeld bounds what one write of calls holds.
const maxHeld = 64

// flush stores and shows what is held.
func (r *recorder) flush() {
	if len(r.held) == 0 {
		return
	}
	held, rows := r.held, r.heldRows
	r.held, r.heldRows = nil, nil
	if r.write(store.RunWrite{Messages: rows}, held...) == nil {
		return
	}
	for _, e := range held {
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

// ask stores a question, so that it can be answered by whoever sees it.
func (r *recorder) ask(e event.Event, d *event.ActionRequestData) {
	now := r.o.Now().UTC()
	if d.ExpiresAt.IsZero() {
		d.ExpiresAt = now.Add(r.o.AnswerWithin).Truncate(time.Second)
	}
	r.flush()
	r.asks = append(r.asks, *d)
	asked := store.RunRequest{
		ID: d.RequestID, RunID: r.RunID, SessionID: r.SessionID, Kind: d.Kind, AgentPath: e.Agent,
		ToolName: d.ToolName, ToolID: d.ToolID, Arguments: d.Arguments, Message: d.Message, Schema: d.Schema,
		Status: store.RequestOpen, CreatedAt: now, ExpiresAt: d.ExpiresAt,
	}
	if r.write(store.RunWrite{Requests: []store.RunRequest{asked}}, e) != nil {
		r.unasked = append(r.unasked, asked) // without it nobody could answer
		r.log.Append(e)
	}
}

// write stores what is new, with what the journal has to say, and then shows the
// events.
func (r *recorder) write(w store.RunWrite, events ...event.Event) error {
	if r.o.Store == nil {
		for i := range w.Messages {
			w.Messages[i].ID = ""
		}
		return errNotStored
	}
	w.RunID, w.Owner, w.Journal = r.RunID, r.o.Owner, r.journal.take()
	for _, m := range w.Messages {
		r.added += m.TokenCount
	}
	if w.Answer != nil {
		r.added += w.Answer.TokenCount
	}
	err := r.log.Write(w, events...)
	if err != nil {
		r.journal.putBack(w.Journal)
		r.storageFailed(err)
	}
	return err
}

var errNotStored = errors.New("chat: nothing is stored here")

// storageFailed lets the turn go on without its record, and says so once.
func (r *recorder) storageFailed(err error) {
	r.o.Logger.Error("a row could not be stored", "run", r.RunID, "session", r.SessionID, "error", err)
	if r.failed {
		return
	}
	r.failed = true
	r.show(&event.WarningData{
		Code: "storage_failed", Message: "this turn could not be stored completely; the session may not remember it",
	})
}
