package chat

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/live"
	"github.com/p8-org/p8/store"
)

// unended are the runs of this process that are over, while the store thinks that
// they run: it could not be told. Nobody else may end them as long as the process
// lives, so it has to tell it again.
type unended struct {
	mu    sync.Mutex
	left  map[string]lastWrite // by the run's id
	bytes int                  // of them, about
}

// lastWrite is how a run ended, and whose it is.
type lastWrite struct {
	who   identity.Identity
	write store.RunWrite
	// late are rows that were not stored before, events the end of the log.
	late   []batch
	events []event.Event
}

const (
	// maxUnended bounds the ends that are kept in memory.
	maxUnended = 1000
	// endTime bounds one try.
	endTime = 10 * time.Second
	// maxLeft bounds the events of a run that are kept in memory, maxUnendedBytes all
	// that is kept of runs, in bytes.
	maxLeft         = 1 << 20
	maxUnendedBytes = 64 << 20
)

// letGo tells the store how a run has ended, or was given back, now or later.
func (s *Service) letGo(ctx context.Context, who identity.Identity, w store.RunWrite) error {
	return s.letGoOf(ctx, lastWrite{who: who, write: w})
}

// letGoOf is letGo for a run with more than its end to store.
func (s *Service) letGoOf(ctx context.Context, l lastWrite) error {
	l.write.Owner = s.o.Owner
	err := s.tellEnd(ctx, l)
	if err == nil {
		return nil
	}
	s.slots.unended.mu.Lock()
	defer s.slots.unended.mu.Unlock()
	if s.slots.unended.left == nil {
		s.slots.unended.left = make(map[string]lastWrite)
	}
	if old, ok := s.slots.unended.left[l.write.RunID]; ok {
		s.slots.unended.bytes -= old.size()
		delete(s.slots.unended.left, l.write.RunID)
	}
	if s.slots.unended.bytes+l.size() > maxUnendedBytes {
		// That the run is over is more than what it said.
		l.write, l.late, l.events = l.bare(), nil, nil
	}
	if len(s.slots.unended.left) < maxUnended {
		s.slots.unended.left[l.write.RunID] = l
		s.slots.unended.bytes += l.size()
	}
	return err
}

// size is about what the end takes in memory, in bytes.
func (l *lastWrite) size() (n int) {
	w := addLate(l.write, l.late)
	for _, m := range append(w.Messages[:len(w.Messages):len(w.Messages)], w.Answer) {
		if m != nil && m.Content != nil {
			n += len(*m.Content)
		}
	}
	for _, e := range w.Journal {
		n += len(e.Data)
	}
	return n + live.Size(l.events)
}

// bare is the end without what the run said.
func (l *lastWrite) bare() store.RunWrite {
	return store.RunWrite{RunID: l.write.RunID, Owner: l.write.Owner, Status: l.write.Status, Reason: l.write.Reason, Attempted: l.write.Attempted}
}

// tellEnd writes an end. One that the store has already, or whose run has gone, is
// told.
func (s *Service) tellEnd(ctx context.Context, l lastWrite) error {
	ctx, cancel := context.WithTimeout(identity.With(context.WithoutCancel(ctx), l.who), endTime)
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
		// It will never be stored as it is.
		_, err = s.o.Store.WriteRun(ctx, l.bare())
	}
	if errors.Is(err, store.ErrNotOwner) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// wholeEnd is an end with everything that the store lacks.
func (s *Service) wholeEnd(ctx context.Context, l lastWrite) (store.RunWrite, error) {
	late, err := unstored(ctx, s.o.Store, l.late)
	if err != nil || len(l.events) == 0 {
		return addLate(l.write, late), err
	}
	r, err := s.o.Store.Run(ctx, l.write.RunID)
	if err != nil {
		return l.write, err
	}
	events := slices.DeleteFunc(slices.Clone(l.events), func(e event.Event) bool { return e.Seq <= r.LastSeq })
	w := addLate(l.write, late)
	w.Events = live.Pieces(events)
	return w, nil
}

// endAgain tells the end of a run that the store was not told; false when nothing
// is known of it, or it failed again.
func (s *Service) endAgain(ctx context.Context, runID string) bool {
	s.slots.unended.mu.Lock()
	l, ok := s.slots.unended.left[runID]
	s.slots.unended.mu.Unlock()
	if !ok || s.tellEnd(ctx, l) != nil {
		return false
	}
	s.slots.unended.mu.Lock()
	defer s.slots.unended.mu.Unlock()
	if l, ok := s.slots.unended.left[runID]; ok {
		s.slots.unended.bytes -= l.size()
		delete(s.slots.unended.left, runID)
	}
	return true
}

// endAll tells all of them, until the store fails.
func (s *Service) endAll(ctx context.Context) {
	s.slots.unended.mu.Lock()
	ids := make([]string, 0, len(s.slots.unended.left))
	for id := range s.slots.unended.left {
		ids = append(ids, id)
	}
	s.slots.unended.mu.Unlock()
	for _, id := range ids {
		if !s.endAgain(ctx, id) {
			return
		}
	}
}
