package store

import (
	"context"
	"time"
)

// adding appends messages to one session. No statement needs the result of another, so
// an engine may send all of them in one round trip: the first one raises the counters in
// the session's row, which orders concurrent writers, and the messages take their numbers
// from that row.
type adding struct {
	store *Store
	c     Conn
	d     Dialect
	by    caller
	now   time.Time
	// session is the SQL of the session's id, whose $2 is key.
	session, key string
	// id is the session's id, "" until it is known.
	id string
}

// The sessions of adding: a given one, or that of a run.
const (
	givenSession = `$2`
	runSession   = `(SELECT session_id FROM runs WHERE tenant_id = $1 AND id = $2)`
)

// addTo adds to a session by its id.
func (s *Store) addTo(c Conn, by caller, session string, now time.Time) adding {
	return adding{store: s, c: c, d: s.dialect, by: by, now: now, session: givenSession, key: session, id: session}
}

// addToRun adds to the session of a run.
func (s *Store) addToRun(c Conn, by caller, run string, now time.Time) adding {
	return adding{store: s, c: c, d: s.dialect, by: by, now: now, session: runSession, key: run}
}

// addingSQL are the statements of adding, in a dialect and for one expression of the
// session's id. touchMerge and openMerge also merge metadata.
type addingSQL struct {
	append, insert    string
	touch, touchMerge string
	open, openMerge   string
}

var addingTexts = [...][2]addingSQL{
	DialectSQLite:   {newAddingSQL(DialectSQLite, givenSession), newAddingSQL(DialectSQLite, runSession)},
	DialectPostgres: {newAddingSQL(DialectPostgres, givenSession), newAddingSQL(DialectPostgres, runSession)},
}

func newAddingSQL(d Dialect, session string) (sql addingSQL) {
	const known = ` RETURNING id, message_count + dropped_messages`
	// It must be the caller's.
	own := ` WHERE tenant_id = $1 AND id = ` + session + ` AND ` + d.ownerOf(``) + ` = $3 AND deleted_at IS NULL` + known
	sql.append = `UPDATE sessions SET message_count = message_count + $4, dropped_messages = dropped_messages + $5, total_tokens = total_tokens + $6` + own
	touch := `UPDATE sessions SET message_count = message_count + $4, dropped_messages = dropped_messages + $5, total_tokens = total_tokens + $6,
		name = CASE WHEN named AND NOT $12 THEN name ELSE COALESCE($7, name) END, named = (named OR $12), description = COALESCE($8, description), agent_name = COALESCE($9, agent_name),
		mode = COALESCE($10, mode), updated_at = $11`
	sql.touch, sql.touchMerge = touch+own, touch+`, metadata = `+d.mergedKeys(`metadata`, `$13`)+own

	column, owner := d.putOwner(`$3`)
	open := `INSERT INTO sessions
		(tenant_id, id, ` + column + `, message_count, dropped_messages, total_tokens, name, description, agent_name, mode, created_at, updated_at, named, metadata, client_id)
		VALUES ($1, $2, ` + owner + `, $4, $5, $6, $7, $8, $9, COALESCE($10, 'chat'), $11, $11, $12, $13, $14)
		ON CONFLICT (tenant_id, id, ` + d.ownerOf(``) + `) DO UPDATE SET message_count = sessions.message_count + excluded.message_count,
		dropped_messages = sessions.dropped_messages + excluded.dropped_messages, total_tokens = sessions.total_tokens + excluded.total_tokens, name = CASE WHEN sessions.named AND NOT $12
		THEN sessions.name ELSE COALESCE(excluded.name, sessions.name) END, named = (sessions.named OR $12),
		description = COALESCE(excluded.description, sessions.description), agent_name = COALESCE(excluded.agent_name, sessions.agent_name),
		mode = COALESCE($10, sessions.mode), client_id = COALESCE(excluded.client_id, sessions.client_id), updated_at = excluded.updated_at`
	const live = ` WHERE sessions.deleted_at IS NULL` + known
	sql.open, sql.openMerge = open+live, open+`, metadata = `+d.mergedKeys(`sessions.metadata`, `excluded.metadata`)+live

	// $2 and $3 are the message's session and number if they are known, else the key of the
	// session and the number of messages after this one.
	at := `$2, $3`
	if !d.knows() {
		at = session + `, (SELECT message_count + dropped_messages - $3 FROM sessions WHERE tenant_id = $1 AND id = ` + session +
			` AND ` + d.ownerOf(``) + ` = $5)`
	}
	author := `$27`
	if session == runSession {
		author = `(SELECT author FROM runs WHERE tenant_id = $1 AND id = $27)`
	}
	column, owner = d.putOwner(`$5`)
	sql.insert = `INSERT INTO messages (tenant_id, session_id, seq, id, ` + column + `, message_type, content, tool_calls, status,
		token_count, input_tokens, output_tokens, latency_ms, model, agent_name, agent_path,
		run_id, trace_id, span_id, metadata, created_at, updated_at, parts, cost_usd, agent_run_id, parent_tool_call_id, client_message_id, author, cached_tokens, reasoning_tokens) VALUES ($1, ` + at + `, $4, ` + owner + `,
		$6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $21, $22, $23, $24, $25, $26, ` + author + `, $28, $29)`
	return sql
}

// sql returns the statements.
func (a *adding) sql() addingSQL {
	if a.session == runSession {
		return addingTexts[a.d][1]
	}
	return addingTexts[a.d][0]
}

