package dream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// Chat runs agents; *chat.Service is one.
type Chat interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
	Resume(ctx context.Context, runID string) (*chat.Turn, error)
}

// Queue is where dreams wait; *jobs.Queue is one.
type Queue interface {
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
}

// Options are what a Service works with. Store and Builder are needed, and Chat
// unless it is Offline.
type Options struct {
	Store   *store.Store
	Chat    Chat
	Builder *memory.Builder
	// Queue may be nil: then nothing can be enqueued.
	Queue Queue
	// Agents dream, one after the other; [Agent] alone when empty. TenantAgents are those
	// of tenants that have their own.
	Agents       []string
	TenantAgents map[string][]string
	// Offline says that there is no model: the second phase does nothing, the third
	// knows only the topics of new moments.
	Offline bool
	// Budget is what the agent is shown, in tokens; 38,400 when 0 (30 % of 128,000).
	Budget int
	// Lookback is the window of a dream that names none; a day when 0.
	Lookback time.Duration
	// Schedule is a cron expression, "" for no dreams but those that somebody asks for;
	// TenantSchedules are those of tenants that have their own, "" for none.
	Schedule        string
	TenantSchedules map[string]string
	// Owner names this process; made up when "".
	Owner string
	// Lease is how long a process that dreams may say nothing before another one takes
	// it for dead; a minute when 0.
	Lease  time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

// The defaults and bounds of Options and requests.
const (
	defaultBudget   = 38_400
	defaultLookback = 24 * time.Hour
	maxLookback     = 720 * time.Hour
)

// Service dreams. It is safe for concurrent use.
type Service struct{ o Options }

// New makes a Service.
func New(o Options) (*Service, error) {
	if o.Store == nil || o.Builder == nil || o.Chat == nil && !o.Offline {
		return nil, errors.New("dream: a store, a builder of moments and a chat are needed")
	}
	if _, err := Due(o.Schedule, time.Now(), time.Now()); err != nil {
		return nil, fmt.Errorf("dream: the schedule: %w", err)
	}
	for tenant, schedule := range o.TenantSchedules {
		if _, err := Due(schedule, time.Now(), time.Now()); err != nil {
			return nil, fmt.Errorf("dream: the schedule of the tenant %.64q: %w", tenant, err)
		}
	}
	o.Budget = cmp.Or(o.Budget, defaultBudget)
	o.Lookback = cmp.Or(o.Lookback, defaultLookback)
	o.Owner = cmp.Or(o.Owner, uuid.NewString())
	o.Lease = cmp.Or(max(0, o.Lease), leaseFor)
	if len(o.Agents) == 0 {
		o.Agents = []string{Agent}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Service{o}, nil
}

// agents are those that dream for a tenant.
func (s *Service) agents(tenant, wanted string) []string {
	if wanted != "" {
		return []string{wanted}
	}
	if own := s.o.TenantAgents[tenant]; len(own) > 0 {
		return own
	}
	return s.o.Agents
}

// window is the time that a dream is about: From <= t < Until.
type window struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// window is that of a request.
func (s *Service) window(req Request) window {
	now := s.o.Now().UTC()
	until := req.Until.UTC()
	if req.Until.IsZero() || until.After(now) {
		until = now
	}
	lookback := req.Lookback
	if lookback <= 0 {
		lookback = s.o.Lookback
	}
	until = until.Truncate(time.Microsecond)
	return window{until.Add(-min(lookback, maxLookback)), until}
}

// has reports whether something happened within the window.
func (w window) has(t time.Time) bool { return !t.Before(w.From) && t.Before(w.Until) }

// form is how the window is written for a model.
const form = "2006-01-02 15:04"

// What agents are asked: to dream, and to keep the profile.
const (
	toDream = "Reflect on it, and write down what it adds up to."
	toLearn = "Bring the profile up to date with it."
)

// input is what an agent is asked about the window.
func (w window) input(task string) string {
	return "Your instructions hold the material of " + w.From.Format(form) + " to " + w.Until.Format(form) + " UTC. " + task
}
