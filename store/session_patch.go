package store

import (
	"context"
	"encoding/json"
	"unicode/utf8"
)

// SessionPatch is what a person changes in a session of theirs. Nil fields and empty Metadata
// change nothing.
type SessionPatch struct {
	// Name is the session's new name, which no agent replaces. "" removes the name, and
	// an agent may name the session again.
	Name *string
	Mode string
	// Metadata are merged key by key.
	Metadata json.RawMessage
	Archived *bool
}

// PatchSession changes one of the caller's own sessions and returns it. Its place in the
// list of sessions stays, which is that of its newest turn. Only the name of a session of
// background work can be changed: p8 finds its work by the rest.
func (s *Store) PatchSession(ctx context.Context, id string, p SessionPatch) (Session, error) {
	var sess Session
	err := s.write(ctx, "change session", func(c Conn, by caller) (err error) {
		if err := by.owns(); err != nil {
			return err
		}
		if sess, err = lockSession(ctx, c, s.dialect, by, storable(id)); err != nil {
			return err
		}
		if IsBackground(sess.Mode) && (p.Mode != "" || p.Metadata != nil || p.Archived != nil) {
			return invalidf("the session is p8's own background work: only its title can be changed")
		}
		if err := p.apply(&sess); err != nil {
			return err
		}
		_, err = c.Exec(ctx, `UPDATE sessions SET name = $4, named = $5, mode = $6, metadata = $7, archived = $8`+s.dialect.ownSession(),
			by.TenantID, sess.ID, by.UserID, by.seal.value("name", null(sess.Name)), sess.Named, null(sess.Mode), by.seal.object("metadata", sess.Metadata), sess.Archived)
		return err
	})
	if err != nil {
		return Session{}, err
	}
	return s.Session(ctx, sess.ID)
}

// apply changes the session.
func (p *SessionPatch) apply(sess *Session) (err error) {
	if err := checkObject("metadata", &p.Metadata); err != nil {
		return err
	}
	if p.Name != nil {
		sess.Name, sess.Named = *p.Name, *p.Name != ""
	}
	if p.Mode != "" {
		sess.Mode = p.Mode
	}
	if p.Archived != nil {
		sess.Archived = *p.Archived
	}
	if sess.Metadata, _, err = MergeObjects(sess.Metadata, p.Metadata); err != nil {
		return err
	}
	return sess.check()
}

// lockSession reads the caller's own session; other writers of it wait.
func lockSession(ctx context.Context, c Conn, d Dialect, by caller, id string) (sess Session, err error) {
	found, err := one(ctx, c, `SELECT `+sessionColumns+` FROM sessions`+d.ownSession()+` AND deleted_at IS NULL`+d.lock(),
		sess.columns(), by.TenantID, id, by.UserID)
	if err == nil && !found {
		err = notFound("session", id)
	}
	return sess, err
}

// TitleSession names one of the caller's own sessions that has no name, and reports whether
// it did. A session that a client or an agent named keeps its name, also if both happen at
// once. A client and an agent may replace the title later.
func (s *Store) TitleSession(ctx context.Context, id, title string) (titled bool, err error) {
	title = CleanTitle(title)
	if n := utf8.RuneCountInString(title); n == 0 || n > MaxTitle {
		return false, missingFirst(ctx, invalidf("a title must have 1 to %d characters that can be seen", MaxTitle))
	}
	err = s.write(ctx, "title session", func(c Conn, by caller) error {
		titled = false
		if err := by.owns(); err != nil {
			return err
		}
		sess, err := lockSession(ctx, c, s.dialect, by, storable(id))
		if err != nil || sess.Name != "" {
			return err
		}
		_, err = c.Exec(ctx, `UPDATE sessions SET name = $4`+s.dialect.ownSession(), by.TenantID, sess.ID, by.UserID, by.seal.value("name", title))
		titled = err == nil
		return err
	})
	return titled && err == nil, err
}
