package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"p8/agent"
	"p8/store"
)

// readSession fills in the session, and what the request says about it.
func (s *Service) readSession(ctx context.Context, j *job) error {
	said, err := sessionMetadata(j.req.SessionMetadata)
	if err != nil {
		return err
	}
	if s.o.Store != nil && j.named {
		j.session, err = s.o.Store.Session(ctx, j.SessionID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	j.session.ID = j.SessionID
	j.session.Name = cmp.Or(j.req.SessionName, j.session.Name)
	j.session.Metadata, _, err = store.MergeObjects(j.session.Metadata, said)
	if err == nil && len(said) > 0 && len(j.session.Metadata) > maxMetadata {
		err = &InputError{"session_metadata", "the session's metadata would be larger than 16 KiB"}
	}
	return err
}

// readUser is the caller's row, for the documents whose prompt names the user.
func (s *Service) readUser(ctx context.Context, j *job) (store.User, error) {
	if s.o.Store == nil || j.agent.Document.Dialect != agent.Nested || j.who.Anonymous() {
		return store.User{}, nil
	}
	user, err := s.o.Store.User(ctx)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return user, err
}

// maxMetadata bounds what is said about a session: it stands in every prompt of
// a flat agent.
const maxMetadata = 16 << 10

func sessionMetadata(m map[string]any) (json.RawMessage, error) {
	if len(m) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, &InputError{"session_metadata", "the session's metadata cannot be written as JSON"}
	}
	return raw, nil
}
