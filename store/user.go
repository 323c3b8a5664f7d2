package store

import (
	"cmp"
	"context"
	"encoding/json"
	"time"
)

// User is the caller's row.
func (s *Store) User(ctx context.Context) (User, error) {
	var u User
	err := s.read(ctx, "read user", func(c Conn, sc scope) error {
		found, err := readUser(ctx, c, sc.TenantID, sc.UserID, &u)
		if err == nil && !found {
			err = notFound("user", sc.UserID)
		}
		return err
	})
	return u, err
}

func readUser(ctx context.Context, c Conn, tenant, id string, u *User) (found bool, err error) {
	var interests, topics json.RawMessage
	found, err = one(ctx, c, `SELECT id, name, email, content, interests, preferred_topics, metadata, created_at, updated_at
		FROM users WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
		[]any{&u.ID, &u.Name, &u.Email, &u.Summary, &interests, &topics, &u.Metadata, &u.CreatedAt, &u.UpdatedAt}, tenant, id)
	if err != nil || !found {
		return found, err
	}
	if err := decode(interests, &u.Interests); err != nil {
		return false, err
	}
	return true, decode(topics, &u.Topics)
}

// PutUser writes the caller's own row (restoring a deleted one); its ID and
// times are set. Another ID is ErrNotFound; an anonymous caller has no row, and
// gets ErrInvalid.
func (s *Store) PutUser(ctx context.Context, u *User) error {
	if err := u.check(); err != nil {
		return missingFirst(ctx, err)
	}
	var ch change
	err := s.write(ctx, "store user", func(c Conn, sc scope) error {
		if sc.Anonymous() {
			return invalidf("an anonymous caller has no user row")
		}
		if u.ID != "" && u.ID != sc.UserID {
			return notFound("user", u.ID)
		}
		ch = change{sc.TenantID, sc.UserID, TypeUser, sc.UserID}
		return putUser(ctx, c, sc, u, s.clock())
	})
	s.fuzzy.changed(ch)
	return err
}

// ensureUser writes the caller's row from its identity, if it never had one,
// and returns what it changed.
func ensureUser(ctx context.Context, c Conn, sc scope, now time.Time) (ch change, err error) {
	if sc.Anonymous() {
		return ch, nil
	}
	exists, err := one(ctx, c, `SELECT 1 FROM users WHERE tenant_id = $1 AND id = $2`, []any{new(int)}, sc.TenantID, sc.UserID)
	if err != nil || exists {
		return ch, err
	}
	// The name and the e-mail come from a token or a header: what cannot be a
	// key is left out rather than failing the turn.
	u := User{Name: cmp.Or(sc.Name, sc.Email, sc.UserID), Email: sc.Email}
	if u.check() != nil {
		u = User{Name: sc.UserID}
	}
	if _, err := checkKey(u.Name); err != nil {
		u.Name = "user"
	}
	return change{sc.TenantID, sc.UserID, TypeUser, sc.UserID}, putUser(ctx, c, sc, &u, now)
}

func putUser(ctx context.Context, c Conn, sc scope, u *User, now time.Time) error {
	created := now
	if _, err := one(ctx, c, `SELECT created_at FROM users WHERE tenant_id = $1 AND id = $2`,
		[]any{&created}, sc.TenantID, sc.UserID); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, `INSERT INTO users
		(tenant_id, id, user_id, name, email, content, interests, preferred_topics, metadata, created_at, updated_at)
		VALUES ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, email = excluded.email, content = excluded.content,
		interests = excluded.interests, preferred_topics = excluded.preferred_topics, metadata = excluded.metadata,
		updated_at = excluded.updated_at, deleted_at = NULL`,
		sc.TenantID, sc.UserID, u.Name, null(u.Email), null(u.Summary), encodeList(u.Interests),
		encodeList(u.Topics), u.Metadata, created, now); err != nil {
		return err
	}
	u.ID, u.CreatedAt, u.UpdatedAt = sc.UserID, created, now
	return putKey(ctx, c, sc.TenantID, sc.user, entry{
		entity: TypeUser, id: u.ID, name: u.Name, metadata: u.Metadata, summary: cmp.Or(u.Summary, u.Name),
	}, now)
}

func (u *User) check() error {
	u.Name = cmp.Or(u.Name, u.Email)
	if _, err := checkKey(u.Name); err != nil {
		return err
	}
	if err := cleanTexts("email", &u.Email, "summary", &u.Summary); err != nil {
		return err
	}
	return checkObject("metadata", u.Metadata)
}

// DeleteUser hides the caller's row and removes its key.
func (s *Store) DeleteUser(ctx context.Context) error {
	var ch change
	err := s.write(ctx, "delete user", func(c Conn, sc scope) error {
		ch = change{sc.TenantID, sc.UserID, TypeUser, sc.UserID}
		n, err := c.Exec(ctx, `UPDATE users SET deleted_at = $3, updated_at = $3
			WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`, sc.TenantID, sc.UserID, s.clock())
		if err != nil {
			return err
		}
		if n == 0 {
			return notFound("user", sc.UserID)
		}
		return dropKey(ctx, c, sc.TenantID, TypeUser, sc.UserID)
	})
	s.fuzzy.changed(ch)
	return err
}
