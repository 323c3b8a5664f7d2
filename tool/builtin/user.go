package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"p8/identity"
	"p8/store"
	"p8/tool"
)

// The bounds of a change of a person's metadata.
const (
	maxMetadata = 64 << 10
	maxRemoved  = 100
)

// profile is what is known of the caller.
type profile struct {
	UserID    string          `json:"user_id"`
	Name      string          `json:"name"`
	Email     string          `json:"email"`
	Content   string          `json:"content" jsonschema:"what was written about the user"`
	Interests []string        `json:"interests"`
	Topics    []string        `json:"preferred_topics"`
	Metadata  json.RawMessage `json:"metadata" jsonschema:"what update_user_metadata keeps"`
}

// profileOf is the caller's profile: the stored row, else what the request says
// of the caller.
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
		stored, err := s.User(ctx)
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
		UserID: u.ID, Name: u.Name, Email: u.Email, Content: u.Summary,
		Interests: list(u.Interests), Topics: list(u.Topics), Metadata: u.Metadata,
	}, nil
}

func newProfile(o *Options) (tool.Tool, error) {
	return answering("get_user_profile", "Tells who the user is: name, e-mail, interests, and what is remembered about them.",
		tool.Annotations{Title: "User profile", ReadOnly: true},
		func(ctx context.Context, _ struct{}) (profile, error) { return profileOf(ctx, o.Store) })
}

type updateMetadataIn struct {
	Metadata map[string]json.RawMessage `json:"metadata,omitempty" jsonschema:"keys to set, such as preferences, facts, relations, interests; each value replaces the old one whole, lists too"`
	Remove   []string                   `json:"remove_keys,omitempty" jsonschema:"keys to forget; they are removed before metadata is set"`
}

type updateMetadataOut struct {
	Status   string          `json:"status"`
	UserID   string          `json:"user_id"`
	Metadata json.RawMessage `json:"metadata" jsonschema:"all that is remembered now"`
}

func newUpdateMetadata(o *Options) (tool.Tool, error) {
	return answering("update_user_metadata",
		"Remembers lasting facts about the user for later sessions: preferences, relations, interests. Only what the user said or clearly showed; nothing secret. Read get_user_profile first when you extend a list, as lists are replaced.",
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
			switch {
			case err != nil:
				return out, err
			case id.Anonymous():
				return out, failed("the caller is anonymous: there is nobody to remember this about")
			case len(in.Metadata) == 0 && len(in.Remove) == 0:
				return out, failed("there is nothing to change: give metadata, an object, or remove_keys, a list")
			case len(set) > maxMetadata:
				return out, failed(fmt.Sprintf("metadata is %d bytes long; at most %d are taken at a time", len(set), maxMetadata))
			case len(in.Remove) > maxRemoved:
				return out, failed(fmt.Sprintf("remove_keys has %d keys; at most %d are removed at a time", len(in.Remove), maxRemoved))
			}
			u, err := o.Store.UpdateUserMetadata(ctx, set, in.Remove)
			if len(u.Metadata) == 0 {
				u.Metadata = json.RawMessage("{}")
			}
			return updateMetadataOut{Status: "ok", UserID: u.ID, Metadata: u.Metadata}, err
		})
}
