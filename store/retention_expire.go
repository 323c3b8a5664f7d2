package store

import (
	"context"
	"fmt"
	"time"

	"github.com/p8-org/p8/identity"
)

// expireBatch is how many rows one call of Expire looks at.
const expireBatch = 500

// aging is a table whose old rows are deleted, and what is deleted with them.
type aging struct {
	table *table
	// which is a condition besides the age.
	which string
	with  []hanging
}

// hanging is a table whose rows go with those that a column names.
type hanging struct {
	table, column, which string
}

// agings returns the tables of a kind. Reminders stay until they are deleted, and what p8 has
// made of a session as long as the session.
func agings(kind string, d Dialect) []aging {
	const said = `moment_type IN ('` + MomentSessionChunk + `', '` + MomentObservation + `')`
	switch kind {
	case KeepSessions:
		return []aging{{sessions, `NOT EXISTS (SELECT 1 FROM runs r WHERE r.tenant_id = sessions.tenant_id AND r.session_id = sessions.id
			AND ` + d.orElse(`r.user_id`, `''`) + ` = ` + d.ownerOf(`sessions.`) + ` AND r.ended_at IS NULL)`, []hanging{
			{"runs", "session_id", ``}, {"run_requests", "session_id", ``}, {moments.Name, "source_session_id", said},
			{feedback.Name, "session_id", ``}, {"session_shares", "session_id", ``},
		}}}
	case KeepMoments:
		return []aging{{moments, `(moment_type IS NULL OR moment_type <> '` + MomentReminder + `' AND NOT ` + said + ` OR deleted_at IS NOT NULL)`, nil}}
	case KeepResources:
		return []aging{
			{files, `1 = 1`, []hanging{{ontologies.Name, "file_id", ``}, {resources.Name, "file_id", ``}}},
			{ontologies, `file_id IS NULL`, nil},
			{resources, `file_id IS NULL`, nil},
		}
	case KeepFeedback:
		return []aging{{feedback, `1 = 1`, nil}}
	}
	return nil
}

// Expire deletes rows of a kind that were last changed before a time, with everything that
// hangs on them, and returns their number. It does so in small transactions, also those of
// several processes at once; one call deletes some hundred sessions or files, so call it until
// it returns 0. tenant is "" for all tenants without a [Retention] of that kind. A session with
// a run that has not ended is kept.
func (m Maintenance) Expire(ctx context.Context, kind, tenant string, before time.Time) (rows int64, err error) {
	if kind == KeepAudit {
		return m.expireAudit(ctx, tenant, before.UTC())
	}
	all := agings(kind, m.store.dialect)
	if all == nil {
		return 0, invalidf("%.32q is no kind of rows that are kept for a time", kind)
	}
	for _, a := range all {
		groups, err := m.aged(ctx, &a, kind, tenant, before.UTC())
		if err != nil {
			return rows, err
		}
		for _, g := range groups {
			for n := int64(1); n > 0; rows += n {
				if n, err = m.expire(ctx, &a, &g, before.UTC()); err != nil {
					return rows, err
				}
			}
		}
	}
	return rows, nil
}

// ofTenant adds the condition on the tenant. p8's own tenants have no retention.
func ofTenant(q *query, kind, tenant string) {
	if tenant != "" {
		q.add(` AND tenant_id = `).arg(tenant)
	} else {
		q.add(` AND tenant_id NOT IN (SELECT tenant_id FROM retentions WHERE kind = `).arg(kind)
		q.add(`)`)
	}
	q.add(` AND tenant_id NOT IN (`).arg(identity.SystemTenant)
	q.add(`, `).arg(identity.ManualTenant)
	q.add(`)`)
}

func (m Maintenance) expireAudit(ctx context.Context, tenant string, before time.Time) (n int64, err error) {
	q := newQuery(`DELETE FROM audit_log WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM audit_log WHERE created_at < `)
	q.arg(before)
	if tenant != "" {
		q.add(` AND tenant_id = `).arg(tenant)
	} else { // that of p8's own tenants, too
		q.add(` AND tenant_id NOT IN (SELECT tenant_id FROM retentions WHERE kind = `).arg(KeepAudit)
		q.add(`)`)
	}
	q.add(` LIMIT `).arg(pruneAccess)
	q.add(`)`)
	err = m.write(ctx, "prune the audit log", func(c Conn) (err error) {
		n, err = c.Exec(ctx, q.String(), q.args...)
		return err
	})
	return n, err
}

