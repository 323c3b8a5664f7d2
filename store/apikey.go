package store

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
)

// The kinds of keys.
const (
	KindKey = "key"
	// KindLogin is the token of a login with a password.
	KindLogin = "login"
)

// APIKey is a key that callers send in place of a token. The store has its hash only.
type APIKey struct {
	ID       string `json:"id"`
	TenantID string `json:"tenant_id"`
	// UserID is the user whose key it is; "" is a service's, which acts as an anonymous
	// caller of the tenant.
	UserID string `json:"user_id,omitempty"`
	Email  string `json:"user_email,omitempty"`
	Kind   string `json:"-"`
	// Name is unique among the keys of the user that are not revoked.
	Name string        `json:"name"`
	Role identity.Role `json:"role"`
	// Prefix is the beginning of the key, by which people recognise it.
	Prefix string `json:"prefix"`
	// Hash is the SHA-256 of the key, in hexadecimal digits.
	Hash string `json:"-"`
	// CreatedBy is the user who made the key, MadeWith the key or login of that request.
	CreatedBy  string    `json:"created_by,omitempty"`
	MadeWith   string    `json:"made_with,omitempty"`
	CreatedAt  time.Time `json:"created_at"`
	LastUsedAt time.Time `json:"last_used_at,omitzero"`
	// ExpiresAt is zero for a key that does not expire, RevokedAt for one that counts.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

const keyColumns = `id, tenant_id, user_id, email, kind, name, role, prefix, hash, created_by, made_with, created_at, last_used_at, expires_at, revoked_at`

func (k *APIKey) columns() []any {
	return []any{&k.ID, &k.TenantID, &k.UserID, &k.Email, &k.Kind, &k.Name, (*string)(&k.Role), &k.Prefix, &k.Hash, &k.CreatedBy, &k.MadeWith,
		&k.CreatedAt, &k.LastUsedAt, &k.ExpiresAt, &k.RevokedAt}
}

// APIKeys reads and writes the keys of a tenant: an admin all of them, other callers their
// own. A caller without a user who is no admin has none.
type APIKeys struct{ store *Store }

// APIKeys returns the keys that the caller may manage.
func (s *Store) APIKeys() APIKeys { return APIKeys{s} }

// The bounds of keys.
const (
	maxKeyName = 128
	// maxKeys bounds the keys of one user that are not revoked, maxLogins the logins: the
	// oldest is replaced.
	maxKeys   = 200
	maxLogins = 50
)

func (k *APIKey) check(now time.Time) error {
	switch {
	case !printable(k.Name, maxKeyName):
		return invalidf("the name of a key must be 1-%d printable characters", maxKeyName)
	case k.Role.Rank() == 0:
		return invalidf("the role of a key is reader, member or admin, not %.32q", k.Role)
	case k.UserID != "" && !printable(k.UserID, maxName):
		return invalidf("the user id must be 1-%d printable characters", maxName)
	case len(k.Hash) != 64 || !printable(k.Prefix, 32):
		return invalidf("a key has a hash and a prefix")
	case !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(now):
		return invalidf("the key would have expired already")
	}
	k.ExpiresAt = k.ExpiresAt.UTC().Truncate(time.Microsecond)
	return cleanText("email", &k.Email)
}

// mayKeep returns ErrForbidden if the caller may not manage the keys of a user, "" for those
// of services.
func (by caller) mayKeep(user string) error {
	switch {
	case by.Visitor():
		return forbiddenf("a caller without a token has no keys: sign in first")
	case by.Administers(), user != "" && user == by.UserID:
		return nil
	case by.Anonymous():
		return forbiddenf("only an admin manages the keys of services")
	}
	return forbiddenf("only an admin manages the keys of others")
}

// Create stores a key for k.UserID in the caller's tenant, and sets its id and times. The key
// has no more rights than the caller; a key that is made with another key does not outlive it.
// Two keys of a user with one name are ErrConflict.
func (all APIKeys) Create(ctx context.Context, k *APIKey) error {
	now := all.store.clock()
	if err := k.check(now); err != nil {
		return missingFirst(ctx, err)
	}
	k.Kind = KindKey
	return all.store.write(ctx, "create key", func(c Conn, by caller) error {
		if err := by.mayKeep(k.UserID); err != nil {
			return err
		}
		if strings.HasPrefix(k.UserID, identity.VisitorPrefix) {
			return invalidf("the user is a caller without a token, who has no keys: name another user")
		}
		if !by.Grants(k.Role) {
			return forbiddenf("the caller has the role %s, and cannot make a key with the role %s", by.Role, k.Role)
		}
		if err := within(ctx, c, all.store.dialect, by, k, now); err != nil {
			return err
		}
		var n, same int64
		if _, err := one(ctx, c, `SELECT COUNT(*), COUNT(CASE WHEN name = $3 THEN 1 END) FROM api_keys
			WHERE tenant_id = $1 AND kind = 'key' AND COALESCE(user_id, '') = $2 AND revoked_at IS NULL`, []any{&n, &same}, by.TenantID, k.UserID, k.Name); err != nil {
			return err
		}
		switch {
		case same > 0: // two at once meet at the index api_keys_name
			return conflictf("there is a key %.128q already: revoke it first, or choose another name", k.Name)
		case n >= maxKeys:
			return conflictf("there are %d keys already: revoke one first", n)
		}
		k.TenantID, k.CreatedBy, k.MadeWith = by.TenantID, by.UserID, by.KeyID
		if err := insertKey(ctx, c, k, now); err != nil {
			return err
		}
		return all.store.audit(ctx, c, by.Identity, AuditKeyCreate, strings.TrimSpace(k.ID+" "+string(k.Role)+" "+k.UserID), AuditOK)
	})
}

// within checks the key of the caller's request, which may have been revoked since it was
// verified.
func within(ctx context.Context, c Conn, d Dialect, by caller, k *APIKey, now time.Time) error {
	if by.KeyID == "" || by.KeyID == identity.DeploymentKey {
		return nil
	}
	var with APIKey
	// The lock makes a revocation at the same time wait, which then finds the new key.
	found, err := one(ctx, c, `SELECT `+keyColumns+` FROM api_keys WHERE tenant_id = $1 AND id = $2`+d.lockShared(), with.columns(), by.TenantID, by.KeyID)
	switch {
	case err != nil:
		return err
	case !found || !with.RevokedAt.IsZero() || !with.ExpiresAt.IsZero() && !with.ExpiresAt.After(now):
		return forbiddenf("the key of the request does not count any more")
	case with.Kind == KindKey && !with.ExpiresAt.IsZero() && (k.ExpiresAt.IsZero() || k.ExpiresAt.After(with.ExpiresAt)):
		return forbiddenf("a key cannot make one that outlives it: expire it by %s", with.ExpiresAt.Format(time.RFC3339))
	}
	return nil
}

// insertKey stores a key and sets its id and the time of its creation.
func insertKey(ctx context.Context, c Conn, k *APIKey, now time.Time) (err error) {
	if k.ID, err = newID(); err != nil {
		return err
	}
	k.CreatedAt = now
	_, err = c.Exec(ctx, `INSERT INTO api_keys (tenant_id, id, user_id, email, kind, name, role, prefix, hash, created_by, made_with, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`, k.TenantID, k.ID, null(k.UserID), null(k.Email), k.Kind, k.Name, string(k.Role),
		k.Prefix, k.Hash, null(k.CreatedBy), null(k.MadeWith), k.CreatedAt, timeOrNull(k.ExpiresAt))
	return err
}

// timeOrNull stores the zero time as NULL.
func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}

