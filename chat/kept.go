package chat

import (
	"context"
	"iter"
	"time"

	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// pollEvery is how often the store is read for new events of another process's run.
const pollEvery = 250 * time.Millisecond

// archive reads runs from the store.
type archive struct {
	store Runs
	// resumes says that interrupted runs are resumed automatically.
	resumes bool
	// here ends when this process stops reading the runs of other processes.
	here context.Context
}

// kept is a run in the store: one that has ended, or that another process executes.
type kept struct {
	archive  *archive
	caller   identity.Identity
	runID    string
	agent    string
	restarts int // of the run, when it was read
}

// turnOf returns a run that is read from the store.
func (a *archive) turnOf(caller identity.Identity, r *store.Run) *Turn {
	return &Turn{
		RunID: r.ID, SessionID: r.SessionID, MessageID: r.MessageID, InReplyTo: r.InReplyTo,
		Agent: r.AgentName, Model: r.Model, Protocol: r.Protocol,
		source: &kept{archive: a, caller: caller, runID: r.ID, agent: r.AgentName, restarts: r.Restarts},
	}
}

// events implements source. Where interrupted runs are resumed, it waits until the run is.
func (k *kept) events(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		ctx, stop := k.archive.reading(identity.With(ctx, k.caller))
		defer stop()
		for {
			for e, err := range live.Follow(ctx, k.archive.store, k.runID, live.FollowOptions{After: after, Poll: pollEvery, Idle: idle}) {
				if err != nil && context.Cause(ctx) == ErrHandedOver {
					err = ErrHandedOver
				}
				if !yield(e, err) || err != nil {
					return
				}
				after = e.Seq
			}
			again, err := k.waitResumed(ctx, idle)
			if err != nil {
				yield(event.Event{}, err)
			}
			if err != nil || !again {
				return
			}
		}
	}
}

// goesOn implements source.
func (k *kept) goesOn() bool { return k.archive.resumes }

// waitResumed waits while the run is interrupted and will be resumed. It is false when the
// run is over, or waits for its user.
func (k *kept) waitResumed(ctx context.Context, idle func()) (bool, error) {
	if !k.goesOn() {
		return false, nil
	}
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for {
		r, err := k.archive.store.Run(ctx, k.runID)
		if err == nil && r.Status != store.RunInterrupted {
			return r.Status == store.RunRunning, nil
		}
		if err == nil {
			if idle != nil {
				idle()
			}
			select {
			case <-look.C:
				continue
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return false, err
	}
}

// cuts implements source.
func (k *kept) cuts(ctx context.Context) (recovery.Cuts, error) {
	return recovery.FindCuts(identity.With(ctx, k.caller), k.archive.store, k.runID, k.restarts)
}

// missingEnd implements source: the process of the run died, or left it to another one.
func (k *kept) missingEnd(ctx context.Context) (end []event.Event) {
	if ctx.Err() != nil {
		return nil
	}
	r, err := k.archive.store.Run(identity.With(ctx, k.caller), k.runID)
	if err != nil {
		return nil
	}
	var data []event.Data
	switch r.Status {
	case store.RunInterrupted:
		data = []event.Data{Describe(errInterrupted), &event.DoneData{Reason: event.ReasonError}}
	case store.RunWaiting: // its process died between the question and the pause
		data = []event.Data{&event.DoneData{Reason: event.ReasonPaused}}
	}
	for _, d := range data {
		end = append(end, event.Event{Type: d.EventType(), RunID: k.runID, Agent: k.agent, Seq: r.LastSeq + live.Lost, Data: d})
	}
	return end
}

// wait implements source.
func (k *kept) wait(ctx context.Context, t *Turn) (Result, error) { return gather(ctx, t) }

// stop implements source: Service.Stop stops runs of other processes.
func (k *kept) stop() {}

// reading returns a context for reading runs of other processes; it ends with Leave.
func (a *archive) reading(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(a.here, func() { cancel(ErrHandedOver) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
