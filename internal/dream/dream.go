// Package dream makes moments and dreams of a user's days in the background.
//
//	s, err := dream.New(dream.Options{Store: st, Chat: service, Builder: builder, Queue: queue})
//	res, err := s.Dream(ctx, dream.Request{Lookback: 24 * time.Hour})
//
// A dream has three phases. The first needs no model: it makes the pending moments of
// sessions and adds the files uploaded in them. In the second an agent reads the
// moments, messages and files of the window, within a budget of tokens, and answers
// with one to three dreams and their connections; its document says how they are
// stored (chained_tool: save_moments). The third updates the user's profile.
//
// Each agent's turn is a run in a session of its own (mode "dreaming"), whose id and
// idempotency key are made from the window. So if a process dies during a dream, the
// user's next dream resumes it, on any process, and nothing is dreamt twice. A lease
// keeps two processes from dreaming for one user at the same time. An anonymous caller
// dreams of the rows without a user and has no profile. Dreaming sessions are never
// the material of later dreams; if nothing happened since the last one, no model is
// asked.
package dream

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// Agent is the default agent of the second phase; AgentUserModel updates the profile.
const (
	Agent          = "dreaming-agent"
	AgentUserModel = "user-model"
)

// Mode is the mode of the sessions in which agents dream.
const Mode = store.ModeDreaming

// Request asks for one dream of the caller.
type Request struct {
	// Lookback is the length of the window, Until its end; the defaults are the
	// options' and now.
	Lookback time.Duration
	Until    time.Time
	// Agent replaces the agents of the options; "" does not.
	Agent string
	// DryRun changes nothing: Result.Prompt is the agent's prompt.
	DryRun bool
}

// The statuses of a dream, its phases included.
const (
	StatusCompleted     = "completed"
	StatusSkippedNoData = "skipped_no_data"
	StatusSkippedModel  = "skipped_no_model"
	StatusSkippedUser   = "skipped_no_user" // an anonymous caller has no profile
	StatusBusy          = "busy"            // the user's last dream is not over
	StatusDryRun        = "dry_run"
	StatusFailed        = "failed"
)

// Result is the outcome of a dream.
type Result struct {
	// Status is the second phase's, or why it did not run.
	Status string `json:"status"`
	// From and Until are the window: the request's, or that of an unfinished dream,
	// which is resumed first.
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// IOTokens are the input and output tokens of the agents' runs.
	IOTokens int     `json:"io_tokens"`
	Phase1   Phase1  `json:"phase1"`
	Phase2   Phase2  `json:"phase2"`
	Profile  Profile `json:"profile"`
	Prompt   string  `json:"prompt,omitempty"`
}

// Phase1 are the moments of sessions.
type Phase1 struct {
	SessionsChecked int      `json:"sessions_checked"`
	MomentsBuilt    int      `json:"moments_built"`
	Enriched        int      `json:"moments_enriched"`
	Keys            []string `json:"keys,omitempty"`
}

// Phase2 are the dreams.
type Phase2 struct {
	Status       string   `json:"status"`
	IOTokens     int      `json:"io_tokens"`
	SessionIDs   []string `json:"session_ids,omitempty"`
	MomentsSaved int      `json:"moments_saved"`
	Keys         []string `json:"keys,omitempty"`
	AgentsRun    []string `json:"agents_run,omitempty"`
	// Stats is a [Stats].
	Stats json.RawMessage `json:"context_stats,omitempty"`
	Error string          `json:"error,omitempty"`
}

// Profile is the update of the user's profile.
type Profile struct {
	Status string `json:"status"`
	// Updated are the fields that changed: content, interests, preferred_topics.
	Updated []string `json:"updated,omitempty"`
	Error   string   `json:"error,omitempty"`
}

// dream is one dream under way.
type dream struct {
	*Service
	who    identity.Identity
	agents []string
	window window
	Result
}

// Dream dreams now. A failure of a model or an agent is in the result. The error is
// the store's, or ctx's; the next dream then resumes this one.
func (s *Service) Dream(ctx context.Context, req Request) (Result, error) {
	who, err := identity.From(ctx)
	if !req.DryRun {
		who, err = store.Writer(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	d := &dream{Service: s, who: who, agents: s.agents(who.TenantID, req.Agent), window: s.window(req)}
	if req.DryRun {
		err = d.rehearse(ctx)
		return d.result(), err
	}
	held, err := hold(ctx, s.o.Store.Leases(), s.o.Process+"/"+uuid.NewString(), s.o.Lease, d.dream)
	if err == nil && !held {
		d.Status = StatusBusy
	}
	return d.result(), err
}

// result returns the result, with its window.
func (d *dream) result() Result {
	d.From, d.Until = d.window.From, d.window.Until
	return d.Result
}

// dream runs all phases, in the process that has the lease.
func (d *dream) dream(ctx context.Context) error {
	past, err := d.recall(ctx)
	if err != nil {
		return err
	}
	if past.open != nil {
		d.window = *past.open
	}
	topics, err := d.first(ctx)
	if err != nil {
		return err
	}
	if d.o.Offline {
		d.Status, d.Phase2.Status = StatusSkippedModel, StatusSkippedModel
		return d.learnTopics(ctx, topics)
	}
	m, err := d.gather(ctx, past)
	if err != nil {
		return err
	}
	d.Phase2.Stats = m.stats.encode()
	if !past.begun && !m.newest.After(past.last) {
		d.Status, d.Phase2.Status, d.Profile.Status = StatusSkippedNoData, StatusSkippedNoData, StatusSkippedNoData
		return nil
	}
	if err := d.second(ctx, m); err != nil {
		return err
	}
	d.Status = d.Phase2.Status
	return d.learn(ctx, m)
}

// rehearse collects the material and the prompt, and changes nothing.
func (d *dream) rehearse(ctx context.Context) error {
	past, err := d.recall(ctx)
	if err != nil {
		return err
	}
	if past.open != nil {
		d.window = *past.open
	}
	sessions, err := d.sessions(ctx, maxFirst)
	if err != nil {
		return err
	}
	d.Phase1.SessionsChecked = len(sessions)
	m, err := d.gather(ctx, past)
	if err != nil {
		return err
	}
	d.Phase2.Stats, d.Prompt = m.stats.encode(), m.instruction(d.window)+"\n\n"+d.window.input(toDream)
	d.Status, d.Phase2.Status, d.Profile.Status = StatusDryRun, StatusDryRun, StatusDryRun
	if !past.begun && !m.newest.After(past.last) {
		d.Phase2.Status, d.Prompt = StatusSkippedNoData, ""
	}
	return nil
}

// missing returns err unless it means that the row does not exist.
func missing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
