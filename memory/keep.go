package memory

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/p8-org/p8/store"
)

// Keeper stores uploads and observations; *store.Store implements it.
type Keeper interface {
	Session(ctx context.Context, id string) (store.Session, error)
	PutSession(ctx context.Context, sess store.Session) error
	ChangeSession(ctx context.Context, id string, change func(store.Session) (store.Session, error)) error
	Lookup(ctx context.Context, key string) ([]store.Match, error)
	PutLinked(ctx context.Context, back string, ms ...*store.Moment) ([]store.Linked, error)
}

// maxLatest bounds a session's latest_summary, in characters.
const maxLatest = 200

// findMoment is the caller's moment of a name, nil for none.
func findMoment(ctx context.Context, k Keeper, name string) (*store.Moment, error) {
	matches, err := k.Lookup(ctx, name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	for i := range matches {
		var m store.Moment
		if matches[i].Type == store.TypeMoment && matches[i].Own && json.Unmarshal(matches[i].Data, &m) == nil && m.Name == name {
			return &m, nil
		}
	}
	return nil, nil
}
