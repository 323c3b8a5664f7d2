package store

import (
	"context"
	"time"
)

const (
	// keepKeys is how long revoked and expired keys are listed, keepLogins how long ended
	// logins are kept.
	keepKeys   = 90 * 24 * time.Hour
	keepLogins = 24 * time.Hour
	// keepUnknown is how long failed logins of unknown accounts are in the audit log: anybody
	// can add such entries.
	keepUnknown = 24 * time.Hour
	// pruneAccess bounds the rows that one statement deletes.
	pruneAccess = 5000
)

// PruneAccess deletes old keys, ended logins, forgotten tries and refused logins of
// unknown accounts. Each call deletes some thousand rows of each; it returns how many.
func (m Maintenance) PruneAccess(ctx context.Context) (n int64, err error) {
	now := m.store.clock()
	old := []Statement{
		{SQL: `DELETE FROM api_keys WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM api_keys
			WHERE kind = 'key' AND (revoked_at < $1 OR expires_at < $1) OR kind = 'login' AND (revoked_at < $2 OR expires_at < $2) LIMIT $3)`,
			Args: []any{now.Add(-keepKeys), now.Add(-keepLogins), pruneAccess}},
		{SQL: `DELETE FROM login_tries WHERE (tenant_id, subject) IN (SELECT tenant_id, subject FROM login_tries WHERE updated_at < $1 LIMIT $2)`,
			Args: []any{now.Add(-loginForgotten), pruneAccess}},
		{SQL: `DELETE FROM audit_log WHERE (tenant_id, id) IN (SELECT tenant_id, id FROM audit_log WHERE tenant_id = $1 AND action = $2 AND created_at < $3 LIMIT $4)`,
			Args: []any{noTenant, AuditLogin, now.Add(-keepUnknown), pruneAccess}},
	}
	for _, s := range old {
		var gone int64
		if err := m.write(ctx, "prune keys", func(c Conn) (err error) {
			gone, err = c.Exec(ctx, s.SQL, s.Args...)
			return err
		}); err != nil {
			return n, err
		}
		n += gone
	}
	return n, nil
}
