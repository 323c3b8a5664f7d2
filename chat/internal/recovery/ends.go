package recovery

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/p8-org/p8/chat/internal/record"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// Store is what recovery needs of the store.
type Store interface {
	live.Store
	record.Lookup
	ClaimRun(ctx context.Context, id, process string, allowed store.RunsAllowed) (store.Run, error)
	RunJournal(ctx context.Context, id string) ([]store.JournalEntry, error)
}

// Options are what Ends work with.
type Options struct {
	Store Store
	// Process is the name of this process.
	Process string
	Now     func() time.Time
	NewID   func() string
	Logger  *slog.Logger
}

// Ends writes the ends of this process's runs to the store. While such a write fails, the
// store still lists the run as under way, and no other process may end it: Ends keeps the
// end in memory and retries the write.
type Ends struct {
	o Options

	mu    sync.Mutex
	left  map[string]End // by run id
	bytes int            // approximate memory of left
	// busy are the runs that are being ended or claimed; the channel is closed afterwards.
	busy map[string]chan struct{}
}

// NewEnds makes Ends.
func NewEnds(o Options) *Ends {
	return &Ends{o: o, left: make(map[string]End), busy: make(map[string]chan struct{})}
}

// End is how a run ended, or was released.
type End struct {
	Caller identity.Identity
	Write  store.RunWrite
	// Late are rows that were not stored before, Events the end of the log.
	Late   []record.Batch
	Events []event.Event
}

const (
	// maxUnended bounds the ends that are kept in memory.
	maxUnended = 1000
	// endTime bounds one try.
	endTime = 10 * time.Second
	// MaxLeft bounds the events that one End keeps in memory, maxUnendedBytes the memory
	// of all Ends together, in bytes.
	MaxLeft         = 1 << 20
	maxUnendedBytes = 64 << 20
)

// alone excludes other calls that end or claim the run, until done is called.
func (s *Ends) alone(runID string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy[runID] != nil {
		other := s.busy[runID]
		s.mu.Unlock()
		<-other
		s.mu.Lock()
	}
	mine := make(chan struct{})
	s.busy[runID] = mine
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.busy, runID)
		close(mine)
	}
}

// Write writes the end of a run. If that fails, Again and All retry it.
func (s *Ends) Write(ctx context.Context, l End) error {
	defer s.alone(l.Write.RunID)()
	return s.write(ctx, l)
}

// write is Write for a caller that is alone with the run.
func (s *Ends) write(ctx context.Context, l End) error {
	l.Write.Process = s.o.Process
	err := s.try(ctx, l)
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(l.Write.RunID)
	if s.bytes+l.size() > maxUnendedBytes {
		// Too much to keep: keep the end without its text.
		l.Write, l.Late, l.Events = l.bare(), nil, nil
	}
	if len(s.left) < maxUnended {
		s.left[l.Write.RunID] = l
		s.bytes += l.size()
	}
	return err
}

// forget drops the end of a run that is kept. The caller holds s.mu.
func (s *Ends) forget(runID string) {
	if l, ok := s.left[runID]; ok {
		s.bytes -= l.size()
		delete(s.left, runID)
	}
}

// Claim claims a resting run for this process, if no more runs than allowed are under way then;
// was is the run as it was read. If the store's reply is lost, the run may be claimed although Claim fails: then Claim releases
// it.
func (s *Ends) Claim(ctx context.Context, was *store.Run, allowed store.RunsAllowed) (store.Run, error) {
	caller, err := identity.From(ctx)
	if err != nil {
		return store.Run{}, err
	}
	defer s.alone(was.ID)()
	r, err := s.o.Store.ClaimRun(ctx, was.ID, s.o.Process, allowed)
	many := (*store.TooManyRunsError)(nil)
	switch {
	case err == nil:
		// The run rested, so the store already has the end that may be kept here. Writing
		// it again would end the part of the run that begins now.
		s.mu.Lock()
		defer s.mu.Unlock()
		s.forget(was.ID)
	case !errors.Is(err, store.ErrRunTaken) && !errors.Is(err, store.ErrNotFound) && !errors.As(err, &many):
		back := store.RunWrite{RunID: was.ID, Status: was.Status, Reason: was.Reason}
		err = errors.Join(err, s.write(ctx, End{Caller: caller, Write: back}))
	}
	return r, err
}

// size returns about how much memory the end takes, in bytes.
func (l *End) size() (n int) {
	w := record.AddLate(l.Write, l.Late)
	for _, m := range append(w.Messages[:len(w.Messages):len(w.Messages)], w.Answer) {
		if m != nil && m.Content != nil {
			n += len(*m.Content)
		}
	}
	for _, e := range w.Journal {
		n += len(e.Data)
	}
	return n + live.Size(l.Events)
}

// bare returns the end without the run's text and events.
func (l *End) bare() store.RunWrite {
	return store.RunWrite{RunID: l.Write.RunID, Process: l.Write.Process, Status: l.Write.Status, Reason: l.Write.Reason, Attempted: l.Write.Attempted}
}

// try writes an end once. It succeeds if the store has the end already, or the run is
// gone.
func (s *Ends) try(ctx context.Context, l End) error {
	ctx, cancel := context.WithTimeout(identity.With(context.WithoutCancel(ctx), l.Caller), endTime)
	defer cancel()
	w, err := s.wholeEnd(ctx, l)
	if err == nil {
		_, err = s.o.Store.WriteRun(ctx, w)
	}
	if errors.Is(err, store.ErrInvalid) && len(w.Events) > 0 {
		w.Events = nil
		_, err = s.o.Store.WriteRun(ctx, w)
	}
	if errors.Is(err, store.ErrInvalid) {
		// The store refuses the content for good.
		_, err = s.o.Store.WriteRun(ctx, l.bare())
	}
	if errors.Is(err, store.ErrRunTaken) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// wholeEnd returns the end with everything that the store lacks.
func (s *Ends) wholeEnd(ctx context.Context, l End) (store.RunWrite, error) {
	late, err := record.Unstored(ctx, s.o.Store, l.Late)
	if err != nil || len(l.Events) == 0 {
		return record.AddLate(l.Write, late), err
	}
	r, err := s.o.Store.Run(ctx, l.Write.RunID)
	if err != nil {
		return l.Write, err
	}
	events := slices.DeleteFunc(slices.Clone(l.Events), func(e event.Event) bool { return e.Seq <= r.LastSeq })
	w := record.AddLate(l.Write, late)
	w.Events = live.Pieces(events)
	return w, nil
}

// Again retries the end of one run. It returns false if no end of the run is kept here, or
// if the write fails again.
func (s *Ends) Again(ctx context.Context, runID string) bool {
	defer s.alone(runID)()
	s.mu.Lock()
	l, ok := s.left[runID]
	s.mu.Unlock()
	if !ok || s.try(ctx, l) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(runID)
	return true
}

// All retries all ends, until a write fails.
func (s *Ends) All(ctx context.Context) {
	s.mu.Lock()
	ids := make([]string, 0, len(s.left))
	for id := range s.left {
		ids = append(ids, id)
	}
	s.mu.Unlock()
	for _, id := range ids {
		if !s.Again(ctx, id) {
			return
		}
	}
}
