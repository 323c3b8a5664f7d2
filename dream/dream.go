// Package dream makes something of a user's days while nobody asks.
//
// A dream has two phases (p8). The first needs no model: sessions that are due get
// their moments, enriched with what was uploaded in them. The second shows an agent
// the moments, the messages and the files of the window, within a budget of tokens; it
// answers with one to three dreams and what they are connected with, and its document
// says how they are kept (chained_tool: save_moments). A third brings the user's
// profile up to date.
//
// The agent's turn is a run as any other, under an idempotency key made of the window:
// a dream whose process died is taken up again, and is dreamt once.
package dream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"p8/chat"
	"p8/jobs"
	"p8/memory"
	"p8/store"
)

// The kinds of jobs: one user's dream, and the one that finds whose dream is due.
const (
	Kind         = "dream"
	KindSchedule = "dream-schedule"
)

// Agent is the one that dreams when nobody names another.
const Agent = "dreaming-agent"

// Chat runs agents; *chat.Service is one.
type Chat interface {
	Start(ctx context.Context, req chat.Request) (*chat.Turn, error)
	Resume(ctx context.Context, runID string) (*chat.Turn, error)
}

// Queue is where dreams wait; *jobs.Queue is one.
type Queue interface {
	Enqueue(ctx context.Context, kind string, args any, o jobs.EnqueueOptions) (jobs.Receipt, error)
}

// Options are what a Service works with. Store, Chat and Builder are needed.
type Options struct {
	Store   *store.Store
	Chat    Chat
	Builder *memory.Builder
	Queue   Queue
	// Agents dream, one after the other; [Agent] alone when empty. TenantAgents are those
	// of tenants that have their own.
	Agents       []string
	TenantAgents map[string][]string
	// Offline says that there is no model: the second and third phase do nothing.
	Offline bool
	// Budget is what the agent is shown, in tokens; 38,400 when 0 (30 % of 128,000).
	Budget int
	// Lookback is the window of a dream that names none; a day when 0.
	Lookback time.Duration
	// Schedule is a cron expression, "" for no dreams but those that somebody asks for;
	// TenantSchedules are those of tenants that have their own, "" for none.
	Schedule        string
	TenantSchedules map[string]string
	// Owner names this process.
	Owner  string
	Now    func() time.Time
	Logger *slog.Logger
}

// Service dreams.
type Service struct{ o Options }

// New makes a Service.
func New(o Options) (*Service, error) { return &Service{o}, nil }

// Request is one dream of the caller.
type Request struct {
	// Lookback is the window, Until its end; the defaults are the options' and now.
	Lookback time.Duration
	Until    time.Time
	// Agent is "" for those of the options.
	Agent string
	// DryRun changes nothing: Result.Prompt is what the agent would be shown.
	DryRun bool
}

// The statuses of a dream.
const (
	StatusCompleted     = "completed"
	StatusSkippedNoData = "skipped_no_data"
	StatusSkippedModel  = "skipped_no_model"
	StatusBusy          = "busy" // the user's last dream is not over
	StatusDryRun        = "dry_run"
	StatusFailed        = "failed"
)

// Result is what became of a dream.
type Result struct {
	Status   string    `json:"status"`
	From     time.Time `json:"from"`
	Until    time.Time `json:"until"`
	IOTokens int       `json:"io_tokens"`
	Phase1   Phase1    `json:"phase1"`
	Phase2   Phase2    `json:"phase2"`
	Profile  Profile   `json:"profile"`
	Prompt   string    `json:"prompt,omitempty"`
}

// Phase1 is the moments of sessions.
type Phase1 struct {
	SessionsChecked int      `json:"sessions_checked"`
	MomentsBuilt    int      `json:"moments_built"`
	Enriched        int      `json:"moments_enriched"`
	Keys            []string `json:"keys,omitempty"`
}

// Phase2 is the dreams.
type Phase2 struct {
	Status       string          `json:"status"`
	IOTokens     int             `json:"io_tokens"`
	SessionIDs   []string        `json:"session_ids,omitempty"`
	MomentsSaved int             `json:"moments_saved"`
	Keys         []string        `json:"keys,omitempty"`
	AgentsRun    []string        `json:"agents_run,omitempty"`
	Stats        json.RawMessage `json:"context_stats,omitempty"`
	Error        string          `json:"error,omitempty"`
}

// Profile is what was learned about the user.
type Profile struct {
	Status  string   `json:"status"`
	Updated []string `json:"updated,omitempty"`
}

// Dream dreams now.
func (s *Service) Dream(ctx context.Context, req Request) (Result, error) {
	return Result{}, errors.ErrUnsupported
}

// Enqueue has the caller's dream done by a worker.
func (s *Service) Enqueue(ctx context.Context, req Request) (jobs.Receipt, error) {
	return jobs.Receipt{}, errors.ErrUnsupported
}

// Workers are how the jobs are done, by their kinds, for [jobs.Queue.Register].
func (s *Service) Workers() map[string]jobs.Worker { return nil }
