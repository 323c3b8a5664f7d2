package mcp

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/p8-org/p8/internal/signin"
)

// Login is a person's access to a server. It holds secrets.
type Login struct {
	// Server is the address of the server, to which alone the tokens are sent.
	Server string `json:"server"`
	// Resource is the server's name at its authorization server.
	Resource string `json:"resource"`
	// The client of the authorization server that got the tokens.
	TokenURL     string   `json:"token_url"`
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"client_secret,omitempty"`
	AuthStyle    int      `json:"auth_style,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
	// Access is the access token, Refresh the refresh token, "" for none.
	Access  string    `json:"access"`
	Refresh string    `json:"refresh,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	// RevokeURL is where the authorization server ends a refresh token, "" for nowhere.
	RevokeURL string `json:"revoke_url,omitempty"`
}

// Logins keep the logins of persons. The context has the identity of the person; nobody
// gets the login of another.
type Logins interface {
	// Login returns the login at a server, nil for none.
	Login(ctx context.Context, server string) (*Login, error)
	PutLogin(ctx context.Context, l *Login) error
	// DeleteLogin reports whether there was a login.
	DeleteLogin(ctx context.Context, server string) (bool, error)
	// LockLogin reserves the login at a server for one renewal, in all processes: an
	// authorization server that rotates refresh tokens ends the login if one is sent twice.
	LockLogin(ctx context.Context, server string) (unlock func(), err error)
	// DeleteLogins deletes the logins at all servers.
	DeleteLogins(ctx context.Context) error
}

// keeper is Logins for package signin, whose login has the same fields.
type keeper struct{ Logins }

func (k keeper) Login(ctx context.Context, server string) (*signin.Login, error) {
	l, err := k.Logins.Login(ctx, server)
	return (*signin.Login)(l), err
}

func (k keeper) PutLogin(ctx context.Context, l *signin.Login) error {
	return k.Logins.PutLogin(ctx, (*Login)(l))
}

// grant signs requests with a person's tokens, and renews them.
type grant struct{ *signin.Grant }

// refusal means that the person must sign in, or sign in again.
type refusal struct {
	// scopes are the rights that are missing, if the server names them.
	scopes []string
	cause  error
}

// Error says what was refused, without any token.
func (r *refusal) Error() string {
	if r.cause != nil {
		return r.cause.Error()
	}
	return "the login is not enough"
}

// sign adds the access token, which is renewed before it expires.
func (g grant) sign(req *http.Request) error { return ended(g.Sign(req)) }

// authorize renews a refused token.
func (g grant) authorize(_ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusForbidden {
		return &refusal{scopes: missingScopes(res)}
	}
	return ended(g.Renew(res.Request))
}

// ended returns the error of a login in the words of this package.
func ended(err error) error {
	var over *signin.EndedError
	switch {
	case errors.As(err, &over):
		return &refusal{cause: err}
	case errors.Is(err, signin.ErrNoToken):
		return errors.Join(errRefused, err)
	}
	return err
}

// missingScopes returns the rights that a server names when it refuses a token, fit for a
// command line.
func missingScopes(res *http.Response) []string {
	const most = 20
	for _, c := range challenges(res) {
		if strings.EqualFold(c.Scheme, "bearer") && c.Params["error"] == "insufficient_scope" {
			scopes := slices.DeleteFunc(strings.Fields(c.Params["scope"]), func(scope string) bool { return !plainScope.MatchString(scope) })
			return scopes[:min(len(scopes), most)]
		}
	}
	return nil
}

var plainScope = regexp.MustCompile(`^[A-Za-z0-9:._/-]{1,100}$`)
