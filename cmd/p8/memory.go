package main

import (
	"context"

	"p8/chat"
	"p8/rem"
	"p8/store"
)

// memory is where sessions are kept and what search reads: the store, or the
// process for a chat that is not stored.
func memory(s *store.Store, o wireOptions) (chat.Store, rem.Knowledge) {
	switch {
	case s != nil && !o.NoStore:
		return s, s
	case o.Memory:
		kept := new(chat.MemoryStore)
		return kept, &knowledge{store: s, kept: kept}
	}
	return nil, nil
}

// knowledge is that of a chat kept in memory: rows of the store, if there is
// one, and messages of the process.
type knowledge struct {
	store *store.Store
	kept  *chat.MemoryStore
}

// Lookup is the store's.
func (k *knowledge) Lookup(ctx context.Context, key string) ([]store.Match, error) {
	if k.store == nil {
		return nil, nil
	}
	return k.store.Lookup(ctx, key)
}

// Fuzzy is the store's.
func (k *knowledge) Fuzzy(ctx context.Context, text string, threshold float64, limit int) ([]store.Match, error) {
	if k.store == nil {
		return nil, nil
	}
	return k.store.Fuzzy(ctx, text, threshold, limit)
}

// MessageBySeq is a message of a session in memory.
func (k *knowledge) MessageBySeq(ctx context.Context, sessionID string, seq int64) (store.Message, error) {
	rows, err := k.kept.Messages(ctx, sessionID, store.MessageFilter{AfterSeq: seq - 1, BeforeSeq: seq + 1})
	if err == nil && len(rows) != 1 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Message{}, err
	}
	return rows[0], nil
}
