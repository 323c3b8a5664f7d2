package auth

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/p8-org/p8/identity"
)

// HeaderSecret has the secret of a visitor: a caller without a token, on a server that lets
// such callers in. The server makes it, 256 random bits, with the first request that may
// store something. The visitor's user id is a hash of it, so all that a visitor stores
// belongs to whoever has the secret, and the database does not have it.
const HeaderSecret = "X-Session-Secret"

const (
	secretCookie = "p8_session_secret"
	secretMark   = "anon-"
	secretBytes  = 32
	// noToken is the token of clients that must send one and have none.
	noToken = "anonymous"
)

// visitorSecret returns the secret of a request without a token, "" for none.
func (a *Authenticator) visitorSecret(r *http.Request) (secret string, visitor bool) {
	if !a.o.Visitors || !a.Required() {
		return "", false
	}
	if token, err := bearer(r.Header); err == nil && strings.HasPrefix(token, secretMark) {
		return token, true
	} else if hasToken(r.Header) && (err != nil || token != noToken) {
		return "", false
	}
	if _, ok := a.gateway(r); ok && !hasToken(r.Header) {
		return "", false
	}
	if c, err := r.Cookie(secretCookie); err == nil {
		secret = c.Value
	}
	return cmp.Or(r.Header.Get(HeaderSecret), secret), true
}

// Visit gives the secret to a visitor who has none and may store something. It comes before
// Identify.
func (a *Authenticator) Visit(w http.ResponseWriter, r *http.Request, secure bool) {
	secret, visitor := a.visitorSecret(r)
	if !visitor || secret != "" || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return
	}
	secret = newSecret()
	r.Header.Set(HeaderSecret, secret)
	w.Header().Set(HeaderSecret, secret)
	http.SetCookie(w, &http.Cookie{Name: secretCookie, Value: secret, Path: "/", HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode})
}

func newSecret() string {
	var secret [secretBytes]byte
	_, _ = rand.Read(secret[:]) // it never fails
	return secretMark + base64.RawURLEncoding.EncodeToString(secret[:])
}

// visitor returns the caller who has the secret. Without one, it is a caller who has nothing.
func (a *Authenticator) visitor(r *http.Request, secret string) (identity.Identity, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(cmp.Or(secret, newSecret()), secretMark))
	if err != nil || len(raw) != secretBytes || secret != "" && !strings.HasPrefix(secret, secretMark) {
		return identity.Identity{}, invalid("the header " + HeaderSecret + " is not a secret that this server made: send the one that it answered with, or none")
	}
	sum := sha256.Sum256(raw)
	id := identity.Identity{
		TenantID: cmp.Or(a.o.Claims.DefaultTenant, identity.DefaultTenant), UserID: identity.VisitorPrefix + hex.EncodeToString(sum[:]), Role: identity.RoleMember,
	}
	return identity.FromRequest(r.WithContext(identity.With(r.Context(), id)), false)
}
