package a2a

import (
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/stream"
)

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
	task := l.snapshot()
	if task.History, err = x.history(r, p.HistoryLength, maxHistory); err != nil {
		return err
	}
	return x.answerTask(task)
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
	if _, err := x.o.Chat.Stop(x.ctx, r.ID); err != nil {
		return err
	}
	return x.get(raw)
}

// subscribe is SubscribeToTask.
func (x *exchange) subscribe(raw json.RawMessage) error {
	t, r, err := x.unended(raw, unsupported("the task has ended; use GetTask"))
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
	first := l.snapshot()
	if x.wanted != nil && *x.wanted > 0 {
		var err error
		if first, err = x.current(l); err != nil {
			return err
		}
	}
	sse := stream.NewSSE(x.w, x.o.SSE)
	defer sse.Close()
	if x.frame(sse, update{Task: first}) != nil || l.ended {
		return nil
	}
	for e, err := range t.EventsAfter(x.ctx, l.seq) {
		var updates []update
		if err == nil {
			updates, err = l.add(e)
		}
		if errors.Is(err, chat.ErrHandedOver) {
			sse.Cut() // the run has not ended: the client subscribes again
			return nil
		}
		if err != nil {
			if x.ctx.Err() == nil {
				x.writeError(sse, err)
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
	switch {
	case x.rest:
		return write(sse, u)
	case x.old:
		return write(sse, response{JSONRPC: "2.0", ID: x.id, Result: oldUpdate(u)})
	}
	return write(sse, response{JSONRPC: "2.0", ID: x.id, Result: u})
}

// writeError writes an error as the last frame. A client that has gone misses it.
func (x *exchange) writeError(sse *stream.SSE, err error) {
	if x.rest {
		_ = write(sse, x.restError(err))
		return
	}
	_ = write(sse, response{JSONRPC: "2.0", ID: x.id, Error: x.errorOf(err)})
}

func write(sse *stream.SSE, frame any) error {
	b, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	_, err = sse.Write(append(append([]byte("data: "), b...), "\n\n"...))
	return err
}
