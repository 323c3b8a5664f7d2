package store

import (
	"context"
)

// BeginRun stores a new run and the beginning of its turn, as BeginTurn does, in one
// transaction. Without messages the session must exist. If the run's InReplyTo is "", it
// becomes the last message. If a run of the caller has the same Key, BeginRun returns
// ErrKeyUsed; RunByKey finds that run.
func (s *Store) BeginRun(ctx context.Context, r RunStart) error {
	if err := r.check(); err != nil {
		return missingFirst(ctx, err)
	}
	return s.writing(ctx, "begin run", func(w *writer) (err error) {
		if w.by, err = w.by.in(r.Session.ID); err != nil {
			return err
		}
		if err := w.insertRun(ctx, &r.Run); err != nil {
			return err
		}
		if err := countRuns(ctx, w.c, w.by.TenantID, r.Run.ID, r.Allowed); err != nil {
			return err
		}
		if r.After != nil {
			if w.by.author != "" {
				return forbiddenf("only the owner of a shared session may change or repeat what was said: send a new message")
			}
			if err := w.goBack(ctx, r.Session.ID, *r.After); err != nil {
				return err
			}
		}
		return w.beginTurn(ctx, &r.Session, r.Messages)
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
	return firstError(checkProcess(r.Process), checkObject("request", &r.Request),
		checkShort("agent_name", &r.AgentName, "agent_version", &r.AgentVersion, "agent_hash", &r.AgentHash, "model", &r.Model, "protocol", &r.Protocol, "key_hash", &r.KeyHash))
}

// insertRun writes the row of a new run, which is running.
func (w *writer) insertRun(ctx context.Context, r *Run) error {
	err := w.c.Later(ctx, Statement{
		SQL: `INSERT INTO runs
			(tenant_id, id, user_id, session_id, agent_name, model, status, protocol, message_id, in_reply_to,
			idempotency_key, key_hash, owner, created_at, updated_at, changed_at, client_id, author, agent_version, agent_hash)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $14, $15, $16, $17, $18) ON CONFLICT DO NOTHING RETURNING 1`,
		Args: []any{w.by.TenantID, r.ID, w.by.user, r.SessionID, null(r.AgentName), null(r.Model), RunRunning, null(r.Protocol),
			null(r.MessageID), null(r.InReplyTo), null(w.by.key(r.Key)), null(r.KeyHash), r.Process, w.now, null(w.by.ClientID), null(w.by.author),
			null(r.AgentVersion), null(r.AgentHash)},
		Missing: func() error { return w.runRefused(ctx, r) },
	})
	if err != nil || len(r.Request) == 0 {
		return err
	}
	return w.c.Later(ctx, Statement{
		SQL:  `INSERT INTO run_journal (tenant_id, run_id, seq, thread, data) VALUES ($1, $2, 0, '', $3)`,
		Args: []any{w.by.TenantID, r.ID, w.by.seal.value("data", r.Request)},
	})
}

// runRefused returns the reason why insertRun wrote no row.
func (w *writer) runRefused(ctx context.Context, r *Run) error {
	if r.Key != "" {
		var used Run
		found, err := runByKey(ctx, w.c, w.by, r.Key, &used)
		if err != nil {
			return err
		}
		if found {
			return ErrKeyUsed
		}
	}
	return conflictf("begin run: there is a run %q", r.ID)
}
