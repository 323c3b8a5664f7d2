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

// Account returns a local user and the hash of the password. If tenant is "", the user must
// have an account in one tenant only. found is false without one.
func (a Access) Account(ctx context.Context, tenant, userID string) (x Account, hash string, found bool, err error) {
	n := 0
	err = a.store.engine.ReadSystem(ctx, func(c Conn) error {
		n = 0
		return c.Query(ctx, `SELECT `+accountColumns+`, password FROM accounts WHERE user_id = $1 AND ($2 = '' OR tenant_id = $2) LIMIT 2`, func(r Row) error {
			n++
			return r.Scan(append(x.columns(), &hash)...)
		}, storable(userID), storable(tenant))
	})
	if err != nil || n != 1 {
		return Account{}, "", false, fail("read account", err)
	}
	return x, hash, true, nil
}

// LoginLimit bounds the logins of a subject, an account or an address.
type LoginLimit struct {
	Subject string
	// Free is the number of failed logins without a pause. The next one is followed by First,
	// and each further one by twice the pause before, up to Most. They are forgotten an hour
	// after the last one.
	Free        int
	First, Most time.Duration
}

const (
	loginForgotten = time.Hour
	// noTenant has the rows of logins whose tenant nobody knows.
	noTenant = identity.SystemTenant
)

// pause returns how long to wait after the nth failed login in a row.
func (l LoginLimit) pause(n int64) time.Duration {
	beyond := n - int64(l.Free)
	if beyond <= 0 {
		return 0
	}
	return min(l.First<<min(beyond-1, 20), l.Most)
}

// TryLogin counts a login as failed, in advance, so that logins at once cannot pass a limit;
// LoggedIn takes that back. If a subject must wait, it counts nothing and returns how long.
func (a Access) TryLogin(ctx context.Context, limits ...LoginLimit) (wait time.Duration, err error) {
	err = a.write(ctx, "count a login", func(c Conn) error {
		wait = 0
		now := a.store.clock()
		tries := make([]int64, len(limits))
		for i, l := range limits {
			if _, err := c.Exec(ctx, `INSERT INTO login_tries (tenant_id, subject, tries, next_at, updated_at) VALUES ($1, $2, 0, $3, $3)
				ON CONFLICT (tenant_id, subject) DO NOTHING`, noTenant, l.Subject, now); err != nil {
				return err
			}
			var next, updated time.Time
			if _, err := one(ctx, c, `SELECT tries, next_at, updated_at FROM login_tries WHERE tenant_id = $1 AND subject = $2`+a.store.dialect.lock(),
				[]any{&tries[i], &next, &updated}, noTenant, l.Subject); err != nil {
				return err
			}
			if now.Sub(updated) > max(loginForgotten, l.Most) {
				tries[i], next = 0, now
			}
			wait = max(wait, next.Sub(now))
		}
		if wait > 0 {
			return nil
		}
		for i, l := range limits {
			if _, err := c.Exec(ctx, `UPDATE login_tries SET tries = $3, next_at = $4, updated_at = $5 WHERE tenant_id = $1 AND subject = $2`,
				noTenant, l.Subject, tries[i]+1, now.Add(l.pause(tries[i]+1)), now); err != nil {
				return err
			}
		}
		return nil
	})
	return wait, err
}

// LoggedIn stores a login of an account, k, and takes back what TryLogin counted: all tries of
// the subject account, one of the subject address. If the account is gone, or its password is
// not the one with the hash any more, it stores nothing and returns ErrNotFound.
func (a Access) LoggedIn(ctx context.Context, x Account, hash string, k *APIKey, account, address string) error {
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
		if err := forgive(ctx, c, account, address); err != nil {
			return err
		}
		return a.store.audit(ctx, c, identity.Identity{TenantID: x.TenantID, UserID: x.UserID, Role: x.Role, KeyID: k.ID}, AuditLogin, k.ID, AuditOK)
	})
}

// Forgive takes back what TryLogin counted, as LoggedIn does, for a right password without a
// login.
func (a Access) Forgive(ctx context.Context, account, address string) error {
	return a.write(ctx, "forget failed logins", func(c Conn) error { return forgive(ctx, c, account, address) })
}

func forgive(ctx context.Context, c Conn, account, address string) error {
	if err := c.Later(ctx, Statement{SQL: `DELETE FROM login_tries WHERE tenant_id = $1 AND subject = $2`, Args: []any{noTenant, account}}); err != nil {
		return err
	}
	return c.Later(ctx, Statement{SQL: `UPDATE login_tries SET tries = tries - 1 WHERE tenant_id = $1 AND subject = $2 AND tries > 0`, Args: []any{noTenant, address}})
}

// LoginRefused records a login that failed. The entry is the account's tenant's; without an
// account it is p8's own, which no tenant reads.
func (a Access) LoginRefused(ctx context.Context, tenant, userID string) error {
	by := identity.Identity{TenantID: tenant, UserID: userID}
	if tenant == "" {
		by.TenantID = noTenant
	}
	return a.write(ctx, "write audit log", func(c Conn) error {
		return a.store.audit(ctx, c, by, AuditLogin, userID, AuditRefused)
	})
}
