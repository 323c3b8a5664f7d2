package store

import (
	"context"
	"math"
	"time"
)

// maxJournalEntries bounds what a run may remember.
const maxJournalEntries = 100_000

// WriteRun stores what is new about a run of the caller, in one transaction, and
// says that its owner lives. stop reports whether somebody asked it to stop.
// Events go to the end of the log: one that is in it already is ErrInvalid. A
// request that the run has asked before, by its id, stays as it is.
func (s *Store) WriteRun(ctx context.Context, w RunWrite) (stop bool, err error) {
	pieces, err := w.check()
	if err != nil {
		return false, missingFirst(ctx, err)
	}
	err = s.write(ctx, "write run", func(c Conn, sc scope) error {
		now := s.clock()
		session, err := w.beat(ctx, c, sc, now, &stop)
		if err != nil {
			return err
		}
		for i, e := range w.Events {
			if _, err := c.Exec(ctx, `INSERT INTO run_events (tenant_id, run_id, first_seq, last_seq, data) VALUES ($1, $2, $3, $4, $5)`,
				sc.TenantID, w.RunID, e.First, e.Last, pieces[i]); err != nil {
				return err
			}
		}
		if err := w.remember(ctx, c, sc); err != nil {
			return err
		}
		if err := w.ask(ctx, c, sc, session, now); err != nil {
			return err
		}
		if err := w.say(ctx, c, sc, session, now); err != nil {
			return err
		}
		return w.end(ctx, c, sc, now)
	})
	return stop && err == nil, err
}

// check gives the pieces as texts that can be stored.
func (w *RunWrite) check() (pieces []string, err error) {
	if err := firstError(checkID(w.RunID), checkOwner(w.Owner)); err != nil {
		return nil, err
	}
	if n := max(len(w.Events), len(w.Journal), len(w.Requests), len(w.Messages)); n > maxList {
		return nil, invalidf("%d entries at once, more than %d", n, maxList)
	}
	var last int64
	pieces = make([]string, len(w.Events))
	for i, e := range w.Events {
		if e.First <= last || e.Last < e.First {
			return nil, invalidf("the events %d to %d do not follow %d", e.First, e.Last, last)
		}
		if len(e.Data) == 0 || len(e.Data) > maxPiece {
			return nil, invalidf("a piece of a log must be 1 byte to %d MiB", maxPiece>>20)
		}
		last, pieces[i] = e.Last, string(e.Data)
		if err := cleanText("events", &pieces[i]); err != nil {
			return nil, err
		}
	}
	for i := range w.Journal {
		e := &w.Journal[i]
		if len(e.Data) == 0 || len(e.Data) > maxJournal {
			return nil, invalidf("an entry of a journal must be 1 byte to %d MiB", maxJournal>>20)
		}
		if err := firstError(checkJSON("journal", &e.Data), checkShort("thread", &e.Thread)); err != nil {
			return nil, err
		}
	}
	for i := range w.Requests {
		if err := w.Requests[i].check(); err != nil {
			return nil, err
		}
	}
	return pieces, w.checkEnd()
}

func (w *RunWrite) checkEnd() error {
	switch w.Status {
	case "", RunRunning, RunWaiting, RunInterrupted, RunCompleted, RunFailed, RunCancelled:
	default:
		return invalidf("%.32q is not a status that a run can be given", w.Status)
	}
	for _, m := range w.rows() {
		if err := m.check(); err != nil {
			return err
		}
	}
	return firstError(checkShort("reason", &w.Reason), cleanText("name", &w.SessionName), checkObject("metadata", &w.SessionMetadata))
}

// rows are the messages and the answer.
func (w *RunWrite) rows() []*Message {
	if w.Answer == nil {
		return w.Messages
	}
	return append(w.Messages[:len(w.Messages):len(w.Messages)], w.Answer)
}

