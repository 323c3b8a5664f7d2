package store

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
)

// Access is what the store knows of callers who are not verified yet: keys by their hash,
// accounts, and failed logins. Only authentication uses it.
type Access struct{ store *Store }

// Access returns the store's view for authentication.
func (s *Store) Access() Access { return Access{s} }

// Key returns the key or login with a hash, also one that was revoked or has expired; found is
// false without one.
func (a Access) Key(ctx context.Context, hash string) (k APIKey, found bool, err error) {
	err = a.store.engine.ReadSystem(ctx, func(c Conn) (err error) {
		found, err = one(ctx, c, `SELECT `+keyColumns+` FROM api_keys WHERE hash = $1`, k.columns(), storable(hash))
		return err
	})
	return k, found && err == nil, fail("read key", err)
}

// KeyUsed records that a key was used, at most once in every.
func (a Access) KeyUsed(ctx context.Context, tenant, id string, every time.Duration) error {
	return a.write(ctx, "record the use of a key", func(c Conn) error {
		now := a.store.clock()
		_, err := c.Exec(ctx, `UPDATE api_keys SET last_used_at = $3 WHERE tenant_id = $1 AND id = $2 AND (last_used_at IS NULL OR last_used_at < $4)`,
			tenant, id, now, now.Add(-every))
		return err
	})
}

func (a Access) write(ctx context.Context, op string, fn func(Conn) error) error {
	return fail(op, a.store.engine.WriteSystem(ctx, fn))
}

// Account returns a local user and the hash of the password. If tenant is "", it is the user's
// oldest account: a later one in another tenant does not get in its way. found is false without
// one.
func (a Access) Account(ctx context.Context, tenant, userID string) (x Account, hash string, found bool, err error) {
	err = a.store.engine.ReadSystem(ctx, func(c Conn) (err error) {
		found, err = one(ctx, c, `SELECT `+accountColumns+`, password FROM accounts WHERE user_id = $1 AND ($2 = '' OR tenant_id = $2)
			ORDER BY created_at, tenant_id LIMIT 1`, append(x.columns(), &hash), storable(userID), storable(tenant))
		return err
	})
	if err != nil || !found {
		return Account{}, "", false, fail("read account", err)
	}
	return x, hash, true, nil
}

// LoggedIn stores a login of an account, k, and takes back what TryLogin counted with the same
// limits. If the account is gone, or its password is not the one with the hash any more, it
// stores nothing and returns ErrNotFound.
func (a Access) LoggedIn(ctx context.Context, x Account, hash string, k *APIKey, limits ...LoginLimit) error {
	return a.write(ctx, "log in", func(c Conn) error {
		now := a.store.clock()
		var stored string
		found, err := one(ctx, c, `SELECT password FROM accounts WHERE tenant_id = $1 AND user_id = $2`+a.store.dialect.lock(), []any{&stored}, x.TenantID, x.UserID)
		if err == nil && (!found || stored != hash) {
			err = notFound("user", x.UserID)
		}
		if err != nil {
			return err
		}
		k.TenantID, k.UserID, k.Email, k.Role, k.Kind, k.CreatedBy = x.TenantID, x.UserID, x.Email, x.Role, KindLogin, x.UserID
		if err := k.check(now); err != nil {
			return err
		}
		if err := insertKey(ctx, c, k, now); err != nil {
			return err
		}
		if err := c.Later(ctx, Statement{
			SQL: `DELETE FROM api_keys WHERE tenant_id = $1 AND user_id = $2 AND kind = 'login' AND (expires_at <= $3 OR id NOT IN (
				SELECT id FROM api_keys WHERE tenant_id = $1 AND user_id = $2 AND kind = 'login' ORDER BY created_at DESC, id DESC LIMIT $4))`,
			Args: []any{x.TenantID, x.UserID, now, maxLogins},
		}); err != nil {
			return err
		}
		if err := forgive(ctx, c, now, limits); err != nil {
			return err
		}
		return a.store.audit(ctx, c, identity.Identity{TenantID: x.TenantID, UserID: x.UserID, Role: x.Role, KeyID: k.ID}, AuditLogin, k.ID, AuditOK)
	})
}

// LoginRefused records a login that failed. The entry is the account's tenant's; without an
// account it is p8's own, which no tenant reads, and kept for a day.
func (a Access) LoginRefused(ctx context.Context, tenant, userID string) error {
	by := identity.Identity{TenantID: tenant, UserID: userID}
	if tenant == "" {
		by.TenantID = noTenant
	}
	return a.write(ctx, "write audit log", func(c Conn) error {
		return a.store.audit(ctx, c, by, AuditLogin, userID, AuditRefused)
	})
}
