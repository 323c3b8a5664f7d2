// Package signin gets access tokens for people and keeps them valid.
//
// [Browse] signs a person in with a browser: OAuth 2.1 with an authorization code, PKCE
// and a redirect to this machine. [WithDevice] needs no browser on this machine
// (RFC 8628). [FindServer] asks a p8 server for its provider (RFC 9728), [FindProvider]
// asks the provider for its addresses (RFC 8414, OpenID Connect Discovery). A [Grant]
// signs requests with the tokens of a [Login] and renews them.
//
// What a server or a provider says is not trusted: addresses must be https, or http of
// this machine if the server is on it, too; no redirect to another host is followed;
// responses are bounded; the issuer must be the one that was asked.
package signin

import (
	"context"
	"time"
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
	// RevokeURL is where the authorization server ends a refresh token (RFC 7009), "" for
	// nowhere.
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
	// LockLogin reserves the login at a server for one renewal, in all processes: a
	// provider that rotates refresh tokens ends the login if one is sent twice.
	LockLogin(ctx context.Context, server string) (unlock func(), err error)
}
