package store

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
)

// The actions of the audit log.
const (
	AuditLogin         = "auth.login"
	AuditLogout        = "auth.logout"
	AuditKeyCreate     = "key.create"
	AuditKeyRevoke     = "key.revoke"
	AuditUserAdd       = "user.add"
	AuditUserPassword  = "user.password"
	AuditUserRemove    = "user.remove"
	AuditApproval      = "approval.answer"
	AuditSessionDelete = "session.delete"
	AuditSchemaDelete  = "document.delete"
	AuditFileDelete    = "file.delete"
	// Export is of a user's data, erase its deletion.
	AuditExport     = "user.export"
	AuditErase      = "user.erase"
	AuditShare      = "share.create"
	AuditUnshare    = "share.revoke"
	AuditQuota      = "quota.set"
	AuditQuotaReset = "quota.reset"
	// Retention is how long a tenant keeps rows.
	AuditRetention      = "retention.set"
	AuditRetentionReset = "retention.reset"
)

// The outcomes in the audit log.
const (
	AuditOK      = "ok"
	AuditRefused = "refused"
)

// AuditEntry is a row of the audit log: who did what. It has no secrets and no content.
type AuditEntry struct {
	ID string    `json:"id"`
	At time.Time `json:"created_at"`
	// UserID, KeyID and Role are the caller's: KeyID is the API key or the login that the
	// request had.
	UserID string        `json:"user_id,omitempty"`
	KeyID  string        `json:"key_id,omitempty"`
	Role   identity.Role `json:"role,omitempty"`
	// Action is one of the Audit constants, Object the id of the thing that it changed, or
	// its name.
	Action string `json:"action"`
	Object string `json:"object,omitempty"`
	// Outcome is AuditOK or AuditRefused, or the answer to an approval.
	Outcome   string `json:"outcome"`
	RequestID string `json:"request_id,omitempty"`
	Address   string `json:"address,omitempty"`
}

// AuditFilter selects entries of the tenant; the newest come first.
type AuditFilter struct {
	// Since and Before bound the time: since <= created_at < before; zero is no bound.
	Since, Before  time.Time
	Action, UserID string
	// Limit is 100 if 0, and at most 1000.
	Limit  int
	Cursor string
}

const auditColumns = `id, created_at, user_id, key_id, role, action, object, outcome, request_id, address`

func (e *AuditEntry) columns() []any {
	return []any{&e.ID, &e.At, &e.UserID, &e.KeyID, (*string)(&e.Role), &e.Action, &e.Object, &e.Outcome, &e.RequestID, &e.Address}
}

// maxAudited bounds the texts of an entry, in characters.
const maxAudited = 255

// Audit records an action of the caller that is no change of the store, such as an export;
// a change records itself in its own transaction. Callers who may only read are recorded,
// too. An empty outcome is AuditOK.
func (s *Store) Audit(ctx context.Context, action, object, outcome string) error {
	if !printable(action, maxAudited) {
		return missingFirst(ctx, invalidf("the action of an audit entry must be 1-%d printable characters", maxAudited))
	}
	return s.run(ctx, "write audit log", s.engine.Write, func(c Conn, by caller) error {
		return s.audit(ctx, c, by.Identity, action, object, outcome)
	})
}

// audit adds an entry in the transaction of c. Changes call it last, so that it costs no
// round trip.
func (s *Store) audit(ctx context.Context, c Conn, by identity.Identity, action, object, outcome string) error {
	id, err := newID()
	if err != nil {
		return err
	}
	if outcome == "" {
		outcome = AuditOK
	}
	from := identity.OriginOf(ctx)
	return c.Later(ctx, Statement{
		SQL: `INSERT INTO audit_log (tenant_id, id, user_id, key_id, role, action, object, outcome, request_id, address, created_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		Args: []any{by.TenantID, id, null(by.UserID), null(by.KeyID), null(string(by.Role)), action, null(clip(storable(object), maxAudited)),
			clip(outcome, maxAudited), null(clip(storable(from.RequestID), maxAudited)), null(clip(storable(from.Address), maxAudited)), s.clock()},
	})
}

// audit adds an entry in the writer's transaction. p8's own rows change with each version,
// which is no one's action.
func (w *writer) audit(ctx context.Context, action, object string) error {
	if w.by.TenantID == identity.SystemTenant || w.by.TenantID == identity.ManualTenant {
		return nil
	}
	return w.store.audit(ctx, w.c, w.by.Identity, action, object, AuditOK)
}

// AuditLog lists what was done in the caller's tenant. The caller must administer it, else
// AuditLog returns ErrForbidden. next is the cursor of the next page, "" after the last.
func (s *Store) AuditLog(ctx context.Context, f AuditFilter) (list []AuditEntry, next string, err error) {
	limit := page(f.Limit, 100, 1000)
	err = s.read(ctx, "read audit log", func(c Conn, by caller) error {
		if !by.Administers() {
			return forbiddenf("only an admin reads the audit log")
		}
		q := newQuery(`SELECT ` + auditColumns + ` FROM audit_log WHERE tenant_id = `)
		q.arg(by.TenantID)
		if f.Action != "" {
			q.add(` AND action = `).arg(storable(f.Action))
		}
		if f.UserID != "" {
			q.add(` AND user_id = `).arg(storable(f.UserID))
		}
		if !f.Since.IsZero() {
			q.add(` AND created_at >= `).arg(f.Since.UTC())
		}
		if !f.Before.IsZero() {
			q.add(` AND created_at < `).arg(f.Before.UTC())
		}
		if err := q.beyond(f.Cursor, "created_at", "<"); err != nil {
			return err
		}
		q.add(` ORDER BY created_at DESC, id DESC LIMIT `).arg(limit + 1)
		list = nil
		return c.Query(ctx, q.String(), func(r Row) error {
			list = append(list, AuditEntry{})
			return r.Scan(list[len(list)-1].columns()...)
		}, q.args...)
	})
	if err != nil {
		return nil, "", err
	}
	list, next = pageOf(list, limit, func(e *AuditEntry) (time.Time, string) { return e.At, e.ID })
	return list, next, nil
}
