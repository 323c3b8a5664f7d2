package store

import (
	"context"
	"encoding/json"
)

// UserChange adds facts to the caller's row, or removes them, in the order of the fields.
type UserChange struct {
	// Remove are keys of the metadata to remove.
	Remove []string
	// RemoveItems is a JSON object with the items to take out of the metadata's lists,
	// by key: {"likes": ["tea"], "facts": {"cities": ["Bonn"]}}.
	RemoveItems json.RawMessage
	// Set is a JSON object that is merged with the metadata. A list is extended by the items
	// that it does not have yet; texts are compared without case. A single value is added to
	// a stored list; any other value replaces the stored one. An object is merged key by key
	// by the same rules; objects deeper inside it are replaced. null removes a key.
	Set json.RawMessage
	// Content replaces the row's content, unless it is "".
	Content string
	// Interests and Topics are added to the row's columns.
	Interests, Topics []string
}

// Update changes the caller's row and creates it for a caller who never had one. A
// deleted row is ErrNotFound. An anonymous caller has no row and gets ErrInvalid.
//
// A change of the lists interests and preferred_topics in the metadata also changes the
// row's columns of these names. A column holds at most 20 texts: the oldest that the change
// does not repeat are dropped.
func (all Users) Update(ctx context.Context, c UserChange) (User, error) {
	for name, value := range map[string]*json.RawMessage{"metadata": &c.Set, "remove_items": &c.RemoveItems} {
		if err := checkObject(name, value); err != nil {
			return User{}, missingFirst(ctx, err)
		}
	}
	var u User
	err := all.store.writing(ctx, "store user", func(w *writer) error {
		if w.by.Anonymous() {
			return invalidf("an anonymous caller has no user row")
		}
		if err := w.ensureUser(ctx); err != nil {
			return err
		}
		old, live, err := w.lockUser(ctx)
		if err == nil && !live {
			err = notFound("user", w.by.UserID)
		}
		if err != nil {
			return err
		}
		u = *old
		if err := u.change(c); err != nil {
			return err
		}
		if err := u.check(); err != nil {
			return err
		}
		if len(u.Metadata) > maxUserMetadata {
			return invalidf("the user's metadata would be %d bytes long; at most %d are kept: remove keys", len(u.Metadata), maxUserMetadata)
		}
		return w.replace(ctx, users, placed{id: w.by.UserID, old: old, live: true}, &u, w.by.user)
	})
	return u, err
}

// change applies a UserChange to the row.
func (u *User) change(c UserChange) error {
	all, err := object(u.Metadata)
	if err != nil {
		return err
	}
	set, err := object(c.Set)
	if err != nil {
		return err
	}
	items, err := object(c.RemoveItems)
	if err != nil {
		return err
	}
	for _, key := range c.Remove {
		delete(all, key)
	}
	removeItems(all, items, true)
	if err := mergeKnown(all, set, true); err != nil {
		return err
	}
	if len(all) > 0 || len(u.Metadata) > 0 {
		if u.Metadata, err = json.Marshal(all); err != nil {
			return err
		}
	}
	if c.Content != "" {
		u.Content = c.Content
	}
	u.Interests = column(u.Interests, keyInterests, c.Remove, items, set, c.Interests)
	u.Topics = column(u.Topics, keyTopics, c.Remove, items, set, c.Topics)
	return nil
}
