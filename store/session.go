package store

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"time"
)

// The modes of a session that p8 sets; others are the caller's.
const (
	ModeChat       = "chat"
	ModeEvaluation = "evaluation"
	// The modes of p8's own background work: an agent that dreams, questions in plain words
	// that no session asked, and the schedule of dreams.
	ModeDreaming  = "dreaming"
	ModeQuestions = "query"
	ModeSchedule  = "schedule"
)

// backgroundModes are the modes of background work in SQL.
const backgroundModes = `('` + ModeDreaming + `', '` + ModeQuestions + `', '` + ModeSchedule + `')`

// IsBackground reports whether sessions of a mode are p8's background work. A client
// cannot choose such a mode.
func IsBackground(mode string) bool {
	return mode == ModeDreaming || mode == ModeQuestions || mode == ModeSchedule
}

const sessionColumns = `tenant_id, id, user_id, name, description, agent_name, mode, client_id,
	total_tokens, message_count, summary_seq, summary_tokens, chunks, memory_seq, metadata, named, archived, created_at, updated_at`

func (s *Session) columns() []any {
	return []any{&s.TenantID, &s.ID, &s.UserID, &s.Name, &s.Description, &s.AgentName, &s.Mode, &s.ClientID,
		&s.TotalTokens, &s.Messages, &s.SummarySeq, &s.SummaryTokens, &s.Chunks, &s.MemorySeq,
		&s.Metadata, &s.Named, &s.Archived, &s.CreatedAt, &s.UpdatedAt}
}

func (s *Session) check() error {
	if err := CheckSessionID(s.ID); err != nil {
		return err
	}
	if err := cleanTexts("name", &s.Name, "description", &s.Description,
		"agent_name", &s.AgentName, "mode", &s.Mode); err != nil {
		return err
	}
	return checkObject("metadata", &s.Metadata)
}

// MergeObjects returns the JSON object old with the keys of add, as [Store.BeginTurn]
// merges metadata; either may be empty. changed is false if old has equal values already,
// however they are formatted: PostgreSQL formats JSON itself.
func MergeObjects(old, add json.RawMessage) (merged json.RawMessage, changed bool, err error) {
	if len(add) == 0 {
		return old, false, nil
	}
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(add, &b); err != nil {
		return nil, false, err
	}
	if len(old) > 0 {
		if err := json.Unmarshal(old, &a); err != nil {
			return nil, false, err
		}
	}
	if len(a) == 0 {
		return add, len(b) > 0, nil
	}
	for k, v := range b {
		if !sameJSON(a[k], v) {
			a[k], changed = v, true
		}
	}
	if !changed {
		return old, false, nil
	}
	merged, err = json.Marshal(a)
	return merged, true, err
}

// sameJSON compares two JSON values; two empty ones are the same.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// Session returns the caller's session of an id.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	var sess Session
	err := s.readIn(ctx, "read session", id, func(c Conn, by caller) error {
		found, err := one(ctx, c, `SELECT `+sessionColumns+s.dialect.firstMessage(`sessions`)+` FROM sessions`+s.dialect.ownSession()+` AND deleted_at IS NULL`,
			append(sess.columns(), &sess.Title), by.TenantID, storable(id), by.UserID)
		if err == nil && !found {
			err = notFound("session", id)
		}
		return err
	})
	if err == nil {
		sess.setTitle()
	}
	return sess, err
}

// SessionFilter chooses sessions.
type SessionFilter struct {
	// Agent and Mode choose by agent_name and mode; "" matches all.
	Agent, Mode string
	// Background includes sessions of background work. They are left out unless Mode asks
	// for them.
	Background bool
	// NoEvaluation leaves out the sessions of evaluations.
	NoEvaluation bool
	// Archived lists the archived sessions instead of the others.
	Archived bool
	// Words chooses sessions that have all of these words in their title or in one message
	// of theirs that a person or an agent said, and sets their Match; "" is no search. It
	// takes the rules of [KeywordTerms].
	Words string
	// Limit is 50 by default and 500 at most.
	Limit int
	// Cursor is the next of the previous page.
	Cursor string
}

// Sessions lists the caller's own sessions, those with the newest turn first,
// and the cursor of the next page, "" after the last.
func (s *Store) Sessions(ctx context.Context, f SessionFilter) (list []Session, next string, err error) {
	if by, err := callerOf(ctx); err == nil && by.Visitor() {
		return nil, "", forbiddenf("a caller without a token cannot list sessions: keep the ids of yours")
	}
	if f.Words != "" {
		return s.searchSessions(ctx, f)
	}
	err = s.read(ctx, "list sessions", func(c Conn, by caller) error {
		list, next, err = s.listSessions(ctx, c, by, f, nil)
		return err
	})
	return list, next, err
}

// listSessions reads a page of the sessions, of those in ids unless that is nil.
func (s *Store) listSessions(ctx context.Context, c Conn, by caller, f SessionFilter, ids []string) (list []Session, next string, err error) {
	limit := page(f.Limit, 50, 500)
	q := f.query(s.dialect, by, sessionColumns+s.dialect.firstMessage(`sessions`))
	if ids != nil {
		q.in(s.dialect, "id", ids)
	}
	if err := q.beyond(f.Cursor, "updated_at", "<"); err != nil {
		return nil, "", err
	}
	q.add(` ORDER BY updated_at DESC, id DESC LIMIT `).arg(limit + 1)
	err = c.Query(ctx, q.String(), func(r Row) error {
		list = append(list, Session{})
		sess := &list[len(list)-1]
		err := r.Scan(append(sess.columns(), &sess.Title)...)
		sess.setTitle()
		return err
	}, q.args...)
	if err != nil {
		return nil, "", err
	}
	list, next = pageOf(list, limit, func(s *Session) (time.Time, string) { return s.UpdatedAt, s.ID })
	return list, next, nil
}

// query reads columns of all of the caller's sessions that the filter chooses but for its
// Words.
func (f *SessionFilter) query(d Dialect, by caller, columns string) *query {
	q := newQuery(`SELECT ` + columns + ` FROM sessions WHERE tenant_id = `)
	q.arg(by.TenantID)
	q.ownedSession(d, by)
	q.add(` AND deleted_at IS NULL`)
	if f.Archived {
		q.add(` AND archived`)
	} else {
		q.add(` AND NOT archived`)
	}
	if f.Agent != "" {
		q.add(` AND agent_name = `).arg(storable(f.Agent))
	}
	if f.Mode != "" {
		q.add(` AND mode = `).arg(storable(f.Mode))
	} else if !f.Background {
		q.add(` AND COALESCE(mode, '') NOT IN ` + backgroundModes)
	}
	if f.NoEvaluation {
		q.add(` AND COALESCE(mode, '') <> '` + ModeEvaluation + `'`)
	}
	return q
}
