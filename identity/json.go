package identity

import (
	"encoding/json"
	"errors"
	"strings"
)

// UnmarshalJSON reads an identity by REMLight's field names and checks it as
// [Identity.Normalize] does. A field that is null counts as absent; user_profile_hint
// is REMLight's other name for user_context.
func (id *Identity) UnmarshalJSON(b []byte) error {
	type plain Identity
	var raw struct {
		plain
		Hint string `json:"user_profile_hint"`
		// SharedReadOnly is how older versions stored the role of a member.
		SharedReadOnly bool `json:"shared_read_only"`
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		var wrong *json.UnmarshalTypeError
		if !errors.As(err, &wrong) {
			return err
		}
		if wrong.Field == "" {
			return &InvalidError{"the identity", "is a JSON " + wrong.Value + "; write an object"}
		}
		// The path of a field begins with the type that embeds it.
		field, want := wrong.Field[strings.LastIndex(wrong.Field, ".")+1:], "a string"
		if field == "is_eval" || field == "shared_read_only" {
			want = "true or false"
		}
		return &InvalidError{field, "is a JSON " + wrong.Value + "; write " + want}
	}
	if raw.UserContext == "" {
		raw.UserContext = raw.Hint
	}
	if raw.Role == "" && raw.SharedReadOnly {
		raw.Role = RoleMember
	}
	checked, err := Identity(raw.plain).Normalize()
	if err != nil {
		return err
	}
	*id = checked
	return nil
}
