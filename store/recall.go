package store

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// RecallQuery selects the rows that the next turn of a session may show to its model.
type RecallQuery struct {
	// SessionID is the caller's session. If the session does not exist, Recalled.Found is
	// false and only the User is read; the error is nil.
	SessionID string
	// Types are the message types to read; empty for all. Rows of delegated agents
	// (agent_path) are never read.
	Types []string
	// Tokens bounds the messages, newest first, by their Cost; the newest is always read. 0
	// is no bound.
	Tokens int
	// ResultTokens bounds the cost of a tool's result, for models that see only the
	// beginning of long results; 0 is no bound.
	ResultTokens int
	// Rows bounds the messages; 400 when 0, 2000 at most.
	Rows int
	// BeforeSeq leaves out the message of that number and those after it; 0 leaves out no
	// message. GoesBack says that the turn will hide them: what sums them up is left out, too.
	BeforeSeq int64
	GoesBack  bool
	// ExceptRun leaves out the rows of a run, except the user's messages; "" leaves out no
	// run.
	ExceptRun string
	// Moments is the most moments of the session to read: the newest session_chunk and
	// content_upload ones.
	Moments int
	// User reads the caller's row, Runs those of the session that have not ended.
	User, Runs bool
}

// MessageTokens is the cost of a message besides its text.
const MessageTokens = 4

// Cost returns the share of a message in the query's Tokens.
func (q *RecallQuery) Cost(m *Message) int {
	if q.ResultTokens > 0 && m.Type == MessageToolResponse {
		return min(m.TokenCount, q.ResultTokens) + MessageTokens
	}
	return m.TokenCount + MessageTokens
}

// Recalled is a session with its newest rows, read in one round trip whatever the
// session's length.
type Recalled struct {
	// Found reports whether the session exists.
	Found   bool
	Session Session
	// User is the caller's row; its ID is "" if the caller has no row.
	User User
	// Runs are those that have not ended, the newest first, 4 at most.
	Runs []Run
	// Memory is the newest memory row, unless it is among Messages; nil for none.
	Memory *Message
	// Moments are the session's newest, oldest first.
	Moments []Moment
	// Covering are the session_chunk moments that cover Messages, oldest first, those
	// in Moments too.
	Covering []Moment
	// Messages are the newest rows, oldest first, without their parts; More reports whether
	// there are older ones.
	Messages []Message
	More     bool
}

// Bounds of a Recall: rows, moments, and session_chunk moments that cover the rows.
const (
	recallRows     = 400
	mostRecallRows = 2000
	recallMoments  = 50
	recallCovering = 256
	recallRuns     = 4
)

