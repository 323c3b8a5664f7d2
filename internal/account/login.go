package account

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/store"
)

// loginLasts is how long a login counts.
const loginLasts = 12 * time.Hour

// ErrRefused is the error of a login with an unknown address or a wrong password, which are not
// told apart.
var ErrRefused = errors.New("the e-mail address or the password is wrong")

// WaitError is the error of a login after too many failed ones, or while too many wait.
type WaitError struct{ After time.Duration }

// Error says how long to wait.
func (e *WaitError) Error() string {
	return fmt.Sprintf("too many logins failed, or too many came at once: try again in %s", (e.After + time.Second - 1).Truncate(time.Second))
}

// Login is a successful login.
type Login struct {
	Token   string
	Account store.Account
	Expires time.Time
}

// Login logs a user in. If tenant is "", the oldest account of the address counts. The error is ErrRefused, a *WaitError, or one of the store.
func (s *Service) Login(ctx context.Context, tenant, email, password string) (Login, error) {
	if len(password) > maxPassword {
		return Login{}, tooLong()
	}
	// What is no address is nobody's.
	id, _, err := person(email)
	if err != nil {
		id = "invalid"
	}
	from := identity.OriginOf(ctx).Address
	limits := loginLimits(tenant, id, from)
	l := Login{Token: auth.NewKey(), Expires: s.o.Now().Add(loginLasts).UTC().Truncate(time.Second)}
	err = s.verify(ctx, tenant, id, password, limits, func(a store.Account, hash string) error {
		l.Account = a
		k := store.APIKey{Name: "login", Prefix: auth.KeyPrefix(l.Token), Hash: auth.HashKey(l.Token), Role: a.Role, ExpiresAt: l.Expires}
		return s.o.Store.Access().LoggedIn(ctx, a, hash, &k, limits...)
	})
	if err != nil {
		return Login{}, err
	}
	return l, nil
}

// Logout ends the login of the request.
func (s *Service) Logout(ctx context.Context) error {
	defer s.o.Changed()
	return s.o.Store.APIKeys().Logout(ctx)
}

// verify calls right if the password is the user's. It takes as long for an unknown user.
func (s *Service) verify(ctx context.Context, tenant, user, password string, limits []store.LoginLimit, right func(a store.Account, hash string) error) error {
	access := s.o.Store.Access()
	// Whoever must wait takes no place and writes nothing.
	wait, err := access.LoginWait(ctx, limits...)
	if err != nil {
		return err
	}
	if wait > 0 {
		return &WaitError{wait}
	}
	// Tries are counted with a place among those who hash, so that valid logins at once, which
	// count as failed until they have succeeded, are not too many.
	leave, err := s.logins.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if wait, err = access.TryLogin(ctx, limits...); err != nil {
		return err
	}
	if wait > 0 {
		return &WaitError{wait}
	}
	a, hash, _, err := access.Account(ctx, tenant, user)
	if err != nil {
		return err
	}
	if s.matches(password, hash) {
		if err := right(a, hash); !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	s.o.Logger.InfoContext(ctx, "a login was refused", "user_id", user, "address", identity.OriginOf(ctx).Address)
	if err := access.LoginRefused(ctx, a.TenantID, user); err != nil {
		return err
	}
	return ErrRefused
}

// loginLimits returns the limits of failed logins of a user, in the tenant that the request
// names, from an address.
//
// Most guesses at a password come from few addresses, so an account has short pauses: nobody
// locks it for people at other addresses. The tenant is the request's: a login in one tenant
// takes back no failure in another, and a pause does not tell in which tenant an account is.
func loginLimits(tenant, user, address string) []store.LoginLimit {
	account, from := subject("account", tenant+"\x00"+user), byAddress(address)
	return []store.LoginLimit{
		{Subject: subject("pair", account+from.Subject), Free: 5, First: time.Second, Most: 15 * time.Minute, Decay: 15 * time.Minute, Clears: true},
		{Subject: account, Free: 50, First: time.Second, Most: time.Minute, Decay: 5 * time.Minute},
		from,
	}
}

// byAddress returns the limit of an address. It is for many accounts, because an address may be
// a proxy's, with all its users.
func byAddress(address string) store.LoginLimit {
	// The last 64 bits of an IPv6 address are the client's own choice.
	if ip, err := netip.ParseAddr(address); err == nil && ip.Unmap().Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			address = p.String()
		}
	}
	return store.LoginLimit{Subject: subject("address", address), Free: 50, First: time.Second, Most: time.Minute, Decay: time.Minute}
}

// subject is a short name of a text of any length.
func subject(kind, text string) string {
	sum := sha256.Sum256([]byte(text))
	return kind + ":" + hex.EncodeToString(sum[:16])
}
