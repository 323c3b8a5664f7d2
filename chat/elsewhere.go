package chat

import (
	"context"
	"iter"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// elsewhereEvery is how often the store is asked for what another process says.
const elsewhereEvery = 250 * time.Millisecond

// elsewhere reads the run from the store. Where interrupted runs are resumed, it waits
// until somebody goes on with one that is.
func (t *Turn) elsewhere(ctx context.Context, after int64, idle func()) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		ctx, stop := t.service.reading(identity.With(ctx, t.who))
		defer stop()
		for {
			for e, err := range live.Follow(ctx, t.runs, t.RunID, live.FollowOptions{After: after, Poll: elsewhereEvery, Idle: idle}) {
				if err != nil && context.Cause(ctx) == ErrHandedOver {
					err = ErrHandedOver
				}
				if !yield(e, err) || err != nil {
					return
				}
				after = e.Seq
			}
			again, err := t.goesOn(ctx, idle)
			if err != nil {
				yield(event.Event{}, err)
			}
			if err != nil || !again {
				return
			}
		}
	}
}

// GoesOn reports whether the run, if it is interrupted, is resumed without anybody
// asking for that.
func (t *Turn) GoesOn() bool { return t.service != nil && t.service.resumes() }

// goesOn waits while the run is interrupted and will be resumed; false when it is over,
// or waits for its user.
func (t *Turn) goesOn(ctx context.Context, idle func()) (bool, error) {
	if !t.GoesOn() {
		return false, nil
	}
	look := time.NewTicker(elsewhereEvery)
	defer look.Stop()
	for {
		r, err := t.runs.Run(ctx, t.RunID)
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

// reading is a context for reading runs of other processes; it ends with Leave.
func (s *Service) reading(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.here, func() { cancel(ErrHandedOver) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// Leave ends the reading of runs that this process does not run, with ErrHandedOver:
// those of other processes, and those that Close interrupted. Readers come back for the
// rest elsewhere.
func (s *Service) Leave() { s.leave() }

// unended is the end of a log without one: its process died, or handed the run over.
func (t *Turn) unended(ctx context.Context) (end []event.Event) {
	if t.runs == nil || ctx.Err() != nil {
		return nil
	}
	r, err := t.runs.Run(identity.With(ctx, t.who), t.RunID)
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
		end = append(end, event.Event{Type: d.EventType(), RunID: t.RunID, Agent: t.Agent, Seq: r.LastSeq + live.Lost, Data: d})
	}
	return end
}
