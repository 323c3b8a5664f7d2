package store

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
)

// ActiveUsers lists the users of all tenants, in order, whose sessions, moments or files
// have changed since a time. after is the last user of the previous page. The user ""
// stands for the anonymous callers of a tenant; the system's rows do not count. limit is
// 1000 if 0, and at most 10,000. The call reads an index of all sessions.
func (m Maintenance) ActiveUsers(ctx context.Context, since time.Time, after RowOwner, limit int) ([]RowOwner, error) {
	limit = page(limit, 1000, 10_000)
	var list []RowOwner
	err := m.read(ctx, "list active users", func(c Conn) error {
		changed := func(table, owner string) string {
			return `SELECT tenant_id, ` + owner + ` AS user_id FROM ` + table + ` WHERE updated_at >= $1 AND deleted_at IS NULL
				AND tenant_id <> $2 AND (tenant_id, ` + owner + `) > ($3, $4)`
		}
		const user = `COALESCE(user_id, '')`
		return c.Query(ctx, changed(`sessions`, m.store.dialect.ownerOf(``))+` UNION `+changed(`moments`, user)+` UNION `+changed(`files`, user)+`
			ORDER BY tenant_id, user_id LIMIT $5`, func(r Row) error {
			var o RowOwner
			err := r.Scan(&o.TenantID, &o.UserID)
			list = append(list, o)
			return err
		}, since.UTC(), identity.SystemTenant, after.TenantID, after.UserID, limit)
	})
	return list, err
}
