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
	return r.store(w, r.journal.take(), events...)
}

// store is write with what the journal had to say when the events came.
func (r *recorder) store(w store.RunWrite, entries []store.JournalEntry, events ...event.Event) error {
	if r.o.Store == nil {
		for i := range w.Messages {
			w.Messages[i].ID = ""
		}
		return errNotStored
	}
	w.RunID, w.Owner, w.Journal = r.RunID, r.o.Owner, entries
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
	r.log.Append(r.own(&event.WarningData{
		Code: "storage_failed", Message: "this turn could not be stored completely; the session may not remember it",
	}))
}
