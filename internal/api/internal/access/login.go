package access

import (
	"errors"
	"net/http"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/internal/api/internal/problem"
	"github.com/p8-org/p8/internal/api/internal/rest"
)

type (
	loginBody struct {
		Email    string `json:"email" doc:"The user's e-mail address."`
		Password string `json:"password" doc:"The user's password."`
		Tenant   string `json:"tenant_id,omitempty" doc:"The user's tenant; needed only if the address is known in several."`
	}
	// loggedIn is the answer to a login.
	loggedIn struct {
		Token     string        `json:"token"`
		ExpiresAt time.Time     `json:"expires_at"`
		UserID    string        `json:"user_id"`
		TenantID  string        `json:"tenant_id"`
		Role      identity.Role `json:"role"`
	}
)

func (*loginBody) Example() string { return `{"email":"you@example.com","password":"…"}` }

func (h *handlers) loginRoutes() {
	in := rest.Operation("login", http.MethodPost, "/auth/login", "Log in with a password", "access")
	in.Description = "The token of the answer goes into the header Authorization: Bearer TOKEN."
	h.api.Sends(&in, "login", loginBody{})
	rest.Answers(&in, map[string]string{
		"200": "A token, which expires.", "401": "The address or the password is wrong.", "429": "Too many logins failed; Retry-After says how long to wait.",
	})
	h.api.Route(in, h.login)
	out := rest.Operation("logout", http.MethodPost, "/auth/logout", "End the login of this request", "access")
	rest.Answers(&out, map[string]string{"204": "The token does not count any more.", "422": "The token is no login."})
	h.api.Route(out, h.logout)
}

// login is POST /auth/login. It needs no token.
func (h *handlers) login(w http.ResponseWriter, r *http.Request) (int, any, error) {
	if p := h.missing(); p != nil {
		return 0, nil, p
	}
	if !h.o.Logins {
		return 0, nil, problem.Missing("logins with a password; they need P8_AUTH_KEYS=true")
	}
	var b loginBody
	if p := h.api.JSON(w, r, &b); p != nil {
		return 0, nil, p
	}
	if b.Email == "" || b.Password == "" {
		return 0, nil, problem.Invalid("", "a login has email and password, as in %s", b.Example())
	}
	l, err := h.o.Accounts.Login(r.Context(), b.Tenant, b.Email, b.Password)
	if err != nil {
		return 0, nil, h.refused(r, err)
	}
	w.Header().Set("Cache-Control", "no-store")
	return http.StatusOK, loggedIn{l.Token, l.Expires, l.Account.UserID, l.Account.TenantID, l.Account.Role}, nil
}

// refused returns the problem of a login.
func (h *handlers) refused(r *http.Request, err error) error {
	var wait *account.WaitError
	switch {
	case errors.Is(err, account.ErrRefused):
		return &problem.Problem{Status: http.StatusUnauthorized, Code: "invalid_credentials", Message: err.Error()}
	case errors.As(err, &wait):
		return &problem.Problem{Status: http.StatusTooManyRequests, Code: "too_many_logins", Message: err.Error(), RetryAfter: wait.After}
	}
	return h.api.About(r.Context(), "user", err)
}

// logout is POST /auth/logout.
func (h *handlers) logout(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	if p := h.missing(); p != nil {
		return 0, nil, p
	}
	if err := h.o.Accounts.Logout(r.Context()); err != nil {
		return 0, nil, h.api.About(r.Context(), "login", err)
	}
	return http.StatusNoContent, nil, nil
}
