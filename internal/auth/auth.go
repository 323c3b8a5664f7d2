// Package auth verifies who sent a request.
//
// An [Authenticator] reads the token of a request and returns the caller's identity:
//
//   - a JSON Web Token (RFC 7519) of the deployment's identity provider, signed with a
//     shared secret (HS256) or with a key of its JWKS address;
//   - an API key, or the token of a login, which the database has ([Keys]);
//   - the deployment's own key, P8_API_KEY, which a gateway sends, if the operator lets it
//     name its user by identity headers.
//
// A gateway may prove itself by a client certificate instead: see Options.Gateways. Identity
// headers count with that key and with that certificate only.
//
// The algorithms come from the settings, never from the token. A token must have a
// subject and an expiry; its issuer and audience must be the configured ones. The tenant
// comes from the token alone. An [Authenticator] without keys or a secret lets everybody in
// as [identity.FromRequest] does, for servers that only their own machine reaches.
//
// A refusal is a [Refused]; its message is fit for a client and has no part of the token.
package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/p8-org/p8/identity"
)

// Options configure an [Authenticator].
type Options struct {
	// Secret is the key of HS256 tokens; "" takes none.
	Secret string
	// KeySets are the JWKS addresses of the providers, whose keys sign tokens.
	KeySets []string
	// Algorithms are those that keys of KeySets may sign with; nil is RS256, ES256 and
	// EdDSA.
	Algorithms []string
	// Issuer and Audience are what the token must say, "" for anything. The audience may also
	// be the MCP endpoint at /mcp below Audience, for which MCP clients get their tokens.
	Issuer, Audience string
	// Leeway is by how much clocks may differ; a minute when 0.
	Leeway time.Duration
	Claims Claims
	// Key is the deployment's own key, "" for none.
	Key string
	// Keys finds the API keys of the database; nil takes none.
	Keys Keys
	// TrustHeaders lets the holder of Key name the caller by identity headers.
	TrustHeaders bool
	// Gateways lets a connection whose client certificate the TLS handshake has verified name
	// the caller by identity headers. A token in the request counts instead.
	Gateways bool
	// ClientID is p8's client at the provider and Scopes are the rights to ask for there,
	// for programs that sign people in; both may be empty.
	ClientID string
	Scopes   []string
	// Visitors lets callers without a token in, each with rows of their own: see HeaderSecret.
	Visitors bool
	// Open trusts the identity headers of everybody if there is no way to authenticate.
	Open bool

	// HTTP fetches the key sets; Fetch says how long one request may take, 10 s when 0.
	HTTP   *http.Client
	Fetch  time.Duration
	Now    func() time.Time
	Logger *slog.Logger
}

// Authenticator verifies requests. It is safe for concurrent use.
type Authenticator struct {
	o      Options
	tokens *verifier
	keys   *keyring
	key    [sha256.Size]byte
}

// MinSecret is the length of the shortest secret for HS256, in bytes (RFC 7518 §3.2).
const MinSecret = 32

// asymmetric are the algorithms that a key of a provider may sign with.
var asymmetric = map[string]jose.SignatureAlgorithm{
	"RS256": jose.RS256, "RS384": jose.RS384, "RS512": jose.RS512,
	"PS256": jose.PS256, "PS384": jose.PS384, "PS512": jose.PS512,
	"ES256": jose.ES256, "ES384": jose.ES384, "ES512": jose.ES512,
	"EdDSA": jose.EdDSA,
}

// IsAlgorithm reports whether keys of a provider may sign with an algorithm.
func IsAlgorithm(name string) bool { return asymmetric[name] != "" }

// New makes an Authenticator. An error names what cannot be used.
func New(o Options) (*Authenticator, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{}
	}
	if o.Fetch <= 0 {
		o.Fetch = 10 * time.Second
	}
	if o.Leeway <= 0 {
		o.Leeway = time.Minute
	}
	if o.Secret != "" && len(o.Secret) < MinSecret {
		return nil, fmt.Errorf("auth: the secret of tokens has %d bytes: HS256 needs %d or more", len(o.Secret), MinSecret)
	}
	if len(o.KeySets) > 0 && (o.Audience == "" || o.Issuer == "") {
		return nil, fmt.Errorf("auth: an issuer and an audience are needed: the same keys may sign tokens of other issuers and for other applications")
	}
	a := &Authenticator{o: o, key: sha256.Sum256([]byte(o.Key))}
	if o.Secret != "" || len(o.KeySets) > 0 {
		var err error
		if a.tokens, err = newVerifier(&a.o); err != nil {
			return nil, err
		}
	}
	if o.Keys != nil {
		a.keys = newKeyring(&a.o)
	}
	return a, nil
}

// Open makes an Authenticator that lets everybody in. Identity headers count if trusted.
func Open(trusted bool) *Authenticator { return &Authenticator{o: Options{Open: trusted}} }

// Required reports whether requests need a token.
func (a *Authenticator) Required() bool {
	return a.tokens != nil || a.keys != nil || a.o.Key != "" || a.o.Gateways
}

// Forget makes a change of keys count at once in this process.
func (a *Authenticator) Forget() {
	if a.keys != nil {
		a.keys.forget()
	}
}

// Issuer returns the provider that people get tokens from, "" if it is not configured.
func (a *Authenticator) Issuer() string { return a.o.Issuer }

