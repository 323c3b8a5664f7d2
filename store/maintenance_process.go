package store

import "context"

// Beat is the heartbeat of a process that runs turns: its count grows as long as the
// process lives.
type Beat struct {
	Process string
	Count   int64
}

// Beat raises the process's count and lists the beats of all processes. A process whose
// count does not grow while others beat is dead, and EndProcess interrupts its runs. No
// clocks are compared. A beat is one write to one row, however many runs there are.
func (m Maintenance) Beat(ctx context.Context, process string) (all []Beat, err error) {
	if err := checkProcess(process); err != nil {
		return nil, err
	}
	err = m.write(ctx, "beat", func(c Conn) error {
		all = all[:0]
		if err := c.Later(ctx, Statement{
			SQL: `INSERT INTO processes (owner, beats) VALUES ($1, 1) ON CONFLICT (owner) DO UPDATE SET beats = processes.beats + 1`, Args: []any{process},
		}); err != nil {
			return err
		}
		return c.Later(ctx, Statement{SQL: `SELECT owner, beats FROM processes`, Each: func(r Row) error {
			var b Beat
			err := r.Scan(&b.Process, &b.Count)
			all = append(all, b)
			return err
		}})
	})
	return all, err
}

// EndProcess interrupts the runs of a dead process, counts an attempt for each, and
// deletes the process. If the process has beaten since, or another process has ended it,
// EndProcess does nothing and returns false.
func (m Maintenance) EndProcess(ctx context.Context, b Beat) (dead bool, err error) {
	return m.endProcess(ctx, b, true)
}

// LeaveProcess is EndProcess for a process that exits in order: its unfinished runs are
// interrupted, and no attempt is counted.
func (m Maintenance) LeaveProcess(ctx context.Context, process string) error {
	_, err := m.endProcess(ctx, Beat{Process: process}, false)
	return err
}

func (m Maintenance) endProcess(ctx context.Context, b Beat, died bool) (ended bool, err error) {
	for more := true; more && err == nil; {
		err = m.write(ctx, "end a process", func(c Conn) error {
			// The row is locked: a concurrent beat waits, and creates the process again.
			var count int64
			ended, more = false, false
			found, err := one(ctx, c, `SELECT beats FROM processes WHERE owner = $1`+m.store.dialect.lock(), []any{&count}, b.Process)
			if err != nil || died && (!found || count != b.Count) {
				return err
			}
			if more, err = m.leaveRuns(ctx, c, b.Process, died); err != nil || more {
				return err
			}
			ended = true
			_, err = c.Exec(ctx, `DELETE FROM processes WHERE owner = $1`, b.Process)
			return err
		})
	}
	return ended && err == nil, err
}

// leaveRuns interrupts runs of a process and reports whether more remain.
func (m Maintenance) leaveRuns(ctx context.Context, c Conn, process string, died bool) (more bool, err error) {
	type left struct {
		OwnedRun
		reason string
		stop   bool
	}
	var runs []left
	err = c.Query(ctx, `SELECT tenant_id, id, reason, stop_requested FROM runs
		WHERE status = 'running' AND rested_at IS NULL AND owner = $1 LIMIT $2`+m.store.dialect.lock(), func(r Row) error {
		var x left
		err := r.Scan(&x.TenantID, &x.RunID, &x.reason, &x.stop)
		runs = append(runs, x)
		return err
	}, process, runBatch)
	if err != nil {
		return false, err
	}
	now := m.store.clock()
	for _, x := range runs {
		if err := leaveRun(ctx, c, x.OwnedRun, rest{reason: x.reason, at: now, attempted: died}, x.stop); err != nil {
			return false, err
		}
	}
	return len(runs) == runBatch, nil
}

// InterruptedRuns lists interrupted runs of all tenants, ordered by attempts and then by
// the time of the interruption; limit is at most 1000.
func (m Maintenance) InterruptedRuns(ctx context.Context, limit int) (list []OwnedRun, err error) {
	err = m.read(ctx, "read interrupted runs", func(c Conn) error {
		return c.Query(ctx, `SELECT tenant_id, user_id, id, status, attempts, rested_at FROM runs
			WHERE status = 'interrupted' AND attempts >= 0 ORDER BY attempts, rested_at LIMIT $1`, func(r Row) error {
			var x OwnedRun
			err := r.Scan(&x.TenantID, &x.UserID, &x.RunID, &x.Status, &x.Attempts, &x.RestedAt)
			list = append(list, x)
			return err
		}, page(limit, runBatch, 1000))
	})
	return list, err
}
