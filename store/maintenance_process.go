package store

import "context"

// Beat is the sign of life of a process that runs turns: its count grows as long as
// the process lives.
type Beat struct {
	Owner string
	Count int64
}

// Beat counts one more beat of the owner and lists those of all processes. A process
// whose count stands still while others beat is dead: EndProcess interrupts its runs.
// No clocks are compared, so they need not agree. One row a process and one write a
// beat, however many runs there are.
func (m Maintenance) Beat(ctx context.Context, owner string) (all []Beat, err error) {
	if err := checkOwner(owner); err != nil {
		return nil, err
	}
	err = m.write(ctx, "beat", func(c Conn) error {
		all = all[:0]
		if err := c.Later(ctx, Statement{
			SQL: `INSERT INTO processes (owner, beats) VALUES ($1, 1) ON CONFLICT (owner) DO UPDATE SET beats = processes.beats + 1`, Args: []any{owner},
		}); err != nil {
			return err
		}
		return c.Later(ctx, Statement{SQL: `SELECT owner, beats FROM processes`, Each: func(r Row) error {
			var b Beat
			err := r.Scan(&b.Owner, &b.Count)
			all = append(all, b)
			return err
		}})
	})
	return all, err
}

// EndProcess interrupts the runs of a dead process, each of which counts an attempt,
// and forgets the process. It does nothing if the process has beaten since. dead is
// false then, or if another process was faster.
func (m Maintenance) EndProcess(ctx context.Context, b Beat) (dead bool, err error) {
	return m.endProcess(ctx, b, true)
}

// LeaveProcess is EndProcess for a process that ends in order: what it could not
// finish is interrupted and does not count an attempt.
func (m Maintenance) LeaveProcess(ctx context.Context, owner string) error {
	_, err := m.endProcess(ctx, Beat{Owner: owner}, false)
	return err
}

func (m Maintenance) endProcess(ctx context.Context, b Beat, died bool) (ended bool, err error) {
	for more := true; more && err == nil; {
		err = m.write(ctx, "end a process", func(c Conn) error {
			// The row is locked: a beat that comes now waits, and begins the process anew.
			var count int64
			ended, more = false, false
			found, err := one(ctx, c, `SELECT beats FROM processes WHERE owner = $1`+m.store.dialect.lock(), []any{&count}, b.Owner)
			if err != nil || died && (!found || count != b.Count) {
				return err
			}
			if more, err = m.leaveRuns(ctx, c, b.Owner, died); err != nil || more {
				return err
			}
			ended = true
			_, err = c.Exec(ctx, `DELETE FROM processes WHERE owner = $1`, b.Owner)
			return err
		})
	}
	return ended && err == nil, err
}

// leaveRuns interrupts runs of an owner, and reports whether there are more.
func (m Maintenance) leaveRuns(ctx context.Context, c Conn, owner string, died bool) (more bool, err error) {
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
	}, owner, runBatch)
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

// InterruptedRuns lists interrupted runs of all tenants, those with fewer attempts
// first, and of those the ones that rest longest; limit is at most 1000.
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
