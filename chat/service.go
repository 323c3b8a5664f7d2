package chat

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/routing"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// Catalog finds agents by name; *catalog.Catalog is one.
type Catalog interface {
	Agent(ctx context.Context, name string) (*agent.Agent, error)
}

// Models finds models by "provider:model"; *llm.Registry is one.
type Models interface {
	Resolve(name string) (llm.Model, error)
}

// Tools finds the tools that a document declares and tells which of them are
// not there; *tool.Box is one.
type Tools interface {
	Resolve(ctx context.Context, a *agent.Agent) tool.Resolved
}

// Store keeps sessions and runs; *store.Store implements it. Every method takes the
// caller's identity from ctx.
type Store interface {
	Conversations
	Runs
}

// Conversations are sessions and their messages.
type Conversations interface {
	// Session is store.ErrNotFound when there is none that the caller may see.
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	Message(ctx context.Context, id string) (store.Message, error)
	// Recall reads what the next turn of a session may be shown, in one go.
	Recall(ctx context.Context, q store.RecallQuery) (store.Recalled, error)
}

// Runs are what runs leave behind: their logs, what they must not do twice, what
// they ask. See package store for what each method promises.
type Runs interface {
	live.Store
	BeginRun(ctx context.Context, r store.RunStart) error
	RunByKey(ctx context.Context, key string) (store.Run, error)
	Runs(ctx context.Context, f store.RunFilter) (page []store.Run, next string, err error)
	RunJournal(ctx context.Context, id string) ([]store.JournalEntry, error)
	ClaimRun(ctx context.Context, id, owner string) (store.Run, error)
	StopRun(ctx context.Context, id string) (store.Run, error)
	DeleteRun(ctx context.Context, id string) error
	Request(ctx context.Context, id string) (store.RunRequest, error)
	Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error)
	Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, error)
}

