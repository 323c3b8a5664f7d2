package account

import "github.com/p8-org/p8/store"

// Actions returns the actions that p8 writes into the audit log. Programs may write others.
func Actions() []string {
	return []string{
		store.AuditLogin, store.AuditLogout, store.AuditKeyCreate, store.AuditKeyRevoke, store.AuditUserAdd, store.AuditUserPassword, store.AuditUserRemove,
		store.AuditApproval, store.AuditSessionDelete, store.AuditSchemaDelete, store.AuditFileDelete, store.AuditExport, store.AuditErase,
		store.AuditShare, store.AuditUnshare, store.AuditQuota, store.AuditQuotaReset,
	}
}
