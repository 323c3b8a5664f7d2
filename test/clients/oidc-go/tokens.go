package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// tokens is the storage of the library's example, with tokens of its own.
type tokens struct {
	*storage.Storage

	mu       sync.Mutex
	lifetime time.Duration
	keys     []*key
	n        int
	// families has the refresh tokens; a token that was used is in spent.
	families map[string]*refresh
	spent    map[string]*refresh
}

// key is a key that signs.
type key struct {
	id      string
	private *rsa.PrivateKey
}

func (k *key) ID() string                                  { return k.id }
func (k *key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k *key) Key() any                                    { return k.private }

// public is a key of the JWKS address.
type public struct{ *key }

func (k public) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k public) Use() string                        { return "sig" }
func (k public) Key() any                           { return &k.private.PublicKey }

func newTokens(s *storage.Storage) *tokens {
	t := &tokens{Storage: s, lifetime: 5 * time.Minute, families: map[string]*refresh{}, spent: map[string]*refresh{}}
	t.rotate()
	return t
}

// rotate replaces the key: the old one signs nothing, and is not published.
func (t *tokens) rotate() {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keys = []*key{{rand.Text(), private}}
}

func (t *tokens) live(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lifetime = d
}

func (t *tokens) refreshes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

func (t *tokens) SigningKey(context.Context) (op.SigningKey, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys[0], nil
}

func (t *tokens) KeySet(context.Context) (all []op.Key, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range t.keys {
		all = append(all, public{k})
	}
	return all, nil
}

// client has JSON Web Tokens and the grant for devices.
type client struct{ op.Client }

func (client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }
func (c client) GrantTypes() []oidc.GrantType {
	return append(slices.Clone(c.Client.GrantTypes()), oidc.GrantTypeDeviceCode)
}

func (t *tokens) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	c, err := t.Storage.GetClientByClientID(ctx, id)
	return client{c}, err
}

// asked is a request whose tokens are for a resource.
type asked struct {
	op.AuthRequest
	resource string
}

func (a asked) GetAudience() []string { return audience(a.resource, a.GetClientID()) }

func audience(resource, client string) []string {
	if resource == "" {
		return []string{client}
	}
	return []string{resource}
}

func resourceOf(ctx context.Context) string {
	resource, _ := ctx.Value(resourceKey{}).(string)
	return resource
}

func (t *tokens) AuthRequestByCode(ctx context.Context, code string) (op.AuthRequest, error) {
	r, err := t.Storage.AuthRequestByCode(ctx, code)
	if err != nil {
		return nil, err
	}
	return asked{r, resourceOf(ctx)}, nil
}

// The library calls the device's request by this name.
func (t *tokens) GetDeviceAuthorizatonState(ctx context.Context, clientID, code string) (*op.DeviceAuthorizationState, error) {
	s, err := t.Storage.GetDeviceAuthorizatonState(ctx, clientID, code)
	if err != nil {
		return nil, err
	}
	state := *s
	if resource := resourceOf(ctx); resource != "" {
		state.Audience = []string{resource}
	}
	return &state, nil
}

// CompleteDeviceAuthorization is called with the user's name; the subject is their id.
func (t *tokens) CompleteDeviceAuthorization(ctx context.Context, code, name string) error {
	return t.Storage.CompleteDeviceAuthorization(ctx, code, "id1")
}

// refresh is a refresh token.
type refresh struct {
	family, subject, client string
	audience, scopes        []string
	time                    time.Time
}

func (r *refresh) GetAMR() []string             { return []string{"pwd"} }
func (r *refresh) GetAudience() []string        { return r.audience }
func (r *refresh) GetAuthTime() time.Time       { return r.time }
func (r *refresh) GetClientID() string          { return r.client }
func (r *refresh) GetScopes() []string          { return r.scopes }
func (r *refresh) GetSubject() string           { return r.subject }
func (r *refresh) SetCurrentScopes(to []string) { r.scopes = to }

func (t *tokens) CreateAccessToken(context.Context, op.TokenRequest) (string, time.Time, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return rand.Text(), time.Now().Add(t.lifetime), nil
}

func (t *tokens) CreateAccessAndRefreshTokens(_ context.Context, request op.TokenRequest, current string) (id, next string, expires time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next = rand.Text()
	r := &refresh{family: next, subject: request.GetSubject(), audience: request.GetAudience(), scopes: request.GetScopes(), time: time.Now()}
	if of, ok := request.(interface{ GetClientID() string }); ok {
		r.client = of.GetClientID()
	}
	if old := t.families[current]; old != nil {
		r.family = old.family
		t.spent[current] = old
		delete(t.families, current)
	}
	t.families[next] = r
	return rand.Text(), next, time.Now().Add(t.lifetime), nil
}

// TokenRequestByRefreshToken ends the login if a token is sent twice, as a thief would.
func (t *tokens) TokenRequestByRefreshToken(_ context.Context, text string) (op.RefreshTokenRequest, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n++
	if old := t.spent[text]; old != nil {
		for other, r := range t.families {
			if r.family == old.family {
				delete(t.families, other)
			}
		}
	}
	if r := t.families[text]; r != nil {
		copied := *r
		return &copied, nil
	}
	return nil, errors.New("the refresh token is not valid")
}

func (t *tokens) GetRefreshTokenInfo(_ context.Context, _, text string) (user, id string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.families[text]; r != nil {
		return r.subject, text, nil
	}
	return "", "", op.ErrInvalidRefreshToken
}

func (t *tokens) RevokeToken(_ context.Context, text, _, _ string) *oidc.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.families, text)
	return nil
}

// GetPrivateClaimsFromScopes are the claims of an access token.
func (t *tokens) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return map[string]any{"tenant_id": "acme", "roles": []string{"member"}, "email": "rita@example.com", "email_verified": true, "name": "Rita"}, nil
}
