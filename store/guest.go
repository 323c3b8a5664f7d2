package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/p8-org/p8/identity"
)

// A guest is a caller whose identity has a Shared session ([Store.OpenShare] gives it). In
// that context the session functions of the store know that session alone, as its owner's,
// whatever ids a guest names: sessions of the guest's own are not found. All other rows, and
// the guest's tools, keep to the rights of the guest. A guest who may only read has the role
// of a reader, so no write is possible.

// guest reports whether the caller is in a session of another user.
func (by caller) guest() bool { return by.Shared.ID != "" }

// in returns the caller as who they are in a session: the owner of the session, with the
// guest as the author. Anybody else stays who they are.
func (by caller) in(session string) (caller, error) {
	switch {
	case !by.guest():
		return by, nil
	case session != by.Shared.Session || by.Shared.Owner == "":
		return by, notFound("session", session)
	}
	by.author, by.UserID, by.user = guestName(by.Identity), by.Shared.Owner, by.Shared.Owner
	return by, nil
}

// guestName is the author of what a guest writes.
func guestName(id identity.Identity) string {
	if id.UserID == "" {
		return anonymousOwner
	}
	return id.UserID
}

// person returns the identity of the one who acts: the guest in a session of another user.
func (by caller) person() identity.Identity {
	id := by.Identity
	if by.author != "" {
		id.UserID = by.author
	}
	return id
}

// payer returns the user whose quotas count: who speaks in a session of another user pays.
func (by caller) payer() string {
	if by.author == anonymousOwner {
		return ""
	}
	return by.person().Payer()
}

// ofRun is in for a run.
func (by caller) ofRun(ctx context.Context, c Conn, id string) (caller, error) {
	if !by.guest() {
		return by, nil
	}
	owner, err := by.in(by.Shared.Session)
	if err != nil {
		return by, err
	}
	found, err := one(ctx, c, `SELECT 1 FROM runs`+ownRow+` AND session_id = $4`, []any{new(int64)},
		by.TenantID, storable(id), owner.user, by.Shared.Session)
	if err == nil && !found {
		err = notFound("run", id)
	}
	return owner, err
}

// owns returns ErrForbidden for a guest, in a function that only owners may use.
func (by caller) owns() error {
	if by.guest() {
		return forbiddenf("the session is shared with you: only its owner may do this")
	}
	return nil
}

// key returns the idempotency key of the caller's run as it is stored. Those of a guest are
// apart from those of the owner.
func (by caller) key(key string) string {
	if by.author == "" || key == "" {
		return key
	}
	sum := sha256.Sum256([]byte(by.author + "\x00" + by.Shared.Session + "\x00" + key))
	return "guest " + hex.EncodeToString(sum[:])
}

// sharedSession returns the session of a guest, "" for other callers.
func sharedSession(ctx context.Context) string {
	id, err := identity.From(ctx)
	if err != nil {
		return ""
	}
	return id.Shared.Session
}

// readIn is read for what belongs to a session.
func (s *Store) readIn(ctx context.Context, op, session string, fn func(Conn, caller) error) error {
	return s.read(ctx, op, inSession(session, fn))
}

// writeIn is write for what belongs to a session.
func (s *Store) writeIn(ctx context.Context, op, session string, fn func(Conn, caller) error) error {
	return s.write(ctx, op, inSession(session, fn))
}

func inSession(session string, fn func(Conn, caller) error) func(Conn, caller) error {
	return func(c Conn, by caller) error {
		by, err := by.in(session)
		if err != nil {
			return err
		}
		return fn(c, by)
	}
}

// readRun is read for what belongs to a run, writeRun is write.
func (s *Store) readRun(ctx context.Context, op, id string, fn func(Conn, caller) error) error {
	return s.read(ctx, op, inRun(ctx, id, fn))
}

func (s *Store) writeRun(ctx context.Context, op, id string, fn func(Conn, caller) error) error {
	return s.write(ctx, op, inRun(ctx, id, fn))
}

// changeRun is change for what belongs to a run.
func (s *Store) changeRun(ctx context.Context, op, id string, fn func(Conn, caller) error) error {
	return s.change(ctx, op, inRun(ctx, id, fn))
}

func inRun(ctx context.Context, id string, fn func(Conn, caller) error) func(Conn, caller) error {
	return func(c Conn, by caller) error {
		by, err := by.ofRun(ctx, c, id)
		if err != nil {
			return err
		}
		return fn(c, by)
	}
}
