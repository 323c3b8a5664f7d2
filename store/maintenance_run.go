package store

import (
	"context"
	"time"
)

// OwnedRun is a run with its user's identity, for background work.
type OwnedRun struct {
	TenantID, UserID, RunID, Status string
	// Attempts are the run's, RestedAt is when it stopped running; InterruptedRuns sets
	// both.
	Attempts int
	RestedAt time.Time
}

// Bounds of one call: rows, and about the bytes of logs in one transaction.
const (
	runBatch   = 100
	pruneBytes = 64 << 20
)

// RecoverRuns interrupts the running runs of other processes that have not written since
// stale (it cancels those that were asked to stop), and expires due requests. It lists
// the waiting runs without an open request, which can be resumed, except those that wait
// for the client's tools. Each call handles at most a hundred of each.
func (m Maintenance) RecoverRuns(ctx context.Context, process string, stale time.Time) ([]OwnedRun, error) {
	if err := checkProcess(process); err != nil {
		return nil, err
	}
	now := m.store.clock()
	if err := m.expireRequests(ctx, now); err != nil {
		return nil, err
	}
	if err := m.interruptRuns(ctx, process, stale, now); err != nil {
		return nil, err
	}
	return m.ownedRuns(ctx, `SELECT tenant_id, user_id, id, status FROM runs
		WHERE status = 'waiting' AND open_requests = 0 AND reason <> 'tool_calls' AND rested_at <= $1
		ORDER BY rested_at LIMIT $2`, m.store.clock(), runBatch)
}

// LeftRuns lists at most a hundred abandoned runs: interrupted or waiting since before a
// time, without an open request. PruneRuns deletes them with their unsaved text, unless
// they are ended first.
func (m Maintenance) LeftRuns(ctx context.Context, before time.Time) ([]OwnedRun, error) {
	return m.ownedRuns(ctx, `SELECT tenant_id, user_id, id, status FROM runs
		WHERE ended_at IS NULL AND rested_at < $1 AND open_requests = 0 ORDER BY rested_at LIMIT $2`, before, runBatch)
}

// GuestRuns lists at most a hundred runs of a user in the sessions of others that have not
// ended. The owners of the sessions may stop them.
func (m Maintenance) GuestRuns(ctx context.Context, tenant, author string) ([]OwnedRun, error) {
	return m.ownedRuns(ctx, `SELECT tenant_id, user_id, id, status FROM runs
		WHERE tenant_id = $1 AND author = $2 AND status IN ('running', 'waiting', 'interrupted') ORDER BY id LIMIT $3`, tenant, author, runBatch)
}

// ownedRuns reads runs: tenant, user, id and a status.
func (m Maintenance) ownedRuns(ctx context.Context, sql string, args ...any) (list []OwnedRun, err error) {
	err = m.read(ctx, "read runs", func(c Conn) error {
		return c.Query(ctx, sql, func(r Row) error {
			var x OwnedRun
			err := r.Scan(&x.TenantID, &x.UserID, &x.RunID, &x.Status)
			list = append(list, x)
			return err
		}, args...)
	})
	return list, err
}

