package store

import (
	"context"
	"encoding/json"
	"slices"
)

// maxUserMetadata bounds what is known of a person, in bytes.
const maxUserMetadata = 256 << 10

// UpdateUserMetadata gives the metadata of the caller's row the keys of set, a
// JSON object, each replaced whole, and takes the keys of remove away. The row is
// made where the caller never had one; a deleted one is ErrNotFound. An anonymous
// caller has no row, and gets ErrInvalid.
func (s *Store) UpdateUserMetadata(ctx context.Context, set json.RawMessage, remove []string) (User, error) {
	if err := checkObject("metadata", &set); err != nil {
		return User{}, missingFirst(ctx, err)
	}
	var u User
	err := s.writing(ctx, "store user metadata", func(w *writer) error {
		if w.sc.Anonymous() {
			return invalidf("an anonymous caller has no user row")
		}
		if err := w.ensureUser(ctx); err != nil {
			return err
		}
		old, live, err := w.lockUser(ctx)
		if err == nil && !live {
			err = notFound("user", w.sc.UserID)
		}
		if err != nil {
			return err
		}
		u = *old
		if u.Metadata, err = without(u.Metadata, remove); err != nil {
			return err
		}
		if u.Metadata, _, err = MergeObjects(u.Metadata, set); err != nil {
			return err
		}
		if len(u.Metadata) > maxUserMetadata {
			return invalidf("the user's metadata would be %d bytes long; at most %d are kept: remove keys", len(u.Metadata), maxUserMetadata)
		}
		return w.replace(ctx, users, placed{id: w.sc.UserID, old: old, live: true}, &u, w.sc.user)
	})
	return u, err
}

// without is a JSON object without some keys.
func without(object json.RawMessage, keys []string) (json.RawMessage, error) {
	var all map[string]json.RawMessage
	if len(object) == 0 || len(keys) == 0 {
		return object, nil
	}
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(keys, func(key string) bool { return all[key] != nil }) {
		return object, nil
	}
	for _, key := range keys {
		delete(all, key)
	}
	return json.Marshal(all)
}