// count runs a statement that raises the session's counters and sets the numbers of the
// messages. A session that is not there is ErrNotFound.
func (a *adding) count(ctx context.Context, ms []*Message, sql string, args []any) error {
	return a.c.Later(ctx, Statement{
		SQL: sql, Args: args,
		Each: func(r Row) error {
			var last int64
			err := r.Scan(&a.id, &last)
			for i, m := range ms {
				m.SessionID, m.Seq = a.id, last-int64(len(ms)-1-i)
			}
			return err
		},
		Missing: func() error { return notFound("session", a.id) },
	})
}

// append raises the counters and inserts the messages.
func (a *adding) append(ctx context.Context, ms []*Message) error {
	if err := a.count(ctx, ms, a.sql().append, a.counts(ms)); err != nil {
		return err
	}
	return a.insert(ctx, ms)
}

// touch raises the counters and sets the fields of the session that are not empty;
// insert must follow.
func (a *adding) touch(ctx context.Context, sess *Session, ms []*Message) error {
	sql, args := a.sql().touch, a.args(sess, ms)
	if len(sess.Metadata) > 0 {
		sql, args = a.sql().touchMerge, append(args, a.by.seal.object("metadata", sess.Metadata))
	}
	return a.count(ctx, ms, sql, args)
}

// open is touch for a session that may not exist yet.
func (a *adding) open(ctx context.Context, sess *Session, ms []*Message) error {
	sql := a.sql().open
	if len(sess.Metadata) > 0 {
		sql = a.sql().openMerge
	}
	return a.count(ctx, ms, sql, append(a.args(sess, ms), a.by.seal.object("metadata", sess.Metadata), null(a.by.ClientID)))
}

// args returns those of touch and open, with room for the metadata.
func (a *adding) args(sess *Session, ms []*Message) []any {
	return append(a.counts(ms),
		a.by.seal.value("name", null(sess.Name)), a.by.seal.value("description", null(sess.Description)), null(sess.AgentName), null(sess.Mode), a.now, sess.Named)
}

// insert writes the messages by which the counters were raised last. It sets their ID and
// CreatedAt where they are empty.
func (a *adding) insert(ctx context.Context, ms []*Message) error {
	sql, run, author := a.sql().insert, "", null(a.by.author)
	if a.session == runSession {
		run, author = a.key, a.key // whose run it is, whoever ends it
	}
	tokens, usd := 0, 0.0
	for i, m := range ms {
		tokens, usd = tokens+m.InputTokens+m.OutputTokens, usd+m.CostUSD
		if err := m.complete(a.now); err != nil {
			return err
		}
		key, number := a.key, int64(len(ms)-1-i)
		if a.d.knows() {
			key, number = m.SessionID, m.Seq
		}
		if err := a.c.Later(ctx, Statement{SQL: sql, Args: m.args(a.by, key, number, author)}); err != nil {
			return err
		}
		if err := a.index(ctx, m); err != nil {
			return err
		}
	}
	return a.store.spend(ctx, a.c, a.by, run, tokens, usd, a.now)
}

// index makes a message findable by its words, if a person or an agent said it.
func (a *adding) index(ctx context.Context, m *Message) error {
	if m.Content == nil || *m.Content == "" || m.Type != MessageUser && m.Type != MessageAssistant {
		return nil
	}
	return a.store.putWords(ctx, a.c, IndexedText{
		TenantID: a.by.TenantID, Owner: a.by.UserID, Table: messages.Name, ID: m.ID, Text: clip(*m.Content, saidText),
	})
}

// complete sets the ID and CreatedAt of a new message.
func (m *Message) complete(now time.Time) (err error) {
	if m.ID == "" {
		if m.ID, err = newID(); err != nil {
			return err
		}
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = now
	}
	m.CreatedAt = m.CreatedAt.UTC().Truncate(time.Microsecond)
	return nil
}

// args returns the parameters of insert; key is the session, number the message's place in it,
// author a guest, or the run that knows its author.
func (m *Message) args(by caller, key string, number int64, author any) []any {
	var content, latency any
	if m.Content != nil {
		content = by.seal.value("content", *m.Content)
	}
	if m.LatencyMS != 0 {
		latency = m.LatencyMS
	}
	return []any{
		by.TenantID, key, number, m.ID, by.UserID, m.Type, content, by.seal.value("tool_calls", m.ToolCalls), null(m.Status),
		m.TokenCount, m.InputTokens, m.OutputTokens, latency, null(m.Model), null(m.AgentName), null(m.AgentPath),
		null(m.RunID), null(m.TraceID), null(m.SpanID), by.seal.value("metadata", m.Metadata), m.CreatedAt, by.seal.value("parts", m.Parts), m.CostUSD,
		null(m.AgentRunID), null(m.ParentToolCallID), null(m.ClientMessageID), author, m.CachedTokens, m.ReasoningTokens,
	}
}

// counts returns the session and what its counters are raised by, with room for the parameters
// of open.
func (a *adding) counts(ms []*Message) []any {
	shown, tokens := 0, 0
	for _, m := range ms {
		if !m.isShare() {
			shown++
		}
		tokens += m.TokenCount
	}
	return append(make([]any, 0, 14), a.by.TenantID, a.key, a.by.UserID, shown, len(ms)-shown, tokens)
}
