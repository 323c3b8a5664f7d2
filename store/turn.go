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
	return s.writing(ctx, "begin turn", func(w *writer) (err error) {
		if w.by, err = w.by.in(sess.ID); err != nil {
			return err
		}
		return w.beginTurn(ctx, &sess, ms)
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
func (w *writer) beginTurn(ctx context.Context, sess *Session, ms []*Message) error {
	switch {
	case w.by.author != "": // what the session is remains with its owner
		sess.Name, sess.Named, sess.Mode = "", false, ""
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
	if err := w.ensureUser(ctx); err != nil {
		return err
	}
	return to.insert(ctx, ms)
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
	return s.writeIn(ctx, "finish turn", m.SessionID, func(c Conn, by caller) error {
		to, ms := s.addTo(c, by, m.SessionID, now), []*Message{m}
		if err := to.touch(ctx, &Session{Name: sessionName}, ms); err != nil {
			return err
		}
		return to.insert(ctx, ms)
	})
}
