package chat

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// memoryRun is a run of a MemoryStore.
type memoryRun struct {
	store.Run
	events   []store.RunEvents
	journal  []store.JournalEntry
	requests []*store.RunRequest
}

// maxMemoryRuns bounds the runs of a session that are kept: the newest, and those
// that have not ended.
const maxMemoryRuns = 8

// BeginRun is store.Store's.
func (m *MemoryStore) BeginRun(ctx context.Context, b store.RunStart) error {
	who, err := identity.From(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.Run.Key != "" && m.byKey(who, b.Run.Key) != nil {
		return store.ErrKeyUsed
	}
	s, err := m.touch(who, b.Session)
	if err != nil {
		return err
	}
	if b.DropAfter > 0 {
		s.rows = filter(s.rows, func(row *store.Message) bool { return row.Seq <= b.DropAfter })
	}
	for _, row := range b.Messages {
		m.append(s, row)
	}
	r := &memoryRun{Run: b.Run}
	r.TenantID, r.UserID = who.TenantID, who.UserID
	r.UpdatedAt = r.CreatedAt
	if m.runs == nil {
		m.runs = make(map[string]*memorySession)
	}
	m.runs[r.ID] = s
	if s.runs = append(s.runs, r); len(s.runs) > maxMemoryRuns {
		if i := slices.IndexFunc(s.runs, func(r *memoryRun) bool { return !r.EndedAt.IsZero() }); i >= 0 {
			delete(m.runs, s.runs[i].ID)
			s.runs = slices.Delete(s.runs, i, i+1)
		}
	}
	return nil
}

// run is the caller's run of that id, with its session.
func (m *MemoryStore) run(ctx context.Context, id string) (*memoryRun, *memorySession, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, nil, err
	}
	s := m.runs[id]
	if s == nil || s.TenantID != who.TenantID || s.UserID != who.UserID {
		return nil, nil, store.ErrNotFound
	}
	i := slices.IndexFunc(s.runs, byID(id))
	return s.runs[i], s, nil
}

// find is a run of the caller, with its session.
func (m *MemoryStore) find(ctx context.Context, is func(*memoryRun) bool) (*memoryRun, *memorySession, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, nil, err
	}
	for k, s := range m.sessions {
		if k.tenant != who.TenantID || k.user != who.UserID {
			continue
		}
		if i := slices.IndexFunc(s.runs, is); i >= 0 {
			return s.runs[i], s, nil
		}
	}
	return nil, nil, store.ErrNotFound
}

func byID(id string) func(*memoryRun) bool { return func(r *memoryRun) bool { return r.ID == id } }

func (m *MemoryStore) byKey(who identity.Identity, key string) *memoryRun {
	r, _, _ := m.find(identity.With(context.Background(), who), func(r *memoryRun) bool { return r.Key == key })
	return r
}

// WriteRun is store.Store's.
func (m *MemoryStore) WriteRun(ctx context.Context, w store.RunWrite) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, s, err := m.run(ctx, w.RunID)
	if err != nil {
		return false, err
	}
	if r.Owner != w.Owner || r.Status != store.RunRunning {
		return false, store.ErrNotOwner
	}
	if w.SessionMetadata != nil {
		if s.Metadata, _, err = store.MergeObjects(s.Metadata, w.SessionMetadata); err != nil {
			return false, err
		}
	}
	for _, e := range w.Events {
		r.events, r.LastSeq = append(r.events, store.RunEvents{First: e.First, Last: e.Last, Data: bytes.Clone(e.Data)}), e.Last
	}
	r.journal = append(r.journal, w.Journal...)
	for i := range w.Requests {
		q := w.Requests[i]
		q.TenantID, q.UserID = r.TenantID, r.UserID
		if !slices.ContainsFunc(r.requests, func(old *store.RunRequest) bool { return old.ID == q.ID }) {
			r.requests = append(r.requests, &q)
		}
	}
	for _, row := range w.Messages {
		m.append(s, row)
	}
	if w.Answer != nil {
		m.append(s, w.Answer)
		r.MessageID = w.Answer.ID
	}
	s.Name = cmp.Or(w.SessionName, s.Name)
	r.UpdatedAt = time.Now()
	if w.Status != "" {
		r.Status, r.Reason = w.Status, w.Reason
		if w.Status == store.RunInterrupted {
			r.interrupt(w.Attempted)
		}
		r.settle()
	}
	return r.StopRequested, nil
}

