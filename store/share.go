package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"time"

	"github.com/p8-org/p8/identity"
)

// What a share allows.
const (
	// ShareRead reads the session: its messages, branches, runs and their events.
	ShareRead = "reader"
	// ShareWrite also has turns in it, with the rights of the guest.
	ShareWrite = "writer"
)

// Share lets another user of the tenant, or whoever has a link, into one session. Only the
// session's owner makes, lists and ends shares.
type Share struct {
	ID        string `json:"id"`
	TenantID  string `json:"-"`
	Owner     string `json:"owner_id"`
	SessionID string `json:"session_id"`
	// UserID is the guest, "" for a link.
	UserID string `json:"shared_with_user_id,omitempty"`
	// Link is true for a link, which reads only.
	Link bool `json:"link,omitempty"`
	// Role is ShareRead or ShareWrite.
	Role      string    `json:"role"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Secret is the secret of a new link. The store keeps its hash alone.
	Secret string `json:"-"`
}

const (
	// maxShares bounds the shares of a session.
	maxShares = 100
	// LinkPrefix begins the secret of a link.
	LinkPrefix = "link-"
	linkBytes  = 32
)

const shareColumns = `x.id, x.tenant_id, x.owner, x.session_id, x.user_id, x.role, x.created_at, x.expires_at`

func (x *Share) columns() []any {
	return []any{&x.ID, &x.TenantID, &x.Owner, &x.SessionID, &x.UserID, &x.Role, &x.CreatedAt, &x.ExpiresAt}
}

// PutShare shares one of the caller's own sessions with a user of the tenant, by id or e-mail
// address, or by a link if the user is "". A second share with the same user replaces the
// first and keeps its id.
func (s *Store) PutShare(ctx context.Context, x *Share) error {
	x.SessionID = storable(x.SessionID)
	if err := x.check(s.clock()); err != nil {
		return missingFirst(ctx, err)
	}
	return s.write(ctx, "share session", func(c Conn, by caller) error {
		if err := by.owns(); err != nil {
			return err
		}
		if by.Anonymous() || by.Visitor() {
			return forbiddenf("a session without a user cannot be shared: share one that you began as a user")
		}
		sess, err := lockSession(ctx, c, s.dialect, by, x.SessionID)
		if err != nil {
			return err
		}
		if IsBackground(sess.Mode) {
			return invalidf("the session is p8's own background work, which cannot be shared")
		}
		if x.UserID != "" {
			if x.UserID, err = userNamed(ctx, c, by, x.UserID); err != nil {
				return err
			}
			if x.UserID == by.UserID {
				return invalidf("the session is yours already: share it with somebody else")
			}
		}
		x.TenantID, x.Owner, x.CreatedAt = by.TenantID, by.UserID, s.clock()
		if err := s.insertShare(ctx, c, x); err != nil {
			return err
		}
		return s.audit(ctx, c, by.Identity, AuditShare, x.SessionID, AuditOK)
	})
}

func (x *Share) check(now time.Time) error {
	switch {
	case x.Role == "":
		x.Role = ShareRead
	case x.Role != ShareRead && x.Role != ShareWrite:
		return invalidf("the role of a share is reader or writer, not %.32q", x.Role)
	}
	switch {
	case x.Link != (x.UserID == ""):
		return invalidf("a session is shared either with a user or by a link")
	case x.Link && x.Role != ShareRead:
		return invalidf("a link only reads: share the session with a user, who may then write")
	case !x.ExpiresAt.IsZero() && !x.ExpiresAt.After(now):
		return invalidf("the share would expire in the past: name a later time")
	case x.UserID != "" && !printable(x.UserID, maxName):
		return invalidf("the user must be 1-%d printable characters", maxName)
	}
	x.ExpiresAt = x.ExpiresAt.UTC().Truncate(time.Microsecond)
	return nil
}

// userNamed returns the id of a user of the tenant who has been here, by id or address.
func userNamed(ctx context.Context, c Conn, by caller, name string) (id string, err error) {
	found, err := one(ctx, c, `SELECT id FROM users WHERE tenant_id = $1 AND id IN ($2, $3) AND deleted_at IS NULL ORDER BY id = $2 DESC LIMIT 1`, []any{&id},
		by.TenantID, storable(name), identity.UserID(name))
	if err != nil || found {
		return id, err
	}
	n := 0
	if strings.Contains(name, "@") {
		err = c.Query(ctx, `SELECT id FROM users WHERE tenant_id = $1 AND LOWER(email) = LOWER($2) AND deleted_at IS NULL LIMIT 2`, func(r Row) error {
			n++
			return r.Scan(&id)
		}, by.TenantID, storable(strings.TrimSpace(name)))
	}
	if err == nil && n != 1 {
		err = notFound("user", name)
	}
	return id, err
}

// insertShare writes a share of a session, whose row is locked.
func (s *Store) insertShare(ctx context.Context, c Conn, x *Share) error {
	var err error
	if x.ID, err = newID(); err != nil {
		return err
	}
	var hash, expires any
	if x.Link {
		var secret [linkBytes]byte
		if _, err := rand.Read(secret[:]); err != nil {
			return err
		}
		x.Secret = LinkPrefix + base64.RawURLEncoding.EncodeToString(secret[:])
		hash = secretHash(x.Secret)
	} else if _, err := one(ctx, c, `SELECT id, created_at FROM session_shares WHERE tenant_id = $1 AND owner = $2 AND session_id = $3 AND user_id = $4`,
		[]any{&x.ID, &x.CreatedAt}, x.TenantID, x.Owner, x.SessionID, x.UserID); err != nil {
		return err
	}
	if !x.ExpiresAt.IsZero() {
		expires = x.ExpiresAt
	}
	var others int64
	if _, err := one(ctx, c, `SELECT COUNT(*) FROM session_shares WHERE tenant_id = $1 AND owner = $2 AND session_id = $3 AND id <> $4`,
		[]any{&others}, x.TenantID, x.Owner, x.SessionID, x.ID); err != nil {
		return err
	}
	if others >= maxShares {
		return conflictf("the session has %d shares, which is the most: end one first", maxShares)
	}
	_, err = c.Exec(ctx, `INSERT INTO session_shares (tenant_id, id, owner, session_id, user_id, role, secret_hash, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (tenant_id, id) DO UPDATE SET role = excluded.role, expires_at = excluded.expires_at`,
		x.TenantID, x.ID, x.Owner, x.SessionID, null(x.UserID), x.Role, hash, x.CreatedAt, expires)
	return err
}

func secretHash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Shares lists the shares of one of the caller's own sessions, the oldest first, expired ones
// too.
func (s *Store) Shares(ctx context.Context, sessionID string) (list []Share, err error) {
	sessionID = storable(sessionID)
	err = s.read(ctx, "list shares", func(c Conn, by caller) error {
		if err := by.owns(); err != nil {
			return err
		}
		found, err := one(ctx, c, `SELECT 1 FROM sessions`+s.dialect.ownSession()+` AND deleted_at IS NULL`, []any{new(int64)}, by.TenantID, sessionID, by.UserID)
		if err != nil || !found {
			if err == nil {
				err = notFound("session", sessionID)
			}
			return err
		}
		return c.Query(ctx, `SELECT `+shareColumns+` FROM session_shares x WHERE x.tenant_id = $1 AND x.owner = $2 AND x.session_id = $3
			ORDER BY x.created_at, x.id`, func(r Row) error {
			list = append(list, Share{})
			x := &list[len(list)-1]
			err := r.Scan(x.columns()...)
			x.Link = x.UserID == ""
			return err
		}, by.TenantID, by.UserID, sessionID)
	})
	return list, err
}

// DeleteShare ends a share of one of the caller's own sessions, or one that the caller was
// given.
func (s *Store) DeleteShare(ctx context.Context, sessionID, id string) error {
	return s.write(ctx, "end share", func(c Conn, by caller) error {
		if err := by.owns(); err != nil {
			return err
		}
		n := int64(0)
		if !by.Anonymous() {
			var err error
			if n, err = c.Exec(ctx, `DELETE FROM session_shares WHERE tenant_id = $1 AND id = $2 AND session_id = $3 AND (owner = $4 OR user_id = $4)`,
				by.TenantID, storable(id), storable(sessionID), by.UserID); err != nil {
				return err
			}
		}
		if n == 0 {
			return notFound("share", id)
		}
		return s.audit(ctx, c, by.Identity, AuditUnshare, sessionID, AuditOK)
	})
}

// openShares joins the shares x that have not expired with their sessions; $1 is the time.
func (d Dialect) openShares(columns string) string {
	return `SELECT ` + columns + ` FROM session_shares x JOIN sessions s ON s.tenant_id = x.tenant_id AND s.id = x.session_id AND ` +
		d.ownerOf(`s.`) + ` = x.owner AND s.deleted_at IS NULL WHERE (x.expires_at IS NULL OR x.expires_at > $1)`
}

// OpenShare returns the caller as a guest of the session that was shared with them. A share
// that is not there, has expired or is another user's is ErrNotFound.
func (s *Store) OpenShare(ctx context.Context, id string) (identity.Identity, Share, error) {
	var x Share
	err := s.read(ctx, "open share", func(c Conn, by caller) error {
		found, err := one(ctx, c, s.dialect.openShares(shareColumns)+` AND x.tenant_id = $2 AND x.id = $3 AND x.user_id = $4`,
			x.columns(), s.clock(), by.TenantID, storable(id), by.UserID)
		if err == nil && (!found || by.Anonymous()) {
			err = notFound("share", "")
		}
		return err
	})
	if err != nil {
		return identity.Identity{}, Share{}, err
	}
	who, err := identity.From(ctx)
	return x.guest(who), x, err
}

// OpenLink returns a guest of the session whose link has the secret: nobody of the tenant, who
// only reads. The answer to a wrong, an expired and a withdrawn secret is the same
// ErrNotFound. The secret stands for a caller and a tenant.
func (m Maintenance) OpenLink(ctx context.Context, secret string) (identity.Identity, Share, error) {
	var x Share
	if len(secret) != len(LinkPrefix)+base64.RawURLEncoding.EncodedLen(linkBytes) {
		secret = "" // no link has the hash of that
	}
	err := m.read(ctx, "open link", func(c Conn) error {
		found, err := one(ctx, c, m.store.dialect.openShares(shareColumns)+` AND x.secret_hash = $2`, x.columns(), m.store.clock(), secretHash(secret))
		if err == nil && !found {
			err = notFound("share", "")
		}
		return err
	})
	if err != nil {
		return identity.Identity{}, Share{}, err
	}
	x.Link = true
	return x.guest(identity.Identity{TenantID: x.TenantID, Role: identity.RoleReader}), x, nil
}

// guest returns the caller in the shared session.
func (x *Share) guest(who identity.Identity) identity.Identity {
	if x.Role != ShareWrite {
		who.Role = identity.RoleReader
	}
	who.Shared = identity.Shared{ID: x.ID, Owner: x.Owner, Session: x.SessionID}
	who.SessionID = x.SessionID
	return who
}

// SharedSessions lists the sessions that others have shared with the caller, the most
// recently used first.
func (s *Store) SharedSessions(ctx context.Context, limit int, cursor string) (list []Session, next string, err error) {
	limit = page(limit, 50, 500)
	err = s.read(ctx, "list shared sessions", func(c Conn, by caller) error {
		if by.Anonymous() || by.guest() {
			return nil
		}
		columns := `s.` + strings.Join(strings.FieldsFunc(sessionColumns, func(r rune) bool { return strings.ContainsRune(", \t\n", r) }), `, s.`)
		q := newQuery(s.dialect.openShares(columns + s.dialect.firstMessage(`s`) + `, ` + shareColumns))
		q.args = []any{s.clock()}
		q.add(` AND x.tenant_id = `).arg(by.TenantID)
		q.add(` AND x.user_id = `).arg(by.UserID)
		if err := q.beyondIn(cursor, "s.updated_at", "x.id", "<"); err != nil {
			return err
		}
		q.add(` ORDER BY s.updated_at DESC, x.id DESC LIMIT `).arg(limit + 1)
		return c.Query(ctx, q.String(), func(r Row) error {
			list = append(list, Session{Share: new(Share)})
			sess := &list[len(list)-1]
			err := r.Scan(append(append(sess.columns(), &sess.Title), sess.Share.columns()...)...)
			sess.setTitle()
			sess.Metadata = nil // the owner's
			return err
		}, q.args...)
	})
	if err != nil {
		return nil, "", err
	}
	list, next = pageOf(list, limit, func(s *Session) (time.Time, string) { return s.UpdatedAt, s.Share.ID })
	return list, next, nil
}
