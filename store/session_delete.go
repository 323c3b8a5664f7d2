package store

import "context"

// DeleteSession hides one of the caller's own sessions and its messages for good: the
// caller cannot use the id again. It also deletes the session's summaries and
// observations, and cancels its runs that have not ended.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	return s.writing(ctx, "delete session", func(w *writer) error {
		if err := w.by.owns(); err != nil {
			return err
		}
		// Runs are locked before their session, as WriteRun does.
		if err := w.cancelRuns(ctx, id); err != nil {
			return err
		}
		n, err := w.c.Exec(ctx, `UPDATE sessions SET deleted_at = $4`+w.store.dialect.ownSession()+` AND deleted_at IS NULL`,
			w.by.TenantID, storable(id), w.by.UserID, w.now)
		if err == nil && n == 0 {
			err = notFound("session", id)
		}
		if err != nil {
			return err
		}
		// A run may have begun since; from here on none can.
		if err := w.cancelRuns(ctx, id); err != nil {
			return err
		}
		if _, err := w.c.Exec(ctx, `UPDATE messages SET deleted_at = $4 WHERE tenant_id = $1 AND session_id = $2
			AND `+w.store.dialect.ownerOf(``)+` = $3 AND deleted_at IS NULL`, w.by.TenantID, id, w.by.UserID, w.now); err != nil {
			return err
		}
		if _, err := w.c.Exec(ctx, `DELETE FROM session_shares WHERE tenant_id = $1 AND session_id = $2 AND owner = $3`,
			w.by.TenantID, storable(id), w.by.UserID); err != nil {
			return err
		}
		if err := w.removeSaid(ctx, id); err != nil {
			return err
		}
		return w.audit(ctx, AuditSessionDelete, id)
	})
}

// cancelRuns ends the caller's runs of a session that have not ended.
func (w *writer) cancelRuns(ctx context.Context, session string) error {
	type live struct{ id, reason string }
	var runs []live
	if err := w.c.Query(ctx, `SELECT id, reason FROM runs WHERE tenant_id = $1 AND session_id = $2
		AND `+w.store.dialect.userOf()+` = $3 AND ended_at IS NULL ORDER BY id`+w.store.dialect.lock(), func(r Row) error {
		var x live
		err := r.Scan(&x.id, &x.reason)
		runs = append(runs, x)
		return err
	}, w.by.TenantID, storable(session), w.by.UserID); err != nil {
		return err
	}
	for _, x := range runs {
		if err := restRun(ctx, w.c, w.by.TenantID, x.id, rest{status: RunCancelled, reason: x.reason, at: w.now}); err != nil {
			return err
		}
	}
	return nil
}

// removeSaid removes the summaries and observations of a session.
func (w *writer) removeSaid(ctx context.Context, session string) error {
	q := newQuery(moments.selects)
	q.add(`tenant_id = `).arg(w.by.TenantID)
	q.owned(w.by.user)
	q.add(` AND source_session_id = `).arg(session)
	q.add(` AND moment_type IN ('` + MomentSessionChunk + `', '` + MomentObservation + `') AND deleted_at IS NULL`)
	var said []record
	if err := moments.read(ctx, w.c, q, func(rec record) error {
		said = append(said, rec)
		return nil
	}); err != nil {
		return err
	}
	for _, rec := range said {
		if err := w.remove(ctx, moments, rec); err != nil {
			return err
		}
	}
	return nil
}
