package wiring

import (
	"context"
	"encoding/json"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// keptIn is where sessions are kept and what search reads: the store, or the
// process for a chat that is not stored.
func keptIn(s *store.Store, o Options) (chat.Store, rem.Knowledge) {
	switch {
	case s != nil && !o.NoStore:
		return s, s
	case o.Memory:
		k := knowledge{Knowledge: nothing{}, kept: new(chat.MemoryStore)}
		if s != nil {
			k.Knowledge = s
		}
		return k.kept, k
	}
	return nil, nil
}

// knowledge is that of a chat kept in memory: rows of the store, if there is
// one, and messages of the process.
type knowledge struct {
	rem.Knowledge
	kept *chat.MemoryStore
}

// MessageBySeq is a message of a session in memory.
func (k knowledge) MessageBySeq(ctx context.Context, sessionID string, seq int64) (store.Message, error) {
	rows, err := k.kept.Messages(ctx, sessionID, store.MessageFilter{AfterSeq: seq - 1, BeforeSeq: seq + 1})
	if err == nil && len(rows) != 1 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Message{}, err
	}
	return rows[0], nil
}

// Message is a message of a session in memory.
func (k knowledge) Message(ctx context.Context, id string) (store.Message, error) {
	return k.kept.Message(ctx, id)
}

// nothing is the knowledge of a p8 that stores nothing.
type nothing struct{}

func (nothing) Lookup(context.Context, string) ([]store.Match, error)              { return nil, nil }
func (nothing) Fuzzy(context.Context, string, float64, int) ([]store.Match, error) { return nil, nil }
func (nothing) Nodes(context.Context, []string) ([]store.Node, error)              { return nil, nil }
func (nothing) Search(context.Context, store.SearchQuery) ([]store.Match, error)   { return nil, nil }
func (nothing) Tables() []store.TableInfo                                          { return nil }

func (nothing) MessageBySeq(context.Context, string, int64) (store.Message, error) {
	return store.Message{}, store.ErrNotFound
}

func (nothing) Message(context.Context, string) (store.Message, error) {
	return store.Message{}, store.ErrNotFound
}

// Load has nothing for each node.
func (nothing) Load(_ context.Context, nodes ...store.Node) ([]json.RawMessage, error) {
	return make([]json.RawMessage, len(nodes)), nil
}

// Select says that there are no tables.
func (nothing) Select(context.Context, string, store.SelectBounds) (store.Selection, error) {
	return store.Selection{}, &store.SelectError{Problem: "nothing is stored (P8_DATABASE_URL=none), so there are no tables"}
}
