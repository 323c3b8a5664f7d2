package wiring

import (
	"context"
	"encoding/json"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// openMemory opens the store of a chat in memory; nil if sessions are stored in the
// database, or nowhere.
func openMemory(ctx context.Context, s *store.Store, o Options) (*store.Store, error) {
	if s != nil && !o.NoStore || !o.Memory {
		return nil, nil
	}
	return sqlite.Open(ctx, sqlite.Options{Memory: true, Logger: o.Log})
}

// chatStores returns the store of sessions and the knowledge that search reads. memory is
// the store of openMemory.
func chatStores(s, memory *store.Store, o Options) (chat.Store, rem.Knowledge) {
	switch {
	case memory != nil && s != nil:
		return memory, knowledge{Knowledge: s, memory: memory}
	case memory != nil:
		return memory, knowledge{Knowledge: noKnowledge{}, memory: memory}
	case s != nil && !o.NoStore:
		return s, s
	}
	return nil, nil
}

// knowledge is that of a chat in memory: the rows of the database, if there is one, and
// the messages of the chat.
type knowledge struct {
	rem.Knowledge
	memory *store.Store
}

// MessageBySeq returns a message of a session in memory.
func (k knowledge) MessageBySeq(ctx context.Context, sessionID string, seq int64) (store.Message, error) {
	return k.memory.MessageBySeq(ctx, sessionID, seq)
}

// Message returns a message of a session in memory.
func (k knowledge) Message(ctx context.Context, id string) (store.Message, error) {
	return k.memory.Message(ctx, id)
}

// noKnowledge is the knowledge without a database.
type noKnowledge struct{}

func (noKnowledge) Lookup(context.Context, string) ([]store.Match, error) { return nil, nil }
func (noKnowledge) Fuzzy(context.Context, string, float64, int) ([]store.Match, error) {
	return nil, nil
}
func (noKnowledge) Nodes(context.Context, []string) ([]store.Node, error) { return nil, nil }
func (noKnowledge) Inward(context.Context, []string, []string, int) ([]store.Link, error) {
	return nil, nil
}
func (noKnowledge) Search(context.Context, ...store.SearchQuery) ([]store.Match, error) {
	return nil, nil
}
func (noKnowledge) Tables() []store.TableInfo { return nil }

func (noKnowledge) MessageBySeq(context.Context, string, int64) (store.Message, error) {
	return store.Message{}, store.ErrNotFound
}

func (noKnowledge) Message(context.Context, string) (store.Message, error) {
	return store.Message{}, store.ErrNotFound
}

// Load returns nil for each node.
func (noKnowledge) Load(_ context.Context, nodes ...store.Node) ([]json.RawMessage, error) {
	return make([]json.RawMessage, len(nodes)), nil
}

// Select fails: there are no tables.
func (noKnowledge) Select(context.Context, string, store.SelectBounds) (store.Selection, error) {
	return store.Selection{}, &store.SelectError{Problem: "nothing is stored (P8_DATABASE_URL=none), so there are no tables"}
}
