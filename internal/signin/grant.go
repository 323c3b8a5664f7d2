package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// renewBefore is how long before its end an access token is renewed.
const renewBefore = 30 * time.Second

// Grant signs requests with a person's tokens, and renews them. It is safe for concurrent
// use, also beside other processes with the same login.
type Grant struct {
	ctx    context.Context
	logins Logins
	client *http.Client

	mu    sync.Mutex
	login Login
}

// NewGrant returns a grant of a stored login. ctx has the identity of the person, and
// bounds the requests to the authorization server, which client sends.
func NewGrant(ctx context.Context, logins Logins, client *http.Client, l Login) *Grant {
	return &Grant{ctx: ctx, logins: logins, client: client, login: l}
}

// EndedError means that the person must sign in again.
type EndedError struct{ Cause error }

// Error says what was refused, without any token.
func (e *EndedError) Error() string {
	if e.Cause != nil {
		return "the login was not renewed: " + e.Cause.Error()
	}
	return "the login is not enough"
}

// ErrNoToken means that no token could be obtained, for a reason that may pass.
var ErrNoToken = errors.New("the authorization server gave no token")

// Use adopts a login that another process, or another sign-in, has stored. It reports
// whether the login changed.
func (g *Grant) Use(l *Login) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	other := g.login.Access != l.Access
	g.login = *l
	return other
}

// Sign adds the access token, which is renewed before it expires.
func (g *Grant) Sign(req *http.Request) error {
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

// Renew replaces the token of a refused request, which can then be sent again. Of several
// requests refused at the same time only the first renews. refused may be nil.
func (g *Grant) Renew(refused *http.Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if refused != nil && refused.Header.Get("Authorization") != "Bearer "+g.login.Access {
		return nil
	}
	return g.renew()
}

// renew gets a new access token; g.mu is held. Another process may have renewed it first.
func (g *Grant) renew() error {
	unlock, err := g.logins.LockLogin(g.ctx, g.login.Server)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoToken, err)
	}
	defer unlock()
	stored, err := g.logins.Login(g.ctx, g.login.Server)
	switch {
	case err != nil:
		return err
	case stored == nil:
		return &EndedError{}
	case stored.Access != g.login.Access:
		g.login = *stored
		return nil
	case stored.Refresh == "":
		return &EndedError{}
	}
	g.login = *stored
	token, err := g.refresh()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode < http.StatusInternalServerError && refused.Response.StatusCode != http.StatusTooManyRequests {
		// A refresh token that was refused once is never sent again.
		g.login.Refresh = ""
		return errors.Join(&EndedError{fmt.Errorf("status %d", refused.Response.StatusCode)}, g.logins.PutLogin(g.ctx, &g.login))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoToken, err)
	}
	g.login.Access, g.login.Expires = token.AccessToken, token.Expiry
	if token.RefreshToken != "" {
		g.login.Refresh = token.RefreshToken
	}
	return g.logins.PutLogin(g.ctx, &g.login)
}

// refresh asks for a token by the refresh grant, with the resource that package oauth2
// sends for this kind of client only.
func (g *Grant) refresh() (*oauth2.Token, error) {
	c := clientcredentials.Config{
		ClientID: g.login.ClientID, ClientSecret: g.login.ClientSecret, TokenURL: g.login.TokenURL, AuthStyle: oauth2.AuthStyle(g.login.AuthStyle),
		EndpointParams: url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.login.Refresh}, "resource": {g.login.Resource}},
	}
	return c.Token(context.WithValue(g.ctx, oauth2.HTTPClient, g.client))
}