func (m Maintenance) expireRequests(ctx context.Context, now time.Time) error {
	type request struct{ tenant, run, id string }
	var due []request
	if err := m.read(ctx, "read requests", func(c Conn) error {
		return c.Query(ctx, `SELECT tenant_id, run_id, id FROM run_requests
			WHERE status = 'open' AND expires_at <= $1 ORDER BY expires_at LIMIT $2`, func(r Row) error {
			var q request
			err := r.Scan(&q.tenant, &q.run, &q.id)
			due = append(due, q)
			return err
		}, now, runBatch)
	}); err != nil || len(due) == 0 {
		return err
	}
	return m.write(ctx, "expire requests", func(c Conn) error {
		for _, q := range due {
			if _, err := one(ctx, c, `SELECT 1 FROM runs WHERE tenant_id = $1 AND id = $2`+m.store.dialect.lock(),
				[]any{new(int64)}, q.tenant, q.run); err != nil {
				return err
			}
			n, err := c.Exec(ctx, `UPDATE run_requests SET status = 'expired', decided_at = $3
				WHERE tenant_id = $1 AND id = $2 AND status = 'open'`, q.tenant, q.id, now)
			if err == nil && n == 1 {
				err = countRequests(ctx, c, q.tenant, q.run, -1, now)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (m Maintenance) interruptRuns(ctx context.Context, process string, stale, now time.Time) error {
	left, err := m.ownedRuns(ctx, `SELECT tenant_id, user_id, id, status FROM runs
		WHERE status = 'running' AND rested_at IS NULL AND owner <> $1 AND updated_at < $2 LIMIT $3`, process, stale, runBatch)
	if err != nil || len(left) == 0 {
		return err
	}
	return m.write(ctx, "interrupt runs", func(c Conn) error {
		for _, x := range left {
			var reason string
			var stop bool
			// The run may have been written since it was listed.
			still, err := one(ctx, c, `SELECT reason, stop_requested FROM runs WHERE tenant_id = $1 AND id = $2
				AND status = 'running' AND owner <> $3 AND updated_at < $4`+m.store.dialect.lock(),
				[]any{&reason, &stop}, x.TenantID, x.RunID, process, stale)
			if err != nil {
				return err
			}
			if !still {
				continue
			}
			if err := leaveRun(ctx, c, x, rest{reason: reason, at: now, attempted: true}, stop); err != nil {
				return err
			}
		}
		return nil
	})
}

// leaveRun interrupts a run that its process left behind; one that was asked to stop
// is cancelled.
func leaveRun(ctx context.Context, c Conn, x OwnedRun, r rest, stop bool) error {
	if r.status = RunInterrupted; stop {
		r.status = RunCancelled
	}
	return restRun(ctx, c, x.TenantID, x.RunID, r)
}

// PruneRuns deletes the runs that ended, or were abandoned, before a time (a run with an
// open request is kept as long as the request), then the oldest ended runs until all
// logs together have at most most bytes (0 is no bound). It deletes at most a hundred and
// returns their number, so call it until it returns 0. Messages and requests stay.
func (m Maintenance) PruneRuns(ctx context.Context, before time.Time, most int64) (int, error) {
	var old []prunable
	err := m.read(ctx, "read old runs", func(c Conn) (err error) {
		if old, err = prunables(ctx, c, nil, `ended_at < $1 ORDER BY ended_at LIMIT $2`, before, runBatch); err != nil {
			return err
		}
		if old, err = prunables(ctx, c, old, `ended_at IS NULL AND rested_at < $1 AND open_requests = 0 ORDER BY rested_at LIMIT $2`, before, runBatch-len(old)); err != nil {
			return err
		}
		if len(old) > 0 || most <= 0 {
			return nil
		}
		over, err := logBytes(ctx, c, before)
		if over -= most; err != nil || over <= 0 {
			return err
		}
		oldest, err := prunables(ctx, c, nil, `ended_at >= $1 ORDER BY ended_at LIMIT $2`, before, runBatch)
		for _, x := range oldest {
			if over <= 0 {
				break
			}
			over, old = over-x.bytes, append(old, x)
		}
		return err
	})
	if err != nil || len(old) == 0 {
		return 0, err
	}
	return m.prune(ctx, old)
}

// prunable is a run to delete. rested is when it stopped running; a run that was resumed
// since then is kept.
type prunable struct {
	tenant, id string
	rested     time.Time
	bytes      int64
}

func prunables(ctx context.Context, c Conn, list []prunable, where string, args ...any) ([]prunable, error) {
	err := c.Query(ctx, `SELECT tenant_id, id, rested_at, kept_bytes FROM runs WHERE `+where, func(r Row) error {
		var x prunable
		err := r.Scan(&x.tenant, &x.id, &x.rested, &x.bytes)
		list = append(list, x)
		return err
	}, args...)
	return list, err
}

// logBytes returns the size of the logs of all runs, except those that ended before a time.
func logBytes(ctx context.Context, c Conn, before time.Time) (sum int64, err error) {
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`SELECT CAST(COALESCE(SUM(kept_bytes), 0) AS BIGINT) FROM runs WHERE ended_at >= $1`, []any{before}},
		{`SELECT CAST(COALESCE(SUM(kept_bytes), 0) AS BIGINT) FROM runs WHERE ended_at IS NULL AND rested_at >= $1`, []any{before}},
		{`SELECT CAST(COALESCE(SUM(log_bytes), 0) AS BIGINT) FROM runs WHERE status = 'running' AND rested_at IS NULL`, nil},
	} {
		var n int64
		if _, err := one(ctx, c, q.sql, []any{&n}, q.args...); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// prune deletes runs, as many as one transaction should.
func (m Maintenance) prune(ctx context.Context, old []prunable) (n int, err error) {
	err = m.write(ctx, "prune runs", func(c Conn) error {
		n = 0
		for size := int64(0); n < len(old) && size < pruneBytes; n++ {
			x := old[n]
			size += x.bytes
			still, err := one(ctx, c, `SELECT 1 FROM runs WHERE tenant_id = $1 AND id = $2 AND rested_at = $3`+m.store.dialect.lock(),
				[]any{new(int64)}, x.tenant, x.id, x.rested)
			if err != nil {
				return err
			}
			if !still {
				continue
			}
			if err := forgetRun(ctx, c, x.tenant, x.id); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
