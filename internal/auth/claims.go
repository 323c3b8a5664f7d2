package auth

import (
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/p8-org/p8/identity"
)

// Claims say where a token has what p8 needs. A name with dots is a path, such as
// realm_access.roles. The zero value has the usual names.
type Claims struct {
	// User is the claim of the user's id, "sub" when "". If it is "email", the user id is
	// the UUID5 of the address.
	User string
	// Tenant and Roles are "tenant_id" and "roles" when "".
	Tenant, Roles string
	// RoleOf maps the names of roles in tokens to p8's; names of p8's own roles need no
	// entry.
	RoleOf map[string]identity.Role
	// Role is that of a token without any known role; member when "".
	Role identity.Role
	// DefaultTenant is the tenant of a token without one, "" to refuse it.
	DefaultTenant string
}

// identity makes the caller of the claims.
func (c *Claims) identity(std *jwt.Claims, all map[string]any) (identity.Identity, error) {
	or := func(name, usual string) string {
		if name == "" {
			return usual
		}
		return name
	}
	id := identity.Identity{
		Email: text(all, "email"), Name: text(all, "name"),
		TenantID: text(all, or(c.Tenant, "tenant_id")), Expires: expiry(std),
	}
	byAddress := or(c.User, "sub") == "email"
	switch verified := all["email_verified"]; {
	case verified == true || verified == "true":
	case byAddress, verified != nil: // without email_verified, an address cannot be the user id
		id.Email = ""
	}
	if user := or(c.User, "sub"); !byAddress {
		if id.UserID = text(all, user); id.UserID == "" {
			return identity.Identity{}, invalid("the token names no user (" + user + ")")
		}
	} else if id.Email == "" {
		return identity.Identity{}, invalid("the token has no verified e-mail address (" + user + ")")
	}
	if id.TenantID == "" {
		if id.TenantID = c.DefaultTenant; id.TenantID == "" {
			return identity.Identity{}, &Refused{Bad: true, Forbidden: true, Message: "the token names no tenant (" + or(c.Tenant, "tenant_id") + ")"}
		}
	}
	if id.Visitor() {
		return identity.Identity{}, &Refused{Bad: true, Forbidden: true, Message: "the token's user id begins with " + identity.VisitorPrefix + ", which is for callers without a token"}
	}
	id.Role = c.role(at(all, or(c.Roles, "roles")))
	checked, err := id.Normalize()
	if err != nil {
		var wrong *identity.InvalidError
		if errors.As(err, &wrong) {
			return identity.Identity{}, &Refused{Bad: true, Forbidden: true, Message: "the token cannot be used: its " + wrong.Error()}
		}
		return identity.Identity{}, err
	}
	return checked, nil
}

// role returns the highest role that the claim names.
func (c *Claims) role(claim any) identity.Role {
	var names []string
	switch claim := claim.(type) {
	case string:
		names = strings.Fields(claim)
	case []any:
		for _, one := range claim {
			if name, ok := one.(string); ok {
				names = append(names, name)
			}
		}
	}
	var best identity.Role
	for _, name := range names {
		role, mapped := c.RoleOf[name]
		if !mapped {
			role = identity.Role(name)
		}
		if role.Rank() > best.Rank() {
			best = role
		}
	}
	switch {
	case best.Rank() > 0:
		return best
	case c.Role != "":
		return c.Role
	}
	return identity.RoleMember
}

// at returns the claim at a path.
func at(all map[string]any, path string) any {
	// A claim may have dots in its name, such as https://example.com/tenant.
	if v, ok := all[path]; ok {
		return v
	}
	head, rest, more := strings.Cut(path, ".")
	if !more {
		return nil
	}
	inner, _ := all[head].(map[string]any)
	return at(inner, rest)
}

func text(all map[string]any, path string) string {
	s, _ := at(all, path).(string)
	return strings.TrimSpace(s)
}
