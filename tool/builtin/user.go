package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
)

// The bounds of a change of a person's metadata.
const (
	maxMetadata = 64 << 10
	maxRemoved  = 100
)

// profile is the caller's profile.
type profile struct {
	UserID    string          `json:"user_id"`
	Name      string          `json:"name"`
	Email     string          `json:"email"`
	Content   string          `json:"content" jsonschema:"what was written about the user"`
	Interests []string        `json:"interests"`
	Topics    []string        `json:"preferred_topics"`
	Metadata  json.RawMessage `json:"metadata" type:"object" jsonschema:"what update_user_metadata keeps"`
}

// profileOf returns the caller's profile: the stored row, else the request's data.
func profileOf(ctx context.Context, s *store.Store) (profile, error) {
	id, err := identity.From(ctx)
	if err != nil {
		return profile{}, err
	}
	if id.Anonymous() {
		return profile{}, failed("the caller is anonymous, and so has no profile")
	}
	u := store.User{ID: id.UserID, Name: id.Name, Email: id.Email}
	if s != nil {
		stored, err := s.Users().Get(ctx)
		switch {
		case err == nil:
			u = stored
		case !errors.Is(err, store.ErrNotFound):
			return profile{}, err
		}
	}
	if len(u.Metadata) == 0 {
		u.Metadata = json.RawMessage("{}")
	}
	return profile{
		UserID: u.ID, Name: u.Name, Email: u.Email, Content: u.Content,
		Interests: list(u.Interests), Topics: list(u.Topics), Metadata: u.Metadata,
	}, nil
}

func newProfile(o *Options) (tool.Tool, error) {
	return answering("get_user_profile", "Tells who the user is: name, e-mail, interests, and what is remembered about them.",
		tool.Annotations{Title: "User profile", ReadOnly: true},
		func(ctx context.Context, _ struct{}) (profile, error) { return profileOf(ctx, o.Store) })
}

type updateMetadataIn struct {
	Metadata    map[string]json.RawMessage `json:"metadata,omitempty" jsonschema:"what to remember by key, such as preferences, facts, relations, interests, preferred_topics: lists are added to, objects merged key by key, other values replaced, null forgets the key"`
	Remove      []string                   `json:"remove_keys,omitempty" jsonschema:"keys to forget, before metadata is merged"`
	RemoveItems map[string]json.RawMessage `json:"remove_items,omitempty" jsonschema:"items to take out of lists by key, before metadata is merged, as in {\"interests\": [\"chess\"], \"preferences\": {\"colours\": [\"red\"]}}"`
}

// updateMetadataOut is the profile after the change.
type updateMetadataOut struct {
	Status    string          `json:"status"`
	UserID    string          `json:"user_id"`
	Metadata  json.RawMessage `json:"metadata" type:"object" jsonschema:"all that is remembered now"`
	Interests []string        `json:"interests"`
	Topics    []string        `json:"preferred_topics"`
}

const updateMetadataDescription = `Remembers lasting facts about the user for later sessions: preferences, relations, interests. Only what the user said or clearly showed; nothing secret.
Give what is new alone: a list is added to, never replaced. remove_items takes items out of a list, remove_keys forgets a key. What is changed in interests and preferred_topics, two lists of texts, shows in every later prompt.`

func newUpdateMetadata(o *Options) (tool.Tool, error) {
	return answering("update_user_metadata", updateMetadataDescription,
		tool.Annotations{Title: "Remember about the user", Destructive: true, Idempotent: true},
		func(ctx context.Context, in updateMetadataIn) (out updateMetadataOut, err error) {
			if !o.writes() {
				return out, failed("nothing is stored in this configuration, so nothing can be remembered")
			}
			id, err := identity.From(ctx)
			if err != nil {
				return out, err
			}
			set, err := json.Marshal(in.Metadata)
			if err != nil {
				return out, err
			}
			items, err := json.Marshal(in.RemoveItems)
			switch {
			case err != nil:
				return out, err
			case id.Anonymous():
				return out, failed("the caller is anonymous: there is nobody to remember this about")
			case len(in.Metadata) == 0 && len(in.Remove) == 0 && len(in.RemoveItems) == 0:
				return out, failed("there is nothing to change: give metadata, an object, remove_keys, a list, or remove_items, an object")
			case len(set)+len(items) > maxMetadata:
				return out, failed(fmt.Sprintf("metadata is %d bytes long; at most %d are taken at a time", len(set)+len(items), maxMetadata))
			case len(in.Remove) > maxRemoved:
				return out, failed(fmt.Sprintf("remove_keys has %d keys; at most %d are removed at a time", len(in.Remove), maxRemoved))
			}
			c := store.UserChange{Remove: in.Remove}
			if len(in.Metadata) > 0 {
				c.Set = set
			}
			if len(in.RemoveItems) > 0 {
				c.RemoveItems = items
			}
			u, err := o.Store.Users().Update(ctx, c)
			if len(u.Metadata) == 0 {
				u.Metadata = json.RawMessage("{}")
			}
			return updateMetadataOut{
				Status: "ok", UserID: u.ID, Metadata: u.Metadata, Interests: list(u.Interests), Topics: list(u.Topics),
			}, err
		})
}
