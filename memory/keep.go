package memory

import (
	"context"

	"github.com/p8-org/p8/store"
)

// Keeper stores uploads and observations; *store.Store implements it.
type Keeper interface {
	Session(ctx context.Context, id string) (store.Session, error)
	PutSession(ctx context.Context, sess store.Session) error
	ChangeSession(ctx context.Context, id string, change func(store.Session) (store.Session, error)) error
	ChangeMoment(ctx context.Context, name string, change func(old *store.Moment) (*store.Moment, error)) error
	PutLinked(ctx context.Context, back string, ms ...*store.Moment) ([]store.Linked, error)
}

// maxLatest bounds a session's latest_summary, in characters.
const maxLatest = 200
