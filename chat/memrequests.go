package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// request is a question of the caller's runs.
func (m *MemoryStore) request(ctx context.Context, id string) (found *store.RunRequest, err error) {
	err = m.each(ctx, func(r *memoryRun) {
		for _, q := range r.requests {
			if q.ID == id {
				found = q
			}
		}
	})
	if err == nil && found == nil {
		err = store.ErrNotFound
	}
	return found, err
}

// Request is store.Store's.
func (m *MemoryStore) Request(ctx context.Context, id string) (store.RunRequest, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q, err := m.request(ctx, id)
	if err != nil {
		return store.RunRequest{}, err
	}
	return *q, nil
}

// Requests is store.Store's, on one page.
func (m *MemoryStore) Requests(ctx context.Context, f store.RequestFilter) (page []store.RunRequest, next string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	err = m.each(ctx, func(r *memoryRun) {
		for _, q := range r.requests {
			if (f.RunID == "" || q.RunID == f.RunID) && (f.SessionID == "" || q.SessionID == f.SessionID) && (f.Status == "" || q.Status == f.Status) {
				page = append(page, *q)
			}
		}
	})
	slices.SortStableFunc(page, func(a, b store.RunRequest) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return page, "", err
}

// Decide is store.Store's.
func (m *MemoryStore) Decide(ctx context.Context, id string, d store.Decision) (store.RunRequest, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return store.RunRequest{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	q, err := m.request(ctx, id)
	if err != nil {
		return store.RunRequest{}, err
	}
	now := time.Now().UTC()
	if q.Status != store.RequestOpen || !q.ExpiresAt.IsZero() && q.ExpiresAt.Before(now) {
		return *q, store.ErrDecided
	}
	q.Status, q.Content, q.Comment = d.Status, json.RawMessage(bytes.Clone(d.Content)), d.Comment
	q.DecidedBy, q.DecidedVia, q.DecidedAt = who.UserID, d.Via, now
	return *q, nil
}
