package chat

import (
	"errors"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
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
	r.asks = append(r.asks, *d)
	asked := store.RunRequest{
		ID: d.RequestID, RunID: r.RunID, SessionID: r.SessionID, Kind: d.Kind, AgentPath: e.Agent,
		ToolName: d.ToolName, ToolCallID: d.ToolCallID, Arguments: d.Arguments, Message: d.Message, Schema: d.Schema,
		Status: store.RequestOpen, CreatedAt: now, ExpiresAt: d.ExpiresAt,
	}
	if r.write(store.RunWrite{Requests: []store.RunRequest{asked}}, e) != nil {
		r.unasked = append(r.unasked, asked) // without it nobody could answer
		r.log.Append(e)
	}
}

// write stores what is new, with what the journal has to say, and then shows the
// events. What the journal had to say is kept for the next write if it fails.
func (r *recorder) write(w store.RunWrite, events ...event.Event) error {
	h := &r.held
	h.mu.Lock()
	defer h.mu.Unlock()
	r.storeHeld()
	w.Journal = r.journal.take()
	for _, m := range w.Messages {
		r.added += m.TokenCount
	}
	if w.Answer != nil {
		r.added += w.Answer.TokenCount
	}
	err := r.put(w, events...)
	if err != nil {
		r.journal.putBack(w.Journal)
	}
	return err
}

// put is the one way to the store: it writes what is late, then w and the events. The
// caller has the lock of what is held.
func (r *recorder) put(w store.RunWrite, events ...event.Event) error {
	if r.o.Store == nil {
		return errNotStored
	}
	h := &r.held
	for again := true; ; again = false {
		late, err := unstored(r.stored, r.o.Store, h.late)
		if err == nil {
			err = r.log.Write(addLate(w, late), events...)
		}
		if again && len(late) > 0 && errors.Is(err, store.ErrConflict) {
			continue // what was late arrived after all
		}
		if err == nil {
			r.account.Hold(-h.lateBytes)
			h.late, h.lateBytes = nil, 0
		}
		return err
	}
}

var errNotStored = errors.New("chat: nothing is stored here")
