package store

import (
	"cmp"

	"github.com/p8-org/p8/identity"
)

// Scope is who asks, for what the database itself enforces.
type Scope struct {
	// Tenant and User; User is "" for an anonymous caller.
	Tenant, User string
}

// RowOwner is whose rows they are: a user's in a tenant, or the shared ones, whose
// user is "".
type RowOwner struct{ TenantID, UserID string }

// Reads lists whose rows of a table the scope sees, the nearest first: its own,
// its tenant's shared ones, the system's. Moments are seen by their user alone,
// those without a user by anonymous callers alone.
func (sc Scope) Reads(table string) []RowOwner {
	own, shared := RowOwner{sc.Tenant, sc.User}, RowOwner{TenantID: sc.Tenant}
	if table == "moments" || sc.Tenant == identity.SystemTenant && sc.User == "" {
		return []RowOwner{own}
	}
	list := []RowOwner{own}
	if sc.User != "" {
		list = append(list, shared)
	}
	if sc.Tenant != identity.SystemTenant {
		list = append(list, RowOwner{TenantID: identity.SystemTenant})
	}
	return list
}

// KeyOwners lists whose keys the scope sees in the key index, the nearest
// first: its own, its tenant's shared ones, the system's. UserID is the owner
// column: "" of shared rows; an anonymous caller's private rows have an owner
// that is no user id.
func (sc Scope) KeyOwners() []RowOwner {
	list := []RowOwner{{sc.Tenant, cmp.Or(sc.User, anonymousOwner)}, {TenantID: sc.Tenant}}
	if sc.Tenant != identity.SystemTenant {
		list = append(list, RowOwner{TenantID: identity.SystemTenant})
	}
	return list
}

// anonymousOwner owns, in the key index, the private rows without a user. No
// user id is like it: those are printable.
const anonymousOwner = "\x01"
