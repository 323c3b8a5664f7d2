package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/signin"
	"github.com/p8-org/p8/telemetry"
	"github.com/p8-org/p8/tool"
)

// SignIn says how a person signs in.
type SignIn struct {
	// Show shows the address at which the person signs in, in a browser of this machine.
	Show func(address string)
	// Pasted gets the address to which the browser was sent, from a person whose browser
	// is on another machine; it may be nil.
	Pasted <-chan string
	// Port is the port of this machine to which the browser is sent, any free one if 0.
	Port int
	// Scopes are asked for besides those that the server names.
	Scopes []string
}

// SignIn signs the caller of ctx in to a server of these Servers: OAuth 2.1 with a code,
// PKCE and a redirect to this machine. It waits for the person as long as ctx lasts, and
// stores the login. The error is an *Error with what to do.
func (s *Servers) SignIn(ctx context.Context, server tool.Server, o SignIn) error {
	p, ok := server.(*personal)
	if !ok {
		return &tool.Error{Message: "nobody signs in to this MCP server: it is a program, or its access is configured"}
	}
	back, err := signin.Listen(o.Port)
	if err != nil {
		return &tool.Error{Message: fmt.Sprintf("port %d of this machine cannot be used for the sign-in", o.Port)}
	}
	defer back.Close()
	f := &signIn{server: p.server, o: o, back: back}
	if f.handler, err = auth.NewAuthorizationCodeHandler(f.config()); err != nil {
		return p.errorf("has a client that cannot sign in: check oauth in the file of MCP servers")
	}
	err = f.connect(ctx)
	switch {
	case f.login != nil:
		f.login.Server = p.entry.url.String()
		return s.o.Logins.PutLogin(ctx, f.login)
	case ctx.Err() != nil:
		return ctx.Err()
	case f.failed != nil:
		return f.explain()
	case err != nil:
		return p.explainSignIn(err)
	}
	return p.errorf("wants nobody to sign in")
}

// SignOut forgets the caller's login, and reports whether there was one.
func (s *Servers) SignOut(ctx context.Context, server tool.Server) (bool, error) {
	p, ok := server.(*personal)
	if !ok {
		return false, nil
	}
	return s.o.Logins.DeleteLogin(ctx, p.entry.url.String())
}

// Forget deletes the caller's logins at all servers, and ends the connections with them.
func (s *Servers) Forget(ctx context.Context) error {
	id, err := identity.From(ctx)
	if err != nil || s.o.Logins == nil {
		return err
	}
	if err := s.o.Logins.DeleteLogins(ctx); err != nil {
		return err
	}
	for _, c := range s.servers {
		if p, ok := c.(*personal); ok {
			if _, err := s.SignOut(ctx, p); err != nil {
				return err
			}
			p.mu.Lock()
			if who := (person{id.TenantID, id.UserID}); p.people[who] != nil {
				p.leave(who)
			}
			p.mu.Unlock()
		}
	}
	return nil
}

// signIn is one attempt to sign in.
type signIn struct {
	server  *server
	o       SignIn
	back    *signin.Redirect
	handler *auth.AuthorizationCodeHandler
	// resource is the server's name at its authorization server.
	resource string
	login    *Login
	failed   error
}

func (f *signIn) config() *auth.AuthorizationCodeHandlerConfig {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: f.back.URL, AuthorizationCodeFetcher: f.fetch, ScopeFilter: f.scopes,
		RequestRefreshToken: true, Client: signin.Client(f.server.all.base), NewTokenSource: f.keep,
		AcceptUnadvertisedIss: true,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "p8", RedirectURIs: []string{f.back.URL},
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
	}
	switch o := f.server.entry.oauth; {
	case o == nil || o.clientID == "":
	case strings.HasPrefix(o.clientID, "https://") && o.clientSecret == "":
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: o.clientID}
	default:
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.clientID}
		if o.clientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.clientSecret}
		}
	}
	return c
}