// Recall reads the caller's session and its newest rows for the next turn.
func (s *Store) Recall(ctx context.Context, q RecallQuery) (Recalled, error) {
	if len(q.Types) > 16 {
		return Recalled{}, missingFirst(ctx, invalidf("%d message types are more than there are", len(q.Types)))
	}
	q.SessionID, q.ExceptRun = storable(q.SessionID), storable(q.ExceptRun)
	q.Rows = page(q.Rows, recallRows, mostRecallRows)
	r := recall{query: q, d: s.dialect, stops: s.dialect == DialectSQLite}
	err := s.readIn(ctx, "recall session", q.SessionID, func(c Conn, by caller) error {
		for _, x := range r.statements(by) {
			if err := c.Later(ctx, x); err != nil && !errors.Is(err, errEnough) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Recalled{}, err
	}
	if !r.Found {
		return Recalled{User: r.User}, nil
	}
	return r.finish(), nil
}

// recall is a Recalled, the newest of everything first.
type recall struct {
	Recalled
	query RecallQuery
	d     Dialect
	// stops is true if the engine steps from row to row, so that the reader can end the
	// query. Otherwise the statement has a condition, because every row would be sent.
	stops bool
	// tokens is the cost of the messages.
	tokens int
}

var (
	recallSession = inEachDialect(func(d Dialect) string {
		return `SELECT ` + sessionColumns + ` FROM sessions` + d.ownSession() + ` AND deleted_at IS NULL`
	})
	// The number is a value of its own, so that no plan reads the session for it.
	recallMemory = inEachDialect(func(d Dialect) string {
		return `SELECT ` + messageColumns + ` FROM messages m WHERE m.tenant_id = $1 AND m.session_id = $2 AND ` + d.ownerOf(`m.`) + ` = $3
			AND m.seq = (SELECT memory_seq FROM sessions` + d.ownSession() + ` AND deleted_at IS NULL AND (CAST($4 AS BIGINT) = 0 OR summary_seq < CAST($4 AS BIGINT))) AND m.deleted_at IS NULL`
	})
	ownMessages = inEachDialect(func(d Dialect) string { return ` AND ` + d.ownerOf(`m.`) + ` = ` })
)

// statements returns those of a Recall. None needs the result of another, so an engine may
// send all in one round trip.
func (r *recall) statements(by caller) []Statement {
	q := r.query
	list := []Statement{
		{SQL: recallSession[r.d], Args: []any{by.TenantID, q.SessionID, by.UserID},
			Each: func(row Row) error {
				r.Found = true
				return row.Scan(r.Session.columns()...)
			}},
		r.messages(by),
		{SQL: recallMemory[r.d], Args: []any{by.TenantID, q.SessionID, by.UserID, r.forgets()},
			Each: func(row Row) error {
				r.Memory = new(Message)
				return row.Scan(r.Memory.columns()...)
			}},
		r.covering(by),
	}
	if q.Moments > 0 {
		list = append(list, r.moments(by))
	}
	if q.User && !by.Anonymous() && by.author == "" { // a guest has no part in the owner's profile
		list = append(list, Statement{SQL: users.byID, Args: []any{by.TenantID, by.UserID}, Each: func(row Row) error {
			r.User = User{}
			return new(fields).scan(row, &r.User)
		}})
	}
	if q.Runs {
		list = append(list, Statement{SQL: `SELECT ` + runColumns + ` FROM runs WHERE tenant_id = $1 AND session_id = $2
			AND ` + r.d.userOf() + ` = $3 AND ended_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $4`,
			Args: []any{by.TenantID, q.SessionID, by.UserID, recallRuns},
			Each: func(row Row) error {
				r.Runs = append(r.Runs, Run{})
				return row.Scan(r.Runs[len(r.Runs)-1].columns()...)
			}})
	}
	return list
}

// messages reads the newest messages, and one more for Recalled.More.
func (r *recall) messages(by caller) Statement {
	q := newQuery(`SELECT ` + messageColumns + ` FROM messages m WHERE `)
	r.rows(q, by)
	if !r.stops && r.query.Tokens > 0 {
		q.add(` AND m.seq >= `)
		r.oldest(q, by)
	}
	q.add(` ORDER BY m.seq DESC LIMIT `).arg(r.query.Rows + 1)
	return Statement{SQL: q.String(), Args: q.args, Each: func(row Row) error {
		if r.More {
			return nil
		}
		var m Message
		if err := row.Scan(m.columns()...); err != nil {
			return err
		}
		r.tokens += r.query.Cost(&m)
		n := len(r.Messages)
		r.More = n == r.query.Rows || n > 0 && r.query.Tokens > 0 && r.tokens > r.query.Tokens
		switch {
		case !r.More:
			r.Messages = append(r.Messages, m)
		case r.stops:
			return errEnough
		}
		return nil
	}}
}

// forgets returns the number of the first message that the turn will hide, 0 for none.
func (r *recall) forgets() int64 {
	if r.query.GoesBack {
		return r.query.BeforeSeq
	}
	return 0
}

// rows adds the condition on the messages to read.
func (r *recall) rows(q *query, by caller) {
	q.add(`m.tenant_id = `).arg(by.TenantID)
	q.add(` AND m.session_id = `).arg(r.query.SessionID)
	q.add(ownMessages[r.d]).arg(by.UserID)
	q.add(` AND m.agent_path IS NULL AND m.deleted_at IS NULL`)
	if r.query.BeforeSeq > 0 {
		q.add(` AND m.seq < `).arg(r.query.BeforeSeq)
	}
	if r.query.ExceptRun != "" {
		q.add(` AND (m.message_type = '` + MessageUser + `' OR m.run_id IS DISTINCT FROM `).arg(r.query.ExceptRun)
		q.add(`)`)
	}
	for i, t := range r.query.Types {
		q.add([]string{` AND m.message_type IN (`, `, `}[min(i, 1)]).arg(storable(t))
	}
	if len(r.query.Types) > 0 {
		q.add(`)`)
	}
}

// oldest adds the number of the last message to read: the first one beyond the budget. It is
// a sub-select as a whole, because under row-level security no index serves a condition with
// COALESCE.
func (r *recall) oldest(q *query, by caller) {
	q.add(`(SELECT COALESCE(MIN(seq), 0) FROM (SELECT seq, ROW_NUMBER() OVER latest AS place, CAST(SUM(cost) OVER latest AS BIGINT) - cost AS newer
		FROM (SELECT m.seq, `)
	if most := r.query.ResultTokens; most > 0 {
		q.add(`CASE WHEN m.message_type = '` + MessageToolResponse + `' THEN LEAST(m.token_count, `).arg(most)
		q.add(`) ELSE m.token_count END`)
	} else {
		q.add(`m.token_count`)
	}
	q.add(` + `).arg(MessageTokens)
	q.add(` AS cost FROM messages m WHERE `)
	r.rows(q, by)
	q.add(` ORDER BY m.seq DESC LIMIT `).arg(r.query.Rows + 1)
	q.add(`) AS newest WINDOW latest AS (ORDER BY seq DESC)) AS sums`)
	if r.query.Tokens > 0 {
		q.add(` WHERE place = 2 OR newer <= `).arg(r.query.Tokens)
	}
	q.add(`)`)
}

// covering reads the session_chunk moments that cover the messages. It comes after
// messages.
func (r *recall) covering(by caller) Statement {
	// A moment's range of messages has columns, but no field of Moment.
	q := r.ofSession(strings.Replace(moments.selects, ` FROM `, `, first_seq, last_seq FROM `, 1), by)
	q.add(` AND last_seq IS NOT NULL`)
	if r.query.BeforeSeq > 0 {
		column := `first_seq`
		if r.query.GoesBack {
			column = `last_seq`
		}
		q.add(` AND ` + column + ` < `).arg(r.query.BeforeSeq)
	}
	if !r.stops {
		q.add(` AND last_seq >= `)
		r.oldest(q, by)
	}
	q.add(` ORDER BY last_seq DESC LIMIT `).arg(recallCovering)
	return Statement{SQL: q.String(), Args: q.args, Each: func(row Row) error {
		var m Moment
		var first, last int64
		var f fields
		if err := f.scan(row, &m, &first, &last); err != nil {
			return err
		}
		n := len(r.Messages)
		switch {
		case n > 0 && last >= r.Messages[n-1].Seq && first <= r.Messages[0].Seq:
			r.Covering = append(r.Covering, m)
		case r.stops && (n == 0 || last < r.Messages[n-1].Seq):
			return errEnough
		}
		return nil
	}}
}

// moments reads the newest moments.
func (r *recall) moments(by caller) Statement {
	q := r.ofSession(moments.selects, by)
	if seq := r.forgets(); seq > 0 {
		q.add(` AND COALESCE(last_seq, 0) < `).arg(seq)
	}
	q.add(` AND moment_type IN ('` + MomentSessionChunk + `', '` + MomentContentUpload + `')
		ORDER BY created_at DESC, last_seq DESC, id DESC LIMIT `).arg(min(r.query.Moments, recallMoments))
	return Statement{SQL: q.String(), Args: q.args, Each: func(row Row) error {
		r.Moments = append(r.Moments, Moment{})
		var f fields
		return f.scan(row, &r.Moments[len(r.Moments)-1])
	}}
}

// ofSession begins a query of the session's moments.
func (r *recall) ofSession(selects string, by caller) *query {
	q := newQuery(selects)
	q.add(`tenant_id = `).arg(by.TenantID)
	q.owned(by.user)
	q.add(` AND source_session_id = `).arg(r.query.SessionID)
	q.add(` AND deleted_at IS NULL`)
	return q
}

// finish puts the oldest first.
func (r *recall) finish() Recalled {
	slices.Reverse(r.Messages)
	slices.Reverse(r.Moments)
	slices.Reverse(r.Covering)
	if r.Memory != nil && slices.ContainsFunc(r.Messages, func(m Message) bool { return m.Seq == r.Memory.Seq }) {
		r.Memory = nil
	}
	return r.Recalled
}
