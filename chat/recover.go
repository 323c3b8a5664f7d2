package chat

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Recoverer finds runs that no process runs; store.Maintenance is one.
type Recoverer interface {
	RecoverRuns(ctx context.Context, owner string, stale time.Time) ([]store.OwnedRun, error)
}

// Interrupted lists runs that were interrupted; store.Maintenance is one.
type Interrupted interface {
	InterruptedRuns(ctx context.Context, limit int) ([]store.OwnedRun, error)
}

// Recover marks the runs of processes that said nothing since stale as
// interrupted, takes expired questions for declined, and goes on with the runs
// that have all their answers. A server calls it now and then.
func (s *Service) Recover(ctx context.Context, from Recoverer, stale time.Time) error {
	s.endAll(ctx)
	ready, err := from.RecoverRuns(ctx, s.o.Owner, stale)
	if err != nil {
		return err
	}
	for _, r := range ready {
		if err := s.resumeLeft(ctx, r); err != nil {
			s.o.Logger.Warn("a run could not be resumed", "run", r.RunID, "error", err)
		}
	}
	return nil
}

// The bounds of ResumeInterrupted.
const (
	// resumeBatch runs are resumed in one call, resumeAtOnce at the same time: reading
	// what they had must not keep the store from runs that are under way.
	resumeBatch  = 50
	resumeAtOnce = 4
	// resumePause is how long a run rests for each attempt after the first.
	resumePause = 5 * time.Second
)

// ResumeInterrupted goes on with interrupted runs, of all tenants, the ones that rest
// longest first, and reports whether there may be more. A run that a process died with,
// or that could not be resumed, has an attempt less; without one left it fails, and
// keeps what it said. Runs on their last attempt are resumed one a call: one of them may
// be what kills processes, and the others shall not die with it. It does nothing if
// Options.Attempts is 0.
func (s *Service) ResumeInterrupted(ctx context.Context, from Interrupted) (more bool, err error) {
	if !s.resumes() {
		return false, nil
	}
	left, err := from.InterruptedRuns(ctx, 2*resumeBatch)
	if err != nil {
		return false, err
	}
	var all sync.WaitGroup
	var full atomic.Bool // this process takes no more
	slots, tried, last := make(chan struct{}, resumeAtOnce), 0, false
	for _, r := range left {
		suspect := r.Attempts > 1 && r.Attempts >= s.o.Attempts
		if rest := time.Duration(r.Attempts-1) * resumePause; s.o.Now().Sub(r.RestedAt) < rest || suspect && last {
			continue
		}
		if tried == resumeBatch || full.Load() {
			break
		}
		tried, last = tried+1, last || suspect
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := s.resumeLeft(ctx, r); errors.Is(err, ErrOverloaded) || errors.Is(err, ErrClosed) {
				full.Store(true)
			} else if err != nil {
				s.o.Logger.Warn("a run could not be resumed", "run", r.RunID, "attempts", r.Attempts, "error", err)
			}
		})
	}
	all.Wait()
	return len(left) > 0 && !full.Load(), nil
}

// resumes reports whether interrupted runs go on by themselves.
func (s *Service) resumes() bool { return s.o.Attempts > 0 && s.o.Store != nil }

// resumeLeft goes on with a run that another process left, or ends it. One that
// somebody else was faster with is left alone.
func (s *Service) resumeLeft(ctx context.Context, r store.OwnedRun) (err error) {
	own := identity.With(ctx, identity.Identity{TenantID: r.TenantID, UserID: r.UserID})
	if s.o.Attempts > 0 && r.Attempts > s.o.Attempts {
		err = s.giveUp(own, r.RunID)
	} else {
		_, err = s.Resume(own, r.RunID)
	}
	if errors.Is(err, ErrNotResumable) || errors.Is(err, ErrBusy) || errors.Is(err, store.ErrNotOwner) || errors.Is(err, store.ErrNotFound) {
		return nil
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
	return s.close(ctx, &r, ending{
		status: store.RunFailed, reason: event.ReasonError, row: store.StatusError, failure: &event.ErrorData{
			Code:    "interrupted_too_often",
			Message: "the server stopped again and again while it answered this, so it was given up; what was said is kept",
		},
	})
}
