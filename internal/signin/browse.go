package signin

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Options say who signs in where.
type Options struct {
	Client   *http.Client
	Server   *Server
	Provider *Provider
	// ClientID is p8's client at the provider; "" takes the one that the server names, or
	// registers one.
	ClientID string
	// Show shows the address at which the person signs in.
	Show func(address string)
	// Pasted gets the address to which the browser was sent, from a person whose browser
	// is on another machine; it may be nil.
	Pasted <-chan string
	// Port is the port of this machine to which the browser is sent, any free one if 0.
	Port int
}

// Browse signs a person in with a browser, and waits for them as long as ctx lasts. The
// login names no server yet.
func Browse(ctx context.Context, o Options) (*Login, error) {
	if o.Provider.AuthURL == "" {
		return nil, errors.New("the provider has no address for a browser: use --device")
	}
	back, err := Listen(o.Port)
	if err != nil {
		return nil, fmt.Errorf("port %d of this machine cannot be used for the sign-in: choose another", o.Port)
	}
	defer back.Close()
	c, err := o.config(ctx, back.URL, "authorization_code")
	if err != nil {
		return nil, err
	}
	verifier, state, nonce := oauth2.GenerateVerifier(), rand.Text(), rand.Text()
	resource := oauth2.SetAuthURLParam("resource", o.Server.Resource)
	o.Show(c.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), resource, oauth2.SetAuthURLParam("nonce", nonce)))
	reply, err := back.Wait(ctx, state, o.Pasted)
	if err != nil {
		return nil, err
	}
	if iss := reply.Get("iss"); iss != o.Provider.Issuer && (iss != "" || o.Provider.NamesItself) {
		return nil, fmt.Errorf("the answer is of the provider %q, which was not asked", plain(iss))
	}
	token, err := c.Exchange(context.WithValue(ctx, oauth2.HTTPClient, o.Client), reply.Get("code"), oauth2.VerifierOption(verifier), resource)
	if err != nil {
		return nil, noToken(ctx, err)
	}
	return o.login(c, token, nonce)
}

// config is p8's client at the provider.
func (o *Options) config(ctx context.Context, redirect, grant string) (*oauth2.Config, error) {
	c := &oauth2.Config{
		ClientID: o.ClientID, RedirectURL: redirect, Scopes: o.Provider.scopes(o.Server),
		Endpoint: oauth2.Endpoint{
			AuthURL: o.Provider.AuthURL, TokenURL: o.Provider.TokenURL, DeviceAuthURL: o.Provider.DeviceURL,
			// A client without a secret sends its id as a parameter.
			AuthStyle: oauth2.AuthStyleInParams,
		},
	}
	switch {
	case c.ClientID != "":
		return c, nil
	case o.Server.ClientID != "":
		c.ClientID = o.Server.ClientID
		return c, nil
	case o.Provider.RegisterURL == "":
		return nil, errors.New("p8 has no client at the provider: register one there, and give its id in P8_LOGIN_CLIENT_ID, best of the server")
	}
	about := &oauthex.ClientRegistrationMetadata{
		ClientName: "p8", GrantTypes: []string{grant, "refresh_token"}, TokenEndpointAuthMethod: "none", ApplicationType: "native",
		Scope: strings.Join(c.Scopes, " "),
	}
	if redirect != "" {
		about.RedirectURIs, about.ResponseTypes = []string{redirect}, []string{"code"}
	}
	made, err := oauthex.RegisterClient(ctx, o.Provider.RegisterURL, about, o.Client)
	if err != nil || made.ClientID == "" {
		return nil, errors.New("the provider does not register p8: register it there yourself, and give its id in P8_LOGIN_CLIENT_ID")
	}
	c.ClientID, c.ClientSecret = made.ClientID, made.ClientSecret
	if made.ClientSecret != "" && made.TokenEndpointAuthMethod != "client_secret_post" {
		c.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	}
	return c, nil
}

// login makes a login of the first token.
func (o *Options) login(c *oauth2.Config, token *oauth2.Token, nonce string) (*Login, error) {
	if slices.Contains(c.Scopes, "openid") && nonce != "" {
		text, _ := token.Extra("id_token").(string)
		if err := o.checkID(text, c.ClientID, nonce); err != nil {
			return nil, err
		}
	}
	return &Login{
		Resource: o.Server.Resource, TokenURL: c.Endpoint.TokenURL, RevokeURL: o.Provider.RevokeURL, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		AuthStyle: int(c.Endpoint.AuthStyle), Scopes: c.Scopes, Access: token.AccessToken, Refresh: token.RefreshToken, Expires: token.Expiry,
	}, nil
}

// checkID checks that the ID token is the answer to this sign-in. It came over TLS from
// the provider itself, which stands for its signature (OpenID Connect Core §3.1.3.7); it
// is not used later, so that the clock of this machine may be wrong.
func (o *Options) checkID(text, client, nonce string) error {
	var id struct {
		Issuer   string          `json:"iss"`
		Audience json.RawMessage `json:"aud"`
		Nonce    string          `json:"nonce"`
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return errors.New("the provider gave no ID token, although it was asked for one")
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(body, &id) != nil {
		return errors.New("the ID token of the provider cannot be read")
	}
	var one string
	var many []string
	if json.Unmarshal(id.Audience, &one) != nil {
		_ = json.Unmarshal(id.Audience, &many)
	}
	switch {
	case id.Issuer != o.Provider.Issuer:
		return errors.New("the ID token is of another issuer")
	case one != client && !slices.Contains(many, client):
		return errors.New("the ID token is for another client")
	case id.Nonce != nonce:
		return errors.New("the ID token is the answer to another sign-in (nonce)")
	}
	return nil
}

// noToken words a refusal of the token endpoint.
func noToken(ctx context.Context, err error) error {
	var refused *oauth2.RetrieveError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, &refused):
		return errors.New("the provider gave no token: it does not answer as it should")
	case refused.ErrorCode == "access_denied":
		return &DeniedError{"access_denied"}
	case refused.ErrorCode != "":
		return fmt.Errorf("the provider gave no token (%s)", plain(refused.ErrorCode))
	}
	return fmt.Errorf("the provider gave no token (status %d)", refused.Response.StatusCode)
}

// Revoke asks the provider to end a login (RFC 7009). Its failure is not reported: the
// login is forgotten anyway.
func Revoke(ctx context.Context, client *http.Client, l *Login) {
	token := l.Refresh
	if token == "" {
		token = l.Access
	}
	if l.RevokeURL == "" || token == "" {
		return
	}
	form := url.Values{"token": {token}, "client_id": {l.ClientID}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if l.ClientSecret != "" {
		req.SetBasicAuth(url.QueryEscape(l.ClientID), url.QueryEscape(l.ClientSecret))
	}
	if res, err := client.Do(req); err == nil {
		res.Body.Close()
	}
}
