package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/p8-org/p8/internal/outbound"
)

// wellKnown is where a server says how to get a token for it (RFC 9728 §3).
const wellKnown = "/.well-known/oauth-protected-resource"

// Server is what a p8 server says about signing in to it.
type Server struct {
	// Resource is its name at the authorization server.
	Resource string `json:"resource"`
	// Issuers are its authorization servers.
	Issuers []string `json:"authorization_servers"`
	// Scopes are the rights to ask for; none if it does not say.
	Scopes []string `json:"scopes_supported"`
	// ClientID is p8's client at the authorization server, "" if it does not say.
	ClientID string `json:"p8_client_id"`
	// local reports whether the server is on this machine.
	local bool
}

var (
	// ErrOpen means that a server wants no token.
	ErrOpen = errors.New("the server wants nobody to sign in")
	// ErrNoProvider means that a server wants a token and names no provider.
	ErrNoProvider = errors.New("the server names no provider at which people sign in")
)

// CheckServer refuses a server to which nobody should send a password or a token: others
// could read it on the way.
func CheckServer(base *url.URL) error {
	_, err := safe(base.String(), outbound.IsLoopback(base.Hostname()))
	return err
}

// FindServer asks the server at an address how to sign in to it.
func FindServer(ctx context.Context, client *http.Client, base *url.URL) (*Server, error) {
	if err := CheckServer(base); err != nil {
		return nil, err
	}
	at, err := metadataOf(ctx, client, base)
	if err != nil {
		return nil, err
	}
	s := &Server{local: outbound.IsLoopback(base.Hostname())}
	var status statusError
	switch err := get(ctx, client, at.String(), s); {
	case errors.As(err, &status) && status < http.StatusInternalServerError:
		return nil, ErrNoProvider
	case err != nil:
		return nil, err
	case len(s.Issuers) == 0:
		return nil, ErrNoProvider
	case strings.TrimRight(s.Resource, "/") != base.String():
		return nil, fmt.Errorf("the server says that its address is %s: use that one", plain(s.Resource))
	}
	return s, nil
}

// metadataOf returns the address of a server's metadata, which the refusal of a request
// names.
func metadataOf(ctx context.Context, client *http.Client, base *url.URL) (*url.URL, error) {
	usual := *base
	usual.Path = wellKnown + base.Path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base.JoinPath("/me").String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	switch {
	case errors.Is(err, ErrForeign), err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, errors.New("the server does not answer")
	}
	res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		return nil, ErrOpen
	case http.StatusUnauthorized:
	default:
		return nil, fmt.Errorf("the server answers with status %d, which p8 does not", res.StatusCode)
	}
	challenges, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return &usual, nil
	}
	for _, c := range challenges {
		if at, err := url.Parse(c.Params["resource_metadata"]); err == nil && SameOrigin(at, base) {
			return at, nil
		}
	}
	return &usual, nil
}
