package api

import (
	"context"
	"net/http"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/rest"
)

// me is who the server takes the caller for.
type me struct {
	// UserID is null for an anonymous caller.
	UserID   *string `json:"user_id"`
	TenantID string  `json:"tenant_id"`
	Role     string  `json:"role"`
	Email    string  `json:"email,omitempty"`
	Name     string  `json:"name,omitempty"`
	// Method is how the caller was verified: token, key (also a login or P8_API_KEY), or none.
	Method string `json:"auth_method"`
	// Expires is when the token does.
	Expires time.Time `json:"expires_at,omitzero"`
}

// meRoute adds GET /me. verifies reports whether callers are verified at all.
func meRoute(api *rest.API, verifies bool) {
	rest.Register(api, rest.Resource("me", http.MethodGet, "/me", "Who you are: your user, tenant and role, and until when", "operation"),
		func(ctx context.Context, _ *struct{}) (*rest.Body[me], error) {
			id, err := identity.From(ctx)
			if err != nil {
				return nil, err
			}
			out := me{TenantID: id.TenantID, Role: string(id.Role), Email: id.Email, Name: id.Name, Method: "none", Expires: id.Expires.UTC()}
			if !id.Anonymous() {
				out.UserID = &id.UserID
			}
			if id.Role == "" {
				out.Role = string(identity.RoleAdmin) // what a caller without a role may do
			}
			switch {
			case id.KeyID != "":
				out.Method = "key"
			case id.Visitor():
			case verifies:
				out.Method = "token"
			}
			return &rest.Body[me]{Body: out}, nil
		})
}
