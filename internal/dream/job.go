package dream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/jobs"
)

// The kinds of jobs: one user's dream, and the one that finds whose dream is due.
const (
	Kind         = "dream"
	KindSchedule = "dream-schedule"
)

const (
	// jobTime bounds a dream; the runs of its agents go on, and are taken up again.
	jobTime      = 15 * time.Minute
	scheduleTime = 5 * time.Minute
	// whenBusy is when a job looks again whose user's dream is not over.
	whenBusy = 30 * time.Second
)

// errNoQueue says that nothing takes dreams for later.
var errNoQueue = errors.New("dream: there is no queue here: dream now instead")

// order is a dream that waits: who for, and its window, which does not change until
// it is dreamt.
type order struct {
	Tenant   string        `json:"tenant"`
	User     string        `json:"user,omitempty"` // "" for anonymous callers
	Email    string        `json:"email,omitempty"`
	Name     string        `json:"name,omitempty"`
	Lookback time.Duration `json:"lookback"`
	Until    time.Time     `json:"until"`
	Agent    string        `json:"agent,omitempty"`
}

// Enqueue has the caller's dream done by a worker; one that waits or runs already is
// enough.
func (s *Service) Enqueue(ctx context.Context, req Request) (jobs.Receipt, error) {
	who, err := identity.From(ctx)
	switch {
	case err != nil:
		return jobs.Receipt{}, err
	case s.o.Queue == nil:
		return jobs.Receipt{}, errNoQueue
	}
	w := s.window(req)
	return s.o.Queue.Enqueue(ctx, Kind, order{
		Tenant: who.TenantID, User: who.UserID, Email: who.Email, Name: who.Name,
		Lookback: w.Until.Sub(w.From), Until: w.Until, Agent: req.Agent,
	}, jobs.EnqueueOptions{UniqueKey: unique(who)})
}

// unique tells users apart, whatever is in their ids.
func unique(who identity.Identity) string {
	sum := sha256.Sum256([]byte(who.TenantID + "\x00" + who.UserID))
	return hex.EncodeToString(sum[:])
}

// Workers are how the jobs are done, by their kinds, for [jobs.Queue.Register]. The
// schedule wants to be looked at every minute ([jobs.Queue.Periodic]).
func (s *Service) Workers() map[string]jobs.Worker {
	return map[string]jobs.Worker{
		Kind:         {Run: s.work, Timeout: jobTime},
		KindSchedule: {Run: func(ctx context.Context, _ json.RawMessage) error { return s.schedule(ctx) }, Timeout: scheduleTime, Unique: true},
	}
}

// work dreams as a job says.
func (s *Service) work(ctx context.Context, args json.RawMessage) error {
	var o order
	if err := json.Unmarshal(args, &o); err != nil {
		return fmt.Errorf("dream: read the job: %w", err)
	}
	ctx = identity.With(ctx, identity.Identity{TenantID: o.Tenant, UserID: o.User, Email: o.Email, Name: o.Name})
	res, err := s.Dream(ctx, Request{Lookback: o.Lookback, Until: o.Until, Agent: o.Agent})
	switch {
	case errors.Is(err, chat.ErrClosed), errors.Is(err, chat.ErrBusy):
		// This process stops, or another one resumes the run: the dream did not fail.
		return jobs.Again(whenBusy)
	case err != nil:
		return err
	case res.Status == StatusBusy:
		return jobs.Again(whenBusy)
	case res.Status == StatusFailed:
		return errors.New("dream: " + res.Phase2.Error)
	}
	s.o.Logger.InfoContext(ctx, "dreamt", "status", res.Status, "moments_built", res.Phase1.MomentsBuilt,
		"moments_saved", res.Phase2.MomentsSaved, "profile", res.Profile.Status, "io_tokens", res.IOTokens)
	return nil
}
