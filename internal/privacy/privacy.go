// Package privacy gives the data of a user out, and deletes them.
//
//	s := privacy.New(privacy.Options{Store: st, Chat: chats, Queue: q, Jobs: q, Local: forget})
//	err := s.Export(ctx, w)         // lines of JSON
//	e, err := s.Begin(ctx)          // everything of the caller will be deleted
//	err = q.Register(privacy.Kind, s.Worker())
//	go s.Watch(ctx)                 // in every server
//
// A deletion is a row of the store, written before Begin returns, and a job. The row makes
// the store refuse what would create rows of the user. The job stops the user's runs and
// removes their jobs, waits until both are over, and deletes the rows in small
// transactions; it may be killed and run again at any point. Watch enqueues the job of a
// deletion that has none, and makes each server forget what it keeps of the user outside
// of the database.
package privacy

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/store"
)

// Kind is the kind of the jobs that delete a user.
const Kind = "erase-user"

const (
	// lookEvery is how often Watch looks for deletions.
	lookEvery = 5 * time.Second
	// settleWithin is how long a deletion waits for the user's runs and jobs to end. What is
	// left then belongs to a process that does not answer.
	settleWithin = 2 * time.Minute
	// stopWithin is how long a run of this process may take to end.
	stopWithin = 10 * time.Second
	// kept is how long a deletion that has ended is remembered, for those who ask, and for
	// servers that were down.
	kept = 7 * 24 * time.Hour
)

// Chat stops runs. Implemented by *chat.Service.
type Chat interface {
	Stop(ctx context.Context, runID string) (store.Run, error)
}

// Queue adds jobs. Implemented by *jobs.Queue.
type Queue interface {
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
	// Forget removes the jobs of a user, and returns how many still run.
	Forget(ctx context.Context, tenant, user string) (running int, err error)
}

// Options are what a Service works with. An export needs the Store alone.
type Options struct {
	Store *store.Store
	// Audited records exports in the audit log: the store was opened for writing.
	Audited bool
	Chat    Chat
	Queue   Queue
	// Local forgets what this process keeps of the caller outside of the database; nil for
	// nothing.
	Local  func(ctx context.Context) error
	Now    func() time.Time
	Logger *slog.Logger
}

// Service gives data out and deletes them. It is safe for concurrent use.
type Service struct{ o Options }

// New returns a Service.
func New(o Options) *Service {
	if o.Local == nil {
		o.Local = func(context.Context) error { return nil }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Service{o}
}

// args are those of a job: no name of a user, as jobs are kept for a day.
type args struct {
	Erasure string `json:"erasure"`
}

// Begin begins the deletion of everything that the caller has in the tenant.
func (s *Service) Begin(ctx context.Context) (store.Erasure, error) {
	e, err := s.o.Store.Erasures().Begin(ctx)
	if err != nil {
		return e, err
	}
	if err := s.enqueue(ctx, e.ID); err != nil {
		s.o.Logger.WarnContext(ctx, "the job of a deletion could not be enqueued; it is tried again", "deletion", e.ID, "error", err)
	}
	return e, nil
}

// Status returns the caller's last deletion.
func (s *Service) Status(ctx context.Context) (store.Erasure, error) {
	return s.o.Store.Erasures().Get(ctx)
}

func (s *Service) enqueue(ctx context.Context, erasure string) error {
	_, err := s.o.Queue.Enqueue(ctx, Kind, args{erasure}, jobs.EnqueueOptions{UniqueKey: erasure})
	return err
}

// Worker deletes users.
func (s *Service) Worker() jobs.Worker {
	return jobs.Worker{Timeout: 10 * time.Minute, Run: func(ctx context.Context, raw json.RawMessage) error {
		var a args
		if err := json.Unmarshal(raw, &a); err != nil {
			return errors.New("the arguments are not those of a deletion")
		}
		open, err := s.o.Store.Maintenance().Erasures(ctx, s.o.Now())
		if err != nil {
			return err
		}
		for _, e := range open {
			if e.ID == a.Erasure && !e.Finished() {
				patient := s.o.Now().Sub(e.RequestedAt) < settleWithin
				return s.Erase(owner(ctx, &e), patient)
			}
		}
		return nil // it has ended
	}}
}

// owner returns the context of the user who is deleted.
func owner(ctx context.Context, e *store.Erasure) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: e.TenantID, UserID: e.UserID})
}

// Erase deletes everything of the caller, whose deletion has begun. While runs or jobs of
// the user are under way, a patient call deletes nothing and returns an error of
// [jobs.Again].
func (s *Service) Erase(ctx context.Context, patient bool) error {
	busy, err := s.settle(ctx)
	switch {
	case err != nil:
		return err
	case busy && patient:
		return jobs.Again(time.Second)
	}
	if err := s.o.Local(ctx); err != nil {
		return err
	}
	steps := s.o.Store.Erasures()
	for n := int64(1); n > 0; {
		if n, err = steps.Step(ctx); err != nil {
			return err
		}
	}
	// This process may have read a key of the user again before its row was deleted.
	if err := s.o.Local(ctx); err != nil {
		return err
	}
	// A run that ended a moment ago may have enqueued a job.
	if _, err := s.forgetJobs(ctx); err != nil {
		return err
	}
	return steps.Finish(ctx)
}

// settle stops the runs of the caller and removes their jobs, and reports whether some are
// still under way.
func (s *Service) settle(ctx context.Context) (busy bool, err error) {
	const most = 500
	unfinished := store.RunFilter{Statuses: []string{store.RunRunning, store.RunWaiting, store.RunInterrupted}, Limit: most}
	runs, _, err := s.o.Store.Runs(ctx, unfinished)
	if err != nil {
		return false, err
	}
	for i := range runs {
		if err := s.stop(ctx, &runs[i]); err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
	}
	if runs, _, err = s.o.Store.Runs(ctx, unfinished); err != nil {
		return false, err
	}
	speaks, err := s.settleGuest(ctx)
	if err != nil {
		return false, err
	}
	working, err := s.forgetJobs(ctx)
	return len(runs) > 0 || speaks || working > 0, err
}

// settleGuest stops the runs of the caller in the sessions of others, who keep what these have
// said, and reports whether some are still under way.
func (s *Service) settleGuest(ctx context.Context) (busy bool, err error) {
	who, err := identity.From(ctx)
	if err != nil {
		return false, err
	}
	m := s.o.Store.Maintenance()
	runs, err := m.GuestRuns(ctx, who.TenantID, who.UserID)
	if err != nil || len(runs) == 0 {
		return false, err
	}
	for _, x := range runs {
		host := identity.With(ctx, identity.Identity{TenantID: x.TenantID, UserID: x.UserID})
		if err := s.stop(host, &store.Run{ID: x.RunID, Status: x.Status}); err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
	}
	runs, err = m.GuestRuns(ctx, who.TenantID, who.UserID)
	return len(runs) > 0, err
}

// stop stops a run. Nobody resumes one that waits, as the store refuses that.
func (s *Service) stop(ctx context.Context, r *store.Run) error {
	if r.Status != store.RunRunning {
		_, err := s.o.Store.StopRun(ctx, r.ID)
		return err
	}
	within, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	_, err := s.o.Chat.Stop(within, r.ID)
	if within.Err() != nil && ctx.Err() == nil {
		return nil // it does not end in time
	}
	return err
}

func (s *Service) forgetJobs(ctx context.Context) (running int, err error) {
	who, err := identity.From(ctx)
	if err != nil {
		return 0, err
	}
	return s.o.Queue.Forget(ctx, who.TenantID, who.UserID)
}
