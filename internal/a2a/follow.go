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

// subscribe answers SubscribeToTask. A task that waits for its user is followed beyond that,
// except for clients of version 0.3, whose streams end there.
func (x *exchange) subscribe(raw json.RawMessage) error {
	t, r, err := x.unended(raw, unsupported("the task has ended; use GetTask"))
	if err != nil {
		return err
	}
	l, err := x.state(t, r)
	if err != nil {
		return err
	}
	sse, err := x.open(l)
	if err != nil {
		return err
	}
	defer sse.Close()
	for x.pump(sse, l, t) && !x.old {
		if t, r, err = x.resumed(l.task.ID); err != nil {
			x.cut(sse, err)
			return nil
		}
		if over(r) && !x.pump(sse, l, t) {
			return nil
		}
		if over(r) { // its log does not have its end
			if l, err = x.state(t, r); err == nil {
				_ = x.frame(sse, update{Status: &statusUpdate{TaskID: r.ID, ContextID: r.SessionID, Status: l.task.Status}})
			}
			return nil
		}
	}
	return nil
}

// lookAgain is how often a stream checks whether its task still waits.
const lookAgain = 500 * time.Millisecond

// resumed waits until a task does not wait any more.
func (x *exchange) resumed(id string) (*chat.Turn, store.Run, error) {
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		t, r, err := x.find(id)
		if err != nil || r.Status == store.RunRunning || over(r) {
			return t, r, err
		}
		select {
		case <-look.C:
		case <-x.closed:
			return nil, r, chat.ErrHandedOver
		case <-x.ctx.Done():
			return nil, r, context.Cause(x.ctx)
		}
	}
}

// follow streams the task of a message, then the further events of its run, until the task
// ends or waits.
func (x *exchange) follow(l *builder, t *chat.Turn) error {
	sse, err := x.open(l)
	if err != nil {
		return err
	}
	defer sse.Close()
	x.pump(sse, l, t)
	return nil
}

// open begins a stream with the task.
func (x *exchange) open(l *builder) (*stream.SSE, error) {
	first := l.snapshot()
	if x.wanted != nil && *x.wanted > 0 {
		var err error
		if first, err = x.current(l); err != nil {
			return nil, err
		}
	}
	sse := stream.NewSSE(x.w, x.o.SSE)
	// Fails only if the client has gone, which the next write finds out, too.
	_ = x.frame(sse, update{Task: first})
	return sse, nil
}

// pump streams the further events of a run, and reports whether there may be more of them
// later: the task waits.
func (x *exchange) pump(sse *stream.SSE, l *builder, t *chat.Turn) (waits bool) {
	if l.ended {
		return false
	}
	for e, err := range t.EventsAfter(x.ctx, l.seq) {
		var updates []update
		if err == nil {
			updates, err = l.add(e)
		}
		if err != nil {
			x.cut(sse, err)
			return false
		}
		for _, u := range updates {
			if x.frame(sse, u) != nil {
				return false // the client has gone; the run goes on
			}
		}
		if l.ended {
			return false
		}
	}
	return true
}

// cut ends a stream because of an error. If the task goes on elsewhere, the client subscribes
// again.
func (x *exchange) cut(sse *stream.SSE, err error) {
	switch {
	case errors.Is(err, chat.ErrHandedOver):
		sse.Cut()
	case x.ctx.Err() == nil:
		x.writeError(sse, err)
	}
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
