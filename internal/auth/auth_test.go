package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
)

const (
	secret   = "0123456789abcdef0123456789abcdef"
	issuer   = "https://login.example.com"
	audience = "https://agents.example.com"
)

// provider serves public keys. It is its own transport, so that time can be played.
type provider struct {
	asked atomic.Int64
	down  atomic.Bool
	keys  atomic.Pointer[jose.JSONWebKeySet]
}

func newProvider(keys ...jose.JSONWebKey) *provider {
	p := new(provider)
	p.set(keys...)
	return p
}

func (p *provider) client() *http.Client { return &http.Client{Transport: p} }

// address is that of the keys.
const address = "https://login.example.com/jwks"

func (p *provider) RoundTrip(*http.Request) (*http.Response, error) {
	p.asked.Add(1)
	w := httptest.NewRecorder()
	if p.down.Load() {
		w.WriteHeader(http.StatusBadGateway)
	} else if err := json.NewEncoder(w).Encode(p.keys.Load()); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (p *provider) set(keys ...jose.JSONWebKey) {
	set := new(jose.JSONWebKeySet)
	for _, k := range keys {
		if public := k.Public(); public.Key != nil {
			k = public
		}
		set.Keys = append(set.Keys, k)
	}
	p.keys.Store(set)
}

func keyOf(t *testing.T, kind, id string) jose.JSONWebKey {
	t.Helper()
	var key any
	var err error
	switch kind {
	case "RS256":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	case "ES256":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "EdDSA":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: id, Use: "sig"}
}

func sign(t *testing.T, algorithm jose.SignatureAlgorithm, key any, claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(body)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// claims are those of a good token, changed by pairs; nil removes one.
func claims(pairs ...any) map[string]any {
	now := time.Now()
	all := map[string]any{
		"iss": issuer, "aud": audience, "sub": "u-1", "email": "rita@example.com", "tenant_id": "acme",
		"iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	for i := 0; i < len(pairs); i += 2 {
		if all[pairs[i].(string)] = pairs[i+1]; pairs[i+1] == nil {
			delete(all, pairs[i].(string))
		}
	}
	return all
}

func unsigned(header string, body map[string]any) string {
	text, _ := json.Marshal(body)
	return base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(text) + "."
}

func identify(a *auth.Authenticator, pairs ...string) (identity.Identity, error) {
	r := httptest.NewRequest("POST", "/v1/chat/completions", nil)
	for i := 0; i < len(pairs); i += 2 {
		r.Header.Add(pairs[i], pairs[i+1])
	}
	return a.Identify(r)
}

func newAuth(t *testing.T, o auth.Options) *auth.Authenticator {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	a, err := auth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Every forged, stale or foreign token is refused, and no refusal quotes it.
func TestTokens(t *testing.T) {
	rs, es, ed := keyOf(t, "RS256", "r"), keyOf(t, "ES256", "e"), keyOf(t, "EdDSA", "d")
	other := keyOf(t, "RS256", "r")
	encryption := keyOf(t, "RS256", "enc")
	encryption.Use = "enc"
	p := newProvider(rs, es, ed, encryption, jose.JSONWebKey{Key: []byte(secret), KeyID: "oct"})
	a := newAuth(t, auth.Options{
		Secret: secret, KeySets: []string{address}, HTTP: p.client(), Issuer: issuer, Audience: audience,
		Claims: auth.Claims{RoleOf: map[string]identity.Role{"ops": identity.RoleAdmin}},
	})
	now := time.Now()
	public, err := rs.Public().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, token string
		want        string // what the refusal says; "" accepts
	}{
		{"HS256", sign(t, jose.HS256, []byte(secret), claims()), ""},
		{"RS256", sign(t, jose.RS256, rs, claims()), ""},
		{"ES256", sign(t, jose.ES256, es, claims()), ""},
		{"EdDSA", sign(t, jose.EdDSA, ed, claims()), ""},
		{"without a key id", sign(t, jose.RS256, rs.Key, claims()), ""},
		{"several audiences", sign(t, jose.RS256, rs, claims("aud", []string{"x", audience})), ""},
		{"for the MCP endpoint", sign(t, jose.RS256, rs, claims("aud", audience+"/mcp")), ""},
		{"for a path beside it", sign(t, jose.RS256, rs, claims("aud", audience+"/mcp2")), "audience"},
		{"expired a moment ago", sign(t, jose.RS256, rs, claims("exp", now.Add(-20*time.Second).Unix())), ""},

		{"no algorithm", unsigned(`{"alg":"none"}`, claims()), "algorithm"},
		{"no algorithm, in capitals", unsigned(`{"alg":"NONE"}`, claims()), "algorithm"},
		{"an algorithm that is not configured", sign(t, jose.RS512, rs, claims()), "algorithm"},
		{"a public key as the secret", sign(t, jose.HS256, public, claims()), "signature"},
		{"a secret of the key set", sign(t, jose.HS256, jose.JSONWebKey{Key: []byte(strings.Repeat("x", 32)), KeyID: "oct"}, claims()), "signature"},
		{"another's key with the same id", sign(t, jose.RS256, other, claims()), "signature"},
		{"a key for encryption", sign(t, jose.RS256, encryption, claims()), "signature"},
		{"an unknown key", sign(t, jose.ES256, keyOf(t, "ES256", "new"), claims()), "signature"},
		{"another body", sign(t, jose.HS256, []byte(secret), claims())[:40] + "x", "read"},
		{"no token", "hello", "read"},
		{"a long token", strings.Repeat("a", 20<<10), "long"},
		{"no expiry", sign(t, jose.RS256, rs, claims("exp", nil)), "no expiry"},
		{"expired", sign(t, jose.RS256, rs, claims("exp", now.Add(-time.Hour).Unix())), "expired"},
		{"not yet", sign(t, jose.RS256, rs, claims("nbf", now.Add(time.Hour).Unix())), "not valid yet"},
		{"from the future", sign(t, jose.RS256, rs, claims("iat", now.Add(time.Hour).Unix())), "not valid yet"},
		{"another issuer", sign(t, jose.RS256, rs, claims("iss", "https://evil.example.com")), "issuer"},
		{"no issuer", sign(t, jose.RS256, rs, claims("iss", nil)), "issuer"},
		{"another audience", sign(t, jose.RS256, rs, claims("aud", "https://shop.example.com")), "audience"},
		{"no audience", sign(t, jose.RS256, rs, claims("aud", nil)), "audience"},
		{"a refresh token", sign(t, jose.RS256, rs, claims("type", "refresh")), "refresh"},
		{"no user", sign(t, jose.RS256, rs, claims("sub", nil)), "no user"},
		{"a user that is no text", sign(t, jose.RS256, rs, claims("sub", 7)), "claims"},
		{"no tenant", sign(t, jose.RS256, rs, claims("tenant_id", nil)), "no tenant"},
		{"p8's own tenant", sign(t, jose.RS256, rs, claims("tenant_id", "_")), "reserved"},
		{"a tenant with a line break", sign(t, jose.RS256, rs, claims("tenant_id", "a\nb")), "printable"},
	} {
		id, err := identify(a, "Authorization", "Bearer "+c.token, "X-User-Id", "eve", "X-Tenant-Id", "evil", "X-Session-Id", "s")
		if c.want == "" {
			if err != nil || id.UserID != "u-1" || id.TenantID != "acme" || id.SessionID != "s" || id.Role != identity.RoleMember || !id.Expires.After(now) {
				t.Errorf("%s: %+v, %v", c.name, id, err)
			}
			continue
		}
		refused := new(auth.Refused)
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, c.want) || strings.Contains(refused.Message, c.token[:5]) {
			t.Errorf("%s: %+v, %v; want %q", c.name, id, err, c.want)
		}
	}
	if n := p.asked.Load(); n > 2 {
		t.Errorf("the key set was fetched %d times", n)
	}
}

func TestClaims(t *testing.T) {
	alice := identity.UserID("alice@example.com")
	for _, c := range []struct {
		name                 string
		claims               auth.Claims
		token                map[string]any
		user, tenant, refuse string
		role                 identity.Role
	}{
		{"roles as a list", auth.Claims{}, claims("roles", []string{"reader", "admin", "x"}), "u-1", "acme", "", "admin"},
		{"roles as words", auth.Claims{Roles: "scope"}, claims("scope", "openid reader"), "u-1", "acme", "", "reader"},
		{"roles at a path", auth.Claims{Roles: "realm_access.roles"}, claims("realm_access", map[string]any{"roles": []string{"admin"}}), "u-1", "acme", "", "admin"},
		{"mapped roles", auth.Claims{RoleOf: map[string]identity.Role{"ops": "admin", "admin": "reader"}}, claims("roles", []string{"admin"}), "u-1", "acme", "", "reader"},
		{"unknown roles", auth.Claims{Role: "reader"}, claims("roles", []string{"root"}), "u-1", "acme", "", "reader"},
		{"roles of another kind", auth.Claims{}, claims("roles", map[string]any{"admin": true}), "", "", "its claim roles", ""},
		{"a role of another kind", auth.Claims{}, claims("roles", []any{"reader", 7}), "", "", "its claim roles", ""},
		{"roles below a text", auth.Claims{Roles: "realm_access.roles"}, claims("realm_access", "admin"), "", "", "its claim realm_access.roles", ""},
		{"roles below nothing", auth.Claims{Roles: "realm_access.roles"}, claims("realm_access", map[string]any{}), "u-1", "acme", "", "member"},
		{"a null as roles", auth.Claims{}, claims("roles", json.RawMessage("null")), "u-1", "acme", "", "member"},
		{"a tenant of another kind", auth.Claims{DefaultTenant: "default"}, claims("tenant_id", 5), "", "", "its claim tenant_id must be a text", ""},
		{"a tenant in a list", auth.Claims{DefaultTenant: "default"}, claims("tenant_id", []string{"acme"}), "", "", "its claim tenant_id", ""},
		{"an empty tenant", auth.Claims{DefaultTenant: "default"}, claims("tenant_id", " "), "", "", "its claim tenant_id", ""},
		{"a user of another kind", auth.Claims{User: "uid"}, claims("uid", 7), "", "", "its claim uid", ""},
		{"the user by e-mail", auth.Claims{User: "email"}, claims("email", "Alice@example.com", "email_verified", true), alice, "acme", "", "member"},
		{"an address verified in words", auth.Claims{User: "email"}, claims("email", "alice@example.com", "email_verified", "true"), alice, "acme", "", "member"},
		{"an address without a word about it", auth.Claims{User: "email"}, claims(), "", "", "verified", ""},
		{"an address that is not verified, in words", auth.Claims{User: "email"}, claims("email_verified", "false"), "", "", "verified", ""},
		{"an address that is not verified", auth.Claims{User: "email"}, claims("email_verified", false), "", "", "verified", ""},
		{"a default tenant", auth.Claims{DefaultTenant: "default"}, claims("tenant_id", nil), "u-1", "default", "", "member"},
		{"a tenant with a name of its own", auth.Claims{Tenant: "https://example.com/org"}, claims("https://example.com/org", "beta"), "u-1", "beta", "", "member"},
	} {
		a := newAuth(t, auth.Options{Secret: secret, Claims: c.claims})
		id, err := identify(a, "Authorization", "bearer "+sign(t, jose.HS256, []byte(secret), c.token))
		if c.refuse != "" {
			if err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("%s: %+v, %v", c.name, id, err)
			}
			continue
		}
		if err != nil || id.UserID != c.user || id.TenantID != c.tenant || id.Role != c.role {
			t.Errorf("%s: %+v, %v", c.name, id, err)
		}
	}
}

