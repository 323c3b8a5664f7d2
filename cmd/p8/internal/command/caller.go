package command

import (
	"context"
	"errors"
	"strings"

	"github.com/p8-org/p8/identity"
)

// Caller is who asks for stored rows.
type Caller struct {
	User   string `short:"u" help:"Whose: an e-mail address, or a user id."`
	Tenant string `short:"t" help:"Tenant of the user."`
}

// Context carries the identity of the caller.
func (c Caller) Context() (context.Context, error) {
	id, err := c.Identity(identity.Identity{})
	return identity.With(context.Background(), id), err
}

// Identity is the caller with what else an identity has.
func (c Caller) Identity(id identity.Identity) (identity.Identity, error) {
	id.TenantID, id.ClientID = c.Tenant, "cli"
	if strings.Contains(c.User, "@") {
		id.Email = c.User
	} else {
		id.UserID = c.User
	}
	return normalize(id)
}

// normalize completes an identity; what is wrong with it is a mistake on the command line.
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
