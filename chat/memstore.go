package chat

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// MemoryStore keeps sessions in the process and forgets those that were not
// used for the longest time. It behaves as a store does: a session belongs to
// one tenant and user, and nobody else sees or writes it. The zero value works.
type MemoryStore struct {
	// MaxSessions is 1000 when 0. MaxMessages of a session is 1000 when 0; one
	// that reaches it forgets its older half.
	MaxSessions int
	MaxMessages int
	// MaxParts bounds the images and documents of all sessions, in bytes of JSON;
	// 256 MiB when 0. Those of the sessions that were not used for the longest time
	// are forgotten first.
	MaxParts int

	mu       sync.Mutex
	sessions map[memoryKey]*memorySession
	runs     map[string]*memorySession // by the run's id
	recent   list.List                 // of *memorySession, the one used last first
	parts    int                       // bytes of all sessions
}

const (
	defaultMaxSessions = 1000
	defaultMaxMessages = 1000
	defaultMaxParts    = 256 << 20

	firstRows = 4 // room for a turn or two
)

// memoryKey names a session: ids are unique per tenant and user.
type memoryKey struct{ tenant, user, session string }

type memorySession struct {
	store.Session
	element *list.Element
	seq     int64
	// rows are never changed once they are in, so readers share them.
	rows []store.Message
	runs []*memoryRun
}

// open is the caller's session of that id.
func (m *MemoryStore) open(ctx context.Context, id string) (*memorySession, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	s := m.sessions[memoryKey{who.TenantID, who.UserID, id}]
	if s == nil {
		return nil, store.ErrNotFound
	}
	m.recent.MoveToFront(s.element)
	return s, nil
}

// Session is the caller's session of that id.
func (m *MemoryStore) Session(ctx context.Context, id string) (store.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.open(ctx, id)
	if err != nil {
		return store.Session{}, err
	}
	return s.Session, nil
}

// Messages are rows of the caller's session, oldest first. They are shared and
// must not be changed.
func (m *MemoryStore) Messages(ctx context.Context, id string, f store.MessageFilter) ([]store.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.open(ctx, id)
	if err != nil {
		return nil, err
	}
	chosen := func(row *store.Message) bool {
		return row.Seq > f.AfterSeq && (f.BeforeSeq == 0 || row.Seq < f.BeforeSeq) &&
			(len(f.Types) == 0 || slices.Contains(f.Types, row.Type))
	}
	rows := s.rows
	for i := range rows {
		if !chosen(&rows[i]) {
			rows = filter(rows, chosen)
			break
		}
	}
	switch {
	case f.Last > 0:
		rows = rows[max(0, len(rows)-f.Last):]
	case f.Limit > 0:
		rows = rows[:min(len(rows), f.Limit)]
	}
	if !f.Parts {
		rows = withoutParts(rows)
	}
	return rows[:len(rows):len(rows)], nil
}

// withoutParts are the rows without images and documents, which nobody asked for.
func withoutParts(rows []store.Message) []store.Message {
	if !slices.ContainsFunc(rows, func(row store.Message) bool { return len(row.Parts) > 0 }) {
		return rows
	}
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Parts = nil
	}
	return rows
}

func filter(rows []store.Message, chosen func(*store.Message) bool) []store.Message {
	out := make([]store.Message, 0, len(rows))
	for i := range rows {
		if chosen(&rows[i]) {
			out = append(out, rows[i])
		}
	}
	return out
}

// touch makes or updates a session.
func (m *MemoryStore) touch(who identity.Identity, sess store.Session) (*memorySession, error) {
	if err := store.CheckSessionID(sess.ID); err != nil {
		return nil, err
	}
	key := memoryKey{who.TenantID, who.UserID, sess.ID}
	s := m.sessions[key]
	if s == nil {
		s = m.add(key, who)
	}
	s.Name, s.AgentName = cmp.Or(sess.Name, s.Name), cmp.Or(sess.AgentName, s.AgentName)
	var err error
	s.Metadata, _, err = store.MergeObjects(s.Metadata, sess.Metadata)
	m.recent.MoveToFront(s.element)
	return s, err
}

func (m *MemoryStore) add(key memoryKey, who identity.Identity) *memorySession {
	if m.sessions == nil {
		m.sessions = make(map[memoryKey]*memorySession)
	}
	s := &memorySession{rows: make([]store.Message, 0, firstRows), Session: store.Session{
		ID: key.session, TenantID: key.tenant, UserID: key.user, Mode: store.ModeChat, CreatedAt: time.Now(),
	}}
	if who.IsEval {
		s.Mode = store.ModeEvaluation
	}
	s.element = m.recent.PushFront(s)
	m.sessions[key] = s
	if m.recent.Len() > cmp.Or(m.MaxSessions, defaultMaxSessions) {
		oldest := m.recent.Back()
		if old, ok := m.recent.Remove(oldest).(*memorySession); ok {
			delete(m.sessions, memoryKey{old.TenantID, old.UserID, old.ID})
			m.parts -= partBytes(old.rows)
			for _, r := range old.runs {
				delete(m.runs, r.ID)
			}
		}
	}
	return s
}

// append numbers a row and keeps it.
func (m *MemoryStore) append(s *memorySession, row *store.Message) {
	s.seq++
	row.Seq = s.seq
	row.SessionID = s.ID
	if row.ID == "" {
		row.ID = newID()
	}
	if row.CreatedAt.IsZero() {
		row.CreatedAt = time.Now()
	}
	s.Session.Messages++
	s.TotalTokens += row.TokenCount
	s.UpdatedAt = row.CreatedAt
	if most := cmp.Or(m.MaxMessages, defaultMaxMessages); len(s.rows) >= most {
		// Readers may hold the old array; a new one leaves it alone.
		m.parts -= partBytes(s.rows[:len(s.rows)-most/2])
		s.rows = slices.Clone(s.rows[len(s.rows)-most/2:])
	}
	s.rows = append(s.rows, *row)
	if len(row.Parts) > 0 {
		m.parts += len(row.Parts)
		m.forgetParts()
	}
}

// forgetParts makes room for the parts of the newest row, which stay.
func (m *MemoryStore) forgetParts() {
	for e := m.recent.Back(); e != nil && m.parts > cmp.Or(m.MaxParts, defaultMaxParts); e = e.Prev() {
		s, ok := e.Value.(*memorySession)
		if !ok {
			continue
		}
		old := len(s.rows)
		if e == m.recent.Front() {
			old--
		}
		if bytes := partBytes(s.rows[:old]); bytes > 0 {
			m.parts -= bytes
			s.rows = slices.Concat(withoutParts(s.rows[:old]), s.rows[old:])
		}
	}
}

func partBytes(rows []store.Message) int {
	n := 0
	for i := range rows {
		n += len(rows[i].Parts)
	}
	return n
}

// Message is a row of a session of the caller.
func (m *MemoryStore) Message(ctx context.Context, id string) (store.Message, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return store.Message{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, s := range m.sessions {
		if k.tenant != who.TenantID || k.user != who.UserID {
			continue
		}
		if i := slices.IndexFunc(s.rows, func(row store.Message) bool { return row.ID == id }); i >= 0 {
			return s.rows[i], nil
		}
	}
	return store.Message{}, store.ErrNotFound
}

// User is store.ErrNotFound: nothing is known about anybody.
func (m *MemoryStore) User(context.Context) (store.User, error) {
	return store.User{}, store.ErrNotFound
}
