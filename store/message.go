package store

import (
	"context"
	"math"
	"slices"
)

// messageColumns are all columns except the parts.
const messageColumns = `m.id, m.session_id, m.seq, m.message_type, m.content, m.tool_calls, m.status,
	m.token_count, m.input_tokens, m.output_tokens, m.cached_tokens, m.reasoning_tokens, m.cost_usd, m.latency_ms, m.model, m.agent_name, m.agent_path,
	m.run_id, m.agent_run_id, m.parent_tool_call_id, m.trace_id, m.span_id, m.metadata, m.client_message_id, m.author, m.created_at`

func (m *Message) columns() []any {
	return []any{&m.ID, &m.SessionID, &m.Seq, &m.Type, &m.Content, &m.ToolCalls, &m.Status,
		&m.TokenCount, &m.InputTokens, &m.OutputTokens, &m.CachedTokens, &m.ReasoningTokens, &m.CostUSD, &m.LatencyMS, &m.Model, &m.AgentName, &m.AgentPath,
		&m.RunID, &m.AgentRunID, &m.ParentToolCallID, &m.TraceID, &m.SpanID, &m.Metadata, &m.ClientMessageID, &m.Author, &m.CreatedAt}
}

// partsColumn follows messageColumns.
const partsColumn = `, m.parts`

func (m *Message) withParts() []any { return append(m.columns(), &m.Parts) }

func (m *Message) check() error {
	switch m.Type {
	case MessageUser, MessageAssistant, MessageSystem, MessageToolCall, MessageToolResponse,
		MessageObservation, MessageMemory, MessageThink:
	default:
		return invalidf("%.32q is not a message type", m.Type)
	}
	if m.ID != "" {
		if err := checkID(m.ID); err != nil {
			return err
		}
	}
	if m.Content != nil {
		if err := cleanText("content", m.Content); err != nil {
			return err
		}
	}
	if err := checkJSON("tool_calls", &m.ToolCalls); err != nil {
		return err
	}
	if err := checkParts(&m.Parts); err != nil {
		return err
	}
	if m.CostUSD < 0 || math.IsNaN(m.CostUSD) || math.IsInf(m.CostUSD, 0) {
		return invalidf("cost_usd is no amount of money")
	}
	if err := cleanTexts("status", &m.Status, "model", &m.Model, "agent_name", &m.AgentName, "agent_path", &m.AgentPath,
		"run_id", &m.RunID, "agent_run_id", &m.AgentRunID, "parent_tool_call_id", &m.ParentToolCallID, "trace_id", &m.TraceID, "span_id", &m.SpanID, "client_message_id", &m.ClientMessageID); err != nil {
		return err
	}
	return checkObject("metadata", &m.Metadata)
}

// Append adds messages, of one session or several, in one transaction; their
// ID, Seq and CreatedAt are set where they are empty (Seq always). Each session
// must exist and be the caller's.
func (s *Store) Append(ctx context.Context, ms ...*Message) error {
	for _, m := range ms {
		if err := m.check(); err != nil {
			return missingFirst(ctx, err)
		}
	}
	return s.write(ctx, "append messages", func(c Conn, by caller) error {
		now, ms := s.clock(), ms
		for len(ms) > 0 {
			// Consecutive messages of one session share one update of its counters.
			n := 0
			for n < len(ms) && ms[n].SessionID == ms[0].SessionID {
				n++
			}
			by, err := by.in(ms[0].SessionID)
			if err != nil {
				return err
			}
			to := s.addTo(c, by, ms[0].SessionID, now)
			if err := to.append(ctx, ms[:n]); err != nil {
				return err
			}
			ms = ms[n:]
		}
		return nil
	})
}

// MessageFilter chooses messages of a session.
type MessageFilter struct {
	// AfterSeq and BeforeSeq bound the numbers, both exclusive; 0 is no bound.
	AfterSeq, BeforeSeq int64
	// Last takes the newest n instead of the oldest Limit.
	Last int
	// Limit is 1000 by default; Limit and Last are 10000 at most.
	Limit int
	// Types chooses by message type; empty for all types.
	Types []string
	// Branch, the id of a message, reads the newest branch with that message instead of the
	// current one, of the caller's own session.
	Branch string
	// Parts reads the parts, too: a row may have many megabytes of them.
	Parts bool
	// Shares also reads the rows without content that say what an agent below the answer
	// consumed: assistant rows with an AgentPath.
	Shares bool
}

