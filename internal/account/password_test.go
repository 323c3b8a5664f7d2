package account

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

func TestPasswords(t *testing.T) {
	s := New(Options{Cost: Cost{Memory: 8, Passes: 1}})
	hash, err := s.hash(t.Context(), "jo\u0308rg's password")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=8,t=1,p=1$") || len(hash) > 255 {
		t.Fatal(hash, err)
	}
	again, err := s.hash(t.Context(), "jo\u0308rg's password")
	if err != nil || again == hash {
		t.Error("two hashes of a password have one salt", err)
	}
	dearer := New(Options{Cost: Cost{Memory: 16, Passes: 2}})
	for password, want := range map[string]bool{"jo\u0308rg's password": true, "jörg's password": true, "jorg's password": false, "": false} {
		if got := s.matches(password, hash); got != want {
			t.Errorf("%q: %v", password, got)
		}
		if got := dearer.matches(password, hash); got != want {
			t.Errorf("%q, with another cost: %v", password, got)
		}
	}
	for _, broken := range []string{"", "x", "$argon2id$v=19$m=8,t=1,p=1$$", "$argon2id$v=19$m=8,t=0,p=1$c2FsdA$aGFzaA", "$argon2id$v=19$m=a,t=1,p=1$c2FsdA$aGFzaA", strings.Replace(hash, "argon2id", "argon2i", 1)} {
		if s.matches("", broken) || s.matches("jörg's password", broken) {
			t.Errorf("%q has a password", broken)
		}
	}
	for password, ok := range map[string]bool{
		"twelve chars": true, "zwölf zeichn": true, "eleven char": false, strings.Repeat("x", 1024): true, strings.Repeat("x", 1025): false,
		"with \x00 in the middle": false, "not \xff text, but bytes": false,
	} {
		if err := checkPassword(password); (err == nil) != ok || err != nil && (!errors.Is(err, store.ErrInvalid) || strings.Contains(err.Error(), password)) {
			t.Errorf("%.20q: %v", password, err)
		}
	}
}

// Of many logins at once two are checked, some wait, and the rest are refused.
func TestManyLoginsAtOnce(t *testing.T) {
	s := New(Options{})
	for range hashing {
		if _, err := s.logins.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, waiting)
	for range waiting {
		s.logins.waiting <- struct{}{} // as those who wait do
	}
	var wait *WaitError
	if _, err := s.logins.enter(ctx); !errors.As(err, &wait) || wait.After != time.Second {
		t.Error(err)
	}
	<-s.logins.waiting
	go func() {
		_, err := s.logins.enter(ctx)
		left <- err
	}()
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Whoever may not set passwords hashes none, and takes no place among those who do.
func TestPasswordsWithoutRights(t *testing.T) {
	s := New(Options{})
	for range waiting {
		s.renewals.waiting <- struct{}{}
	}
	for _, id := range []identity.Identity{{UserID: "mia", Role: identity.RoleMember}, {UserID: "ann", Role: identity.RoleReader}, {Role: identity.RoleMember}} {
		ctx := identity.With(t.Context(), id)
		if _, err := s.AddUser(ctx, "x@example.com", "correct horse battery", ""); !errors.Is(err, store.ErrForbidden) {
			t.Errorf("%+v adds a user: %v", id, err)
		}
		for _, user := range []string{"", "x@example.com"} {
			if err := s.SetPassword(ctx, user, "", "correct horse battery"); !errors.Is(err, store.ErrForbidden) {
				t.Errorf("%+v sets a password of %q: %v", id, user, err)
			}
		}
	}
	leave, err := s.logins.enter(t.Context())
	if err != nil {
		t.Fatal("a login waits for new passwords", err)
	}
	leave()
}

func TestLimitsOfAddresses(t *testing.T) {
	one := byAddress("2001:db8:1:2::1").Subject
	for address, same := range map[string]bool{
		"2001:db8:1:2:ffff::1": true, "2001:db8:1:2::1%eth0": true, "2001:db8:1:3::1": false, "192.0.2.1": false, "": false,
	} {
		if got := byAddress(address).Subject == one; got != same {
			t.Errorf("%q: %v", address, got)
		}
	}
	if byAddress("192.0.2.1").Subject == byAddress("192.0.2.2").Subject {
		t.Error("two subjects are one")
	}
}
