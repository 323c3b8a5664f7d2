package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

// patience bounds the wait for events that the run's row announces.
const patience = 2 * time.Second

// find returns a task of the caller that belongs to the agent.
func (x *exchange) find(id string) (*chat.Turn, store.Run, error) {
	if id == "" {
		return nil, store.Run{}, wrong("the task has no id")
	}
	t, r, err := x.o.Chat.Open(x.r.Context(), id)
	if err == nil && r.AgentName != x.agent.name && !x.exposes(r.AgentName) {
		err = store.ErrNotFound
	}
	return t, r, err
}

// builder returns one for a turn.
func (x *exchange) builder(t *chat.Turn) *builder {
	return newBuilder(t, x.o.Now, func() ([]store.RunRequest, error) {
		open, _, err := x.o.Chat.Requests(x.r.Context(), store.RequestFilter{RunID: t.RunID, Status: store.RequestOpen})
		return open, err
	})
}

// catchUp passes the events of the run up to upTo to the builder. The end of a finished
// pause is not in the log; if upTo is one, catchUp waits for the next event.
func (x *exchange) catchUp(l *builder, t *chat.Turn, upTo int64) error {
	if upTo <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), patience)
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
func (x *exchange) state(t *chat.Turn, r store.Run) (*builder, error) {
	l, last := x.builder(t), r.LastSeq
	if r.Status == store.RunRunning {
		last-- // the newest may be the end of a finished pause
	}
	if err := x.catchUp(l, t, last); err != nil {
		return nil, err
	}
	// The run's row completes a log that has been deleted, or is not written yet.
	switch r.Status {
	case store.RunWaiting:
		return l, l.ask()
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
	if !r.UpdatedAt.IsZero() {
		l.task.Status.Timestamp = r.UpdatedAt.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	return l, nil
}

// get is GetTask.
func (x *exchange) get(raw json.RawMessage) error {
	var p taskParams
	if err := params(raw, &p); err != nil {
		return err
	}
	t, r, err := x.find(p.ID)
	if err != nil {
		return err
	}
	l, err := x.state(t, r)
	if err != nil {
		return err
	}
	return x.answerTask(l.snapshot())
}

// over reports whether a run has ended.
func over(r store.Run) bool {
	return r.Status == store.RunCompleted || r.Status == store.RunFailed || r.Status == store.RunCancelled
}

// unended finds the task of a request, and returns ended if its run has ended.
func (x *exchange) unended(raw json.RawMessage, ended error) (*chat.Turn, store.Run, error) {
	var p taskParams
	if err := params(raw, &p); err != nil {
		return nil, store.Run{}, err
	}
	t, r, err := x.find(p.ID)
	if err == nil && over(r) {
		err = ended
	}
	return t, r, err
}

// cancel is CancelTask.
func (x *exchange) cancel(raw json.RawMessage) error {
	_, r, err := x.unended(raw, fail(codeNotCanceled, "TASK_NOT_CANCELABLE", "the task has ended"))
	if err != nil {
		return err
	}
	if _, err := x.o.Chat.Stop(x.r.Context(), r.ID); err != nil {
		return err
	}
	return x.get(raw)
}

// subscribe is SubscribeToTask.
func (x *exchange) subscribe(raw json.RawMessage) error {
	t, r, err := x.unended(raw, fail(codeUnsupported, "UNSUPPORTED_OPERATION", "the task has ended; use GetTask"))
	if err != nil {
		return err
	}
	l, err := x.state(t, r)
	if err != nil {
		return err
	}
	return x.follow(l, t)
}

// follow streams the task, then the further events of its run.
func (x *exchange) follow(l *builder, t *chat.Turn) error {
	sse := stream.NewSSE(x.w, x.o.SSE)
	defer sse.Close()
	if x.frame(sse, update{Task: l.snapshot()}) != nil || l.ended {
		return nil
	}
	for e, err := range t.EventsAfter(x.r.Context(), l.seq) {
		var updates []update
		if err == nil {
			updates, err = l.add(e)
		}
		if errors.Is(err, chat.ErrHandedOver) {
			sse.Cut() // the run has not ended: the client subscribes again
			return nil
		}
		if err != nil {
			if x.r.Context().Err() == nil {
				x.write(sse, response{JSONRPC: "2.0", ID: x.id, Error: x.errorOf(err)})
			}
			return nil
		}
		for _, u := range updates {
			if x.frame(sse, u) != nil {
				return nil // the client has gone; the run goes on
			}
		}
		if l.ended {
			return nil
		}
	}
	return nil
}

// frame writes one update.
func (x *exchange) frame(sse *stream.SSE, u update) error {
	r := response{JSONRPC: "2.0", ID: x.id, Result: u}
	if x.old {
		r.Result = oldUpdate(u)
	}
	return x.write(sse, r)
}

func (x *exchange) write(sse *stream.SSE, r response) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = sse.Write(append(append([]byte("data: "), b...), "\n\n"...))
	return err
}
