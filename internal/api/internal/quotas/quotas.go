// Package quotas serves what tenants, users and keys may use.
//
// An admin lists the quotas of the own tenant, and sets those of its users and keys. The
// deployment's key also sets the tenant's own, and names any tenant with the parameter tenant.
// Who may is decided in the store; this package only chooses the tenant. A quota without
// limits is removed, so that the settings count again.
package quotas

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/internal/api/internal/web"
	"github.com/p8-org/p8/internal/quota"
	"github.com/p8-org/p8/store"
)

// Quotas are those of the caller's tenant. Implemented by *quota.Manager.
type Quotas interface {
	List(ctx context.Context) (quota.List, error)
	// Set stores limits, or removes them if they are "".
	Set(ctx context.Context, kind, id, limits string) (quota.Effective, error)
}

type handlers struct {
	api    *rest.API
	quotas Quotas
}

// Routes adds /quotas. A nil Quotas makes them answer that the server has none.
func Routes(api *rest.API, q Quotas) {
	h := &handlers{api: api, quotas: q}
	rest.Register(api, rest.Resource("list-quotas", http.MethodGet, "/quotas", "What the tenant, its users and keys may use; for admins", "quotas"), h.list)
	op := rest.Resource("put-quota", http.MethodPut, "/quotas", "Set or remove a quota; for admins", "quotas")
	op.Parameters = append(op.Parameters, rest.Text("tenant", "query", "The tenant, for the deployment's key; by default the caller's."))
	api.Sends(&op, "put-quota", quotaBody{})
	rest.Answers(&op, map[string]string{"200": "The quota that counts now.", "403": "The caller is no admin, or may not set this quota.", "422": "The body is wrong; param names the field."})
	api.Route(op, h.put)
}

type (
	listInput struct {
		Tenant string `query:"tenant" maxLength:"128" doc:"The tenant, for the deployment's key; by default the caller's."`
	}
	// quotaBody is the body of PUT /quotas.
	quotaBody struct {
		Kind   string  `json:"kind" doc:"tenant, user or key."`
		ID     string  `json:"id,omitempty" doc:"The user, by id or e-mail address, or the id of the key; empty for the tenant, and for all anonymous callers together."`
		Limits *string `json:"limits" nullable:"false" doc:"Such as requests=60,runs=4,tokens=2M,usd=5; those that are not named are the settings', 0 is no limit. Empty removes the quota."`
	}
)

func (*quotaBody) Example() string {
	return `{"kind":"user","id":"alice@example.com","limits":"tokens=2M,usd=5"}`
}

func (h *handlers) list(ctx context.Context, in *listInput) (*rest.Body[quota.List], error) {
	ctx, p := h.in(ctx, in.Tenant)
	if p != nil {
		return nil, p
	}
	list, err := h.quotas.List(ctx)
	if err != nil {
		return nil, h.problem(ctx, err)
	}
	return &rest.Body[quota.List]{Body: list}, nil
}

func (h *handlers) put(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var b quotaBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	if p := b.check(); p != nil {
		return 0, nil, p
	}
	ctx, p := h.in(r.Context(), r.URL.Query().Get("tenant"))
	if p != nil {
		return 0, nil, p
	}
	now, err := h.quotas.Set(ctx, b.Kind, b.ID, *b.Limits)
	if err != nil {
		return 0, nil, h.problem(ctx, err)
	}
	return http.StatusOK, now, nil
}

// check refuses bodies without a subject or limits, and makes an e-mail address the user's id.
func (b *quotaBody) check() *problem.Problem {
	switch {
	case b.Kind == "":
		return problem.Invalid("kind", "kind is missing: it is tenant, user or key, in a body such as %s", b.Example())
	case b.Limits == nil:
		return problem.Invalid("limits", "limits is missing; send a body such as %s, with empty limits to remove the quota", b.Example())
	case b.Kind == store.QuotaKey && *b.Limits != "" && uuid.Validate(b.ID) != nil:
		return problem.Invalid("id", "id is %q, which is no key's; GET /keys lists them", web.Cut(b.ID))
	}
	if b.Kind == store.QuotaUser && strings.Contains(b.ID, "@") {
		b.ID = identity.UserID(b.ID)
	}
	return nil
}

// in returns a context in the tenant that the request names. Only the deployment names another
// tenant than its own.
func (h *handlers) in(ctx context.Context, tenant string) (context.Context, *problem.Problem) {
	if h.quotas == nil {
		return ctx, h.api.Missing("quotas")
	}
	id, err := identity.From(ctx)
	if err == nil && tenant != "" && tenant != id.TenantID {
		if id.UserID != "" || id.KeyID != identity.DeploymentKey && id.Role != "" {
			return ctx, &problem.Problem{Status: http.StatusForbidden, Code: "forbidden", Message: "only the deployment's key names another tenant"}
		}
		id.TenantID = tenant
		id, err = id.Normalize()
	}
	if err != nil {
		return ctx, h.api.Describe(ctx, err)
	}
	return identity.With(ctx, id), nil
}

func (h *handlers) problem(ctx context.Context, err error) *problem.Problem {
	if wrong := (*quota.FormError)(nil); errors.As(err, &wrong) {
		return problem.Invalid("limits", "%s", wrong.Error())
	}
	if errors.Is(err, store.ErrNotFound) {
		return &problem.Problem{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such quota; the settings count"}
	}
	return h.api.About(ctx, "quota", err)
}
