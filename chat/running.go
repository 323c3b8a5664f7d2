package chat

import (
	"context"
	"iter"
	"time"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
)

// running is a run that this process executes: the source of the turns that read it here.
type running struct {
	// first is the turn of the request that began the run.
	first  Turn
	log    *live.Log
	cancel context.CancelCauseFunc
	inbox  *sessions.Inbox
	// caller is whose turn it is.
	caller identity.Identity
	// kept reads the rest of the run from the store if another process continues it; nil
	// if nothing is stored.
	kept *kept
	// since is when this process began to execute the run, after the event after.
	since time.Time
	after int64
	// result is set before the log is closed. If long is true, its text is in the log
	// alone.
	result Result
	long   bool
}

func (s *executor) newRunning(b *begun) *running {
	p := &b.prepared
	r := &running{caller: p.caller, log: b.log, cancel: b.cancel, inbox: new(sessions.Inbox), since: s.o.Now()}
	r.first = Turn{
		RunID: p.request.runID, SessionID: p.session.stored.ID, MessageID: p.request.answerID, InReplyTo: p.message.id,
		Agent: p.cast.Name, Model: p.cast.ModelName, Protocol: p.request.asked.Protocol, source: r,
	}
	restarts := 0
	if b.resumed != nil {
		r.inbox, r.after, restarts = b.resumed.unread, b.resumed.run.LastSeq, b.resumed.run.Restarts
	}
	if s.o.Store != nil {
		r.kept = &kept{archive: s.archive, caller: p.caller, runID: r.first.RunID, agent: r.first.Agent, restarts: restarts}
	}
	return r
}

// turn returns the run as a Turn for a request that came later; its client has the events up to past.
func (r *running) turn(past int64) *Turn {
	t := r.first
	t.Past = past
	return &t
}

// events implements source.
func (r *running) events(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		over := false
		for e, err := range r.log.Follow(ctx, after, idle) {
			if !yield(e, err) || err != nil {
				return
			}
			after, over = e.Seq, e.Type == event.Done
		}
		if over || r.kept == nil {
			return
		}
		for e, err := range r.kept.events(ctx, after, idle) {
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// cuts implements source.
func (r *running) cuts(ctx context.Context) (recovery.Cuts, error) {
	if r.kept == nil {
		return nil, nil
	}
	return r.kept.cuts(ctx)
}

// missingEnd implements source.
func (r *running) missingEnd(ctx context.Context) []event.Event {
	if r.kept == nil {
		return nil
	}
	return r.kept.missingEnd(ctx)
}

// wait implements source.
func (r *running) wait(ctx context.Context, _ *Turn) (Result, error) {
	err := r.log.Wait(ctx)
	if err != nil {
		return Result{}, err
	}
	res := r.result
	if r.long {
		res.Text, err = record.ReadAnswer(ctx, r.log)
	}
	return res, err
}

// stop implements source.
func (r *running) stop() { r.cancel(errCancelled) }

// goesOn implements source.
func (r *running) goesOn() bool { return r.kept != nil && r.kept.goesOn() }
