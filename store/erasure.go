package store

import (
	"context"
	"time"
)

// Erasure is the deletion of all data of one user in one tenant.
type Erasure struct {
	ID       string `json:"id"`
	TenantID string `json:"-"`
	UserID   string `json:"user_id"`
	// Rows counts the rows that were deleted so far.
	Rows        int64     `json:"rows"`
	RequestedAt time.Time `json:"requested_at"`
	// FinishedAt is zero while rows remain.
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// Finished reports whether everything is gone.
func (e *Erasure) Finished() bool { return !e.FinishedAt.IsZero() }

const erasureColumns = `tenant_id, user_id, id, deleted, requested_at, finished_at`

func (e *Erasure) columns() []any {
	return []any{&e.TenantID, &e.UserID, &e.ID, &e.Rows, &e.RequestedAt, &e.FinishedAt}
}

// Erasures deletes all data of a caller, who must be a user. From Begin to Finish the store
// refuses what would create rows of the user; runs that are under way may still be stopped.
type Erasures struct{ store *Store }

// Erasures returns the deletion of the caller's data.
func (s *Store) Erasures() Erasures { return Erasures{s} }

// Begin begins the deletion of the caller's data, unless it is under way, and returns it.
func (all Erasures) Begin(ctx context.Context) (e Erasure, err error) {
	by, err := person(ctx)
	if err == nil {
		_, err = Writer(ctx)
	}
	if err != nil {
		return e, err
	}
	id, err := newID()
	if err != nil {
		return e, err
	}
	m, now := all.store.Maintenance(), all.store.clock()
	err = m.write(ctx, "begin to delete a user", func(c Conn) error {
		// All transactions that began before have ended once this one holds the lock.
		if lock := all.store.dialect.lockUser(false); lock != "" {
			if _, err := c.Exec(ctx, lock, userKey(by.TenantID, by.UserID)); err != nil {
				return err
			}
		}
		if _, err := c.Exec(ctx, `INSERT INTO erasures (tenant_id, user_id, id, requested_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (tenant_id, user_id) DO UPDATE SET id = excluded.id, deleted = 0, requested_at = excluded.requested_at, finished_at = NULL
			WHERE erasures.finished_at IS NOT NULL`, by.TenantID, by.UserID, id, now); err != nil {
			return err
		}
		if _, err := one(ctx, c, `SELECT `+erasureColumns+` FROM erasures WHERE tenant_id = $1 AND user_id = $2`, e.columns(), by.TenantID, by.UserID); err != nil || e.ID != id {
			return err
		}
		return all.store.audit(ctx, c, by.Identity, AuditErase, by.UserID, "")
	})
	return e, err
}

// Get returns the caller's last erasure; ErrNotFound if there was none, or its end is more
// than a day ago.
func (all Erasures) Get(ctx context.Context) (e Erasure, err error) {
	err = all.store.read(ctx, "read a deletion", func(c Conn, by caller) error {
		found, err := one(ctx, c, `SELECT `+erasureColumns+` FROM erasures WHERE tenant_id = $1 AND user_id = $2`, e.columns(), by.TenantID, by.UserID)
		if err == nil && !found {
			err = notFound("deletion of", by.UserID)
		}
		return err
	})
	return e, err
}

// Finish ends the caller's erasure if no row is left, else it returns ErrConflict. On an
// embedded database it also removes what was deleted from the file: free pages, and the
// write-ahead log.
func (all Erasures) Finish(ctx context.Context) error {
	by, err := person(ctx)
	if err != nil {
		return err
	}
	n, err := all.Step(ctx)
	if err == nil && n > 0 {
		err = conflictf("rows of the user are left")
	}
	if err != nil {
		return err
	}
	all.store.forgetIndexes(RowOwner{by.TenantID, by.UserID})
	if e, ok := all.store.engine.(Scrubber); ok {
		if err := e.Scrub(ctx); err != nil {
			return fail("remove deleted rows from the file", err)
		}
	}
	return all.store.Maintenance().write(ctx, "finish the deletion of a user", func(c Conn) error {
		_, err := c.Exec(ctx, `UPDATE erasures SET finished_at = $3 WHERE tenant_id = $1 AND user_id = $2 AND finished_at IS NULL`,
			by.TenantID, by.UserID, all.store.clock())
		return err
	})
}

// Scrubber is implemented by an engine whose file holds the bytes of deleted rows: Scrub
// removes them.
type Scrubber interface {
	Scrub(ctx context.Context) error
}

// Erasures lists those that are under way, and those that have ended since a time.
func (m Maintenance) Erasures(ctx context.Context, since time.Time) (list []Erasure, err error) {
	err = m.read(ctx, "read deletions", func(c Conn) error {
		list = nil
		return c.Query(ctx, `SELECT `+erasureColumns+` FROM erasures WHERE finished_at IS NULL OR finished_at >= $1 ORDER BY requested_at, id`, func(r Row) error {
			list = append(list, Erasure{})
			return r.Scan(list[len(list)-1].columns()...)
		}, since.UTC())
	})
	return list, err
}

// PruneErasures removes the erasures that ended before a time.
func (m Maintenance) PruneErasures(ctx context.Context, before time.Time) error {
	return m.write(ctx, "prune deletions", func(c Conn) error {
		_, err := c.Exec(ctx, `DELETE FROM erasures WHERE finished_at < $1`, before.UTC())
		return err
	})
}

// refuseErased refuses what the caller writes while their data are being deleted, or those of
// the owner of the session in which the caller is a guest. The lock makes Begin wait for the
// transaction.
func (s *Store) refuseErased(ctx context.Context, c Conn, by caller) error {
	for _, user := range []string{by.UserID, by.Shared.Owner} {
		if user == "" {
			continue
		}
		if lock := s.dialect.lockUser(true); lock != "" {
			if err := c.Later(ctx, Statement{SQL: lock, Args: []any{userKey(by.TenantID, user)}}); err != nil {
				return err
			}
		}
		if err := c.Later(ctx, Statement{
			SQL:  `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM erasures WHERE tenant_id = $1 AND user_id = $2 AND finished_at IS NULL)`,
			Args: []any{by.TenantID, user},
			Missing: func() error {
				return conflictf("all data of this user are being deleted; try again when that has ended")
			},
		}); err != nil {
			return err
		}
	}
	return nil
}

// userKey names a user in the locks of the database.
func userKey(tenant, user string) string { return "p8 user\n" + tenant + "\n" + user }
