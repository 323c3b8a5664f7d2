package store

import "context"

// ClaimRun gives a run that is waiting or interrupted to a process, and returns the run
// with its Request. In any other state it returns ErrRunTaken. If more runs than allowed would
// be under way, it changes nothing and returns a [*TooManyRunsError].
func (s *Store) ClaimRun(ctx context.Context, id, process string, allowed RunsAllowed) (r Run, err error) {
	if err := checkProcess(process); err != nil {
		return Run{}, missingFirst(ctx, err)
	}
	err = s.writeRun(ctx, "claim run", id, func(c Conn, by caller) error {
		now := s.clock()
		if err := c.Later(ctx, Statement{
			SQL: `UPDATE runs SET status = 'running', owner = $4, stop_requested = false, updated_at = $5, changed_at = $5, rested_at = NULL,
				kept_bytes = 0` + ownRow + ` AND status IN ('waiting', 'interrupted') RETURNING ` + runColumns,
			Args: []any{by.TenantID, storable(id), by.user, process, now},
			Each: func(row Row) error { return row.Scan(r.columns()...) },
			Missing: func() error {
				if err := sees(ctx, c, by, id); err != nil {
					return err
				}
				return ErrRunTaken
			},
		}); err != nil {
			return err
		}
		if err := changeHooks(ctx, c, by.TenantID, storable(id), now); err != nil {
			return err
		}
		if err := countRuns(ctx, c, by.TenantID, storable(id), allowed); err != nil {
			return err
		}
		return c.Later(ctx, Statement{
			SQL:  `SELECT data FROM run_journal WHERE tenant_id = $1 AND run_id = $2 AND seq = 0`,
			Args: []any{by.TenantID, storable(id)},
			Each: func(row Row) error { return row.Scan(&r.Request) },
		})
	})
	if err != nil {
		return Run{}, err
	}
	return r, nil
}

// lockRun reads and locks a run of the caller. A transaction that writes a run and its
// requests locks the run first, so that no two transactions deadlock.
func lockRun(ctx context.Context, c Conn, d Dialect, by caller, id string) (r Run, err error) {
	found, err := one(ctx, c, `SELECT `+runColumns+` FROM runs`+ownRow+d.lock(), r.columns(), by.TenantID, storable(id), by.user)
	if err == nil && !found {
		err = notFound("run", id)
	}
	return r, err
}

// StopRun asks the process of a running run to stop it. It cancels a run that is waiting or
// interrupted, with its open requests. It returns the run as it is afterwards.
func (s *Store) StopRun(ctx context.Context, id string) (r Run, err error) {
	err = s.changeRun(ctx, "stop run", id, func(c Conn, by caller) error {
		r, err = lockRun(ctx, c, s.dialect, by, id)
		switch {
		case err != nil || runEnded(r.Status):
			return err
		case r.Status == RunRunning:
			r.StopRequested = true
			_, err := c.Exec(ctx, `UPDATE runs SET stop_requested = true`+ownRow, by.TenantID, id, by.user)
			return err
		}
		r.Status, r.EndedAt = RunCancelled, s.clock()
		return restRun(ctx, c, by.TenantID, id, rest{status: RunCancelled, reason: r.Reason, at: r.EndedAt})
	})
	if err != nil {
		return Run{}, err
	}
	return r, nil
}

// DeleteRun deletes an ended run, its log and its key. Its messages stay, and so do its
// requests, which record the decisions. A run that has not ended is ErrConflict.
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	return s.change(ctx, "delete run", func(c Conn, by caller) error {
		if err := by.owns(); err != nil {
			return err
		}
		r, err := lockRun(ctx, c, s.dialect, by, id)
		if err != nil {
			return err
		}
		if !runEnded(r.Status) {
			return conflictf("the run %q has not ended: stop it first", id)
		}
		return forgetRun(ctx, c, by.TenantID, id)
	})
}

// forgetRun deletes a run with its log and its journal.
func forgetRun(ctx context.Context, c Conn, tenant, id string) error {
	for _, sql := range []string{
		`DELETE FROM run_hooks WHERE tenant_id = $1 AND run_id = $2`,
		`DELETE FROM run_events WHERE tenant_id = $1 AND run_id = $2`,
		`DELETE FROM run_journal WHERE tenant_id = $1 AND run_id = $2`,
		`DELETE FROM runs WHERE tenant_id = $1 AND id = $2`,
	} {
		if _, err := c.Exec(ctx, sql, tenant, id); err != nil {
			return err
		}
	}
	return nil
}
