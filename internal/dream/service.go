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

// Chat runs agents. Implemented by *chat.Service.
type Chat interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
	Resume(ctx context.Context, runID string) (*chat.Turn, error)
}

// Queue queues dreams. Implemented by *jobs.Queue.
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
	// Agents dream, in their order; [Agent] alone when empty. TenantAgents replace
	// them for tenants.
	Agents       []string
	TenantAgents map[string][]string
	// Offline means that there is no model: the second phase does nothing, and the
	// third only adds the topics of new moments.
	Offline bool
	// Budget bounds the material, in tokens; 38,400 when 0 (30 % of 128,000).
	Budget int
	// Lookback is the default window; a day when 0.
	Lookback time.Duration
	// Schedule is a cron expression, "" for no scheduled dreams. TenantSchedules
	// replace it for tenants, "" for none.
	Schedule        string
	TenantSchedules map[string]string
	// Process names this process as the holder of leases; "" makes a name.
	Process string
	// Lease is the lifetime of a lease, after which a silent process counts as dead; a
	// minute when 0.
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
	o.Process = cmp.Or(o.Process, uuid.NewString())
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

// agents returns the agents that dream for a tenant.
func (s *Service) agents(tenant, wanted string) []string {
	if wanted != "" {
		return []string{wanted}
	}
	if own := s.o.TenantAgents[tenant]; len(own) > 0 {
		return own
	}
	return s.o.Agents
}

// window is the time of a dream: From <= t < Until.
type window struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
}

// window returns that of a request.
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

// has reports whether t is within the window.
func (w window) has(t time.Time) bool { return !t.Before(w.From) && t.Before(w.Until) }

// form is the layout of times for a model.
const form = "2006-01-02 15:04"

// The messages to the agents of the second and the third phase.
const (
	toDream = "Reflect on it, and write down what it adds up to."
	toLearn = "Bring the profile up to date with it."
)

// input returns the message to an agent about the window.
func (w window) input(task string) string {
	return "Your instructions hold the material of " + w.From.Format(form) + " to " + w.Until.Format(form) + " UTC. " + task
}