// agedRows are rows of one owner.
type agedRows struct {
	RowOwner
	ids []string
}

// aged lists old rows by their owner. It reads an index, or for some kinds the table.
func (m Maintenance) aged(ctx context.Context, a *aging, kind, tenant string, before time.Time) (groups []agedRows, err error) {
	owner := m.store.dialect.userOf()
	if a.table == sessions {
		owner = m.store.dialect.ownerOf(``)
	}
	q := newQuery(`SELECT tenant_id, ` + owner + ` AS user_id, id FROM ` + a.table.Name + ` WHERE updated_at < `)
	q.arg(before)
	ofTenant(q, kind, tenant)
	q.add(` AND ` + a.which + ` LIMIT `).arg(expireBatch)
	err = m.read(ctx, "find old rows", func(c Conn) error {
		groups = nil
		at := map[RowOwner]int{}
		return c.Query(ctx, q.String(), func(r Row) error {
			var o RowOwner
			var id string
			err := r.Scan(&o.TenantID, &o.UserID, &id)
			i, ok := at[o]
			if !ok {
				i = len(groups)
				at[o], groups = i, append(groups, agedRows{RowOwner: o})
			}
			groups[i].ids = append(groups[i].ids, id)
			return err
		}, q.args...)
	})
	return groups, err
}

// expire deletes some rows in one transaction: what hangs on old rows before the rows. Rows on
// which something hangs are hidden first, so that nobody goes on with what is left of one.
func (m Maintenance) expire(ctx context.Context, a *aging, g *agedRows, before time.Time) (deleted int64, err error) {
	by := caller{Identity: identity.Identity{TenantID: g.TenantID, UserID: g.UserID}}
	if g.UserID != "" {
		by.user = g.UserID
	}
	w := &eraser{store: m.store, by: by, aged: true}
	err = m.write(ctx, "delete old rows", func(c Conn) (err error) {
		w.c, w.changes = c, nil
		deleted, err = w.expire(ctx, a, g.ids, before)
		return err
	})
	m.store.announce(w.changes, false)
	return deleted, err
}

func (w *eraser) expire(ctx context.Context, a *aging, ids []string, before time.Time) (int64, error) {
	h := holdingOf(a.table.Name)
	if h == nil {
		return 0, fmt.Errorf("store: no holding of %s", a.table.Name)
	}
	// Somebody may have changed a row since it was found; nobody does from here on.
	old := func(q *query) *query {
		q.in(w.store.dialect, "id", ids)
		q.add(` AND updated_at < `).arg(before)
		return q.add(` AND ` + a.which)
	}
	q := old(w.rows(`SELECT id`, h))
	ids, err := w.texts(ctx, q.add(` ORDER BY id`+w.store.dialect.lock()).String(), q.args...)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if len(a.with)+len(h.below) > 0 {
		if hidden, err := w.hide(ctx, a.table, h, ids); err != nil || hidden > 0 {
			return hidden, err
		}
	}
	for _, x := range a.with {
		below := holdingOf(x.table)
		if below == nil {
			return 0, fmt.Errorf("store: no holding of %s", x.table)
		}
		q := w.rows(`SELECT id`, below)
		q.in(w.store.dialect, x.column, ids)
		if x.which != "" {
			q.add(` AND ` + x.which)
		}
		if deleted, err := w.some(ctx, below, q); err != nil || deleted > 0 {
			return deleted, err
		}
	}
	return w.some(ctx, h, old(w.rows(`SELECT id`, h)))
}

// hide hides rows as a user's deletion would, and returns how many were not hidden.
func (w *eraser) hide(ctx context.Context, t *table, h *Holding, ids []string) (int64, error) {
	where, args := w.whose(h)
	q := newQuery(`UPDATE ` + t.Name + ` SET deleted_at = `)
	q.args = args
	q.arg(w.store.clock())
	q.add(` WHERE ` + where + ` AND deleted_at IS NULL`)
	q.in(w.store.dialect, "id", ids)
	n, err := w.c.Exec(ctx, q.String(), q.args...)
	if err == nil && n > 0 {
		err = w.indexes(ctx, t, ids)
	}
	return n, err
}

// holdingOf returns the table of that name, whose rows have a user.
func holdingOf(name string) *Holding {
	for _, h := range personal() {
		if h.Table == name {
			return &h
		}
	}
	return nil
}
