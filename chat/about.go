package chat

import (
	"fmt"
	"maps"
	"unicode/utf8"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// The keys of a client's metadata that are the session's title and mode.
const (
	metadataName = "session_name"
	metadataMode = "session_type"
)

// SetMetadata takes over what a client's protocol calls metadata: its session_name and
// session_type are SessionName and SessionMode, the rest is SessionMetadata.
func (r *Request) SetMetadata(metadata map[string]any) error {
	rest := maps.Clone(metadata)
	for key, field := range map[string]*string{metadataName: &r.SessionName, metadataMode: &r.SessionMode} {
		value, ok := rest[key]
		if !ok {
			continue
		}
		text, ok := value.(string)
		if !ok {
			return &InputError{"metadata", "metadata." + key + " must be a string"}
		}
		*field = text
		delete(rest, key)
	}
	r.SessionMetadata = rest
	return nil
}

// checkAbout checks what the request says about its session, and cleans the name.
func (r *Request) checkAbout() error {
	r.SessionName = store.CleanTitle(r.SessionName)
	if n := utf8.RuneCountInString(r.SessionName); n > store.MaxTitle {
		return &InputError{metadataName, fmt.Sprintf("the session's name has %d characters; at most %d are allowed", n, store.MaxTitle)}
	}
	switch {
	case r.SessionMode == "":
		return nil
	case store.IsBackground(r.SessionMode):
		return &InputError{metadataMode, "session_type is " + r.SessionMode + ", the mode of p8's own background work; choose a word of your own, such as support"}
	}
	if err := identity.ValidateID(metadataMode, r.SessionMode); err != nil {
		return &InputError{metadataMode, err.Error()}
	}
	return nil
}