// A new key of the provider counts at once, invented ids do not make p8 ask more often,
// and known keys outlast an outage.
func TestKeysChange(t *testing.T) {
	first, second := keyOf(t, "ES256", "1"), keyOf(t, "ES256", "2")
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(first)
		a := newAuth(t, auth.Options{KeySets: []string{"https://dead.example.com/jwks", address}, Issuer: issuer, Audience: audience, HTTP: &http.Client{Transport: one{p}}})
		try := func(key jose.JSONWebKey) error {
			_, err := identify(a, "Authorization", "Bearer "+sign(t, jose.ES256, key, claims("exp", time.Now().Add(time.Hour).Unix())))
			synctest.Wait() // for a request in the background
			return err
		}
		step := func(what string, key jose.JSONWebKey, works bool, asked int64) {
			t.Helper()
			if err := try(key); (err == nil) != works || p.asked.Load() != asked {
				t.Errorf("%s: %v after %d requests, want %d", what, err, p.asked.Load(), asked)
			}
		}
		step("the first key", first, true, 1)
		step("again", first, true, 1)
		p.set(first, second)
		time.Sleep(time.Minute)
		step("a new key", second, true, 2)
		for range 20 {
			step("an invented key", keyOf(t, "ES256", "x"), false, 2)
		}
		p.down.Store(true)
		time.Sleep(time.Hour)
		step("an outage", second, true, 3)
		time.Sleep(24 * time.Hour)
		refused := new(auth.Refused)
		if err := try(second); !errors.As(err, &refused) || refused.After == 0 || strings.Contains(refused.Challenge(""), "invalid_token") {
			t.Errorf("a long outage: %v", err)
		}
		p.down.Store(false)
		p.set(second)
		time.Sleep(time.Minute)
		step("the provider is back", second, true, 5)
		step("a key that was withdrawn", first, false, 5)
	})
}