// beat says that the owner lives and how long the log is now. It gives the run's
// session.
func (w *RunWrite) beat(ctx context.Context, c Conn, sc scope, now time.Time, stop *bool) (session string, err error) {
	first, last, size := int64(math.MaxInt64), any(nil), 0
	if n := len(w.Events); n > 0 {
		first, last = w.Events[0].First, w.Events[n-1].Last
	}
	for _, e := range w.Events {
		size += len(e.Data)
	}
	found, err := one(ctx, c, `UPDATE runs SET updated_at = $5, last_seq = COALESCE($6, last_seq), log_bytes = log_bytes + $7`+ownRow+`
		AND owner = $4 AND rested_at IS NULL AND last_seq < $8 RETURNING session_id, stop_requested`,
		[]any{&session, stop}, sc.TenantID, w.RunID, sc.user, w.Owner, now, last, size, first)
	if err != nil || found {
		return session, err
	}
	var end int64
	var mine bool
	found, err = one(ctx, c, `SELECT last_seq, owner = $4 AND rested_at IS NULL FROM runs`+ownRow, []any{&end, &mine},
		sc.TenantID, w.RunID, sc.user, w.Owner)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", notFound("run", w.RunID)
	case !mine:
		return "", ErrNotOwner
	}
	return "", invalidf("the log of the run has %d events, number %d is among them", end, first)
}

// remember writes the journal.
func (w *RunWrite) remember(ctx context.Context, c Conn, sc scope) error {
	if len(w.Journal) == 0 {
		return nil
	}
	var last int
	if _, err := one(ctx, c, `SELECT COALESCE(MAX(seq), 0) FROM run_journal WHERE tenant_id = $1 AND run_id = $2`,
		[]any{&last}, sc.TenantID, w.RunID); err != nil {
		return err
	}
	if last+len(w.Journal) > maxJournalEntries {
		return invalidf("a run's journal has at most %d entries", maxJournalEntries)
	}
	for i, e := range w.Journal {
		if _, err := c.Exec(ctx, `INSERT INTO run_journal (tenant_id, run_id, seq, thread, data) VALUES ($1, $2, $3, $4, $5)`,
			sc.TenantID, w.RunID, last+1+i, e.Thread, e.Data); err != nil {
			return err
		}
	}
	return nil
}

// say appends the messages and touches the session where there is something to
// touch.
func (w *RunWrite) say(ctx context.Context, c Conn, sc scope, session string, now time.Time) error {
	rows := w.rows()
	for _, m := range rows {
		m.SessionID = session
	}
	if w.Answer == nil && w.SessionName == "" && len(w.SessionMetadata) == 0 {
		if len(rows) == 0 {
			return nil
		}
		last, err := countIn(ctx, c, sc, session, len(rows), tokensOf(rows))
		if err != nil {
			return err
		}
		return insertAll(ctx, c, sc, rows, last, now)
	}
	return finishTurn(ctx, c, sc, Session{ID: session, Name: w.SessionName, Metadata: w.SessionMetadata}, rows, now)
}

// end remembers which message is the answer, and lets go of a run that does not
// go on.
func (w *RunWrite) end(ctx context.Context, c Conn, sc scope, now time.Time) error {
	answer := ""
	if w.Answer != nil {
		answer = w.Answer.ID
	}
	switch {
	case w.Status != "" && w.Status != RunRunning:
		return restRun(ctx, c, sc.TenantID, w.RunID, rest{w.Status, w.Reason, answer, now})
	case answer == "":
		return nil
	}
	_, err := c.Exec(ctx, `UPDATE runs SET message_id = $3 WHERE tenant_id = $1 AND id = $2`, sc.TenantID, w.RunID, answer)
	return err
}

// rest is how a run stops running. Its answer is "" for none.
type rest struct {
	status, reason, answer string
	at                     time.Time
}

// restRun ends a run or lets it wait. The caller holds the run's row.
func restRun(ctx context.Context, c Conn, tenant, id string, r rest) error {
	// Of one that has ended no request stays open.
	ended, open := any(nil), 1
	if runEnded(r.status) {
		ended, open = r.at, 0
	}
	if _, err := c.Exec(ctx, `UPDATE runs SET status = $3, reason = $4, message_id = COALESCE($5, message_id), rested_at = $6, ended_at = $7,
		kept_bytes = log_bytes, open_requests = open_requests * $8 WHERE tenant_id = $1 AND id = $2`,
		tenant, id, r.status, r.reason, null(r.answer), r.at, ended, open); err != nil || ended == nil {
		return err
	}
	if err := cancelRequests(ctx, c, tenant, id, r.at); err != nil {
		return err
	}
	_, err := c.Exec(ctx, `DELETE FROM run_journal WHERE tenant_id = $1 AND run_id = $2`, tenant, id)
	return err
}
