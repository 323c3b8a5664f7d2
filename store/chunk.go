package store

import (
	"context"
	"encoding/json"
	"errors"
)

// The types of moments that p8 itself makes; others are the caller's.
const (
	MomentSessionChunk  = "session_chunk"
	MomentContentUpload = "content_upload"
	MomentDream         = "dream"
	MomentObservation   = "observation"
	MomentReminder      = "reminder"
	MomentNotification  = "notification"
	MomentWebSearch     = "web_search"
	MomentNote          = "note"
)

// OwnMoment reports whether moments of a type are p8's own work.
func OwnMoment(kind string) bool {
	switch kind {
	case MomentSessionChunk, MomentContentUpload, MomentDream, MomentObservation, MomentReminder, MomentNotification, MomentWebSearch:
		return true
	}
	return false
}

// Chunk is a part of a session that a moment sums up. The moment's metadata holds
// chunk_index, first_seq, last_seq, message_count and token_count as of its creation.
// PutChunk counts the session's summed-up tokens anew, so that they never exceed its
// total.
type Chunk struct {
	SessionID string
	// AfterSeq is the session's SummarySeq when its messages were read, LastSeq the
	// last message that the moment covers.
	AfterSeq, LastSeq int64
	Moment            *Moment
	// Memory is a memory row to append to the session; nil for none.
	Memory *Message
}

// maxLatest bounds a session's latest_summary, in characters.
const maxLatest = 200

// PutChunk stores a moment of the type session_chunk and marks its messages as summed up
// in the session (SummarySeq, SummaryTokens, Chunks, MemorySeq; in its metadata
// latest_moment_id, latest_summary of 200 characters and moment_count), in one
// transaction. If another process has summed them up since AfterSeq was read, it returns
// ErrConflict and writes nothing, so exactly one process succeeds. If another moment of
// the caller has the name, it returns ErrNameTaken.
func (s *Store) PutChunk(ctx context.Context, c Chunk) error {
	if err := c.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return s.writing(ctx, "store a part of a session", func(w *writer) error {
		// The lock on the session's row orders concurrent calls.
		found, err := w.cover(ctx, &c)
		if err == nil && !found {
			err = w.uncovered(ctx, &c)
		}
		if err == nil {
			err = w.putChunk(ctx, &c)
		}
		if err != nil || c.Memory == nil {
			return err
		}
		return w.putMemory(ctx, c.Memory)
	})
}

func (c *Chunk) check() error {
	switch {
	case c.Moment == nil:
		return invalidf("a part of a session has a moment")
	case c.AfterSeq < 0 || c.LastSeq <= c.AfterSeq:
		return invalidf("the messages %d to %d are none", c.AfterSeq+1, c.LastSeq)
	}
	c.Moment.MomentType, c.Moment.SourceSessionID = MomentSessionChunk, c.SessionID
	if err := firstError(CheckSessionID(c.SessionID), c.Moment.check()); err != nil || c.Memory == nil {
		return err
	}
	c.Memory.Type, c.Memory.SessionID = MessageMemory, c.SessionID
	return c.Memory.check()
}

// cover marks a session's messages as summed up. It returns false if they are not there
// or SummarySeq is not AfterSeq any more. Memory rows are counted when they are written.
func (w *writer) cover(ctx context.Context, c *Chunk) (bool, error) {
	d := w.store.dialect
	n, err := w.c.Exec(ctx, `UPDATE sessions SET summary_seq = $4, chunks = chunks + 1,
		summary_tokens = summary_tokens + (SELECT CAST(COALESCE(SUM(m.token_count), 0) AS BIGINT) FROM messages m
		WHERE m.tenant_id = $1 AND m.session_id = $2 AND `+d.ownerOf(`m.`)+` = $3 AND m.seq > $5 AND m.seq <= $4
		AND m.message_type <> 'memory' AND m.deleted_at IS NULL)`+d.ownSession()+` AND deleted_at IS NULL
		AND summary_seq = $5 AND message_count + dropped_messages >= $4
		AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.tenant_id = $1 AND m.session_id = $2 AND `+d.ownerOf(`m.`)+` = $3 AND m.seq = $4 AND m.cut)`,
		w.by.TenantID, c.SessionID, w.by.UserID, c.LastSeq, c.AfterSeq)
	return n == 1, err
}

