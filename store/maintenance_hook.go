package store

import (
	"context"
	"encoding/json"
)

// StoredHook is the hook of a run of any caller.
type StoredHook struct {
	TenantID, RunID, ID string
	Data                json.RawMessage
}

// RunHooks lists at most a hundred hooks of all tenants in the order of their keys, those after
// the given one.
func (m Maintenance) RunHooks(ctx context.Context, after StoredHook) (list []StoredHook, err error) {
	err = m.read(ctx, "list run hooks", func(c Conn) error {
		return c.Query(ctx, `SELECT tenant_id, run_id, id, data FROM run_hooks
			WHERE (tenant_id, run_id, id) > ($1, $2, $3) ORDER BY tenant_id, run_id, id LIMIT $4`, func(r Row) error {
			list = append(list, StoredHook{})
			h := &list[len(list)-1]
			return r.Scan(&h.TenantID, &h.RunID, &h.ID, &h.Data)
		}, after.TenantID, after.RunID, after.ID, runBatch)
	})
	return list, err
}

// ReplaceRunHook replaces the data of a hook, and reports false if the hook has other data by
// now, or was deleted.
func (m Maintenance) ReplaceRunHook(ctx context.Context, h StoredHook, data json.RawMessage) (replaced bool, err error) {
	err = m.write(ctx, "replace run hook", func(c Conn) error {
		n, err := c.Exec(ctx, `UPDATE run_hooks SET data = $5 WHERE tenant_id = $1 AND run_id = $2 AND id = $3 AND CAST(data AS TEXT) = $4`,
			h.TenantID, h.RunID, h.ID, string(h.Data), data)
		replaced = n > 0
		return err
	})
	return replaced, err
}