// Options are what a Service works with. Catalog and Models are needed; the
// rest has defaults.
type Options struct {
	Catalog Catalog
	Models  Models
	// Tools may be nil: then agents have none.
	Tools Tools
	// Store may be nil: then nothing is stored, and each turn stands alone.
	Store Store
	// DefaultModel is for requests and documents that name none; Fallback takes
	// over, in its order, where a document names no fallback of its own.
	DefaultModel string
	Fallback     []string
	// Cost is what a response of a model costs in US dollars, 0 when it is not
	// known; nil knows none.
	Cost func(model string, u llm.Usage) float64
	// Defaults are the settings that neither request nor document names.
	Defaults llm.Settings
	// StructuredMode is "native", "tool", or "" to go by the model.
	StructuredMode string
	// KeepLast rows of the history stay whole; 5 when 0.
	KeepLast int
	// Budget of the history in tokens; 8000 when 0.
	Budget int
	// Moments is the most moments of a session that its turns are shown; 3 when 0, none
	// when negative.
	Moments int
	// Window is what a model reads and writes together, and what it writes at most, in
	// tokens; 0 is unknown, and nil knows none.
	Window func(model string) (context, output int)
	// ResultChars is how long a tool's result may be that a model is shown whole;
	// tool.DefaultResultChars when 0.
	ResultChars int
	// Ended is told of a session whose turn is over, on a goroutine of the turn; nil is
	// not told.
	Ended func(ctx context.Context, e Ended)
	// MaxRuns bounds the runs at one time, of all callers together; 1000 when 0.
	MaxRuns int
	// RunTimeout, ToolTimeout and Parallel are those of package run.
	RunTimeout  time.Duration
	ToolTimeout time.Duration
	Parallel    int
	// StepToolCalls and ToolCalls bound the tool calls of one answer of a model and of a
	// run, as package run has them.
	StepToolCalls, ToolCalls int
	// MaxEvents and MaxBytes bound what one run may say; 100,000 and 16 MiB (4 MiB
	// without a Store) when 0. The text of an answer has at most 2 MiB. A run that says more ends with reason length.
	MaxEvents int
	MaxBytes  int
	// Memory is what all runs may hold in memory together, in bytes, with 16 KiB more for
	// each of them; 64 MiB when 0.
	// From half of it on they keep only what they have nowhere else; beyond it the
	// run that holds most ends with reason length.
	Memory int64
	// MaxDepth bounds the agents that ask agents; 5 when 0.
	MaxDepth int
	// Patience is how long a run retries a write while the store fails, before it stops
	// at its next call that acts; 30 s when 0.
	Patience time.Duration
	// AnswerWithin is how long a question to the user stands; 7 days when 0.
	AnswerWithin time.Duration
	// Classifier chooses among agents where a client leaves it to p8 (the agent auto);
	// nil goes by the rules of the documents and asks a model where they are not sure.
	Classifier routing.Classifier
	// Scripts answer in place of a model, by the names of agents that the catalog has.
	Scripts map[string]Script
	// Attempts is how often a run whose process died is resumed by itself
	// (ResumeInterrupted); 0 leaves interrupted runs to Resume.
	Attempts int
	// Owner names this process among those that share the store; made up when "".
	Owner string
	// Now and NewID are the clock and the source of ids (UUIDs).
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

// DefaultAgent answers where neither the request nor the identity names one.
const DefaultAgent = "general"

// The defaults of Options.
const (
	defaultKeepLast = 5
	defaultBudget   = 8000
	defaultMoments  = 3
	defaultMaxRuns  = 1000
	defaultMemory   = 64 << 20

	defaultAnswerWithin = 7 * 24 * time.Hour

	// maxStoring is small: a question or an answer that comes now waits for as many
	// writes of other runs' events.
	maxStoring = 1
)

// Service starts turns and knows those that are running.
type Service struct {
	o     Options
	slots slots
	// storing bounds the runs that store their events at one time.
	storing chan struct{}
	// longEnds bounds the long answers that are in memory to be stored.
	longEnds chan struct{}
	budget   *live.Budget
	scales   scales
	// here ends with leave, when nobody shall read runs of other processes here any more.
	here  context.Context
	leave context.CancelFunc
}

// New makes a service.
func New(o Options) (*Service, error) {
	if o.Catalog == nil || o.Models == nil {
		return nil, errors.New("chat: a catalog and models are needed")
	}
	o.KeepLast = cmp.Or(o.KeepLast, defaultKeepLast)
	o.Budget = cmp.Or(o.Budget, defaultBudget)
	o.Moments = max(0, cmp.Or(o.Moments, defaultMoments))
	o.ResultChars = cmp.Or(o.ResultChars, tool.DefaultResultChars)
	o.MaxRuns = cmp.Or(o.MaxRuns, defaultMaxRuns)
	o.Memory = cmp.Or(o.Memory, defaultMemory)
	o.AnswerWithin = cmp.Or(o.AnswerWithin, defaultAnswerWithin)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	if o.Owner == "" {
		o.Owner = newID()
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	s := &Service{o: o, storing: make(chan struct{}, maxStoring), longEnds: make(chan struct{}, maxLongEnds), budget: live.NewBudget(o.Memory)}
	s.here, s.leave = context.WithCancel(context.Background())
	s.slots.most, s.slots.taken = o.MaxRuns, make(map[sessionKey]*slot)
	return s, nil
}

// Owner is the name of this process among those that share the store.
func (s *Service) Owner() string { return s.o.Owner }

// Running is the number of turns under way.
func (s *Service) Running() int { return len(s.slots.all()) }

// closeGrace is how long cancelled runs have to store what they said.
const closeGrace = 5 * time.Second

// Close takes no more turns and waits for the running ones. When ctx ends
// first, they are interrupted: they keep what they have said and can be taken up
// again. The error is then ctx's.
func (s *Service) Close(ctx context.Context) error {
	s.slots.close()
	idle := make(chan struct{})
	go func() {
		s.slots.turns.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	for _, t := range s.slots.all() {
		t.cancel(errShutdown)
	}
	late := time.NewTimer(closeGrace)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	}
	return context.Cause(ctx)
}
