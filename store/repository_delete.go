package store

import "context"

// Delete hides the caller's own row of that name or id, else its tenant's shared one, and
// removes its key. Put restores it. With a file, Delete also hides its ontology and its
// chunks.
func (r Repository[T]) Delete(ctx context.Context, nameOrID string) error {
	return r.store.remove(ctx, r.table, nameOrID)
}

func (s *Store) remove(ctx context.Context, t *table, nameOrID string) error {
	if t == files {
		if err := s.removeAhead(ctx, nameOrID); err != nil {
			return err
		}
	}
	return s.writing(ctx, "delete "+t.Type, func(w *writer) error {
		rec, err := w.removeNamed(ctx, t, nameOrID)
		if err != nil || t != files {
			return err
		}
		return w.audit(ctx, AuditFileDelete, rec.entry().name)
	})
}
