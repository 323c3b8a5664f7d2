package access

import (
	"context"
	"net/http"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
	"github.com/p8-org/p8/store"
)

type (
	listUsersInput struct {
		Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many users to return."`
		Cursor string `query:"cursor" maxLength:"1024" doc:"The cursor of the next page, from the Link header of the one before."`
	}
	userInput struct {
		User string `path:"user" maxLength:"128" doc:"The user's e-mail address or id."`
	}
	userBody struct {
		Email    string        `json:"email" doc:"The user's e-mail address."`
		Password string        `json:"password" doc:"The user's password, of 12 or more characters."`
		Tenant   string        `json:"tenant_id,omitempty" doc:"Your tenant."`
		Role     identity.Role `json:"role,omitempty" enum:"reader,member,admin" doc:"What the user may do; member by default."`
	}
	passwordBody struct {
		Password string `json:"password" doc:"The new password, of 12 or more characters."`
		Old      string `json:"old_password,omitempty" doc:"The old password; admins need none."`
		Tenant   string `json:"tenant_id,omitempty" doc:"Your tenant."`
	}
)

func (*userBody) Example() string {
	return `{"email":"you@example.com","password":"…","role":"member"}`
}

func (*passwordBody) Example() string { return `{"password":"…","old_password":"…"}` }

func (h *handlers) userRoutes() {
	rest.Register(h.api, rest.Resource("list-users", http.MethodGet, "/auth/users", "Local users of your tenant; for admins", "access"), h.listUsers)
	rest.Register(h.api, rest.Resource("remove-user", http.MethodDelete, "/auth/users/{user}", "Remove a local user and revoke the user's keys; for admins", "access"), h.removeUser)
	add := rest.Resource("add-user", http.MethodPost, "/auth/users", "Add a local user, who logs in with a password; for admins", "access")
	h.api.Sends(&add, "user", userBody{})
	rest.Answers(&add, map[string]string{"201": "The user.", "409": "There is such a user already."})
	h.api.Route(add, h.addUser)
	set := rest.Resource("set-password", http.MethodPut, "/auth/users/{user}/password", "Set a password, your own or, for admins, another's", "access")
	set.Description = "The logins of the user end."
	set.Parameters = append(set.Parameters, rest.Text("user", "path", "The user's e-mail address or id."))
	h.api.Sends(&set, "password", passwordBody{})
	rest.Answers(&set, map[string]string{"204": "The password is set.", "401": "The old password is wrong."})
	h.api.Route(set, h.setPassword)
}

func (h *handlers) listUsers(ctx context.Context, in *listUsersInput) (*rest.List[store.Account], error) {
	if p := h.missing(); p != nil {
		return nil, p
	}
	rows, next, err := h.o.Accounts.Users(ctx, in.Limit, in.Cursor)
	if err != nil {
		return nil, h.api.About(ctx, "user", err)
	}
	return rest.NewList(rows, rest.Query(), in.Limit, next), nil
}

func (h *handlers) removeUser(ctx context.Context, in *userInput) (*struct{}, error) {
	if p := h.missing(); p != nil {
		return nil, p
	}
	if err := h.o.Accounts.RemoveUser(ctx, in.User); err != nil {
		return nil, h.api.About(ctx, "user", err)
	}
	return nil, nil
}

// addUser is POST /auth/users.
func (h *handlers) addUser(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	if p := h.missing(); p != nil {
		return 0, nil, p
	}
	var b userBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	if b.Role != "" && b.Role.Rank() == 0 {
		return 0, nil, problem.Invalid("role", "role is %.32q; it is reader, member or admin", b.Role)
	}
	if err := same(ctx, b.Tenant); err != nil {
		return 0, nil, err
	}
	a, err := h.o.Accounts.AddUser(ctx, b.Email, b.Password, b.Role)
	if err != nil {
		return 0, nil, h.refused(r, err)
	}
	return http.StatusCreated, a, nil
}

// setPassword is PUT /auth/users/{user}/password.
func (h *handlers) setPassword(w http.ResponseWriter, r *http.Request) (int, any, error) {
	ctx := r.Context()
	if p := h.missing(); p != nil {
		return 0, nil, p
	}
	var b passwordBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	if err := same(ctx, b.Tenant); err != nil {
		return 0, nil, err
	}
	if err := h.o.Accounts.SetPassword(ctx, r.PathValue("user"), b.Old, b.Password); err != nil {
		return 0, nil, h.refused(r, err)
	}
	return http.StatusNoContent, nil, nil
}