// KeyFilter selects keys; the newest come first.
type KeyFilter struct {
	// UserID is the user whose keys they are, "" for all that the caller may manage.
	UserID string
	// Name is that of the keys, "" for any.
	Name string
	// Revoked includes the revoked ones.
	Revoked bool
	// Limit is 100 if 0, and at most 1000.
	Limit  int
	Cursor string
}

// List lists keys, without their hashes. next is the cursor of the next page, "" after the
// last.
func (all APIKeys) List(ctx context.Context, f KeyFilter) (list []APIKey, next string, err error) {
	limit := page(f.Limit, 100, 1000)
	err = all.store.read(ctx, "list keys", func(c Conn, by caller) error {
		user := f.UserID
		if !by.Administers() {
			user = cmp.Or(user, by.UserID)
			if err := by.mayKeep(user); err != nil {
				return err
			}
		}
		q := newQuery(`SELECT ` + keyColumns + ` FROM api_keys WHERE kind = 'key' AND tenant_id = `)
		q.arg(by.TenantID)
		if user != "" {
			q.add(` AND user_id = `).arg(storable(user))
		}
		if f.Name != "" {
			q.add(` AND name = `).arg(storable(f.Name))
		}
		if !f.Revoked {
			q.add(` AND revoked_at IS NULL`)
		}
		if err := q.beyond(f.Cursor, "created_at", "<"); err != nil {
			return err
		}
		q.add(` ORDER BY created_at DESC, id DESC LIMIT `).arg(limit + 1)
		list = nil
		return c.Query(ctx, q.String(), func(r Row) error {
			list = append(list, APIKey{})
			k := &list[len(list)-1]
			err := r.Scan(k.columns()...)
			k.Hash = ""
			return err
		}, q.args...)
	})
	if err != nil {
		return nil, "", err
	}
	list, next = pageOf(list, limit, func(k *APIKey) (time.Time, string) { return k.CreatedAt, k.ID })
	return list, next, nil
}

