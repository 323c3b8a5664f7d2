package chat

import (
	"context"
	"errors"

	"github.com/p8-org/p8/chat/internal/sessions"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Active returns the session's run that is under way, in this process or another; nil if no run
// is under way.
func (s *Service) Active(ctx context.Context, sessionID string) (*Turn, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	if r, ok := s.runs.sessions.Of(sessions.Key{Tenant: who.TenantID, User: who.OwnerOf(sessionID), Session: sessionID}); ok {
		return r.turn(0), nil
	}
	if s.o.Store == nil {
		return nil, nil
	}
	runs, _, err := s.o.Store.Runs(ctx, store.RunFilter{SessionID: sessionID, Statuses: []string{store.RunRunning}, Limit: 1})
	if err != nil || len(runs) == 0 || runs[0].Process == s.o.Process {
		return nil, err // the run of this process ended a moment ago
	}
	return s.archive.turnOf(who, &runs[0]), nil
}

// Open returns a run of the caller, in any state. The Turn reads its events, those still to come
// included.
func (s *Service) Open(ctx context.Context, runID string) (*Turn, store.Run, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, store.Run{}, err
	}
	if s.o.Store == nil {
		return nil, store.Run{}, ErrNoRuns
	}
	r, err := s.o.Store.Run(ctx, runID)
	if err == nil && r.Status == store.RunRunning && s.stages.ends.Again(ctx, runID) {
		r, err = s.o.Store.Run(ctx, runID)
	}
	if err != nil {
		return nil, store.Run{}, err
	}
	if here, ok := s.runs.sessions.Run(runID); ok {
		return here.turn(0), r, nil
	}
	return s.archive.turnOf(who, &r), r, nil
}

// List lists runs of the caller, the newest first.
func (s *Service) List(ctx context.Context, f store.RunFilter) (page []store.Run, next string, err error) {
	if s.o.Store == nil {
		return nil, "", ErrNoRuns
	}
	return s.o.Store.Runs(ctx, f)
}

// Stop stops a run, or ends one that waits or was interrupted; what it has said is kept. A
// run that has ended stays as it is. Stop waits until a run of this process is over, as
// long as ctx allows.
func (s *Service) Stop(ctx context.Context, runID string) (store.Run, error) {
	_, r, err := s.Open(ctx, runID)
	if err != nil {
		return r, err
	}
	if r.Status == store.RunWaiting || r.Status == store.RunInterrupted {
		if err = s.stages.ends.Abandon(ctx, &r); errors.Is(err, store.ErrRunTaken) {
			// Another process resumed it a moment ago.
			if _, r, err = s.Open(ctx, runID); err != nil {
				return r, err
			}
		}
	}
	switch {
	case err != nil:
	case r.Status != store.RunRunning:
	default:
		if here, ok := s.runs.sessions.Run(runID); ok {
			here.stop()
			err = here.log.Wait(ctx)
		} else {
			_, err = s.o.Store.StopRun(ctx, runID)
		}
	}
	if err != nil {
		return r, err
	}
	return s.o.Store.Run(ctx, runID)
}

// Delete deletes the log of a run that has ended; the session keeps its messages.
func (s *Service) Delete(ctx context.Context, runID string) error {
	_, r, err := s.Open(ctx, runID)
	switch {
	case err != nil:
		return err
	case r.Status == store.RunRunning:
		return ErrRunning
	case r.Status == store.RunWaiting || r.Status == store.RunInterrupted:
		if err := s.stages.ends.Abandon(ctx, &r); errors.Is(err, store.ErrRunTaken) {
			return ErrRunning
		} else if err != nil {
			return err
		}
	}
	return s.o.Store.DeleteRun(ctx, runID)
}
