package store

import (
	"context"
	"time"

	"github.com/p8-org/p8/identity"
)

// Account is a local user, who logs in with an e-mail address and a password.
type Account struct {
	TenantID string `json:"tenant_id"`
	// UserID is that of the e-mail address ([identity.UserID]).
	UserID    string        `json:"user_id"`
	Email     string        `json:"email"`
	Role      identity.Role `json:"role"`
	CreatedBy string        `json:"created_by,omitempty"`
	CreatedAt time.Time     `json:"created_at"`
	// PasswordAt is when the password was set.
	PasswordAt time.Time `json:"password_set_at"`
}

const accountColumns = `tenant_id, user_id, email, role, created_by, created_at, password_at`

func (a *Account) columns() []any {
	return []any{&a.TenantID, &a.UserID, &a.Email, (*string)(&a.Role), &a.CreatedBy, &a.CreatedAt, &a.PasswordAt}
}

// Accounts reads and writes the local users of a tenant, for its admins.
type Accounts struct{ store *Store }

// Accounts returns the local users of the caller's tenant.
func (s *Store) Accounts() Accounts { return Accounts{s} }

func (by caller) mayAdminister() error {
	if by.Administers() {
		return nil
	}
	return forbiddenf("only an admin manages users")
}

func checkPassword(hash string) error {
	if !printable(hash, maxName) {
		return invalidf("a password is stored as its hash")
	}
	return nil
}

// Add stores a local user with the hash of the password, and sets the user's tenant and
// times. A user who is there already is ErrConflict.
func (all Accounts) Add(ctx context.Context, a *Account, hash string) error {
	if err := firstError(checkPassword(hash), checkID(a.UserID), cleanText("email", &a.Email)); err != nil {
		return missingFirst(ctx, err)
	}
	return all.store.write(ctx, "add user", func(c Conn, by caller) error {
		if err := by.mayAdminister(); err != nil {
			return err
		}
		if !by.Grants(a.Role) {
			return invalidf("the role of a user is reader, member or admin, not %.32q", a.Role)
		}
		now := all.store.clock()
		a.TenantID, a.CreatedBy, a.CreatedAt, a.PasswordAt = by.TenantID, by.UserID, now, now
		n, err := c.Exec(ctx, `INSERT INTO accounts (tenant_id, user_id, email, role, password, created_by, created_at, password_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT DO NOTHING`, a.TenantID, a.UserID, a.Email, string(a.Role), hash, null(a.CreatedBy), now)
		if err == nil && n == 0 {
			err = conflictf("there is a user %.128q already", a.Email)
		}
		if err != nil {
			return err
		}
		return all.store.audit(ctx, c, by.Identity, AuditUserAdd, a.UserID, AuditOK)
	})
}

// List lists the local users by their creation, 100 if limit is 0 and at most 1000. next is
// the cursor of the next page, "" after the last.
func (all Accounts) List(ctx context.Context, limit int, cursor string) (list []Account, next string, err error) {
	limit = page(limit, 100, 1000)
	err = all.store.read(ctx, "list users", func(c Conn, by caller) error {
		if err := by.mayAdminister(); err != nil {
			return err
		}
		q := newQuery(`SELECT ` + accountColumns + ` FROM (SELECT accounts.*, user_id AS id FROM accounts WHERE tenant_id = `)
		q.arg(by.TenantID)
		q.add(`) AS of_tenant WHERE true`)
		if err := q.beyond(cursor, "created_at", ">"); err != nil {
			return err
		}
		q.add(` ORDER BY created_at, id LIMIT `).arg(limit + 1)
		list = nil
		return c.Query(ctx, q.String(), func(r Row) error {
			list = append(list, Account{})
			return r.Scan(list[len(list)-1].columns()...)
		}, q.args...)
	})
	if err != nil {
		return nil, "", err
	}
	list, next = pageOf(list, limit, func(a *Account) (time.Time, string) { return a.CreatedAt, a.UserID })
	return list, next, nil
}

// SetPassword replaces the password of a user, whose logins end with all keys that were made
// with them. The user may do that, too, in whatever role: the calling code verifies the old
// password.
func (all Accounts) SetPassword(ctx context.Context, userID, hash string) error {
	if err := checkPassword(hash); err != nil {
		return missingFirst(ctx, err)
	}
	return all.store.run(ctx, "set password", all.store.engine.Write, func(c Conn, by caller) error {
		if err := by.mayAdminister(); err != nil && (by.Anonymous() || by.UserID != userID) {
			return err
		}
		now := all.store.clock()
		n, err := c.Exec(ctx, `UPDATE accounts SET password = $3, password_at = $4 WHERE tenant_id = $1 AND user_id = $2`,
			by.TenantID, storable(userID), hash, now)
		if err == nil && n == 0 {
			err = notFound("user", userID)
		}
		if err != nil {
			return err
		}
		if err := revokeKeys(ctx, c, by.TenantID, now, `user_id = $3 AND kind = 'login'`, storable(userID)); err != nil {
			return err
		}
		return all.store.audit(ctx, c, by.Identity, AuditUserPassword, userID, AuditOK)
	})
}

// Remove deletes a local user and revokes the user's keys and logins, and the keys that the
// user made, also for others. What the user wrote stays.
func (all Accounts) Remove(ctx context.Context, userID string) error {
	return all.store.write(ctx, "remove user", func(c Conn, by caller) error {
		if err := by.mayAdminister(); err != nil {
			return err
		}
		n, err := c.Exec(ctx, `DELETE FROM accounts WHERE tenant_id = $1 AND user_id = $2`, by.TenantID, storable(userID))
		if err == nil && n == 0 {
			err = notFound("user", userID)
		}
		if err != nil {
			return err
		}
		if err := revokeKeys(ctx, c, by.TenantID, all.store.clock(), `(user_id = $3 OR created_by = $3)`, storable(userID)); err != nil {
			return err
		}
		return all.store.audit(ctx, c, by.Identity, AuditUserRemove, userID, AuditOK)
	})
}