// Revoke ends a key for good, with all keys that were made with it, and returns it. A key that
// the caller may not manage, or that is revoked, is ErrNotFound.
func (all APIKeys) Revoke(ctx context.Context, id string) (k APIKey, err error) {
	err = all.store.write(ctx, "revoke key", func(c Conn, by caller) error {
		now := all.store.clock()
		q := newQuery(`UPDATE api_keys SET revoked_at = `)
		q.arg(now)
		q.add(` WHERE kind = 'key' AND revoked_at IS NULL AND tenant_id = `).arg(by.TenantID)
		q.add(` AND id = `).arg(storable(id))
		if !by.Administers() {
			q.add(` AND user_id = `).arg(by.UserID) // no row has the user ''
		}
		q.add(` RETURNING ` + keyColumns)
		found, err := one(ctx, c, q.String(), k.columns(), q.args...)
		if err == nil && !found {
			err = notFound("key", id)
		}
		if err != nil {
			return err
		}
		k.Hash = ""
		if err := revokeKeys(ctx, c, by.TenantID, now, `id = $3`, k.ID); err != nil {
			return err
		}
		return all.store.audit(ctx, c, by.Identity, AuditKeyRevoke, k.ID, AuditOK)
	})
	if err != nil {
		return APIKey{}, err
	}
	return k, nil
}

// Logout ends the login of the request. It returns ErrInvalid if the request has none.
func (all APIKeys) Logout(ctx context.Context) error {
	// A caller who may only read logs out, too.
	return all.store.run(ctx, "log out", all.store.engine.Write, func(c Conn, by caller) error {
		n, err := c.Exec(ctx, `UPDATE api_keys SET revoked_at = $3 WHERE tenant_id = $1 AND id = $2 AND kind = 'login' AND revoked_at IS NULL`,
			by.TenantID, by.KeyID, all.store.clock())
		if err == nil && n == 0 {
			err = invalidf("the token of the request is no login: revoke a key with DELETE /keys/{id}")
		}
		if err != nil {
			return err
		}
		return all.store.audit(ctx, c, by.Identity, AuditLogout, by.KeyID, AuditOK)
	})
}

// revokeKeys ends the keys and logins of a tenant that meet a condition on $3, arg, and all keys
// that were made with them, directly or not.
func revokeKeys(ctx context.Context, c Conn, tenant string, now time.Time, where, arg string) error {
	// A key that is being made holds a lock on the key that makes it: the statement waits for it
	// but does not see the new key, the next one does.
	for {
		n, err := c.Exec(ctx, `UPDATE api_keys SET revoked_at = $2 WHERE tenant_id = $1 AND revoked_at IS NULL AND id IN (
			WITH RECURSIVE ended(id) AS (
				SELECT id FROM api_keys WHERE tenant_id = $1 AND `+where+`
				UNION SELECT k.id FROM api_keys k JOIN ended ON k.made_with = ended.id WHERE k.tenant_id = $1)
			SELECT id FROM ended)`, tenant, now, arg)
		if err != nil || n == 0 {
			return err
		}
	}
}
