package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
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
}

// Logins keep the logins of persons. The context has the identity of the person; nobody
// gets the login of another.
type Logins interface {
	// Login returns the login at a server, nil for none.
	Login(ctx context.Context, server string) (*Login, error)
	PutLogin(ctx context.Context, l *Login) error
	// DeleteLogin reports whether there was a login.
	DeleteLogin(ctx context.Context, server string) (bool, error)
}

// renewBefore is how long before its end an access token is renewed.
const renewBefore = 30 * time.Second

// grant signs requests with a person's tokens, and renews them.
type grant struct {
	// ctx has the identity of the person.
	ctx    context.Context
	logins Logins
	client *http.Client

	mu    sync.Mutex
	login Login
}

// refusal means that the person must sign in, or sign in again.
type refusal struct {
	// scopes are the rights that are missing, if the server names them.
	scopes []string
	cause  error
}

// Error says what was refused, without any token.
func (r *refusal) Error() string {
	if r.cause != nil {
		return "the login was not renewed: " + r.cause.Error()
	}
	return "the login is not enough"
}

// use adopts a login that another process, or another sign-in, has stored. It reports
// whether the login changed.
func (g *grant) use(l *Login) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	other := g.login.Access != l.Access
	g.login = *l
	return other
}

// sign adds the access token, which is renewed before it expires.
func (g *grant) sign(req *http.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.login.Expires.IsZero() && time.Until(g.login.Expires) < renewBefore && g.login.Refresh != "" {
		if err := g.renew(); err != nil {
			return err
		}
	}
	req.Header.Set("Authorization", "Bearer "+g.login.Access)
	return nil
}

// authorize renews a refused token. Of several requests refused at the same time only the
// first does.
func (g *grant) authorize(_ *http.Request, res *http.Response) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case res.StatusCode == http.StatusForbidden:
		return &refusal{scopes: missingScopes(res)}
	case res.Request != nil && res.Request.Header.Get("Authorization") != "Bearer "+g.login.Access:
		return nil
	}
	return g.renew()
}

// renew gets a new access token; g.mu is held. Another process may have renewed it first.
func (g *grant) renew() error {
	stored, err := g.logins.Login(g.ctx, g.login.Server)
	switch {
	case err != nil:
		return err
	case stored == nil:
		return &refusal{}
	case stored.Access != g.login.Access:
		g.login = *stored
		return nil
	case g.login.Refresh == "":
		return &refusal{}
	}
	token, err := g.refresh()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode < http.StatusInternalServerError {
		if stored, again := g.logins.Login(g.ctx, g.login.Server); again == nil && stored != nil && stored.Access != g.login.Access {
			g.login = *stored
			return nil
		}
		// A refresh token that was refused once is never sent again.
		g.login.Refresh = ""
		return errors.Join(&refusal{cause: fmt.Errorf("status %d", refused.Response.StatusCode)}, g.logins.PutLogin(g.ctx, &g.login))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	g.login.Access, g.login.Expires = token.AccessToken, token.Expiry
	if token.RefreshToken != "" {
		g.login.Refresh = token.RefreshToken
	}
	return g.logins.PutLogin(g.ctx, &g.login)
}

// refresh asks for a token by the refresh grant, with the resource that package oauth2
// sends for this kind of client only.
func (g *grant) refresh() (*oauth2.Token, error) {
	c := clientcredentials.Config{
		ClientID: g.login.ClientID, ClientSecret: g.login.ClientSecret, TokenURL: g.login.TokenURL, AuthStyle: oauth2.AuthStyle(g.login.AuthStyle),
		EndpointParams: url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.login.Refresh}, "resource": {g.login.Resource}},
	}
	return c.Token(context.WithValue(g.ctx, oauth2.HTTPClient, g.client))
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
