// Package recovery resumes or ends the runs of a process that died, stopped or could not
// reach the store.
//
// A run is interrupted when its process dies or stops. [Sweeper] finds interrupted runs and
// resumes them, a bounded number at one time. [Restart] voids the text of a step that the
// interruption cut, and [Said] reads the rest. [Ends] writes the ends of this process's
// runs to the store, retries while the store fails, and ends the runs that are not resumed.
package recovery

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Sweeper resumes runs of all tenants that no process runs.
type Sweeper struct {
	// Resume resumes a run of the caller. Its error is nil if another process resumed the
	// run, or ended it.
	Resume func(ctx context.Context, runID string) error
	// Full reports whether an error of Resume says that this process takes no more runs
	// runs.
	Full func(error) bool
	// GiveUp fails a run of the caller.
	GiveUp func(ctx context.Context, runID string) error
	// Attempts is how many processes may die with a run before it is given up; 0 for no
	// bound.
	Attempts int
	Now      func() time.Time
	Logger   *slog.Logger
}

// Interrupted lists runs that were interrupted.
type Interrupted interface {
	InterruptedRuns(ctx context.Context, limit int) ([]store.OwnedRun, error)
}

const (
	// batch is how many runs one Sweep resumes, atOnce how many at the same time: reading
	// their logs must not slow down the runs that are under way.
	batch  = 50
	atOnce = 4
	// pause is how long a run rests for each attempt after the first.
	pause = 5 * time.Second
)

// Sweep resumes interrupted runs, the longest interrupted first, and reports whether there
// may be more. Each call resumes at most one run that is on its last attempt: such a run
// may be what kills processes, and the others must not die with it.
func (s *Sweeper) Sweep(ctx context.Context, from Interrupted) (more bool, err error) {
	left, err := from.InterruptedRuns(ctx, 2*batch)
	if err != nil {
		return false, err
	}
	var all sync.WaitGroup
	var full atomic.Bool // this process takes no more
	slots, tried, last := make(chan struct{}, atOnce), 0, false
	for _, r := range left {
		suspect := r.Attempts > 1 && r.Attempts >= s.Attempts
		if rest := time.Duration(r.Attempts-1) * pause; s.Now().Sub(r.RestedAt) < rest || suspect && last {
			continue
		}
		if tried == batch || full.Load() {
			break
		}
		tried, last = tried+1, last || suspect
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := s.resume(ctx, r); err != nil && s.Full(err) {
				full.Store(true)
			} else if err != nil {
				s.Logger.Warn("a run could not be resumed", "run", r.RunID, "attempts", r.Attempts, "error", err)
			}
		})
	}
	all.Wait()
	return len(left) > 0 && !full.Load(), nil
}

// Ready resumes runs that have all their answers.
func (s *Sweeper) Ready(ctx context.Context, runs []store.OwnedRun) {
	for _, r := range runs {
		if err := s.resume(ctx, r); err != nil {
			s.Logger.Warn("a run could not be resumed", "run", r.RunID, "error", err)
		}
	}
}

// resume resumes a run as its user, or gives it up.
func (s *Sweeper) resume(ctx context.Context, r store.OwnedRun) error {
	own := identity.With(ctx, identity.Identity{TenantID: r.TenantID, UserID: r.UserID})
	if s.Attempts > 0 && r.Attempts > s.Attempts {
		return s.GiveUp(own, r.RunID)
	}
	return s.Resume(own, r.RunID)
}
