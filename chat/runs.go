package chat

import (
	"context"
	"errors"
	"iter"

	"p8/event"
	"p8/store"
)

// The refusals of runs that are asked for by their id.
var (
	// ErrNotResumable: the run is at it, waits for answers, or has ended.
	ErrNotResumable = errors.New("chat: the run cannot be taken up again")
	// ErrKeyReused: the idempotency key was used with another request.
	ErrKeyReused = errors.New("chat: the idempotency key belongs to another request")
	// ErrNoRuns: nothing keeps runs here.
	ErrNoRuns = errors.New("chat: runs are not kept")
)

// EventsAfter is Events from an event's number on. Of a run that paused and went
// on, the end of the pause is not shown again.
func (t *Turn) EventsAfter(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	if t.read != nil {
		return t.read(ctx, after)
	}
	return t.Events(ctx)
}

// Active is the session's run that is under way, in this process or another; nil
// when there is none.
func (s *Service) Active(ctx context.Context, sessionID string) (*Turn, error) { return nil, nil }

// Open is a run of the caller, whatever became of it: its Turn reads what it said,
// and what it still says.
func (s *Service) Open(ctx context.Context, runID string) (*Turn, store.Run, error) {
	return nil, store.Run{}, ErrNoRuns
}

// Stop stops a run, or ends one that waits or was interrupted; what it has said
// is kept. One that has ended stays as it is. It waits until the run is over, as
// long as ctx allows.
func (s *Service) Stop(ctx context.Context, runID string) (store.Run, error) {
	return store.Run{}, ErrNoRuns
}

// Resume takes up a run that was interrupted, or that waits and has all its
// answers. It calls no tool again whose result is known.
func (s *Service) Resume(ctx context.Context, runID string) (*Turn, error) { return nil, ErrNoRuns }

// Delete forgets an ended run's log; the session keeps its messages.
func (s *Service) Delete(ctx context.Context, runID string) error { return ErrNoRuns }

// Requests lists what runs of the caller ask.
func (s *Service) Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error) {
	return nil, "", ErrNoRuns
}

// Request is one of them.
func (s *Service) Request(ctx context.Context, id string) (store.RunRequest, error) {
	return store.RunRequest{}, ErrNoRuns
}

// Decide answers a request, for whoever asks with the right identity. The Turn is
// the run that goes on with it, nil while other requests of it are open.
func (s *Service) Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, *Turn, error) {
	return store.RunRequest{}, nil, ErrNoRuns
}