// Messages returns the messages of a session of the caller, oldest first.
func (s *Store) Messages(ctx context.Context, sessionID string, f MessageFilter) ([]Message, error) {
	if len(f.Types) > 16 {
		return nil, missingFirst(ctx, invalidf("%d message types are more than there are", len(f.Types)))
	}
	limit := page(f.Limit, 1000, 10000)
	if f.Last > 0 {
		limit = page(f.Last, 0, 10000)
	}
	sessionID = storable(sessionID)
	var list []Message
	err := s.readIn(ctx, "read messages", sessionID, func(c Conn, by caller) error {
		var count int64
		if err := c.Later(ctx, Statement{
			SQL:  countMessages[s.dialect],
			Args: []any{by.TenantID, sessionID, by.UserID},
			Each: func(r Row) error {
				err := r.Scan(&count)
				list = make([]Message, 0, min(int64(limit), max(0, count-f.AfterSeq)))
				return err
			},
			Missing: func() error { return notFound("session", sessionID) },
		}); err != nil {
			return err
		}
		columns := messageColumns
		if f.Parts {
			columns += partsColumn
		}
		q := newQuery(`SELECT ` + columns)
		q.args = []any{by.TenantID, sessionID, by.UserID}
		if f.Branch == "" {
			q.add(` FROM messages m` + callersMessages[s.dialect])
		} else if err := s.onBranch(ctx, c, by, q, sessionID, f.Branch); err != nil {
			return err
		}
		if f.AfterSeq > 0 {
			q.add(` AND m.seq > `).arg(f.AfterSeq)
		}
		if f.BeforeSeq > 0 {
			q.add(` AND m.seq < `).arg(f.BeforeSeq)
		}
		if !f.Shares {
			q.add(withoutShares)
		}
		for i, t := range f.Types {
			q.add([]string{` AND m.message_type IN (`, `, `}[min(i, 1)]).arg(t)
		}
		if len(f.Types) > 0 {
			q.add(`)`)
		}
		q.add(` ORDER BY m.seq`)
		if f.Last > 0 {
			q.add(` DESC`)
		}
		q.add(` LIMIT `).arg(limit)
		return c.Later(ctx, Statement{SQL: q.String(), Args: q.args, Each: func(r Row) error {
			list = append(list, Message{})
			m := &list[len(list)-1]
			if f.Parts {
				return r.Scan(m.withParts()...)
			}
			return r.Scan(m.columns()...)
		}})
	})
	if err != nil {
		return nil, err
	}
	if f.Last > 0 {
		slices.Reverse(list)
	}
	return list, nil
}

// notShare leaves out the rows m that MessageFilter.Shares is about. A session counts them
// with the dropped messages: they have numbers, and nobody sees them.
const notShare = `(m.agent_path IS NULL OR m.message_type <> '` + MessageAssistant + `' OR m.content IS NOT NULL)`

const withoutShares = ` AND ` + notShare

// IsAnswer reports whether a row is a whole answer of the agent that the user talks to. An
// answer that a limit ended is one; an answer that failed or was cancelled is none.
func IsAnswer(m *Message) bool {
	return m.Type == MessageAssistant && m.AgentPath == "" && (m.Status == StatusComplete || m.Status == StatusLength)
}

// isShare reports whether the row is one that MessageFilter.Shares is about.
func (m *Message) isShare() bool {
	return m.Type == MessageAssistant && m.AgentPath != "" && m.Content == nil
}

var (
	// callersMessages chooses the messages m of a session of the caller; the parameters are
	// those of ownSession. Those of a deleted session are deleted, too.
	callersMessages = inEachDialect(func(d Dialect) string {
		return ` WHERE m.tenant_id = $1 AND m.session_id = $2 AND ` + d.ownerOf(`m.`) + ` = $3 AND m.deleted_at IS NULL`
	})
	countMessages = inEachDialect(func(d Dialect) string {
		return `SELECT message_count FROM sessions` + d.ownSession() + ` AND deleted_at IS NULL`
	})
)

// Message returns one message of the caller's sessions, with its parts.
func (s *Store) Message(ctx context.Context, id string) (Message, error) {
	var m Message
	err := s.read(ctx, "read message", func(c Conn, by caller) error {
		guest := by.guest()
		by, err := by.in(by.Shared.Session)
		if err != nil {
			return err
		}
		found, err := one(ctx, c, `SELECT `+messageColumns+partsColumn+` FROM messages m WHERE m.tenant_id = $1 AND m.id = $2
			AND `+s.dialect.ownerOf(`m.`)+` = $3 AND m.deleted_at IS NULL`, m.withParts(), by.TenantID, storable(id), by.UserID)
		if err == nil && (!found || guest && m.SessionID != by.Shared.Session) {
			m = Message{}
			err = notFound("message", id)
		}
		return err
	})
	return m, err
}

// MessageBySeq returns the message of a session with a number, without its parts.
func (s *Store) MessageBySeq(ctx context.Context, sessionID string, seq int64) (Message, error) {
	var m Message
	err := s.readIn(ctx, "read message", sessionID, func(c Conn, by caller) error {
		found, err := one(ctx, c, `SELECT `+messageColumns+` FROM messages m`+callersMessages[s.dialect]+` AND m.seq = $4`, m.columns(),
			by.TenantID, storable(sessionID), by.UserID, seq)
		if err == nil && !found {
			err = notFound("message of session", sessionID)
		}
		return err
	})
	return m, err
}
