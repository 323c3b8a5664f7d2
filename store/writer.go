package store

import (
	"context"
	"time"
)

// writer is a transaction that writes records for a caller.
type writer struct {
	store *Store
	c     Conn
	by    caller
	now   time.Time
	// changes are the rows that the in-memory indexes must read again; queued is true if
	// texts were queued for their vectors.
	changes []change
	queued  bool
}

func (w *writer) changed(t *table, user, id string) {
	w.changes = append(w.changes, change{w.by.TenantID, keyOwner(t, user), t.Type, id})
}

// writing runs fn in one transaction for the caller of ctx. Afterwards it marks the
// changed rows in the in-memory indexes, even if the transaction failed.
func (s *Store) writing(ctx context.Context, op string, fn func(*writer) error) error {
	w := &writer{store: s, now: s.clock()}
	err := s.write(ctx, op, func(c Conn, by caller) error {
		// Reset the state: an engine may run a transaction again.
		w.c, w.by, w.queued = c, by, false
		return fn(w)
	})
	s.announce(w.changes, err == nil && w.queued)
	return err
}

// announce marks the rows that may have changed in the in-memory indexes, and wakes the
// embedder if texts are queued.
func (s *Store) announce(changes []change, queued bool) {
	for _, ch := range changes {
		if ch.id != "" {
			s.fuzzy.Changed(ownerKeys{ch.tenant, ch.owner}, ch)
		}
	}
	s.vectorsChanged(changes...)
	if queued {
		select {
		case s.queued <- struct{}{}:
		default:
		}
	}
}

func (s *Store) vectorsChanged(changes ...change) {
	if s.vectors == nil {
		return
	}
	for _, ch := range changes {
		if t := tableOf(ch.entity); t != nil && ch.id != "" {
			s.vectors.Changed(vectorSet{ch.tenant, t.Name}, ch.id)
		}
	}
}

// forgetIndexes drops the in-memory indexes that have held rows of a user.
func (s *Store) forgetIndexes(o RowOwner) {
	s.fuzzy.Drop(ownerKeys(o))
	if s.vectors == nil {
		return
	}
	for _, t := range tables {
		s.vectors.Drop(vectorSet{o.TenantID, t.Name})
	}
}
