package identity

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxID is the longest id, in characters.
const maxID = 128

// maxText bounds names that are not ids, in characters: agents, models, people.
const maxText = 256

// InvalidError names the wrong header or field and what is allowed. It is fit for a
// client.
type InvalidError struct {
	// Name is the header or the JSON field.
	Name string
	// Problem follows the name in a sentence.
	Problem string
}

// Error returns "name problem".
func (e *InvalidError) Error() string { return e.Name + " " + e.Problem }

// ValidateID checks an id of a session, user or tenant: a printable string of 1-128
// characters. name is its name in the error.
func ValidateID(name, id string) error {
	if id == "" {
		return &InvalidError{name, fmt.Sprintf("is empty; it takes 1-%d printable characters", maxID)}
	}
	return validatePrintable(name, id, maxID)
}

func validatePrintable(name, s string, limit int) error {
	if !utf8.ValidString(s) {
		return &InvalidError{name, "is not valid UTF-8"}
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return &InvalidError{name, fmt.Sprintf("is %d characters long; at most %d are allowed", n, limit)}
	}
	for i, r := range s {
		if !unicode.IsPrint(r) {
			return &InvalidError{name, fmt.Sprintf("holds %U at character %d; only printable characters are allowed",
				r, utf8.RuneCountInString(s[:i])+1)}
		}
	}
	return nil
}

// fields returns each text of an identity with its JSON field.
func (id *Identity) fields() [8]struct{ name, value string } {
	return [...]struct{ name, value string }{
		{"user_id", id.UserID}, {"tenant_id", id.TenantID}, {"session_id", id.SessionID},
		{"default_model", id.DefaultModel}, {"agent_schema_uri", id.AgentSchemaURI},
		{"client_id", id.ClientID}, {"user_email", id.Email}, {"user_name", id.Name},
	}
}

// validate checks a value that is not empty; name is its field or header.
func validate(name, value string) error {
	switch name {
	case "tenant_id", HeaderTenantID:
		if value == SystemTenant || value == ManualTenant {
			return &InvalidError{name, fmt.Sprintf("is %q, which is reserved; choose another tenant", value)}
		}
		return ValidateID(name, value)
	case "user_id", HeaderUserID, "session_id", HeaderSessionID, "client_id", HeaderClientID:
		return ValidateID(name, value)
	case "user_email", HeaderUserEmail:
		if !isEmail(value) {
			return &InvalidError{name, "is not an e-mail address; write it as name@example.com"}
		}
	}
	return validatePrintable(name, value, maxText)
}

// isEmail reports whether a text is an e-mail address.
func isEmail(text string) bool {
	address := strings.TrimSpace(text)
	local, domain, _ := strings.Cut(address, "@")
	return local != "" && domain != "" && !strings.Contains(domain, "@") && !strings.Contains(address, " ")
}

// Normalize completes and checks an identity from outside: an empty tenant becomes the
// default one, and an e-mail without a user id sets the user id. A user id that is an
// e-mail address is that person's e-mail. The error is an *InvalidError that names the
// JSON field.
func (id Identity) Normalize() (Identity, error) {
	if id.TenantID == "" {
		id.TenantID = DefaultTenant
	}
	for _, f := range id.fields() {
		if f.value == "" {
			continue
		}
		if err := validate(f.name, f.value); err != nil {
			return Identity{}, err
		}
	}
	if id.Role != "" && id.Role.Rank() == 0 {
		return Identity{}, &InvalidError{"role", "is not one; write reader, member or admin"}
	}
	if isEmail(id.UserID) {
		if id.Email != "" && UserID(id.Email) != UserID(id.UserID) {
			return Identity{}, &InvalidError{"user_email", "is not the address in the user id; send one of the two"}
		}
		id.UserID, id.Email = "", id.UserID
	}
	if id.UserID == "" && id.Email != "" {
		id.UserID = UserID(id.Email)
	}
	return id, nil
}
