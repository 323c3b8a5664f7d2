package store

import (
	"cmp"
	"context"

	"github.com/p8-org/p8/identity"
)

// caller is the identity of a request, in the database's terms.
type caller struct {
	identity.Identity
	// user is the user_id column: a string, or nil for anonymous.
	user any
	// author is the guest who acts in a session of that user, "" for the user; see caller.in.
	author string
	// seal is the key of the tenant, nil if nothing of it is encrypted. Only [Store.run] sets it.
	seal *tenantSeal
}

type manualKey struct{}

// InManual returns a context whose reads are those of p8's manual, for any caller.
func InManual(ctx context.Context) context.Context {
	return context.WithValue(ctx, manualKey{}, true)
}

func callerOf(ctx context.Context) (caller, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return caller{}, err
	}
	if ctx.Value(manualKey{}) != nil {
		id = identity.Identity{TenantID: identity.ManualTenant, Role: identity.RoleReader}
	}
	if !printable(id.TenantID, maxName) {
		return caller{}, invalidf("the tenant must be 1-%d printable characters", maxName)
	}
	if id.UserID != "" && !printable(id.UserID, maxName) {
		return caller{}, invalidf("the user id must be 1-%d printable characters", maxName)
	}
	return caller{Identity: id, user: null(id.UserID)}, nil
}

// Writer returns the caller. It is [ErrForbidden] if the caller may only read: all writes of
// the store refuse such a caller, and so does a service before it does anything else.
func Writer(ctx context.Context) (identity.Identity, error) {
	id, err := identity.From(ctx)
	if err == nil && !id.MayWrite() {
		err = forbiddenf("the caller may only read: the token has the role %s", id.Role)
	}
	return id, err
}

// owner returns the user_id column of a row that the caller writes.
func (by caller) owner(shared bool) any {
	if shared {
		return nil
	}
	return by.user
}

// scope returns the caller in the form that engines take.
func (by caller) scope() Scope {
	return Scope{Tenant: by.TenantID, User: by.UserID, Host: by.Shared.Owner}
}

// keyOwner returns the owner of the caller's own keys.
func (by caller) keyOwner() string { return cmp.Or(by.UserID, anonymousOwner) }
