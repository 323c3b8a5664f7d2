package store

import (
	"cmp"

	"github.com/p8-org/p8/identity"
)

// Scope is the caller, for the rules that the database itself enforces.
type Scope struct {
	// Tenant and User; User is "" for an anonymous caller.
	Tenant, User string
	// Host is the owner of the session that was shared with the user, if the user is in it;
	// what belongs to that session is the host's.
	Host string
}

// RowOwner names the owner of rows: a user in a tenant, or a whole tenant, whose user
// is "".
type RowOwner struct{ TenantID, UserID string }

// Reads lists the owners whose rows of a table the scope may read, the nearest first:
// itself, its tenant (shared rows), the system. Only their user reads moments; only
// anonymous callers read those without a user.
func (sc Scope) Reads(table string) []RowOwner {
	own, shared := RowOwner{sc.Tenant, sc.User}, RowOwner{TenantID: sc.Tenant}
	if table == "moments" || sc.Tenant == identity.SystemTenant && sc.User == "" {
		return []RowOwner{own}
	}
	list := []RowOwner{own}
	if sc.User != "" {
		list = append(list, shared)
	}
	if !sc.alone() {
		list = append(list, RowOwner{TenantID: identity.SystemTenant})
	}
	return list
}

// alone reports whether the tenant reads only its own rows, not the system's.
func (sc Scope) alone() bool {
	return sc.Tenant == identity.SystemTenant || sc.Tenant == identity.ManualTenant
}

// KeyOwners lists the owners whose keys the scope may read, the nearest first: itself,
// its tenant (shared rows), the system. UserID is the owner column, which is "" for
// shared rows. An anonymous caller's private rows have an owner that is no user id.
func (sc Scope) KeyOwners() []RowOwner {
	list := []RowOwner{{sc.Tenant, cmp.Or(sc.User, anonymousOwner)}, {TenantID: sc.Tenant}}
	if !sc.alone() {
		list = append(list, RowOwner{TenantID: identity.SystemTenant})
	}
	return list
}

// anonymousOwner owns the keys of private rows without a user. It is not printable, so
// no user id equals it.
const anonymousOwner = "\x01"