// scopes adds the scopes of the configuration and of the caller to the server's.
func (f *signIn) scopes(found []string) []string {
	all := slices.Clone(found)
	if o := f.server.entry.oauth; o != nil && len(o.scopes) > 0 {
		all = slices.Clone(o.scopes)
	}
	for _, scope := range f.o.Scopes {
		if !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	return all
}

// connect sends the server the requests of any client, until it refuses one.
func (f *signIn) connect(ctx context.Context) error {
	e := f.server.entry
	t := &httpTransport{base: telemetry.Transport(f.server.all.base), origin: e.url, headers: e.headers, access: f, sse: e.kind == kindSSE}
	var transport sdk.Transport = &sdk.StreamableClientTransport{Endpoint: e.url.String(), HTTPClient: t.client(), MaxRetries: -1, DisableStandaloneSSE: true}
	if e.kind == kindSSE {
		transport = &sdk.SSEClientTransport{Endpoint: e.url.String(), HTTPClient: t.client()}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "p8", Version: f.server.all.o.Version}, &sdk.ClientOptions{Logger: f.server.log})
	cs, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer cs.Close()
	_, err = cs.ListTools(ctx, nil)
	return err
}

// sign adds the token, once there is one.
func (f *signIn) sign(req *http.Request) error {
	if f.login != nil {
		req.Header.Set("Authorization", "Bearer "+f.login.Access)
	}
	return nil
}

// authorize signs the person in, once.
func (f *signIn) authorize(req *http.Request, res *http.Response) error {
	if f.login != nil || f.failed != nil {
		return errRefused
	}
	f.failed = f.handler.Authorize(req.Context(), req, res)
	if f.failed == nil && f.login == nil {
		return errRefused // a 403 that no sign-in changes
	}
	return f.failed
}

// fetch shows the person the address and waits for the code.
func (f *signIn) fetch(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	at, err := url.Parse(args.URL)
	if err != nil || at.Scheme != "https" && at.Scheme != "http" {
		return nil, errNoAddress
	}
	f.resource = at.Query().Get("resource")
	f.o.Show(args.URL)
	reply, err := f.back.Wait(ctx, at.Query().Get("state"), f.o.Pasted)
	if err != nil {
		return nil, err
	}
	return &auth.AuthorizationResult{Code: reply.Get("code"), State: reply.Get("state"), Iss: reply.Get("iss")}, nil
}

// keep makes a login of the first token.
func (f *signIn) keep(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
	f.login = &Login{
		Resource: f.resource, TokenURL: c.Endpoint.TokenURL, ClientID: c.ClientID, ClientSecret: c.ClientSecret,
		AuthStyle: int(c.Endpoint.AuthStyle), Scopes: c.Scopes, Access: token.AccessToken, Refresh: token.RefreshToken, Expires: token.Expiry,
	}
	return oauth2.StaticTokenSource(token), nil
}

var errNoAddress = errors.New("the authorization server has no address for a browser")

// explain says why nobody was signed in.
func (f *signIn) explain() error {
	var refused *oauth2.RetrieveError
	var denied *signin.DeniedError
	text := f.failed.Error()
	switch {
	case errors.As(f.failed, &denied):
		return f.server.errorf("was not signed in to: the authorization server says %s", denied.Reason)
	case errors.As(f.failed, &refused):
		return f.server.errorf("was not signed in to: the authorization server gave no token (%s)", clip(tokenReason(refused)))
	case strings.Contains(text, "no configured client registration methods"):
		return f.server.errorf("cannot be signed in to without a client: register p8 at its authorization server, and give oauth.client_id in the file of MCP servers")
	}
	f.server.log.Warn("a sign-in failed", "error", f.failed)
	return f.server.errorf("was not signed in to: %s", tool.Cut(clean(text), 300))
}

func tokenReason(err *oauth2.RetrieveError) string {
	if err.ErrorCode != "" {
		return clean(err.ErrorCode)
	}
	return fmt.Sprintf("status %d", err.Response.StatusCode)
}

// explainSignIn says why the server did not even refuse.
func (p *personal) explainSignIn(err error) error {
	p.log.Warn("an MCP server cannot be reached", "error", err)
	if errors.Is(err, signin.ErrForeign) {
		return p.errorf("points to another host, which p8 does not follow")
	}
	if errors.Is(err, errRefused) {
		return p.errorf("refuses the request, and asks nobody to sign in")
	}
	return p.errorf("cannot be reached, or does not answer as an MCP server does: check its address")
}
