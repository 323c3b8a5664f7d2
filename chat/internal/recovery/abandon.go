package recovery

import (
	"context"
	"errors"
	"strings"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/store"
)

// Abandon ends a run that waits, or was interrupted, and will not be resumed: its text so
// far becomes its answer, and its open calls end. The error is store.ErrRunTaken if another
// process resumed the run meanwhile.
func (s *Ends) Abandon(ctx context.Context, r *store.Run) error {
	how := ending{status: store.RunCancelled, reason: event.ReasonCancelled, row: store.StatusCancelled}
	if r.Status == store.RunInterrupted {
		how.row = store.StatusInterrupted
	}
	return s.close(ctx, r, how)
}

// Fail ends a run like Abandon, with the status failed.
func (s *Ends) Fail(ctx context.Context, r *store.Run, failure *event.ErrorData) error {
	return s.close(ctx, r, ending{
		status: store.RunFailed, reason: event.ReasonError, row: store.StatusError, failure: failure,
	})
}

// ending is how an abandoned run ends: its status and reason, the status of its answer's
// row, and the failure, if it is one.
type ending struct {
	status, reason, row string
	failure             *event.ErrorData
}

// close ends a run that waits or was interrupted.
func (s *Ends) close(ctx context.Context, r *store.Run, how ending) error {
	caller, err := identity.From(ctx)
	if err != nil {
		return err
	}
	claimed, err := s.Claim(ctx, r, store.RunsAllowed{})
	if err != nil {
		return err
	}
	claimed.Status = r.Status
	if err := s.leftover(ctx, &claimed, how); err != nil {
		back := s.Write(ctx, End{Caller: caller, Write: store.RunWrite{RunID: r.ID, Status: r.Status, Reason: r.Reason}})
		return errors.Join(err, back)
	}
	return nil
}

// leftover ends a run that this process has claimed in order to end it.
func (s *Ends) leftover(ctx context.Context, r *store.Run, how ending) error {
	l := leavings{rows: record.Rows{RunID: r.ID, SessionID: r.SessionID, Agent: r.AgentName, Now: s.o.Now, NewID: s.o.NewID}}
	for e, err := range Said(ctx, s.o.Store, r, 0) {
		if err != nil {
			return err
		}
		l.add(e)
	}
	entries, err := s.o.Store.RunJournal(ctx, r.ID)
	if err != nil {
		return err
	}
	var journal record.Journal
	if _, err := journal.Load(entries); err != nil {
		return err
	}
	l.parts = journal.Unended()
	after := r.LastSeq // the log begins live.Gap later, after everything that readers may have
	if after > 0 || r.Restarts > 0 {
		after += live.Lost - live.Gap
	}
	// The caller waits for this write and can repeat the request, so the log gets the
	// context of a finished run: it gives up after a few tries.
	hurry, over := context.WithCancel(ctx)
	over()
	log := live.Open(context.WithoutCancel(ctx), live.Options{
		RunID: r.ID, Process: s.o.Process, Store: s.o.Store, After: after, Logger: s.o.Logger, Run: hurry,
	})
	defer log.Close()
	w, events := l.end(r, how)
	w.Process = s.o.Process
	err = log.Write(w, events...)
	if errors.Is(err, store.ErrNotFound) {
		// The session was deleted: end the run alone.
		err = log.Write(store.RunWrite{RunID: r.ID, Process: s.o.Process, Status: w.Status, Reason: w.Reason})
	}
	return err
}

// leavings gathers the text and the open calls of an abandoned run.
type leavings struct {
	rows   record.Rows
	text   event.Spoken
	asides record.Asides
	open   []event.Event // the last event of each call that has not ended
	parts  []run.Spent
}

func (l *leavings) add(e event.Event) {
	l.text.Add(&e)
	if e.Void != 0 {
		return
	}
	if !strings.Contains(e.Agent, "/") {
		l.rows.Agent = e.Agent // the last one is the agent that took over
	}
	l.asides.Add(e)
	l.rows.Heard(e)
	switch d := e.Data.(type) {
	case *event.ToolCallData:
		if d.Structured {
			return
		}
		for i := range l.open {
			was, ok := l.open[i].Data.(*event.ToolCallData)
			if ok && was.ID == d.ID && l.open[i].RunID == e.RunID {
				l.open = append(l.open[:i], l.open[i+1:]...)
				break
			}
		}
		if d.Status == event.ToolStarted || d.Status == event.ToolExecuting {
			l.open = append(l.open, e)
		}
	}
}

// The results of calls without an answer: of a call that was not begun or waited, and of a
// call that was under way when its process died.
const (
	notDone     = "the run was stopped before this call had a result"
	perhapsDone = "the run was stopped while this call was under way: it may or may not have been done"
)

// unanswered returns why a call has no result, and its status.
func unanswered(r *store.Run, d *event.ToolCallData) (status, why string) {
	if r.Status != store.RunInterrupted || d.Status != event.ToolExecuting || d.Client {
		return "cancelled", notDone
	}
	return "unknown", perhapsDone
}

// end makes the last write of the run and its events.
func (l *leavings) end(r *store.Run, how ending) (store.RunWrite, []event.Event) {
	w := store.RunWrite{RunID: r.ID, Status: how.status, Reason: how.reason}
	var events []event.Event
	for _, e := range l.open {
		was, ok := e.Data.(*event.ToolCallData)
		if !ok {
			continue
		}
		status, why := unanswered(r, was)
		content := `{"status":"` + status + `","error":"` + why + `"}`
		d := &event.ToolCallData{
			Name: was.Name, ID: was.ID, Status: event.ToolFailed, Arguments: was.Arguments, Client: was.Client,
			Result: []byte(content), Content: content, ErrorMessage: why,
		}
		if was.Status == event.ToolExecuting { // one that was only begun has no row
			row := l.rows.Result(e, d)
			d.MessageID = row.ID
			w.Messages = append(w.Messages, row)
		}
		e.Data = d
		events = append(events, e)
	}
	w.Messages = append(w.Messages, l.asides.Rows(&l.rows, true)...)
	if text := l.text.String(); text != "" {
		w.Answer = l.rows.New(r.MessageID, l.rows.Agent, store.MessageAssistant)
		w.Answer.Content, w.Answer.TokenCount, w.Answer.Model = &text, llm.EstimateTokens(text), r.Model
		w.Answer.Status = how.row
	}
	w.Messages = append(w.Messages, l.rows.Shares(w.Answer, l.parts)...)
	for i := range l.parts {
		u := &l.parts[i].Usage
		w.Consumed.InputTokens += u.InputTokens
		w.Consumed.OutputTokens += u.OutputTokens
		w.Consumed.CostUSD += u.CostUSD
	}
	if was := r.Consumed; was.InputTokens+was.OutputTokens > w.Consumed.InputTokens+w.Consumed.OutputTokens {
		w.Consumed = was // it has what the journal lost
	}
	if how.failure != nil {
		events = append(events, l.own(r.ID, how.failure))
	}
	return w, append(events, l.own(r.ID, &event.DoneData{Reason: how.reason}))
}

// own returns an event of the run itself.
func (l *leavings) own(runID string, d event.Data) event.Event {
	return event.Event{Type: d.EventType(), RunID: runID, Agent: l.rows.Agent, Data: d}
}
