package command

import (
	"context"
	"errors"
	"strings"

	"github.com/p8-org/p8/identity"
)

// Caller has the flags that name the user of a command.
type Caller struct {
	User   string `short:"u" help:"Act as this user (e-mail address or id)."`
	Tenant string `help:"Tenant of the user."`
}

// Context returns a context with the identity of the caller.
func (c Caller) Context() (context.Context, error) {
	id, err := c.Identity(identity.Identity{})
	return identity.With(context.Background(), id), err
}

// Identity adds the caller to an identity, and normalizes it.
func (c Caller) Identity(id identity.Identity) (identity.Identity, error) {
	id.TenantID, id.ClientID = c.Tenant, "cli"
	if strings.Contains(c.User, "@") {
		id.Email = c.User
	} else {
		id.UserID = c.User
	}
	return normalize(id)
}

// normalize returns a usage error that names the flag of an invalid field.
func normalize(id identity.Identity) (identity.Identity, error) {
	id, err := id.Normalize()
	var invalid *identity.InvalidError
	if errors.As(err, &invalid) {
		return id, Usage("%s %s", FlagOf[invalid.Name], invalid.Problem)
	}
	return id, err
}

// FlagOf names the flag that sets a field of an identity.
var FlagOf = map[string]string{
	"tenant_id": "--tenant", "user_id": "--user", "user_email": "--user", "session_id": "--session",
	"agent_schema_uri": "--agent", "default_model": "--model",
}
