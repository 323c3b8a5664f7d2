package store

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
)

// ActiveUsers lists whose sessions, moments or files changed since then, of all
// tenants, in order; after is the last of the page before. The user "" stands for
// the anonymous callers of a tenant; p8's own rows are nobody's. The list is of 1000
// when limit is 0, 10,000 at most. It reads an index of all sessions.
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
