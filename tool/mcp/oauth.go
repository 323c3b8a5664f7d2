package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// oauth gets tokens by the client-credentials grant, which needs no person. The file
// names the token endpoint, or the server does, according to the MCP specification.
type oauth struct {
	entry  *oauthEntry
	server *url.URL
	// client sends none of the server's own headers.
	client *http.Client
	ctx    context.Context

	mu     sync.Mutex
	source oauth2.TokenSource
	last   string
}

// errRefused means that no token could be obtained.
var errRefused = errors.New("the authorization server gave no token")

// sign adds the token, if there is one yet.
func (o *oauth) sign(req *http.Request) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.source == nil && o.entry.tokenURL != "" {
		o.source = o.tokens(o.entry.tokenURL, o.entry.scopes, nil)
	}
	if o.source == nil {
		return nil
	}
	token, err := o.source.Token()
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	token.SetAuthHeader(req)
	o.last = req.Header.Get("Authorization")
	return nil
}

// authorize finds the token endpoint after a refused request. Of several requests
// refused at the same time only the first asks.
func (o *oauth) authorize(req *http.Request, res *http.Response) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.source != nil && o.last != "" && res.Request != nil && res.Request.Header.Get("Authorization") != o.last {
		return nil
	}
	if o.entry.tokenURL != "" {
		o.source = o.tokens(o.entry.tokenURL, o.entry.scopes, nil)
		return nil
	}
	tokenURL, scopes, err := o.discover(req.Context(), res)
	if err != nil {
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	if len(o.entry.scopes) > 0 {
		scopes = o.entry.scopes
	}
	o.source = o.tokens(tokenURL, scopes, url.Values{"resource": {o.server.String()}})
	return nil
}

func (o *oauth) tokens(tokenURL string, scopes []string, more url.Values) oauth2.TokenSource {
	c := clientcredentials.Config{
		ClientID: o.entry.clientID, ClientSecret: o.entry.clientSecret,
		TokenURL: tokenURL, Scopes: scopes, EndpointParams: more,
	}
	return c.TokenSource(context.WithValue(o.ctx, oauth2.HTTPClient, o.client))
}

// discover asks the server for its authorization server, and that one for its token
// endpoint.
func (o *oauth) discover(ctx context.Context, res *http.Response) (tokenURL string, scopes []string, err error) {
	challenges := challenges(res)
	root := *o.server
	root.Path, root.RawQuery = "", ""
	issuer := root.String()
	if meta := o.resource(ctx, challenges, &root); meta != nil {
		issuer, scopes = meta.AuthorizationServers[0], meta.ScopesSupported
	}
	for _, c := range challenges {
		if strings.EqualFold(c.Scheme, "bearer") && c.Params["scope"] != "" {
			scopes = strings.Fields(c.Params["scope"])
		}
	}
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, o.client)
	switch {
	case err != nil:
		return "", nil, err
	case meta != nil:
		return meta.TokenEndpoint, scopes, nil
	}
	return strings.TrimSuffix(issuer, "/") + "/token", scopes, nil
}

// challenges returns what a refusal says about the token that the server wants; none if it
// cannot be read.
func challenges(res *http.Response) []oauthex.Challenge {
	list, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil
	}
	return list
}

// resource returns the server's metadata about itself, nil if it has none.
func (o *oauth) resource(ctx context.Context, challenges []oauthex.Challenge, root *url.URL) *oauthex.ProtectedResourceMetadata {
	const wellKnown = "/.well-known/oauth-protected-resource"
	type place struct{ at, of string }
	server, base := o.server.String(), root.String()
	places := []place{{base + wellKnown + "/" + strings.TrimPrefix(o.server.Path, "/"), server}, {base + wellKnown, base}}
	for _, c := range challenges {
		if at := c.Params["resource_metadata"]; at != "" {
			places = append([]place{{at, server}}, places...)
			break
		}
	}
	for _, p := range places {
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, p.at, p.of, o.client)
		if err == nil && meta != nil && len(meta.AuthorizationServers) > 0 {
			return meta
		}
	}
	return nil
}
