package chat

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"p8/agent"
	"p8/llm"
	"p8/store"
	"p8/tool"
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

// Store keeps sessions; every method takes the caller's identity from ctx.
type Store interface {
	// Session is store.ErrNotFound when there is none that the caller may see.
	Session(ctx context.Context, id string) (store.Session, error)
	Messages(ctx context.Context, sessionID string, f store.MessageFilter) ([]store.Message, error)
	// BeginTurn makes or updates the session and appends rows, the user's message
	// last: all of it or nothing.
	BeginTurn(ctx context.Context, s store.Session, rows ...*store.Message) error
	Append(ctx context.Context, rows ...*store.Message) error
	// FinishTurn appends the answer and renames the session where a name is given.
	FinishTurn(ctx context.Context, answer *store.Message, sessionName string) error
	// User is store.ErrNotFound when nothing is known about the caller.
	User(ctx context.Context) (store.User, error)
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
	// MaxRuns bounds the runs at one time; 1000 when 0.
	MaxRuns int
	// RunTimeout, ToolTimeout and Parallel are those of package run.
	RunTimeout  time.Duration
	ToolTimeout time.Duration
	Parallel    int
	// MaxEvents and MaxBytes bound what one run may say; 100,000 and 16 MiB when
	// 0. A run that says more ends with reason length.
	MaxEvents int
	MaxBytes  int
	// Now and NewID are the clock and the source of ids (UUIDs).
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
}

// DefaultAgent answers where neither the request nor the identity names one.
const DefaultAgent = "general"

// The defaults of Options.
const (
	defaultKeepLast  = 5
	defaultBudget    = 8000
	defaultMaxRuns   = 1000
	defaultMaxEvents = 100_000
	defaultMaxBytes  = 16 << 20
)

// Service starts turns and knows those that are running.
type Service struct {
	o Options

	mu      sync.Mutex
	running map[sessionKey]*Turn
	closed  bool
	turns   sync.WaitGroup
}

// sessionKey names a session across callers.
type sessionKey struct{ tenant, user, session string }

// New makes a service.
func New(o Options) (*Service, error) {
	if o.Catalog == nil || o.Models == nil {
		return nil, errors.New("chat: a catalog and models are needed")
	}
	o.KeepLast = cmp.Or(o.KeepLast, defaultKeepLast)
	o.Budget = cmp.Or(o.Budget, defaultBudget)
	o.MaxRuns = cmp.Or(o.MaxRuns, defaultMaxRuns)
	o.MaxEvents = cmp.Or(o.MaxEvents, defaultMaxEvents)
	o.MaxBytes = cmp.Or(o.MaxBytes, defaultMaxBytes)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Service{o: o, running: make(map[sessionKey]*Turn)}, nil
}

// reserve takes the session for one turn: two at once would not know of each
// other's messages.
func (s *Service) reserve(k sessionKey, t *Turn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ErrClosed
	case s.running[k] != nil:
		return ErrBusy
	case len(s.running) >= s.o.MaxRuns:
		return ErrOverloaded
	}
	s.running[k] = t
	s.turns.Add(1)
	return nil
}

// release gives the session free for its next turn.
func (s *Service) release(k sessionKey) {
	s.mu.Lock()
	delete(s.running, k)
	s.mu.Unlock()
}

// Running is the number of turns under way.
func (s *Service) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running)
}

// closeGrace is how long cancelled runs have to store what they said.
const closeGrace = 5 * time.Second

// Close takes no more turns and waits for the running ones. When ctx ends
// first, they are cancelled, keep what they have said, and the error is ctx's.
func (s *Service) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		s.turns.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for _, t := range s.running {
		t.cancel(errShutdown)
	}
	s.mu.Unlock()
	late := time.NewTimer(closeGrace)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	}
	return context.Cause(ctx)
}
