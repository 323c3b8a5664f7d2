package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/p8-org/p8/identity"
)

// maxToken bounds a token, in bytes; a header is not longer anyway.
const maxToken = 16 << 10

// verifier verifies JSON Web Tokens.
type verifier struct {
	o          *Options
	algorithms []jose.SignatureAlgorithm
	sets       []*keySet
}

func newVerifier(o *Options) (*verifier, error) {
	v := &verifier{o: o}
	if o.Secret != "" {
		v.algorithms = append(v.algorithms, jose.HS256)
	}
	if len(o.KeySets) == 0 {
		return v, nil
	}
	names := o.Algorithms
	if len(names) == 0 {
		names = []string{"RS256", "ES256", "EdDSA"}
	}
	for _, name := range names {
		if !IsAlgorithm(name) {
			return nil, fmt.Errorf("auth: %q is no algorithm that a provider's key signs tokens with", name)
		}
		v.algorithms = append(v.algorithms, asymmetric[name])
	}
	for _, address := range o.KeySets {
		v.sets = append(v.sets, &keySet{address: address, o: o})
	}
	return v, nil
}

// verify returns the identity that a token stands for.
func (v *verifier) verify(ctx context.Context, text string) (identity.Identity, error) {
	if len(text) > maxToken {
		return identity.Identity{}, invalid("the token is too long")
	}
	token, err := jwt.ParseSigned(text, v.algorithms)
	if err != nil {
		if errors.As(err, new(*jose.ErrUnexpectedSignatureAlgorithm)) {
			return identity.Identity{}, invalid("the token is signed with an algorithm that this server does not take")
		}
		return identity.Identity{}, invalid("the token cannot be read: it must be a signed JSON Web Token, or a key of this server")
	}
	body, err := v.verified(ctx, token)
	if err != nil {
		return identity.Identity{}, err
	}
	var std jwt.Claims
	var all map[string]any
	if json.Unmarshal(body, &std) != nil || json.Unmarshal(body, &all) != nil {
		return identity.Identity{}, invalid("the claims of the token cannot be read")
	}
	if err := v.check(&std, all); err != nil {
		return identity.Identity{}, err
	}
	id, err := v.o.Claims.identity(&std, all)
	id.Expires = id.Expires.Add(v.o.Leeway)
	return id, err
}

// check checks what the token says of itself.
func (v *verifier) check(std *jwt.Claims, all map[string]any) error {
	now := v.o.Now()
	switch err := std.ValidateWithLeeway(jwt.Expected{Time: now}, v.o.Leeway); {
	case std.Expiry == nil:
		return invalid("the token has no expiry (exp)")
	case errors.Is(err, jwt.ErrExpired):
		return invalid("the token has expired; get a new one")
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return invalid("the token is not valid yet")
	case err != nil:
		return invalid("the times of the token cannot be used")
	case v.o.Issuer != "" && std.Issuer != v.o.Issuer:
		return invalid("the token is of another issuer (iss)")
	case v.o.Audience != "" && !std.Audience.Contains(v.o.Audience) && !std.Audience.Contains(v.o.Audience+"/mcp"):
		return invalid("the token is for another audience (aud)")
	}
	for _, claim := range []string{"type", "token_use", "typ"} {
		if kind, _ := all[claim].(string); kind == "refresh" || kind == "Refresh" {
			return invalid("the token is a refresh token; send an access token")
		}
	}
	return nil
}

// verified returns the claims if a key signed the token. A symmetric algorithm is only
// ever checked with the secret, the others only with keys of the providers: a public key
// cannot be taken for a secret.
func (v *verifier) verified(ctx context.Context, token *jwt.JSONWebToken) (body json.RawMessage, err error) {
	header := token.Headers[0]
	if header.Algorithm == string(jose.HS256) {
		if token.Claims([]byte(v.o.Secret), &body) != nil {
			return nil, badSignature()
		}
		return body, nil
	}
	refused := error(badSignature())
	for _, set := range v.sets {
		keys, err := set.keys(ctx, header.KeyID)
		if err != nil {
			refused = err // another set may have the key
		}
		for _, k := range keys {
			if (k.Algorithm == "" || k.Algorithm == header.Algorithm) && token.Claims(k.Key, &body) == nil {
				return body, nil
			}
		}
	}
	return nil, refused
}

func badSignature() error {
	return invalid("the signature of the token is not one that this server trusts")
}

// expiry returns the time at which a token expires, without the leeway.
func expiry(c *jwt.Claims) time.Time {
	if c.Expiry == nil {
		return time.Time{}
	}
	return c.Expiry.Time()
}
