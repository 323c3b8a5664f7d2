package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Provider is an authorization server.
type Provider struct {
	Issuer      string   `json:"issuer"`
	AuthURL     string   `json:"authorization_endpoint"`
	TokenURL    string   `json:"token_endpoint"`
	DeviceURL   string   `json:"device_authorization_endpoint"`
	RegisterURL string   `json:"registration_endpoint"`
	RevokeURL   string   `json:"revocation_endpoint"`
	Scopes      []string `json:"scopes_supported"`
	Methods     []string `json:"code_challenge_methods_supported"`
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	// NamesItself reports whether the reply to the browser has the issuer (RFC 9207).
	NamesItself bool `json:"authorization_response_iss_parameter_supported"`
}

// FindProvider asks the provider of a server for its addresses.
func FindProvider(ctx context.Context, client *http.Client, s *Server) (*Provider, error) {
	issuer, err := safe(s.Issuers[0], s.local)
	if err != nil {
		return nil, fmt.Errorf("the provider %w", err)
	}
	var found error
	for _, at := range metadataAddresses(issuer) {
		p := new(Provider)
		err := get(ctx, client, at, p)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, ErrForeign):
			return nil, fmt.Errorf("the provider %s points to another host, which p8 does not follow", issuer.Redacted())
		case err != nil:
			found = err
			continue
		}
		if err := p.check(s); err != nil {
			return nil, err
		}
		return p, nil
	}
	return nil, fmt.Errorf("the provider %s does not say how to sign in: %w", issuer.Redacted(), found)
}

// metadataAddresses are the places of the metadata of an issuer: OpenID Connect's, and
// those of RFC 8414, which put the path of the issuer last.
func metadataAddresses(issuer *url.URL) []string {
	const openid, oauth = "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"
	root := *issuer
	root.Path, root.RawPath, root.RawQuery = "", "", ""
	path := strings.TrimRight(issuer.EscapedPath(), "/")
	all := []string{root.String() + path + openid, root.String() + oauth + path}
	if path != "" {
		all = append(all, root.String()+openid+path)
	}
	return all
}

// check refuses a provider that is not the one that was asked, or whose addresses are not
// safe.
func (p *Provider) check(s *Server) error {
	if p.Issuer != s.Issuers[0] {
		return fmt.Errorf("the provider %s says that it is %s: it is not used", plain(s.Issuers[0]), plain(p.Issuer))
	}
	if len(p.Methods) > 0 && !slices.Contains(p.Methods, "S256") {
		return fmt.Errorf("the provider %s does not support PKCE with S256", plain(p.Issuer))
	}
	for _, at := range []*string{&p.AuthURL, &p.TokenURL, &p.DeviceURL, &p.RegisterURL, &p.RevokeURL} {
		if *at == "" {
			continue
		}
		if _, err := safe(*at, s.local); err != nil {
			return fmt.Errorf("the provider %s cannot be used: its address %w", plain(p.Issuer), err)
		}
	}
	if p.TokenURL == "" {
		return fmt.Errorf("the provider %s has no address for tokens", plain(p.Issuer))
	}
	return nil
}

// scopes returns the rights to ask for: those of the server, or what tells who the person
// is; and lasting access, if the provider has it.
func (p *Provider) scopes(s *Server) []string {
	scopes := slices.Clone(s.Scopes)
	if len(scopes) == 0 {
		for _, scope := range []string{"openid", "profile", "email"} {
			if slices.Contains(p.Scopes, scope) {
				scopes = append(scopes, scope)
			}
		}
	}
	const lasting = "offline_access"
	if slices.Contains(p.Scopes, lasting) && !slices.Contains(scopes, lasting) {
		scopes = append(scopes, lasting)
	}
	return scopes
}
