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
	tenant, err := text(all, or(c.Tenant, "tenant_id"))
	if err != nil {
		return identity.Identity{}, err
	}
	id := identity.Identity{TenantID: tenant, Expires: expiry(std)}
	id.Email, _ = text(all, "email") // one that is no text proves no address
	id.Name, _ = text(all, "name")
	byAddress := or(c.User, "sub") == "email"
	switch verified := all["email_verified"]; {
	case verified == true || verified == "true":
	case byAddress, verified != nil: // without email_verified, an address cannot be the user id
		id.Email = ""
	}
	if user := or(c.User, "sub"); !byAddress {
		if id.UserID, err = text(all, user); err != nil {
			return identity.Identity{}, err
		}
		if id.UserID == "" {
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
	if id.Role, err = c.role(all, or(c.Roles, "roles")); err != nil {
		return identity.Identity{}, err
	}
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

// role returns the highest role that the claim at a path names.
func (c *Claims) role(all map[string]any, path string) (identity.Role, error) {
	claim, ok := at(all, path)
	var names []string
	switch claim := claim.(type) {
	case nil:
	case string:
		names = strings.Fields(claim)
	case []any:
		for _, one := range claim {
			name, isText := one.(string)
			ok = ok && isText
			names = append(names, name)
		}
	default:
		ok = false
	}
	if !ok {
		return "", unreadable(path, "words, or a list of texts")
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
		return best, nil
	case c.Role != "":
		return c.Role, nil
	}
	return identity.RoleMember, nil
}

// at returns the claim at a path, nil if there is none. ok is false if something on the way to
// it is no object.
func at(all map[string]any, path string) (claim any, ok bool) {
	// A claim may have dots in its name, such as https://example.com/tenant.
	if v, ok := all[path]; ok {
		return v, true
	}
	head, rest, more := strings.Cut(path, ".")
	if !more || all[head] == nil {
		return nil, true
	}
	inner, ok := all[head].(map[string]any)
	if !ok {
		return nil, false
	}
	return at(inner, rest)
}

// text returns the text at a path, "" if there is no claim. A claim that is empty or of another
// type is an error: taken for a missing one, it would put the caller into the default tenant.
func text(all map[string]any, path string) (string, error) {
	claim, ok := at(all, path)
	s, isText := claim.(string)
	if s = strings.TrimSpace(s); !ok || claim != nil && (!isText || s == "") {
		return "", unreadable(path, "a text")
	}
	return s, nil
}

// unreadable refuses a token with a claim that is not what it must be.
func unreadable(path, must string) *Refused {
	return &Refused{Bad: true, Forbidden: true, Message: "the token cannot be used: its claim " + path + " must be " + must}
}
