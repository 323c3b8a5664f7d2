package access

import (
	"context"
	"net/http"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/store"
)

type (
	listKeysInput struct {
		Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many keys to return."`
		Cursor  string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
		User    string `query:"user" maxLength:"128" doc:"Only keys of this user, by e-mail address or id."`
		Name    string `query:"name" maxLength:"128" doc:"Only keys of this name."`
		Revoked bool   `query:"revoked" doc:"With the revoked ones."`
	}
	keyInput struct {
		ID string `path:"id" maxLength:"128" doc:"The key's id."`
	}
	keyBody struct {
		Name    string        `json:"name" doc:"A name; each user has it once."`
		User    string        `json:"user,omitempty" doc:"The user whose key it is, by e-mail address or id; you, if it is absent. For admins."`
		Tenant  string        `json:"tenant_id,omitempty" doc:"Your tenant."`
		Role    identity.Role `json:"role,omitempty" enum:"reader,member,admin" doc:"What the key may do; member by default. Not more than you."`
		Expires *string       `json:"expires_at,omitempty" doc:"When the key ends: a time with its offset, or a day; never, if it is absent."`
	}
	// newKey is a key with its text, which is shown once.
	newKey struct {
		store.APIKey
		Key string `json:"key"`
	}
)

func (*keyBody) Example() string { return `{"name":"ci","role":"member"}` }

func (h *handlers) keyRoutes() {
	rest.Register(h.api, rest.Resource("list-keys", http.MethodGet, "/keys", "API keys: yours, or all of your tenant for admins", "access"), h.listKeys)
	rest.Register(h.api, rest.Resource("revoke-key", http.MethodDelete, "/keys/{id}", "Revoke an API key", "access"), h.revokeKey)
	op := rest.Resource("create-key", http.MethodPost, "/keys", "Make an API key", "access")
	op.Description = "The answer has the key, which cannot be read again."
	h.api.Sends(&op, "key", keyBody{})
	rest.Answers(&op, map[string]string{"201": "The key.", "403": "The key would have more rights than you, or be another's.", "409": "The user has a key of that name."})
	h.api.Route(op, h.createKey)
}

func (h *handlers) listKeys(ctx context.Context, in *listKeysInput) (*rest.List[store.APIKey], error) {
	if p := h.missing(); p != nil {
		return nil, p
	}
	rows, next, err := h.o.Accounts.Keys(ctx, store.KeyFilter{UserID: in.User, Name: in.Name, Revoked: in.Revoked, Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, h.api.About(ctx, "key", err)
	}
	return rest.NewList(rows, rest.Query("user", in.User, "name", in.Name, "revoked", rest.Yes(in.Revoked)), in.Limit, next), nil
}

func (h *handlers) revokeKey(ctx context.Context, in *keyInput) (*rest.Body[store.APIKey], error) {
	if p := h.missing(); p != nil {
		return nil, p
	}
	k, err := h.o.Accounts.RevokeKey(ctx, in.ID)
	if err != nil {
		return nil, h.api.About(ctx, "key", err)
	}
	return &rest.Body[store.APIKey]{Body: k}, nil
}

// createKey is POST /keys.
func (h *handlers) createKey(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	if p := h.missing(); p != nil {
		return 0, nil, p
	}
	var b keyBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	if b.Role != "" && b.Role.Rank() == 0 {
		return 0, nil, problem.Invalid("role", "role is %.32q; it is reader, member or admin", b.Role)
	}
	if strings.TrimSpace(b.Name) == "" {
		return 0, nil, problem.Invalid("name", "name is missing; call the key something, such as ci")
	}
	ends, p := field.End("expires_at", b.Expires)
	if p != nil {
		return 0, nil, p
	}
	if err := same(ctx, b.Tenant); err != nil {
		return 0, nil, err
	}
	text, k, err := h.o.Accounts.CreateKey(ctx, account.KeyRequest{Name: b.Name, User: b.User, Role: b.Role, ExpiresAt: ends})
	if err != nil {
		return 0, nil, h.api.About(ctx, "key", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	return http.StatusCreated, newKey{k, text}, nil
}
