package store

import (
	"context"
)

// BeginRun stores what a run begins with, in one transaction; see BeginTurn.
// Without messages the session must be there. The run's own InReplyTo, when it
// is "", is the last message. ErrKeyUsed when the run's Key was used: RunByKey
// has that run.
func (s *Store) BeginRun(ctx context.Context, r RunStart) error {
	if err := r.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return s.writing(ctx, "begin run", func(w *writer) error {
		if err := w.insertRun(ctx, &r.Run); err != nil {
			return err
		}
		return w.beginTurn(ctx, &r.Session, r.Messages, r.DropAfter)
	})
}

func (r *RunStart) check() error {
	if err := r.Session.check(); err != nil {
		return err
	}
	if err := checkRows(r.Session.ID, r.Messages); err != nil {
		return err
	}
	r.Run.SessionID = r.Session.ID
	if n := len(r.Messages); n > 0 && r.Run.InReplyTo == "" {
		last := r.Messages[n-1]
		if last.ID == "" {
			id, err := newID()
			if err != nil {
				return err
			}
			last.ID = id
		}
		r.Run.InReplyTo = last.ID
	}
	return r.Run.check()
}

func (r *Run) check() error {
	for _, id := range []string{r.ID, r.MessageID, r.InReplyTo} {
		if id == "" && r.ID != "" {
			continue
		}
		if err := checkID(id); err != nil {
			return err
		}
	}
	if r.Key != "" && !printable(r.Key, maxName) {
		return invalidf("an idempotency key must be 1-%d printable characters", maxName)
	}
	return firstError(checkOwner(r.Owner), checkObject("request", &r.Request),
		checkShort("agent_name", &r.AgentName, "model", &r.Model, "protocol", &r.Protocol, "key_hash", &r.KeyHash))
}

// insertRun writes the row of a new run, which is running.
func (w *writer) insertRun(ctx context.Context, r *Run) error {
	err := w.c.Later(ctx, Statement{
		SQL: `INSERT INTO runs
			(tenant_id, id, user_id, session_id, agent_name, model, status, protocol, message_id, in_reply_to,
			idempotency_key, key_hash, owner, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14) ON CONFLICT DO NOTHING RETURNING 1`,
		Args: []any{w.sc.TenantID, r.ID, w.sc.user, r.SessionID, null(r.AgentName), null(r.Model), RunRunning, null(r.Protocol),
			null(r.MessageID), null(r.InReplyTo), null(r.Key), null(r.KeyHash), r.Owner, w.now},
		Missing: func() error { return w.runRefused(ctx, r) },
	})
	if err != nil || len(r.Request) == 0 {
		return err
	}
	return w.c.Later(ctx, Statement{
		SQL:  `INSERT INTO run_journal (tenant_id, run_id, seq, thread, data) VALUES ($1, $2, 0, '', $3)`,
		Args: []any{w.sc.TenantID, r.ID, r.Request},
	})
}

// runRefused says what is in the way of a new run.
func (w *writer) runRefused(ctx context.Context, r *Run) error {
	if r.Key != "" {
		var used Run
		found, err := runByKey(ctx, w.c, w.sc, r.Key, &used)
		if err != nil {
			return err
		}
		if found {
			return ErrKeyUsed
		}
	}
	return conflictf("begin run: there is a run %q", r.ID)
}

// beginTurn opens the session, or makes it for a message, and appends messages to it.
func (w *writer) beginTurn(ctx context.Context, sess *Session, ms []*Message, dropAfter int64) error {
	switch {
	case w.sc.IsEval:
		sess.Mode = ModeEvaluation
	case sess.Mode == "":
		sess.Mode = ModeChat
	}
	to := addTo(w.c, w.store.dialect, w.sc, sess.ID, w.now)
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

// dropMessages hides the messages of an own session after a number, but for its
// memory rows. The numbers stay taken: the session counts them apart. What it
// counted of the messages it does not count any more, summed up or not.
func (w *writer) dropMessages(ctx context.Context, session string, after int64) error {
	d := w.store.dialect
	dropped := ` WHERE tenant_id = $1 AND session_id = $2 AND ` + d.ownerOf(``) + ` = $3 AND seq > $4 AND message_type <> 'memory' AND deleted_at IS NULL`
	args := []any{w.sc.TenantID, session, w.sc.UserID, after}
	if err := w.c.Later(ctx, Statement{Args: args, SQL: `UPDATE sessions SET (message_count, dropped_messages, total_tokens, summary_tokens) =
		(SELECT sessions.message_count - count(*), sessions.dropped_messages + count(*),
		sessions.total_tokens - CAST(COALESCE(SUM(token_count), 0) AS BIGINT),
		sessions.summary_tokens - CAST(COALESCE(SUM(CASE WHEN seq <= sessions.summary_seq THEN token_count END), 0) AS BIGINT)
		FROM messages` + dropped + `)` + d.ownSession()}); err != nil {
		return err
	}
	return w.c.Later(ctx, Statement{
		SQL:  `UPDATE messages SET deleted_at = $5, updated_at = $5` + dropped,
		Args: append(args, w.now),
	})
}
