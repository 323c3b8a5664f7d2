package chat

import (
	"context"
	"errors"
	"time"

	"github.com/p8-org/p8/chat/internal/delegate"
)

// Service starts turns and keeps track of those under way.
type Service struct {
	o       Options
	stages  *preparer
	runs    *executor
	archive *archive
	// delegates has the tools that ask other agents.
	delegates *delegate.Delegator
	// leave ends the reading of runs of other processes.
	leave context.CancelFunc
}

// New makes a service.
func New(o Options) (*Service, error) {
	if o.Catalog == nil || o.Models == nil {
		return nil, errors.New("chat: a catalog and models are needed")
	}
	s := &Service{o: o.withDefaults()}
	here, leave := context.WithCancel(context.Background())
	s.leave = leave
	s.archive = &archive{store: s.o.Store, resumes: s.o.resumes(), here: here}
	s.stages = newPreparer(&s.o)
	s.runs = newExecutor(&s.o, s.stages, s.archive)
	s.runs.resume = func(ctx context.Context, runID string) error {
		_, err := s.goOn(ctx, runID, nil)
		return err
	}
	delegates := delegate.Options{
		Catalog: o.Catalog, Casts: s.stages.casts, Prompts: s.stages.prompts,
		Scripted: func(agent string) bool { return o.Scripts[agent] != nil },
		Run:      s.o.runOptions(), Defaults: o.Defaults, Start: s.startAsked, Describe: Describe, Now: s.o.Now,
	}
	if o.Store != nil {
		delegates.Sessions = o.Store
	}
	s.delegates = delegate.New(delegates)
	return s, nil
}

// Process returns the name of this process among those that share the store.
func (s *Service) Process() string { return s.o.Process }

// Running returns the number of turns under way.
func (s *Service) Running() int { return s.runs.sessions.Count() }

// Stats are how busy a service is.
type Stats struct {
	// Runs are under way, MaxRuns at most. Waiting are requests that wait for a run of their
	// session to end.
	Runs, MaxRuns, Waiting int
	// Unstored are events that are shown and not stored yet.
	Unstored int
	// Memory is what the events of all runs take in bytes, MaxMemory what they may take.
	Memory, MaxMemory int64
}

// Stats returns how busy the service is. It reads no store.
func (s *Service) Stats() Stats {
	l := Stats{MaxRuns: s.o.MaxRuns, Memory: s.runs.budget.Used(), MaxMemory: s.runs.budget.Most()}
	var turns []*running
	turns, l.Runs, l.Waiting = s.runs.sessions.Load()
	for _, r := range turns {
		l.Unstored += r.log.Unstored()
	}
	return l
}

// closeGrace is how long interrupted runs have to store their events.
const closeGrace = 5 * time.Second

// Close refuses new turns and waits for those under way. If ctx ends first, they are
// interrupted: their text so far is kept, and they can be resumed. The error is then ctx's.
func (s *Service) Close(ctx context.Context) error {
	s.runs.sessions.Close()
	idle := make(chan struct{})
	go func() {
		s.runs.sessions.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	s.runs.sessions.CancelAll(errShutdown)
	late := time.NewTimer(closeGrace)
	defer late.Stop()
	select {
	case <-idle:
	case <-late.C:
	}
	return context.Cause(ctx)
}

// Leave ends the reading of runs that this process does not execute, with ErrHandedOver:
// those of other processes, and those that Close interrupted. Their readers reconnect to
// another process for the rest.
func (s *Service) Leave() { s.leave() }
