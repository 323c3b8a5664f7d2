package store

import (
	"context"
	"encoding/json"
	"time"
)

// maxHooks bounds the hooks of a run.
const maxHooks = 10

// RunHook asks for a notification of each change of a run's status. It belongs to the run's
// caller, and is deleted with the run.
type RunHook struct {
	RunID, ID string
	// Data is what package a2a needs to send a notification, with its secrets.
	Data      json.RawMessage
	CreatedAt time.Time
}

// DueHook is a hook whose notification of the last change of its run is due.
type DueHook struct {
	TenantID, UserID, RunID, ID string
	// ChangedAt is when the status changed.
	ChangedAt time.Time
}

const hookColumns = `run_id, id, data, created_at`

func (h *RunHook) columns() []any { return []any{&h.RunID, &h.ID, &h.Data, &h.CreatedAt} }

// ownHooks chooses the hooks of a run of the caller: $1 is the tenant, $2 the run, $3 the user.
const ownHooks = ` WHERE tenant_id = $1 AND run_id = $2 AND user_id IS NOT DISTINCT FROM $3`

// PutRunHook stores a hook of a run of the caller; one with the same id is replaced. If now is
// set, the hook is also told about the present status. A run has at most ten hooks.
func (s *Store) PutRunHook(ctx context.Context, h RunHook, now bool) error {
	if err := firstError(checkID(h.RunID), checkShort("id", &h.ID), smallJSON("data", &h.Data)); err != nil {
		return missingFirst(ctx, err)
	}
	if h.ID == "" {
		return missingFirst(ctx, invalidf("a hook has an id"))
	}
	return s.write(ctx, "write run hook", func(c Conn, by caller) error {
		if err := by.owns(); err != nil {
			return err
		}
		r, err := lockRun(ctx, c, s.dialect, by, h.RunID)
		if err != nil {
			return err
		}
		var others int64
		if _, err := one(ctx, c, `SELECT COUNT(*) FROM run_hooks`+ownHooks+` AND id <> $4`, []any{&others}, by.TenantID, h.RunID, by.user, h.ID); err != nil {
			return err
		}
		if others >= maxHooks {
			return conflictf("the run has %d hooks already", maxHooks)
		}
		due := any(nil)
		if now {
			due = r.ChangedAt
		}
		_, err = c.Exec(ctx, `INSERT INTO run_hooks (tenant_id, run_id, id, user_id, data, due_at, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (tenant_id, run_id, id) DO UPDATE SET data = excluded.data, due_at = excluded.due_at`,
			by.TenantID, h.RunID, h.ID, by.user, h.Data, due, s.clock())
		return err
	})
}

// RunHooks returns the hooks of a run of the caller, the oldest first.
func (s *Store) RunHooks(ctx context.Context, runID string) (list []RunHook, err error) {
	err = s.read(ctx, "read run hooks", func(c Conn, by caller) error {
		if err := sees(ctx, c, by, runID); err != nil {
			return err
		}
		return c.Query(ctx, `SELECT `+hookColumns+` FROM run_hooks`+ownHooks+` ORDER BY created_at, id`, func(r Row) error {
			list = append(list, RunHook{})
			return r.Scan(list[len(list)-1].columns()...)
		}, by.TenantID, storable(runID), by.user)
	})
	return list, err
}

// RunHook returns a hook of a run of the caller.
func (s *Store) RunHook(ctx context.Context, runID, id string) (h RunHook, err error) {
	err = s.read(ctx, "read run hook", func(c Conn, by caller) error {
		found, err := one(ctx, c, `SELECT `+hookColumns+` FROM run_hooks`+ownHooks+` AND id = $4`, h.columns(),
			by.TenantID, storable(runID), by.user, storable(id))
		if err == nil && !found {
			err = notFound("hook", id)
		}
		return err
	})
	return h, err
}

// DeleteRunHook deletes a hook of a run of the caller. A missing hook is no error; a missing
// run is ErrNotFound.
func (s *Store) DeleteRunHook(ctx context.Context, runID, id string) error {
	return s.write(ctx, "delete run hook", func(c Conn, by caller) error {
		if _, err := lockRun(ctx, c, s.dialect, by, runID); err != nil {
			return err
		}
		_, err := c.Exec(ctx, `DELETE FROM run_hooks`+ownHooks+` AND id = $4`, by.TenantID, storable(runID), by.user, storable(id))
		return err
	})
}

// changeHooks makes the hooks of a run due when its status changes.
func changeHooks(ctx context.Context, c Conn, tenant, run string, at time.Time) error {
	return c.Later(ctx, Statement{
		SQL: `UPDATE run_hooks SET due_at = $3 WHERE tenant_id = $1 AND run_id = $2`, Args: []any{tenant, run, at},
	})
}

// DueHooks lists at most a hundred hooks of all tenants whose runs have changed, those that
// wait longest first.
func (m Maintenance) DueHooks(ctx context.Context) (list []DueHook, err error) {
	err = m.read(ctx, "read due hooks", func(c Conn) error {
		return c.Query(ctx, `SELECT tenant_id, user_id, run_id, id, due_at FROM run_hooks
			WHERE due_at IS NOT NULL ORDER BY due_at LIMIT $1`, func(r Row) error {
			list = append(list, DueHook{})
			h := &list[len(list)-1]
			return r.Scan(&h.TenantID, &h.UserID, &h.RunID, &h.ID, &h.ChangedAt)
		}, runBatch)
	})
	return list, err
}

// HookTold records that the notification of a change is being sent. The hook stays due if its
// run has changed again.
func (m Maintenance) HookTold(ctx context.Context, h DueHook) error {
	return m.write(ctx, "write run hook", func(c Conn) error {
		_, err := c.Exec(ctx, `UPDATE run_hooks SET due_at = NULL WHERE tenant_id = $1 AND run_id = $2 AND id = $3 AND due_at = $4`,
			h.TenantID, h.RunID, h.ID, h.ChangedAt)
		return err
	})
}
