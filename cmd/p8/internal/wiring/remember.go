package wiring

import (
	"context"
	"encoding/json"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/dream"
	"github.com/p8-org/p8/internal/jobs"
	"github.com/p8-org/p8/internal/reminder"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
)

// The kinds of jobs besides those of other packages.
const (
	kindMoments   = "moments"
	kindCleanUp   = "clean-up"
	kindRetention = "retention"
)

// momentBuilder is the document of the agent that summarises sessions.
const momentBuilder = "moment-builder"

// openMemory builds what makes moments and reminders, if there is a database.
func (p *Parts) openMemory(cfg *config.Config, o Options) (err error) {
	if p.Store == nil || o.NoStore {
		return nil
	}
	p.Work, p.threshold = newWork(cfg, p.Store, p), cfg.MomentTokenThreshold
	prices, err := NewPrices(cfg)
	if err != nil {
		return err
	}
	summarizer, err := p.summarizer(cfg, prices.Cost)
	if err != nil {
		return err
	}
	p.builder, err = memory.NewBuilder(memory.BuilderOptions{
		Store: p.Store, Summarizer: summarizer, Threshold: cfg.MomentTokenThreshold, Now: o.Now, Logger: p.Log,
	})
	if err != nil {
		return err
	}
	p.reminders, err = reminder.New(reminder.Options{
		Store: p.Store, Queue: p.Work, WebhookURL: cfg.ReminderURL, WebhookSecret: cfg.ReminderSecret, Now: o.Now, Logger: p.Log,
	})
	if err != nil {
		return err
	}
	if err = p.openFeedback(cfg); err != nil {
		return err
	}
	if p.titles, err = p.titleWriter(cfg, prices.Cost); err != nil {
		return err
	}
	p.Work.kinds[kindTitle] = jobs.Worker{Run: p.writeTitle, MaxAttempts: titleAttempts}
	p.Work.kinds[kindMoments] = jobs.Worker{Run: p.buildMoments, Timeout: momentsTimeout}
	p.Work.kinds[reminder.Kind] = p.reminders.Worker()
	return nil
}

// momentsTimeout bounds the job that makes the moments of one session.
const momentsTimeout = 10 * time.Minute

// summarizer returns the model that summarises, nil for none.
func (p *Parts) summarizer(cfg *config.Config, cost func(string, llm.Usage) float64) (memory.Summarizer, error) {
	name := cfg.SummaryModel
	if name == "" {
		name = p.Choice.Model
	}
	if name == "none" || isOffline(name) {
		return nil, nil
	}
	s, err := memory.NewModelSummarizer(memory.SummarizerOptions{
		Agent: func(ctx context.Context) (*agent.Agent, error) { return p.Catalog.Agent(ctx, momentBuilder) },
		Model: func(_ context.Context, a *agent.Agent) (llm.Model, error) {
			return p.Models.Resolve(chat.ModelName(a, cfg.SummaryModel, p.Choice.Model))
		},
		Cost: cost, Logger: p.Log,
	})
	if err != nil {
		return nil, err
	}
	return meteredSummarizer{s, p.may}, nil
}

// openDreams builds the dream service, which needs the chat service.
func (p *Parts) openDreams(cfg *config.Config, o Options) (err error) {
	if p.builder == nil {
		return nil
	}
	p.dreams, err = dream.New(dream.Options{
		Store: p.Store, Chat: p.Chat, Builder: p.builder, Queue: p.Work, Agents: cfg.DreamAgents, Offline: isOffline(p.Choice.Model),
		Lease: max(cfg.RunGrace, silentRun), Budget: cfg.DreamBudget, Lookback: cfg.DreamLookback, Schedule: cfg.DreamSchedule, TenantSchedules: cfg.TenantSchedules(),
		Now: o.Now, Logger: p.Log,
	})
	if err != nil {
		return err
	}
	for kind, w := range p.dreams.Workers() {
		p.Work.kinds[kind] = w
	}
	return nil
}

