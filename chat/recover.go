package chat

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/chat/internal/recovery"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Recoverer finds runs that no process runs; store.Maintenance implements it.
type Recoverer interface {
	RecoverRuns(ctx context.Context, process string, stale time.Time) ([]store.OwnedRun, error)
}

// Interrupted lists runs that were interrupted; store.Maintenance implements it.
type Interrupted interface {
	InterruptedRuns(ctx context.Context, limit int) ([]store.OwnedRun, error)
}

// Recover marks the runs of processes that were silent since stale as interrupted,
// declines requests that have expired, and resumes the runs that have all their answers.
// A server calls it periodically.
func (s *Service) Recover(ctx context.Context, from Recoverer, stale time.Time) error {
	s.stages.ends.All(ctx)
	ready, err := from.RecoverRuns(ctx, s.o.Process, stale)
	if err != nil {
		return err
	}
	s.sweeper().Ready(ctx, ready)
	return nil
}

// ResumeInterrupted resumes interrupted runs of all tenants, the longest interrupted
// first, and reports whether there may be more. A run loses an attempt whenever a process
// dies with it, or it cannot be resumed. A run without an attempt left fails, and keeps
// what it said. Each call resumes at most one run that is on its last attempt: such a run
// may be what kills processes, and the others must not die with it. ResumeInterrupted
// does nothing if Options.Attempts is 0.
func (s *Service) ResumeInterrupted(ctx context.Context, from Interrupted) (more bool, err error) {
	if !s.o.resumes() {
		return false, nil
	}
	return s.sweeper().Sweep(ctx, from)
}

func (s *Service) sweeper() *recovery.Sweeper {
	return &recovery.Sweeper{
		Resume: func(ctx context.Context, runID string) error {
			_, err := s.Resume(ctx, runID)
			return ignoreTaken(err)
		},
		Full:     func(err error) bool { return errors.Is(err, ErrOverloaded) || errors.Is(err, ErrClosed) },
		GiveUp:   func(ctx context.Context, runID string) error { return ignoreTaken(s.giveUp(ctx, runID)) },
		Attempts: s.o.Attempts, Now: s.o.Now, Logger: s.o.Logger,
	}
}

// ignoreTaken returns nil for the errors of a run that another process resumed or ended.
func ignoreTaken(err error) error {
	for _, taken := range []error{ErrNotResumable, ErrBusy, store.ErrRunTaken, store.ErrNotFound} {
		if errors.Is(err, taken) {
			return nil
		}
	}
	return err
}

// giveUp fails a run that processes died with too often. What it said is kept.
func (s *Service) giveUp(ctx context.Context, runID string) error {
	r, err := s.o.Store.Run(ctx, runID)
	if err != nil {
		return err
	}
	s.o.Logger.Warn("a run was given up", "run", r.ID, "session", r.SessionID, "attempts", r.Attempts)
	return s.stages.ends.Fail(ctx, &r, &event.ErrorData{
		Code:    "interrupted_too_often",
		Message: "the server stopped again and again while it answered this, so it was given up; what was said is kept",
	})
}

// Leftover finds runs that nobody resumed; store.Maintenance implements it.
type Leftover interface {
	LeftRuns(ctx context.Context, before time.Time) ([]store.OwnedRun, error)
}

// EndLeft ends the runs that nobody has resumed since before a time: what they had said
// stays in their sessions. A server calls it before it deletes old logs.
func (s *Service) EndLeft(ctx context.Context, from Leftover, before time.Time) error {
	for {
		left, err := from.LeftRuns(ctx, before)
		if err != nil || len(left) == 0 {
			return err
		}
		for _, x := range left {
			own := identity.With(ctx, identity.Identity{TenantID: x.TenantID, UserID: x.UserID})
			r, err := s.o.Store.Run(own, x.RunID)
			if err == nil {
				err = s.stages.ends.Abandon(own, &r)
			}
			if err != nil {
				return err
			}
		}
	}
}
