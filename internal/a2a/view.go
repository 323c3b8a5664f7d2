package a2a

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/store"
)

// view is what the caller in ctx sees of the tasks of an agent.
type view struct {
	*Server
	ctx   context.Context
	agent exposed
}

// patience bounds the wait for events that the run's row announces.
const patience = 2 * time.Second

// find returns a task of the caller that belongs to the agent.
func (v view) find(id string) (*chat.Turn, store.Run, error) {
	if id == "" {
		return nil, store.Run{}, wrong("the task has no id")
	}
	t, r, err := v.o.Chat.Open(v.ctx, id)
	if err == nil && r.AgentName != v.agent.name && !v.exposes(r.AgentName) {
		err = store.ErrNotFound
	}
	return t, r, err
}

// builder returns one for a turn.
func (v view) builder(t *chat.Turn) *builder {
	return newBuilder(t, v.o.Now, func() ([]store.RunRequest, error) {
		open, _, err := v.o.Chat.Requests(v.ctx, store.RequestFilter{RunID: t.RunID, Status: store.RequestOpen})
		return open, err
	})
}

// catchUp passes the events of the run up to upTo to the builder. The end of a finished
// pause is not in the log; if upTo is one, catchUp waits for the next event.
func (v view) catchUp(l *builder, t *chat.Turn, upTo int64) error {
	if upTo <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	for e, err := range t.Events(ctx) {
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return nil
		case err != nil:
			return err
		}
		if _, err := l.add(e); err != nil {
			return err
		}
		if e.Seq >= upTo {
			break
		}
	}
	return nil
}

// state returns the task of a run in any state.
func (v view) state(t *chat.Turn, r store.Run) (*builder, error) {
	l, last := v.builder(t), r.LastSeq
	if r.Status == store.RunRunning {
		last-- // the newest may be the end of a finished pause
	}
	if err := v.catchUp(l, t, last); err != nil {
		return nil, err
	}
	// The run's row completes a log that has been deleted, or is not written yet.
	switch r.Status {
	case store.RunWaiting:
		err := l.ask()
		l.dated(r)
		return l, err
	case store.RunCompleted:
		l.end(stateCompleted, nil)
	case store.RunCancelled:
		l.end(stateCanceled, nil)
	case store.RunFailed:
		l.fail()
	case store.RunInterrupted:
		if !t.GoesOn() {
			l.fail()
		}
	}
	l.dated(r)
	return l, nil
}

// brief returns the task of a run without its artifacts. Of the log it reads at most the
// error at its end.
func (v view) brief(r store.Run) (*builder, error) {
	t := chat.NewTurn(nothing)
	t.RunID, t.SessionID, t.Agent = r.ID, r.SessionID, r.AgentName
	l := v.builder(t)
	switch r.Status {
	case store.RunWaiting:
		if err := l.ask(); err != nil {
			return nil, err
		}
	case store.RunCompleted:
		l.end(stateCompleted, nil)
		if r.Reason != event.ReasonStop {
			l.task.Metadata["reason"] = r.Reason
		}
	case store.RunCancelled:
		l.end(stateCanceled, nil)
	case store.RunFailed:
		if err := v.lastError(l, r); err != nil {
			return nil, err
		}
		l.fail()
	case store.RunInterrupted:
		if !v.o.Resumes {
			l.fail()
		}
	}
	l.dated(r)
	return l, nil
}

// lastError reads the error at the end of a run's log.
func (v view) lastError(l *builder, r store.Run) error {
	t, _, err := v.o.Chat.Open(v.ctx, r.ID)
	if err != nil {
		return err
	}
	for e, err := range t.EventsAfter(v.ctx, max(0, r.LastSeq-2)) {
		if err != nil {
			return err
		}
		if d, ok := e.Data.(*event.ErrorData); ok {
			l.failed = d
		}
	}
	return nil
}

// ignoreMissing returns nil for the error of a row that is not there any more.
func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
