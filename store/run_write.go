package store

import (
	"context"
	"math"
	"time"
)

// maxJournalEntries bounds the journal of a run.
const maxJournalEntries = 100_000

// WriteRun stores a change of the caller's run in one transaction, which also proves that
// the run's process lives. stop reports whether StopRun was called. Events are appended to the
// log; an event that the log has already is ErrInvalid. A request whose id the run has
// used before is not changed.
func (s *Store) WriteRun(ctx context.Context, w RunWrite) (stop bool, err error) {
	pieces, err := w.check()
	if err != nil {
		return false, missingFirst(ctx, err)
	}
	err = s.changeRun(ctx, "write run", w.RunID, func(c Conn, by caller) error {
		to := s.addToRun(c, by, w.RunID, s.clock())
		if err := w.beat(ctx, c, by, to.now, &to.id, &stop); err != nil {
			return err
		}
		for i, e := range w.Events {
			if err := c.Later(ctx, Statement{
				SQL:  `INSERT INTO run_events (tenant_id, run_id, first_seq, last_seq, data) VALUES ($1, $2, $3, $4, $5)`,
				Args: []any{by.TenantID, w.RunID, e.First, e.Last, by.seal.value("data", pieces[i])},
			}); err != nil {
				return err
			}
		}
		if err := w.remember(ctx, c, by); err != nil {
			return err
		}
		if err := w.ask(ctx, c, by, to.now); err != nil {
			return err
		}
		if err := w.say(ctx, &to); err != nil {
			return err
		}
		return w.end(ctx, c, by, to.now)
	})
	return stop && err == nil, err
}

// check returns the pieces of the log as texts that can be stored.
func (w *RunWrite) check() (pieces []string, err error) {
	if err := firstError(checkID(w.RunID), checkProcess(w.Process)); err != nil {
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

// rows returns the messages and the answer.
func (w *RunWrite) rows() []*Message {
	if w.Answer == nil {
		return w.Messages
	}
	return append(w.Messages[:len(w.Messages):len(w.Messages)], w.Answer)
}

// beat updates the run's time and the length of its log. It reads the run's session, and
// whether it was asked to stop.
func (w *RunWrite) beat(ctx context.Context, c Conn, by caller, now time.Time, session *string, stop *bool) error {
	first, last, size := int64(math.MaxInt64), any(nil), 0
	if n := len(w.Events); n > 0 {
		first, last = w.Events[0].First, w.Events[n-1].Last
	}
	for _, e := range w.Events {
		size += len(e.Data)
	}
	const (
		lives = `UPDATE runs SET updated_at = $5, last_seq = COALESCE($6, last_seq), log_bytes = log_bytes + $7` + ownRow + `
			AND owner = $4 AND rested_at IS NULL AND last_seq < $8`
		known = ` RETURNING session_id, stop_requested`
	)
	sql, args := lives+known, append(make([]any, 0, 9), by.TenantID, w.RunID, by.user, w.Process, now, last, size, first)
	if n := len(w.Journal); n > 0 {
		sql, args = lives+` AND $9 >= `+lastEntry+known, append(args, maxJournalEntries-n)
	}
	return c.Later(ctx, Statement{
		SQL: sql, Args: args,
		Each:    func(r Row) error { return r.Scan(session, stop) },
		Missing: func() error { return w.refused(ctx, c, by, first) },
	})
}

// refused returns the reason why beat found no run; first is the number of the first event.
func (w *RunWrite) refused(ctx context.Context, c Conn, by caller, first int64) error {
	var end int64
	var mine bool
	found, err := one(ctx, c, `SELECT last_seq, owner = $4 AND rested_at IS NULL FROM runs`+ownRow, []any{&end, &mine},
		by.TenantID, w.RunID, by.user, w.Process)
	switch {
	case err != nil:
		return err
	case !found:
		return notFound("run", w.RunID)
	case !mine:
		return ErrRunTaken
	}
	if end < first {
		return invalidf("a run's journal has at most %d entries", maxJournalEntries)
	}
	return invalidf("the log of the run has %d events, number %d is among them", end, first)
}

// lastEntry is the number of the last entry of a run's journal.
const lastEntry = `(SELECT COALESCE(MAX(seq), 0) FROM run_journal WHERE tenant_id = $1 AND run_id = $2)`

// remember appends to the journal.
func (w *RunWrite) remember(ctx context.Context, c Conn, by caller) error {
	for _, e := range w.Journal {
		if err := c.Later(ctx, Statement{
			SQL:  `INSERT INTO run_journal (tenant_id, run_id, seq, thread, data) VALUES ($1, $2, ` + lastEntry + ` + 1, $3, $4)`,
			Args: []any{by.TenantID, w.RunID, e.Thread, by.seal.value("data", e.Data)},
		}); err != nil {
			return err
		}
	}
	return nil
}

// say appends the messages, and updates the session if the write changes it.
func (w *RunWrite) say(ctx context.Context, to *adding) error {
	rows := w.rows()
	if w.Answer == nil && w.SessionName == "" && len(w.SessionMetadata) == 0 {
		if len(rows) == 0 {
			return nil
		}
		return to.append(ctx, rows)
	}
	if err := to.touch(ctx, &Session{Name: w.SessionName, Metadata: w.SessionMetadata}, rows); err != nil {
		return err
	}
	return to.insert(ctx, rows)
}

// end stores the id of the answer, and ends the process's work on a run that rests.
func (w *RunWrite) end(ctx context.Context, c Conn, by caller, now time.Time) error {
	answer := ""
	if w.Answer != nil {
		answer = w.Answer.ID
	}
	switch {
	case w.Status != "" && w.Status != RunRunning:
		return restRun(ctx, c, by.TenantID, w.RunID, rest{status: w.Status, reason: w.Reason, answer: answer, at: now, attempted: w.Attempted, consumed: w.Consumed})
	case answer == "":
		return nil
	}
	return c.Later(ctx, Statement{
		SQL: `UPDATE runs SET message_id = $3 WHERE tenant_id = $1 AND id = $2`, Args: []any{by.TenantID, w.RunID, answer},
	})
}
