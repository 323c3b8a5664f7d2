package chat

import (
	"context"
	"errors"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// The refusals of runs that are asked for by their id.
var (
	// ErrNotResumable: the run is at it, waits for answers, or has ended.
	ErrNotResumable = errors.New("chat: the run cannot be taken up again")
	// ErrKeyReused: the idempotency key was used with another request.
	ErrKeyReused = errors.New("chat: the idempotency key belongs to another request")
	// ErrNoRuns: nothing keeps runs here.
	ErrNoRuns = errors.New("chat: runs are not kept")
	// ErrRunning: the run is at it.
	ErrRunning = errors.New("chat: the run is under way")

	// ErrHandedOver: this process ends, and the run goes on in another one, or after a
	// restart. A reader comes back for the rest.
	ErrHandedOver = errors.New("chat: the run goes on in another process")

	errInterrupted = errors.New("chat: the run was interrupted")
)

// Active is the session's run that is under way, in this process or another; nil
// when there is none.
func (s *Service) Active(ctx context.Context, sessionID string) (*Turn, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	if t := s.slots.of(sessionKey{who.TenantID, who.UserID, sessionID}); t != nil {
		return t, nil
	}
	if s.o.Store == nil {
		return nil, nil
	}
	runs, _, err := s.o.Store.Runs(ctx, store.RunFilter{SessionID: sessionID, Statuses: []string{store.RunRunning}, Limit: 1})
	if err != nil || len(runs) == 0 || runs[0].Owner == s.o.Owner {
		return nil, err // what this process had has ended a moment ago
	}
	return s.turnOf(who, &runs[0]), nil
}

// turnOf reads a run from the store.
func (s *Service) turnOf(who identity.Identity, r *store.Run) *Turn {
	return &Turn{
		RunID: r.ID, SessionID: r.SessionID, MessageID: r.MessageID, InReplyTo: r.InReplyTo,
		Agent: r.AgentName, Model: r.Model, Protocol: r.Protocol, runs: s.o.Store, who: who, restarts: r.Restarts, service: s, key: r.Key,
	}
}

// Open is a run of the caller, whatever became of it: its Turn reads what it said,
// and what it still says.
func (s *Service) Open(ctx context.Context, runID string) (*Turn, store.Run, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, store.Run{}, err
	}
	if s.o.Store == nil {
		return nil, store.Run{}, ErrNoRuns
	}
	r, err := s.o.Store.Run(ctx, runID)
	if err == nil && r.Status == store.RunRunning && s.endAgain(ctx, runID) {
		r, err = s.o.Store.Run(ctx, runID)
	}
	if err != nil {
		return nil, store.Run{}, err
	}
	if t := s.slots.run(runID); t != nil {
		return t, r, nil
	}
	return s.turnOf(who, &r), r, nil
}

// List lists runs of the caller, the newest first.
func (s *Service) List(ctx context.Context, f store.RunFilter) (page []store.Run, next string, err error) {
	if s.o.Store == nil {
		return nil, "", ErrNoRuns
	}
	return s.o.Store.Runs(ctx, f)
}

// Stop stops a run, or ends one that waits or was interrupted; what it has said
// is kept. One that has ended stays as it is. It waits until the run is over, as
// long as ctx allows.
func (s *Service) Stop(ctx context.Context, runID string) (store.Run, error) {
	t, r, err := s.Open(ctx, runID)
	if err != nil {
		return r, err
	}
	if r.Status == store.RunWaiting || r.Status == store.RunInterrupted {
		if err = s.abandon(ctx, &r); errors.Is(err, store.ErrNotOwner) {
			// Somebody went on with it a moment ago.
			if t, r, err = s.Open(ctx, runID); err != nil {
				return r, err
			}
		}
	}
	switch {
	case err != nil:
	case r.Status == store.RunRunning && t.cancel != nil:
		t.Cancel()
		err = t.log.Wait(ctx)
	case r.Status == store.RunRunning:
		_, err = s.o.Store.StopRun(ctx, runID)
	}
	if err != nil {
		return r, err
	}
	return s.o.Store.Run(ctx, runID)
}

// Delete forgets an ended run's log; the session keeps its messages.
func (s *Service) Delete(ctx context.Context, runID string) error {
	_, r, err := s.Open(ctx, runID)
	switch {
	case err != nil:
		return err
	case r.Status == store.RunRunning:
		return ErrRunning
	case r.Status == store.RunWaiting || r.Status == store.RunInterrupted:
		if err := s.abandon(ctx, &r); errors.Is(err, store.ErrNotOwner) {
			return ErrRunning
		} else if err != nil {
			return err
		}
	}
	return s.o.Store.DeleteRun(ctx, runID)
}

// repeated is the run that an earlier request with the same key began; nil when
// there is none.
func (s *Service) repeated(ctx context.Context, req Request) (*Turn, error) {
	if req.Key == "" || s.o.Store == nil {
		return nil, nil
	}
	r, err := s.o.Store.RunByKey(ctx, req.Key)
	if errors.Is(err, store.ErrNotFound) {
		return s.steeredBefore(ctx, req)
	}
	if err != nil {
		return nil, err
	}
	if r.KeyHash != req.KeyHash {
		return nil, ErrKeyReused
	}
	t, _, err := s.Open(ctx, r.ID)
	return t, err
}
