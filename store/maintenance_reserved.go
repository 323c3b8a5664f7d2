package store

import (
	"context"

	"github.com/p8-org/p8/identity"
)

// ReservedSchema is a shared document under a name that comes with the program. An
// older program let people write it; now it is ignored.
type ReservedSchema struct {
	TenantID string `json:"tenant_id"`
	ID       string `json:"id"`
	Name     string `json:"name"`
}

// ReservedSchemas lists those of all tenants, by tenant and name. It reads the names of
// all shared documents.
func (m Maintenance) ReservedSchemas(ctx context.Context) (list []ReservedSchema, err error) {
	err = m.read(ctx, "read shared documents", func(c Conn) error {
		list = nil
		return c.Query(ctx, `SELECT tenant_id, id, name FROM schemas WHERE user_id IS NULL AND tenant_id <> $1 AND deleted_at IS NULL
			ORDER BY tenant_id, name, id`, func(r Row) error {
			var x ReservedSchema
			if err := r.Scan(&x.TenantID, &x.ID, &x.Name); err != nil {
				return err
			}
			if m.store.reserved.has(x.Name) {
				list = append(list, x)
			}
			return nil
		}, identity.SystemTenant)
	})
	return list, err
}