// one is a provider behind its own address; nobody answers at others.
type one struct{ *provider }

func (o one) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.String() != address {
		return nil, errors.New("nobody answers")
	}
	return o.provider.RoundTrip(r)
}

// While the provider hangs, who has a known key does not wait.
func TestAProviderThatHangs(t *testing.T) {
	key := keyOf(t, "ES256", "1")
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(key)
		hang := make(chan struct{})
		var hangs atomic.Bool
		a := newAuth(t, auth.Options{KeySets: []string{address}, Issuer: issuer, Audience: audience, HTTP: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if hangs.Load() {
				select {
				case <-hang:
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			}
			return p.RoundTrip(r)
		})}})
		token := func(k jose.JSONWebKey) string {
			return "Bearer " + sign(t, jose.ES256, k, claims("exp", time.Now().Add(10*time.Hour).Unix()))
		}
		if _, err := identify(a, "Authorization", token(key)); err != nil {
			t.Fatal(err)
		}
		hangs.Store(true)
		time.Sleep(time.Hour)
		invented := keyOf(t, "ES256", "x")
		go func() { _, _ = identify(a, "Authorization", token(invented)) }()
		synctest.Wait()
		before := time.Now()
		if _, err := identify(a, "Authorization", token(key)); err != nil || time.Since(before) > 0 {
			t.Errorf("a known key waited %s: %v", time.Since(before), err)
		}
		close(hang)
		synctest.Wait()
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestKey(t *testing.T) {
	const key = "k-0123456789abcdef"
	plain := newAuth(t, auth.Options{Key: key})
	gateway := newAuth(t, auth.Options{Key: key, TrustHeaders: true})
	for _, c := range []struct {
		name    string
		a       *auth.Authenticator
		headers []string
		want    string // user@tenant role, or what the refusal says
	}{
		{"the key", plain, []string{"Authorization", "Bearer " + key}, "@default admin"},
		{"in its own header", plain, []string{"X-Api-Key", key}, "@default admin"},
		{"a user without trust", plain, []string{"X-Api-Key", key, "X-User-Id", "rita"}, "does not count"},
		{"a user of the gateway", gateway, []string{"X-Api-Key", key, "X-User-Id", "rita", "X-Tenant-Id", "acme"}, "rita@acme member"},
		{"headers alone", gateway, []string{"X-User-Id", "rita"}, "needs a token"},
		{"headers with a wrong key", gateway, []string{"X-Api-Key", key + "x", "X-User-Id", "rita"}, "not this server's"},
		{"an empty key", gateway, []string{"X-Api-Key", ""}, "not this server's"},
		{"two", gateway, []string{"X-Api-Key", key, "Authorization", "Bearer " + key}, "more than one"},
		{"another scheme", plain, []string{"Authorization", "Basic " + key}, "must be"},
		{"nothing", plain, nil, "needs a token"},
	} {
		id, err := identify(c.a, c.headers...)
		got := id.UserID + "@" + id.TenantID + " " + string(id.Role)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	open := auth.Open(true)
	if id, err := identify(open, "X-User-Id", "rita"); err != nil || id.UserID != "rita" || open.Required() {
		t.Errorf("an open server: %+v, %v", id, err)
	}
}

func TestSettingsThatAreNotSafe(t *testing.T) {
	for what, o := range map[string]auth.Options{
		"a short secret":       {Secret: "short"},
		"keys for anybody":     {KeySets: []string{"https://x/jwks"}, Issuer: "i"},
		"keys of anybody":      {KeySets: []string{"https://x/jwks"}, Audience: "a"},
		"an unknown algorithm": {KeySets: []string{"https://x/jwks"}, Issuer: "i", Audience: "a", Algorithms: []string{"HS256"}},
	} {
		if _, err := auth.New(o); err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}

func TestChallenge(t *testing.T) {
	for _, c := range []struct {
		refused  auth.Refused
		metadata string
		want     string
	}{
		{auth.Refused{}, "", `Bearer realm="p8"`},
		{auth.Refused{Bad: true, Message: `it "is" bad`}, "", `Bearer realm="p8", error="invalid_token", error_description="it 'is' bad"`},
		{auth.Refused{}, "https://x/m", `Bearer realm="p8", resource_metadata="https://x/m"`},
	} {
		if got := c.refused.Challenge(c.metadata); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestNothingOutlivesItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := auth.WithExpiry(t.Context(), identity.Identity{Expires: time.Now().Add(time.Minute)})
		defer cancel()
		time.Sleep(59 * time.Second)
		if ctx.Err() != nil {
			t.Error("the context ended early")
		}
		time.Sleep(2 * time.Second)
		if ctx.Err() == nil || context.Cause(ctx).Error() != "the token of the request has expired" {
			t.Errorf("after the expiry: %v", context.Cause(ctx))
		}
		ctx, cancel = auth.WithExpiry(t.Context(), identity.Identity{})
		defer cancel()
		if _, has := ctx.Deadline(); has {
			t.Error("a caller without a token has a deadline")
		}
	})
}