// ofSession has the arguments of a job about a session.
type ofSession struct {
	Tenant  string `json:"tenant"`
	User    string `json:"user,omitempty"`
	Session string `json:"session"`
	// Key is the id of the API key of the turn, whose quota counts.
	Key string `json:"key,omitempty"`
}

// caller returns the context of the session's owner.
func (of *ofSession) caller(ctx context.Context) context.Context {
	return identity.With(ctx, identity.Identity{TenantID: of.Tenant, UserID: of.User, KeyID: of.Key})
}

// ended returns what is called after each turn. It stores observations, titles a session
// after its first answer, and makes moments once a session has enough to summarise; a server
// leaves both to its workers.
func (p *Parts) ended(o Options) func(context.Context, chat.Ended) {
	if p.builder == nil {
		return nil
	}
	now := time.Now
	if o.Now != nil {
		now = o.Now
	}
	return func(ctx context.Context, e chat.Ended) {
		for _, d := range e.Observed {
			if err := memory.RecordObservation(ctx, p.Store, e.SessionID, d, now()); err != nil {
				p.Log.Warn("an observation's moment could not be stored", "session", e.SessionID, "error", err)
			}
		}
		if store.IsBackground(e.Mode) {
			return
		}
		if e.Untitled && p.titles != nil {
			p.title(ctx, o.Serves, e.SessionID)
		}
		if e.Unsummarised < p.threshold {
			return
		}
		err := error(nil)
		if o.Serves {
			err = p.momentsLater(ctx, e.SessionID)
		} else {
			err = p.momentsNow(ctx, e.SessionID)
		}
		if err != nil {
			p.Log.Warn("the moments of a session could not be made", "session", e.SessionID, "error", err)
		}
	}
}

// momentsAgain is how long after a turn a second job runs, if the first one was running
// when the turn ended.
const momentsAgain = 5 * time.Second

// momentsLater enqueues the job that makes the moments of a session. If such a job exists
// already, it may have read the session before this turn ended: a second one follows it.
func (p *Parts) momentsLater(ctx context.Context, session string) error {
	receipt, err := p.enqueue(ctx, kindMoments, session, 0)
	if err == nil && receipt.Duplicate {
		_, err = p.enqueue(ctx, kindMoments, session, momentsAgain)
	}
	return err
}

// enqueue adds a job for a session of the caller, unless one of its kind exists. A job that
// runs later may exist beside it.
func (p *Parts) enqueue(ctx context.Context, kind, session string, later time.Duration) (jobs.Receipt, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return jobs.Receipt{}, err
	}
	of := ofSession{Tenant: id.TenantID, User: id.OwnerOf(session), Session: session}
	key, err := json.Marshal(of)
	if err != nil {
		return jobs.Receipt{}, err
	}
	o := jobs.EnqueueOptions{UniqueKey: string(key)} // whoever has the turn, it is one job
	of.Key = id.KeyID
	if later > 0 {
		o.UniqueKey, o.RunAt = o.UniqueKey+" again", time.Now().Add(later)
	}
	return p.Work.Enqueue(ctx, kind, of, o)
}

// nowTimeout is how long a command waits for a model that summarises or titles.
const nowTimeout = 4 * time.Second

// momentsNow makes the moments of a session in a command, where no worker runs.
func (p *Parts) momentsNow(ctx context.Context, session string) error {
	ctx, cancel := context.WithTimeout(ctx, nowTimeout)
	defer cancel()
	_, err := p.builder.Build(asOwner(ctx), session, 0)
	return err
}

// asOwner returns the context of the owner of the caller's session: its moments and its title
// are the owner's.
func asOwner(ctx context.Context) context.Context {
	id, err := identity.From(ctx)
	if err != nil || id.Shared.ID == "" {
		return ctx
	}
	return identity.With(ctx, identity.Identity{TenantID: id.TenantID, UserID: id.Shared.Owner, SessionID: id.SessionID})
}

// buildMoments runs the job.
func (p *Parts) buildMoments(ctx context.Context, args json.RawMessage) error {
	var of ofSession
	if err := json.Unmarshal(args, &of); err != nil {
		return err
	}
	_, err := p.builder.Build(of.caller(ctx), of.Session, 0)
	return err
}
