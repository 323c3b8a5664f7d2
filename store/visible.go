package store

import (
	"context"

	"github.com/p8-org/p8/identity"
)

// The condition of the rows of a shared table that the caller may read: its
// own, its tenant's shared ones, the system's. It uses $1 (tenant), $2 (user) and
// $3 (identity.SystemTenant). nearness orders them.
const (
	visible  = `(tenant_id = $1 AND user_id = $2 OR tenant_id = $1 AND user_id IS NULL OR tenant_id = $3 AND user_id IS NULL) AND deleted_at IS NULL`
	nearness = `CASE WHEN user_id IS NOT NULL THEN 0 WHEN tenant_id = $1 THEN 1 ELSE 2 END`
)

// visible returns the beginning of a query of the records that the caller may read, and
// the ORDER BY that puts the nearest first.
func (t *table) visible(by caller) (q *query, order string) { return t.visibleIn(t.selects, by) }

// visibleIn is visible for a given SELECT, which ends with WHERE.
func (t *table) visibleIn(selects string, by caller) (q *query, order string) {
	q = newQuery(selects)
	if !t.Private {
		q.add(visible)
		q.args = []any{by.TenantID, by.user, identity.SystemTenant}
		return q, nearness
	}
	q.add(`tenant_id = `).arg(by.TenantID)
	q.owned(by.user)
	q.add(` AND deleted_at IS NULL`)
	return q, "id"
}

// visibleOf is visible for rows with one of the ids. It repeats the tenants, so that an
// engine begins with the index of the ids and not with all rows of the owners.
func (t *table) visibleOf(d Dialect, by caller, ids []string) (q *query, order string) {
	return t.visibleOfIn(t.selects, d, by, ids)
}

func (t *table) visibleOfIn(selects string, d Dialect, by caller, ids []string) (q *query, order string) {
	q, order = t.visibleIn(selects, by)
	if !t.Private {
		q.add(` AND tenant_id IN ($1, $3)`)
	}
	q.in(d, "id", ids)
	return q, order
}

// nearest returns the caller's own record with that value, else the tenant's, else the
// system's; nil if there is none.
func (t *table) nearest(ctx context.Context, c Conn, by caller, column, value string) (record, error) {
	q, order := t.visible(by)
	q.add(` AND ` + column + ` = `).arg(value)
	q.add(` ORDER BY ` + order + ` LIMIT 1`)
	return t.first(ctx, c, q)
}
