package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Run returns a run of the caller. Runs without a user are the anonymous callers'.
func (s *Store) Run(ctx context.Context, id string) (r Run, err error) {
	err = s.readRun(ctx, "read run", id, func(c Conn, by caller) error {
		found, err := one(ctx, c, `SELECT `+runColumns+` FROM runs`+ownRow, r.columns(), by.TenantID, storable(id), by.user)
		if err == nil && !found {
			err = notFound("run", id)
		}
		return err
	})
	return r, err
}

// RunByKey returns the caller's run with an idempotency key.
func (s *Store) RunByKey(ctx context.Context, key string) (r Run, err error) {
	err = s.readIn(ctx, "read run", sharedSession(ctx), func(c Conn, by caller) error {
		found, err := runByKey(ctx, c, by, key, &r)
		if err == nil && !found {
			err = notFound("run of the key", key)
		}
		return err
	})
	return r, err
}

func runByKey(ctx context.Context, c Conn, by caller, key string, r *Run) (bool, error) {
	q := newQuery(`SELECT ` + runColumns + ` FROM runs WHERE tenant_id = `)
	q.arg(by.TenantID)
	q.owned(by.user)
	q.add(` AND idempotency_key = `).arg(by.key(storable(key)))
	return one(ctx, c, q.String(), r.columns(), q.args...)
}

// Runs lists runs of the caller: 50 when Limit is 0, 500 at most. next is the
// cursor of the next page, "" after the last.
func (s *Store) Runs(ctx context.Context, f RunFilter) (list []Run, next string, err error) {
	if err := f.check(); err != nil {
		return nil, "", missingFirst(ctx, err)
	}
	f.SessionID = cmp.Or(f.SessionID, sharedSession(ctx))
	limit := page(f.Limit, 50, 500)
	column, at := "created_at", func(r *Run) (time.Time, string) { return r.CreatedAt, r.ID }
	if f.ByChange {
		column, at = "changed_at", func(r *Run) (time.Time, string) { return r.ChangedAt, r.ID }
	}
	err = s.readIn(ctx, "list runs", f.SessionID, func(c Conn, by caller) error {
		q := newQuery(`SELECT ` + runColumns + ` FROM runs WHERE tenant_id = `)
		f.choose(s.dialect, q, by)
		if err := q.beyond(f.Cursor, column, "<"); err != nil {
			return err
		}
		q.add(` ORDER BY ` + column + ` DESC, id DESC LIMIT `).arg(limit + 1)
		return c.Query(ctx, q.String(), func(r Row) error {
			list = append(list, Run{})
			return r.Scan(list[len(list)-1].columns()...)
		}, q.args...)
	})
	if err != nil {
		return list, "", err
	}
	list, next = pageOf(list, limit, at)
	return list, next, nil
}

// CountRuns counts the runs that Runs lists on all its pages.
func (s *Store) CountRuns(ctx context.Context, f RunFilter) (n int64, err error) {
	if err := f.check(); err != nil {
		return 0, missingFirst(ctx, err)
	}
	f.SessionID = cmp.Or(f.SessionID, sharedSession(ctx))
	err = s.readIn(ctx, "count runs", f.SessionID, func(c Conn, by caller) error {
		q := newQuery(`SELECT COUNT(*) FROM runs WHERE tenant_id = `)
		f.choose(s.dialect, q, by)
		_, err := one(ctx, c, q.String(), []any{&n}, q.args...)
		return err
	})
	return n, err
}

func (f *RunFilter) check() error {
	if len(f.Statuses) > 6 {
		return invalidf("%d statuses are more than there are", len(f.Statuses))
	}
	return nil
}

// choose adds the conditions of the filter; the first one is on the tenant.
func (f *RunFilter) choose(d Dialect, q *query, by caller) {
	q.arg(by.TenantID)
	q.ofSession(d, by, f.SessionID)
	if f.AgentName != "" {
		q.add(` AND agent_name = `).arg(storable(f.AgentName))
	}
	if !f.ChangedSince.IsZero() {
		q.add(` AND changed_at >= `).arg(f.ChangedSince)
	}
	live := len(f.Statuses) > 0
	for i, status := range f.Statuses {
		q.add([]string{` AND status IN (`, `, `}[min(i, 1)]).arg(storable(status))
		live = live && !runEnded(status)
	}
	if len(f.Statuses) > 0 {
		q.add(`)`)
	}
	if live && (!f.ByChange || f.SessionID != "") {
		// This condition makes the database use the index of the runs that have not ended.
		q.add(` AND ended_at IS NULL`)
	}
}

// Bounds of one reading of a log: pieces a query, and bytes in all.
const (
	eventPieces  = 256
	defaultBytes = 1 << 20
	mostBytes    = 64 << 20
)

// RunEvents reads the log of a run after an event, in order. It returns whole pieces, the
// first of which may begin before that event: about most bytes (1 MiB if 0), and at
// least one piece.
func (s *Store) RunEvents(ctx context.Context, id string, after int64, most int) (list []RunEvents, err error) {
	most = page(most, defaultBytes, mostBytes)
	err = s.readRun(ctx, "read run events", id, func(c Conn, by caller) error {
		if err := sees(ctx, c, by, id); err != nil {
			return err
		}
		for size := 0; size < most; {
			n := len(list)
			err := c.Query(ctx, `SELECT first_seq, last_seq, data FROM run_events
				WHERE tenant_id = $1 AND run_id = $2 AND last_seq > $3 AND first_seq >= (SELECT COALESCE(MAX(first_seq), 0) FROM run_events
				WHERE tenant_id = $1 AND run_id = $2 AND first_seq <= $3) ORDER BY first_seq LIMIT $4`,
				func(r Row) error {
					var e RunEvents
					if size >= most {
						return errEnough
					}
					if err := r.Scan(&e.First, &e.Last, (*json.RawMessage)(&e.Data)); err != nil {
						return err
					}
					size, list = size+len(e.Data), append(list, e)
					return nil
				}, by.TenantID, id, after, eventPieces)
			if errors.Is(err, errEnough) {
				return nil
			}
			if err != nil || len(list) < n+eventPieces {
				return err
			}
			after = list[len(list)-1].Last
		}
		return nil
	})
	return list, err
}

// RunJournal returns the journal of a run, oldest first.
func (s *Store) RunJournal(ctx context.Context, id string) (list []JournalEntry, err error) {
	err = s.readRun(ctx, "read run journal", id, func(c Conn, by caller) error {
		if err := sees(ctx, c, by, id); err != nil {
			return err
		}
		return c.Query(ctx, `SELECT thread, data FROM run_journal WHERE tenant_id = $1 AND run_id = $2 AND seq > 0 ORDER BY seq`,
			func(r Row) error {
				list = append(list, JournalEntry{})
				e := &list[len(list)-1]
				return r.Scan(&e.Thread, &e.Data)
			}, by.TenantID, id)
	})
	return list, err
}

// sees returns ErrNotFound unless the run is the caller's.
func sees(ctx context.Context, c Conn, by caller, id string) error {
	found, err := one(ctx, c, `SELECT 1 FROM runs`+ownRow, []any{new(int64)}, by.TenantID, storable(id), by.user)
	if err == nil && !found {
		err = notFound("run", id)
	}
	return err
}