// interrupt counts an interruption. A run with an open question waits for the answer.
func (r *memoryRun) interrupt(attempted bool) {
	r.Restarts++
	if attempted {
		r.Attempts++
	}
	if slices.ContainsFunc(r.requests, func(q *store.RunRequest) bool { return q.Status == store.RequestOpen }) {
		r.Status, r.Reason = store.RunWaiting, event.ReasonPaused
	}
}

// settle drops what a run that has ended does not need.
func (r *memoryRun) settle() {
	switch r.Status {
	case store.RunRunning, store.RunWaiting, store.RunInterrupted:
		return
	}
	r.EndedAt, r.journal = time.Now(), nil
	for _, q := range r.requests {
		if q.Status == store.RequestOpen {
			q.Status = store.RequestCancelled
		}
	}
}

// Run is store.Store's.
func (m *MemoryStore) Run(ctx context.Context, id string) (store.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _, err := m.run(ctx, id)
	if err != nil {
		return store.Run{}, err
	}
	return r.Run, nil
}

// RunByKey is store.Store's.
func (m *MemoryStore) RunByKey(ctx context.Context, key string) (store.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _, err := m.find(ctx, func(r *memoryRun) bool { return r.Key == key })
	if err != nil {
		return store.Run{}, err
	}
	return r.Run, nil
}

// Runs is store.Store's, on one page.
func (m *MemoryStore) Runs(ctx context.Context, f store.RunFilter) (page []store.Run, next string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err = m.each(ctx, func(r *memoryRun) {
		if (f.SessionID == "" || r.SessionID == f.SessionID) && (len(f.Statuses) == 0 || slices.Contains(f.Statuses, r.Status)) {
			page = append(page, r.Run)
		}
	})
	slices.SortFunc(page, func(a, b store.Run) int { return b.CreatedAt.Compare(a.CreatedAt) })
	if f.Limit > 0 {
		page = page[:min(len(page), f.Limit)]
	}
	return page, "", err
}

// each calls do for the caller's runs.
func (m *MemoryStore) each(ctx context.Context, do func(*memoryRun)) error {
	_, _, err := m.find(ctx, func(r *memoryRun) bool {
		do(r)
		return false
	})
	if err == store.ErrNotFound {
		return nil
	}
	return err
}

// RunEvents is store.Store's.
func (m *MemoryStore) RunEvents(ctx context.Context, id string, after int64, most int) ([]store.RunEvents, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _, err := m.run(ctx, id)
	if err != nil {
		return nil, err
	}
	var pieces []store.RunEvents
	for _, e := range r.events {
		if e.Last <= after {
			continue
		}
		pieces = append(pieces, e)
		if most -= len(e.Data); most <= 0 {
			break
		}
	}
	return pieces, nil
}

// RunJournal is store.Store's.
func (m *MemoryStore) RunJournal(ctx context.Context, id string) ([]store.JournalEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _, err := m.run(ctx, id)
	if err != nil {
		return nil, err
	}
	return slices.Clone(r.journal), nil
}

// ClaimRun is store.Store's.
func (m *MemoryStore) ClaimRun(ctx context.Context, id, owner string) (store.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _, err := m.run(ctx, id)
	if err != nil {
		return store.Run{}, err
	}
	if r.Status != store.RunWaiting && r.Status != store.RunInterrupted {
		return r.Run, store.ErrNotOwner
	}
	r.Status, r.Owner, r.StopRequested = store.RunRunning, owner, false
	return r.Run, nil
}

// StopRun is store.Store's.
func (m *MemoryStore) StopRun(ctx context.Context, id string) (store.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, _, err := m.run(ctx, id)
	if err != nil {
		return store.Run{}, err
	}
	switch r.Status {
	case store.RunRunning:
		r.StopRequested = true
	case store.RunWaiting, store.RunInterrupted:
		r.Status = store.RunCancelled
		r.settle()
	}
	return r.Run, nil
}

// DeleteRun is store.Store's.
func (m *MemoryStore) DeleteRun(ctx context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, s, err := m.run(ctx, id)
	if err == nil && r.EndedAt.IsZero() {
		return store.ErrConflict
	}
	if err == nil {
		s.runs = slices.DeleteFunc(s.runs, byID(id))
		delete(m.runs, id)
	}
	return err
}
