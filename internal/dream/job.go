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
	"github.com/p8-org/p8/store"
)

// The kinds of jobs: one user's dream, and the schedule.
const (
	Kind         = "dream"
	KindSchedule = "dream-schedule"
)

const (
	// jobTime bounds a dream. The runs of its agents go on, and the next dream resumes
	// it.
	jobTime      = 15 * time.Minute
	scheduleTime = 5 * time.Minute
	// whenBusy is the delay before a job retries while the user's last dream is under
	// way.
	whenBusy = 30 * time.Second
)

// errNoQueue means that the server has no job queue.
var errNoQueue = errors.New("dream: there is no queue here: dream now instead")

// order are the arguments of a job: the user, and the window, which does not change
// while the job waits.
type order struct {
	Tenant   string        `json:"tenant"`
	User     string        `json:"user,omitempty"` // "" for anonymous callers
	Email    string        `json:"email,omitempty"`
	Name     string        `json:"name,omitempty"`
	Role     identity.Role `json:"role,omitempty"`
	Key      string        `json:"key,omitempty"` // the id of the API key, whose quota counts
	Lookback time.Duration `json:"lookback"`
	Until    time.Time     `json:"until"`
	Agent    string        `json:"agent,omitempty"`
}

// Enqueue queues the caller's dream, which has the caller's rights. A dream that is queued or running already is a
// duplicate.
func (s *Service) Enqueue(ctx context.Context, req Request) (jobs.Receipt, error) {
	who, err := store.Writer(ctx)
	switch {
	case err != nil:
		return jobs.Receipt{}, err
	case s.o.Queue == nil:
		return jobs.Receipt{}, errNoQueue
	}
	w := s.window(req)
	return s.o.Queue.Enqueue(ctx, Kind, order{
		Tenant: who.TenantID, User: who.UserID, Email: who.Email, Name: who.Name, Role: who.Role, Key: who.KeyID,
		Lookback: w.Until.Sub(w.From), Until: w.Until, Agent: req.Agent,
	}, jobs.EnqueueOptions{UniqueKey: unique(who)})
}

// unique returns a key that differs between users, whatever characters their ids have.
func unique(who identity.Identity) string {
	sum := sha256.Sum256([]byte(who.TenantID + "\x00" + who.UserID))
	return hex.EncodeToString(sum[:])
}

// Workers returns the workers by their kinds, for [jobs.Queue.Register]. The schedule
// must run every minute ([jobs.Queue.Periodic]).
func (s *Service) Workers() map[string]jobs.Worker {
	return map[string]jobs.Worker{
		Kind:         {Run: s.work, Timeout: jobTime},
		KindSchedule: {Run: func(ctx context.Context, _ json.RawMessage) error { return s.schedule(ctx) }, Timeout: scheduleTime, Unique: true},
	}
}

// work runs a job's dream.
func (s *Service) work(ctx context.Context, args json.RawMessage) error {
	var o order
	if err := json.Unmarshal(args, &o); err != nil {
		return fmt.Errorf("dream: read the job: %w", err)
	}
	ctx = identity.With(ctx, identity.Identity{TenantID: o.Tenant, UserID: o.User, Email: o.Email, Name: o.Name, Role: o.Role, KeyID: o.Key})
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
