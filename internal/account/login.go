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

// Login logs a user in. If tenant is "", the address must have an account in one tenant only.
// The error is ErrRefused, a *WaitError, or one of the store.
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
	l := Login{Token: auth.NewKey(), Expires: s.o.Now().Add(loginLasts).UTC().Truncate(time.Second)}
	err = s.verify(ctx, tenant, id, password, from, func(a store.Account, hash string) error {
		l.Account = a
		k := store.APIKey{Name: "login", Prefix: auth.KeyPrefix(l.Token), Hash: auth.HashKey(l.Token), Role: a.Role, ExpiresAt: l.Expires}
		return s.o.Store.Access().LoggedIn(ctx, a, hash, &k, byAccount(id).Subject, byAddress(from).Subject)
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
func (s *Service) verify(ctx context.Context, tenant, user, password, from string, right func(a store.Account, hash string) error) error {
	access := s.o.Store.Access()
	// Tries are counted with a place among those who hash, so that valid logins at once, which
	// count as failed until they have succeeded, are not too many.
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	wait, err := access.TryLogin(ctx, byAccount(user), byAddress(from))
	if err != nil {
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
	s.o.Logger.InfoContext(ctx, "a login was refused", "user_id", user, "address", from)
	if err := access.LoginRefused(ctx, a.TenantID, user); err != nil {
		return err
	}
	return ErrRefused
}

// The limits of failed logins. Those of an account keep guesses few, and let nobody lock it for
// long. Those of an address are for many accounts: an address may be a proxy's, with all its
// users.
func byAccount(user string) store.LoginLimit {
	return store.LoginLimit{Subject: subject("account", user), Free: 5, First: time.Second, Most: 15 * time.Minute}
}

func byAddress(address string) store.LoginLimit {
	// The last 64 bits of an IPv6 address are the client's own choice.
	if ip, err := netip.ParseAddr(address); err == nil && ip.Unmap().Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			address = p.String()
		}
	}
	return store.LoginLimit{Subject: subject("address", address), Free: 50, First: time.Second, Most: time.Minute}
}

// subject is a short name of a text of any length.
func subject(kind, text string) string {
	sum := sha256.Sum256([]byte(text))
	return kind + ":" + hex.EncodeToString(sum[:16])
}
