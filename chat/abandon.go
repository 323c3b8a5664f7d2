package chat

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/store"
)

// abandon ends a run that waits, or was interrupted, and that nobody goes on with:
// what it has said becomes its answer, and the calls that it had begun end. It is
// store.ErrNotOwner when somebody goes on with it after all.
func (s *Service) abandon(ctx context.Context, r *store.Run) error {
	how := ending{status: store.RunCancelled, reason: event.ReasonCancelled, row: store.StatusCancelled}
	if r.Status == store.RunInterrupted {
		how.row = store.StatusInterrupted
	}
	return s.close(ctx, r, how)
}

// ending is how a run ends that nobody goes on with: its state and its reason, the
// state of the row with what it said, and what went wrong, nil for nothing.
type ending struct {
	status, reason, row string
	failure             *event.ErrorData
}

// close ends a run that waits or was interrupted.
func (s *Service) close(ctx context.Context, r *store.Run, how ending) error {
	who, err := identity.From(ctx)
	if err != nil {
		return err
	}
	claimed, err := s.o.Store.ClaimRun(ctx, r.ID, s.o.Owner)
	if err != nil {
		return err
	}
	claimed.Status = r.Status
	if err := s.leftover(ctx, who, &claimed, how); err != nil {
		back := s.letGo(ctx, who, store.RunWrite{RunID: r.ID, Status: r.Status, Reason: r.Reason})
		return errors.Join(err, back)
	}
	return nil
}

// leftover ends a run that this process has claimed for that.
func (s *Service) leftover(ctx context.Context, who identity.Identity, r *store.Run, how ending) error {
	l := leavings{recorder: &recorder{Service: s, job: &job{Turn: s.turnOf(who, r), name: r.AgentName, started: s.o.Now()}}}
	known, err := l.Turn.cuts(ctx)
	if err != nil {
		return err
	}
	if r.LastSeq > 0 {
		for e, err := range l.Turn.raw(ctx, 0, nil) {
			if err != nil {
				return err
			}
			if known.void(&e) == 0 {
				l.add(e)
			}
			if e.Seq >= r.LastSeq {
				break
			}
		}
	}
	after := r.LastSeq // the log begins live.Gap further, behind what readers may have
	if after > 0 || r.Restarts > 0 {
		after += live.Lost - live.Gap
	}
	// Somebody waits, who may ask again when the store works.
	hurry, over := context.WithCancel(ctx)
	over()
	log := live.Open(context.WithoutCancel(ctx), live.Options{
		RunID: r.ID, Owner: s.o.Owner, Store: s.o.Store, After: after, Logger: s.o.Logger, Run: hurry,
	})
	defer log.Close()
	w, events := l.end(r, how)
	err = log.Write(w, events...)
	if errors.Is(err, store.ErrNotFound) {
		// The session has gone; the run goes, too.
		err = log.Write(store.RunWrite{RunID: r.ID, Owner: s.o.Owner, Status: w.Status, Reason: w.Reason})
	}
	return err
}

// Leftover finds runs that nobody went on with; store.Maintenance does.
type Leftover interface {
	LeftRuns(ctx context.Context, before time.Time) ([]store.OwnedRun, error)
}

// EndLeft ends the runs that nobody went on with since before a time: what they had
// said stays in their sessions. A server calls it before it forgets old logs.
func (s *Service) EndLeft(ctx context.Context, from Leftover, before time.Time) error {
	left, err := from.LeftRuns(ctx, before)
	if err != nil {
		return err
	}
	for _, x := range left {
		own := identity.With(ctx, identity.Identity{TenantID: x.TenantID, UserID: x.UserID})
		r, err := s.o.Store.Run(own, x.RunID)
		if err == nil {
			err = s.abandon(own, &r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leavings are what a run has said and called.
type leavings struct {
	*recorder
	open []event.Event // the calls that have not ended, as they were told last
}

func (l *leavings) add(e event.Event) {
	if !strings.Contains(e.Agent, "/") {
		l.name = e.Agent // that of who took over, in the end
	}
	l.asides.add(e)
	switch d := e.Data.(type) {
	case nil:
		if e.Type == event.Text {
			l.text.Add(e.Text)
		}
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

// The results of a call that was never answered: one that was not begun, or waited, and
// one that was under way when its process died.
const (
	notDone     = "the run was stopped before this call had a result"
	perhapsDone = "the run was stopped while this call was under way: it may or may not have been done"
)

// unanswered is why a call has no result, and its status.
func unanswered(r *store.Run, d *event.ToolCallData) (status, why string) {
	if r.Status != store.RunInterrupted || d.Status != event.ToolExecuting || d.Client {
		return "cancelled", notDone
	}
	return "unknown", perhapsDone
}

// end is the last that is written of the run.
func (l *leavings) end(r *store.Run, how ending) (store.RunWrite, []event.Event) {
	w := store.RunWrite{RunID: r.ID, Owner: l.o.Owner, Status: how.status, Reason: how.reason}
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
			row := l.resultRow(e.Agent, d)
			d.MessageID = row.ID
			w.Messages = append(w.Messages, row)
		}
		e.Data = d
		events = append(events, e)
	}
	w.Messages = append(w.Messages, l.asideRows()...)
	if text := l.said(); text != "" {
		w.Answer = l.row(r.MessageID, l.name, store.MessageAssistant)
		w.Answer.Content, w.Answer.TokenCount, w.Answer.Model = &text, llm.EstimateTokens(text), r.Model
		w.Answer.Status = how.row
	}
	if how.failure != nil {
		events = append(events, l.own(how.failure))
	}
	return w, append(events, l.own(&event.DoneData{Reason: how.reason}))
}
