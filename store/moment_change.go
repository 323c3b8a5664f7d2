package store

import (
	"context"
	"errors"
)

var errUnchanged = errors.New("store: unchanged")

// ChangeMoment changes the caller's own moment of this name in one transaction, which excludes
// other changes of it. It calls change with the stored moment, or with nil for a new one, and
// stores the result under the same name, merged as PutLinked does. If change returns nil,
// nothing is stored. change may be called more than once.
func (s *Store) ChangeMoment(ctx context.Context, name string, change func(old *Moment) (*Moment, error)) error {
	if err := checkName(name); err != nil {
		return missingFirst(ctx, err)
	}
	err := s.writing(ctx, "change moment", func(w *writer) error {
		p, err := w.lockMoment(ctx, name)
		if err != nil {
			return err
		}
		var old *Moment
		if p.live {
			old = p.old.(*Moment)
		}
		m, err := change(old)
		if err == nil && m == nil {
			err = errUnchanged // also takes back what lockMoment wrote
		}
		if err != nil {
			return err
		}
		m.ID, m.Name = "", name
		return w.putMerged(ctx, m)
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// lockMoment finds the caller's moment of a name and locks it. If there is none, it writes a
// deleted one, so that there is a row to lock.
func (w *writer) lockMoment(ctx context.Context, name string) (placed, error) {
	find := func() (placed, error) {
		return moments.place(ctx, w.c, w.store.dialect.lock(), w.by, w.by.user, &Moment{Name: name})
	}
	p, err := find()
	if err != nil || p.old != nil {
		return p, err
	}
	if _, err := w.c.Exec(ctx, `INSERT INTO moments (tenant_id, id, user_id, name, starts_timestamp, created_at, updated_at, deleted_at)
		VALUES ($1, $2, $3, $4, $5, $5, $5, $5) ON CONFLICT DO NOTHING`, w.by.TenantID, p.id, w.by.user, name, w.now); err != nil {
		return p, err
	}
	return find()
}
