package store

import "context"

// BeginTurn stores the beginning of a turn in one transaction: the caller's row in users
// if it is new, the session, and at least one message, the user's last. It creates the
// session or sets its agent, name, description and mode where they are not empty, and
// merges its metadata key by key. It sets ID, Seq and CreatedAt of the messages. The mode
// is "evaluation" for an identity with IsEval, else the given one, else "chat".
//
// If the caller has deleted the session, BeginTurn returns ErrNotFound and writes nothing.
// Sessions of other users may have the same id.
func (s *Store) BeginTurn(ctx context.Context, sess Session, ms ...*Message) error {
	if err := sess.check(); err != nil {
		return missingFirst(ctx, err)
	}
	if len(ms) == 0 {
		return missingFirst(ctx, invalidf("a turn begins with a message"))
	}
	if err := checkRows(sess.ID, ms); err != nil {
		return missingFirst(ctx, err)
	}
	return s.writing(ctx, "begin turn", func(w *writer) error {
		return w.beginTurn(ctx, &sess, ms, 0)
	})
}

// checkRows checks messages of one session.
func checkRows(session string, ms []*Message) error {
	for _, m := range ms {
		m.SessionID = session
		if err := m.check(); err != nil {
			return err
		}
	}
	return nil
}

// beginTurn creates or updates the session and appends messages to it.
func (w *writer) beginTurn(ctx context.Context, sess *Session, ms []*Message, dropAfter int64) error {
	switch {
	case w.by.IsEval:
		sess.Mode = ModeEvaluation
	case sess.Mode == "":
		sess.Mode = ModeChat
	}
	to := w.store.addTo(w.c, w.by, sess.ID, w.now)
	open := to.open
	if len(ms) == 0 {
		open = to.touch
	}
	if err := open(ctx, sess, ms); err != nil {
		return err
	}
	if dropAfter > 0 {
		if err := w.dropMessages(ctx, sess.ID, dropAfter); err != nil {
			return err
		}
	}
	if err := w.ensureUser(ctx); err != nil {
		return err
	}
	return to.insert(ctx, ms)
}

// dropMessages deletes the messages of the caller's session after a number, except its
// memory rows. Their numbers are not used again: the session counts dropped messages
// apart, as it does shares. It subtracts their tokens from the session's totals.
func (w *writer) dropMessages(ctx context.Context, session string, after int64) error {
	d := w.store.dialect
	dropped := ` WHERE tenant_id = $1 AND session_id = $2 AND ` + d.ownerOf(``) + ` = $3 AND seq > $4 AND message_type <> 'memory' AND deleted_at IS NULL`
	args := []any{w.by.TenantID, session, w.by.UserID, after}
	if err := w.c.Later(ctx, Statement{Args: args, SQL: `UPDATE sessions SET (message_count, dropped_messages, total_tokens, summary_tokens) =
		(SELECT sessions.message_count - count(CASE WHEN ` + notShare + ` THEN 1 END),
		sessions.dropped_messages + count(CASE WHEN ` + notShare + ` THEN 1 END),
		sessions.total_tokens - CAST(COALESCE(SUM(token_count), 0) AS BIGINT),
		sessions.summary_tokens - CAST(COALESCE(SUM(CASE WHEN seq <= sessions.summary_seq THEN token_count END), 0) AS BIGINT)
		FROM messages m` + dropped + `)` + d.ownSession()}); err != nil {
		return err
	}
	return w.c.Later(ctx, Statement{
		SQL:  `UPDATE messages SET deleted_at = $5, updated_at = $5` + dropped,
		Args: append(args, w.now),
	})
}

// FinishTurn appends the answer and updates its session in one transaction: the totals,
// the time of the last turn and, unless sessionName is "", the name.
func (s *Store) FinishTurn(ctx context.Context, m *Message, sessionName string) error {
	err := m.check()
	if err == nil {
		err = cleanText("name", &sessionName)
	}
	if err != nil {
		return missingFirst(ctx, err)
	}
	now := s.clock()
	return s.write(ctx, "finish turn", func(c Conn, by caller) error {
		to, ms := s.addTo(c, by, m.SessionID, now), []*Message{m}
		if err := to.touch(ctx, &Session{Name: sessionName}, ms); err != nil {
			return err
		}
		return to.insert(ctx, ms)
	})
}
