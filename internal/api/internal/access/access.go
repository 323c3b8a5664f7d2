// Package access serves API keys, local users and their logins, and the audit log.
package access

import (
	"context"
	"net/http"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/api/internal/field"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/store"
)

// Accounts makes keys and logs users in. Implemented by *account.Service.
type Accounts interface {
	CreateKey(ctx context.Context, r account.KeyRequest) (text string, k store.APIKey, err error)
	Keys(ctx context.Context, f store.KeyFilter) (page []store.APIKey, next string, err error)
	RevokeKey(ctx context.Context, id string) (store.APIKey, error)
	AddUser(ctx context.Context, email, password string, role identity.Role) (store.Account, error)
	Users(ctx context.Context, limit int, cursor string) (page []store.Account, next string, err error)
	RemoveUser(ctx context.Context, user string) error
	SetPassword(ctx context.Context, user, old, password string) error
	// Login fails with account.ErrRefused or a *account.WaitError.
	Login(ctx context.Context, tenant, email, password string) (account.Login, error)
	Logout(ctx context.Context) error
	Audit(ctx context.Context, f store.AuditFilter) (page []store.AuditEntry, next string, err error)
}

// Options are what the routes work with. If Accounts is nil, they answer that the server has no
// database.
type Options struct {
	Accounts Accounts
	// Logins lets users log in with a password.
	Logins bool
}

type handlers struct {
	api *rest.API
	o   Options
}

// Routes adds /keys, /auth/login, /auth/logout, /auth/users and /audit.
func Routes(api *rest.API, o Options) {
	h := &handlers{api, o}
	h.keyRoutes()
	h.loginRoutes()
	h.userRoutes()
	rest.Register(api, rest.Resource("list-audit", http.MethodGet, "/audit", "What was done in your tenant, the newest first; for admins", "access"), h.audit)
}

// missing returns the problem of a server without a database.
func (h *handlers) missing() *problem.Problem {
	if h.o.Accounts == nil {
		return h.api.Missing("keys and users")
	}
	return nil
}

type auditInput struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many entries to return."`
	Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
	Since  string `query:"since" maxLength:"64" doc:"Only entries from this time on: a time with its offset, or a day."`
	Before string `query:"before" maxLength:"64" doc:"Only entries before this time."`
	Action string `query:"action" maxLength:"64" doc:"Only this action, such as auth.login or key.create."`
	User   string `query:"user" maxLength:"128" doc:"Only actions of this user, by e-mail address or id."`
}

func (h *handlers) audit(ctx context.Context, in *auditInput) (*rest.List[store.AuditEntry], error) {
	if p := h.missing(); p != nil {
		return nil, p
	}
	f := store.AuditFilter{Action: in.Action, UserID: in.User, Limit: in.Limit, Cursor: in.Cursor}
	var p *problem.Problem
	if f.Since, p = field.Time("since", in.Since); p != nil {
		return nil, p
	}
	if f.Before, p = field.Time("before", in.Before); p != nil {
		return nil, p
	}
	rows, next, err := h.o.Accounts.Audit(ctx, f)
	if err != nil {
		return nil, h.api.About(ctx, "entry", err)
	}
	return rest.NewList(rows, rest.Query("since", in.Since, "before", in.Before, "action", in.Action, "user", in.User), in.Limit, next), nil
}

// same checks the tenant that a body names: a caller has one only.
func same(ctx context.Context, tenant string) error {
	by, err := identity.From(ctx)
	if err == nil && tenant != "" && tenant != by.TenantID {
		err = &problem.Problem{Status: http.StatusForbidden, Code: "forbidden", Message: "tenant_id is another tenant's; leave it out"}
	}
	return err
}