// uncovered returns the reason why cover changed nothing.
func (w *writer) uncovered(ctx context.Context, c *Chunk) error {
	var covered, last int64
	found, err := one(ctx, w.c, `SELECT summary_seq, message_count + dropped_messages FROM sessions`+w.store.dialect.ownSession()+` AND deleted_at IS NULL`,
		[]any{&covered, &last}, w.by.TenantID, c.SessionID, w.by.UserID)
	switch {
	case err != nil:
		return err
	case !found:
		return notFound("session", c.SessionID)
	case covered == c.AfterSeq && last >= c.LastSeq:
		return conflictf("the message number %d of the session %.128q is on another branch now", c.LastSeq, c.SessionID)
	case covered == c.AfterSeq:
		return invalidf("the session has %d messages, number %d is none of them", last, c.LastSeq)
	}
	return conflictf("the messages after number %d of the session %.128q were summed up meanwhile", c.AfterSeq, c.SessionID)
}

// putChunk writes the moment and the session's metadata about it.
func (w *writer) putChunk(ctx context.Context, c *Chunk) error {
	m := c.Moment
	m.ID = "" // it may be that of a try before
	p, err := moments.place(ctx, w.c, w.store.dialect.lock(), w.by, w.by.user, m)
	if err != nil {
		return err
	}
	if p.live {
		return ErrNameTaken
	}
	if err := w.replace(ctx, moments, p, m, w.by.user); err != nil {
		if errors.Is(err, ErrConflict) {
			err = ErrNameTaken
		}
		return err
	}
	if _, err := w.c.Exec(ctx, `UPDATE moments SET first_seq = $3, last_seq = $4 WHERE tenant_id = $1 AND id = $2`,
		w.by.TenantID, m.ID, c.AfterSeq+1, c.LastSeq); err != nil {
		return err
	}
	var old json.RawMessage
	var chunks int
	own := w.store.dialect.ownSession()
	if _, err := one(ctx, w.c, `SELECT metadata, chunks FROM sessions`+own, []any{&old, &chunks},
		w.by.TenantID, c.SessionID, w.by.UserID); err != nil {
		return err
	}
	merged, _, err := MergeObjects(old, encode(latestOf(m, chunks)))
	if err != nil {
		return err
	}
	_, err = w.c.Exec(ctx, `UPDATE sessions SET metadata = $4`+own, w.by.TenantID, c.SessionID, w.by.UserID, w.by.seal.object("metadata", merged))
	return err
}

// latestOf returns what the metadata of a session say about its moments, of which m is the newest.
func latestOf(m *Moment, chunks int) map[string]any {
	return map[string]any{"latest_moment_id": m.ID, "latest_summary": clip(m.Summary, maxLatest), "moment_count": chunks}
}

// putMemory appends a memory row to the caller's session. Its tokens count as summed up,
// because the row is a summary itself.
func (w *writer) putMemory(ctx context.Context, m *Message) error {
	to := w.store.addTo(w.c, w.by, m.SessionID, w.now)
	if err := to.append(ctx, []*Message{m}); err != nil {
		return err
	}
	return w.c.Later(ctx, Statement{
		SQL: `UPDATE sessions SET memory_seq = message_count + dropped_messages, summary_tokens = summary_tokens + $4` +
			w.store.dialect.ownSession(),
		Args: []any{w.by.TenantID, m.SessionID, w.by.UserID, m.TokenCount},
	})
}

// PutSession creates or updates the caller's session without a message: it sets name,
// description, mode and agent where they are not empty, and merges metadata key by key.
func (s *Store) PutSession(ctx context.Context, sess Session) error {
	if err := sess.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return s.write(ctx, "store session", func(c Conn, by caller) error {
		if err := by.owns(); err != nil {
			return err
		}
		to := s.addTo(c, by, sess.ID, s.clock())
		return to.open(ctx, &sess, nil)
	})
}

// ChangeSession reads the caller's session, calls change with it and stores the result as
// PutSession does, in one transaction that excludes other writers of the session. change
// may be called more than once. A session that is not there is ErrNotFound.
func (s *Store) ChangeSession(ctx context.Context, id string, change func(Session) (Session, error)) error {
	id = storable(id)
	return s.writeIn(ctx, "change session", id, func(c Conn, by caller) error {
		sess, err := lockSession(ctx, c, s.dialect, by, id)
		if err != nil {
			return err
		}
		if sess, err = change(sess); err != nil {
			return err
		}
		sess.ID = id
		if err := sess.check(); err != nil {
			return err
		}
		to := s.addTo(c, by, id, s.clock())
		return to.touch(ctx, &sess, nil)
	})
}