// Identify returns the caller of a request, with the session, agent and client that its
// headers name. The error is a *[Refused], or an *[identity.InvalidError].
func (a *Authenticator) Identify(r *http.Request) (identity.Identity, error) {
	if !a.Required() {
		return identity.FromRequest(r, a.o.Open)
	}
	if secret, visitor := a.visitorSecret(r); visitor {
		return a.visitor(r, secret)
	}
	if _, ok := a.gateway(r); ok && !hasToken(r.Header) {
		return a.ofKey(r)
	}
	token, err := bearer(r.Header)
	if err != nil {
		return identity.Identity{}, err
	}
	if a.isKey(token) {
		return a.ofKey(r)
	}
	id, err := a.verify(r.Context(), token)
	if err != nil {
		return identity.Identity{}, err
	}
	return identity.FromRequest(r.WithContext(identity.With(r.Context(), id)), false)
}

// verify returns the caller of a key or a JSON Web Token.
func (a *Authenticator) verify(ctx context.Context, token string) (identity.Identity, error) {
	switch {
	case a.keys != nil && looksLikeKey(token):
		return a.keys.verify(ctx, token)
	case a.tokens != nil:
		return a.tokens.verify(ctx, token)
	}
	return identity.Identity{}, invalid("the key is not this server's")
}

func (a *Authenticator) isKey(token string) bool {
	sum := sha256.Sum256([]byte(token))
	return a.o.Key != "" && subtle.ConstantTimeCompare(sum[:], a.key[:]) == 1
}

// ofKey returns the caller of a request with the deployment's own key, or of a gateway with a
// certificate: the user in the headers, a member, if headers are trusted, else the deployment
// itself, which has no user.
func (a *Authenticator) ofKey(r *http.Request) (identity.Identity, error) {
	until, certified := a.gateway(r)
	if a.o.TrustHeaders || certified {
		id, err := identity.FromRequest(r, true)
		id.KeyID, id.Expires = identity.DeploymentKey, until
		if !id.Anonymous() {
			id.Role = identity.RoleMember
		}
		return id, err
	}
	for _, name := range []string{identity.HeaderUserID, identity.HeaderUserEmail, identity.HeaderUserName, identity.HeaderTenantID} {
		if r.Header.Get(name) != "" {
			return identity.Identity{}, &Refused{Forbidden: true, Message: "the header " + name + " does not count with this key: leave it out, or set P8_TRUST_IDENTITY_HEADERS=true if a gateway that authenticates sends it"}
		}
	}
	ctx := identity.With(r.Context(), identity.Identity{TenantID: identity.DefaultTenant, Role: identity.RoleAdmin, KeyID: identity.DeploymentKey})
	return identity.FromRequest(r.WithContext(ctx), false)
}

// bearer returns the token of a request: that of Authorization: Bearer, or X-Api-Key.
func bearer(h http.Header) (string, error) {
	given := append(h.Values("Authorization"), h.Values("X-Api-Key")...)
	switch {
	case len(given) == 0:
		return "", &Refused{Message: "this server needs a token: send the header Authorization: Bearer TOKEN"}
	case len(given) > 1:
		return "", invalid("the request has more than one token; send one")
	case len(h.Values("X-Api-Key")) == 1:
		return strings.TrimSpace(given[0]), nil
	}
	scheme, token, _ := strings.Cut(given[0], " ")
	if !strings.EqualFold(scheme, "Bearer") || strings.TrimSpace(token) == "" {
		return "", invalid("the header Authorization must be: Bearer TOKEN")
	}
	return strings.TrimSpace(token), nil
}

// Refused is a request without a token, or with a token that is not accepted.
type Refused struct {
	// Forbidden reports whether the caller is known but may not do this: 403, else 401.
	Forbidden bool
	// Bad reports whether there was a token.
	Bad     bool
	Message string
	// After is how long to wait before another try, if the fault is not the token's; 0 if
	// there is no point in one.
	After time.Duration
}

// Error returns the message.
func (r *Refused) Error() string { return r.Message }

func invalid(message string) *Refused { return &Refused{Bad: true, Message: message} }

// Challenge returns the header WWW-Authenticate of a refusal (RFC 6750 §3, RFC 9728 §5.1).
// metadata is the address of the metadata of the resource, "" for none.
func (r *Refused) Challenge(metadata string) string {
	parts := []string{`realm="p8"`}
	if r.Bad && !r.Forbidden && r.After == 0 {
		parts = append(parts, `error="invalid_token"`, `error_description="`+strings.ReplaceAll(r.Message, `"`, `'`)+`"`)
	}
	if metadata != "" {
		parts = append(parts, `resource_metadata="`+metadata+`"`)
	}
	return "Bearer " + strings.Join(parts, ", ")
}

// Address returns the address of the server for the client of a request, without a slash at its
// end: the public one if the operator names it, else that of the request.
func Address(r *http.Request, public string) string {
	if public != "" {
		return strings.TrimRight(public, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// MetadataPath is where a resource says how to get a token for it (RFC 9728 §3); the path
// of the resource follows.
const MetadataPath = "/.well-known/oauth-protected-resource"

// Metadata describes the resource at a path of the server. base is the server's address.
func (a *Authenticator) Metadata(base func(*http.Request) string, path string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// It fails only if the client has gone.
		_ = json.NewEncoder(w).Encode(struct {
			Resource string   `json:"resource"`
			Issuers  []string `json:"authorization_servers"`
			Methods  []string `json:"bearer_methods_supported"`
			Name     string   `json:"resource_name"`
			Scopes   []string `json:"scopes_supported,omitempty"`
			ClientID string   `json:"p8_client_id,omitempty"`
		}{base(r) + path, []string{a.o.Issuer}, []string{"header"}, "p8", a.o.Scopes, a.o.ClientID})
	})
}
