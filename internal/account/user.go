package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// AddUser adds a local user to the caller's tenant. The role is member if it is "".
func (s *Service) AddUser(ctx context.Context, email, password string, role identity.Role) (store.Account, error) {
	by, err := identity.From(ctx)
	if err == nil && !by.Administers() {
		err = fmt.Errorf("%w: only an admin manages users", store.ErrForbidden)
	}
	if err != nil {
		return store.Account{}, err
	}
	id, address, err := person(email)
	if err == nil && address == "" {
		err = fmt.Errorf("%w: %.64q is not an e-mail address", store.ErrInvalid, email)
	}
	if err == nil {
		err = checkNew(id, password)
	}
	if err != nil {
		return store.Account{}, err
	}
	if role == "" {
		role = identity.RoleMember
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return store.Account{}, err
	}
	a := store.Account{UserID: id, Email: strings.ToLower(strings.TrimSpace(address)), Role: role}
	return a, s.o.Store.Accounts().Add(ctx, &a, hash)
}

// Users lists the local users of the caller's tenant.
func (s *Service) Users(ctx context.Context, limit int, cursor string) (page []store.Account, next string, err error) {
	return s.o.Store.Accounts().List(ctx, limit, cursor)
}

// RemoveUser removes a local user, whose keys end. user is an e-mail address or an id.
func (s *Service) RemoveUser(ctx context.Context, user string) error {
	id, _, err := person(user)
	if err != nil {
		return err
	}
	defer s.o.Changed()
	return s.o.Store.Accounts().Remove(ctx, id)
}

// SetPassword replaces the password of a user, whose logins end. A caller who is no admin gives
// the old one, too.
func (s *Service) SetPassword(ctx context.Context, user, old, password string) error {
	by, err := identity.From(ctx)
	if err != nil {
		return err
	}
	id, _, err := person(user)
	if err == nil {
		err = checkNew(id, password)
	}
	if err == nil && len(old) > maxPassword {
		err = tooLong()
	}
	if err != nil {
		return err
	}
	if !by.Administers() {
		if by.Anonymous() || by.UserID != id {
			return fmt.Errorf("%w: only an admin sets the passwords of others", store.ErrForbidden)
		}
		from := identity.OriginOf(ctx).Address
		limits := loginLimits(by.TenantID, id, from)
		if err := s.verify(ctx, by.TenantID, id, old, limits, func(store.Account, string) error {
			return s.o.Store.Access().Forgive(ctx, limits...)
		}); err != nil {
			return err
		}
	}
	hash, err := s.hash(ctx, password)
	if err != nil {
		return err
	}
	defer s.o.Changed()
	return s.o.Store.Accounts().SetPassword(ctx, id, hash)
}
