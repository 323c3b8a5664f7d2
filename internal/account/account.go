// Package account makes API keys, and logs local users in.
//
// [Service] is what the HTTP API and the command line share: a new key, of which the store
// gets the hash only; local users with passwords (argon2id); logins with a password, whose
// failures the store counts, so that all replicas bound them together. [Keys] is how package
// auth finds the keys of the store.
package account

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/auth"
	"github.com/p8-org/p8/store"
)

// Options configure a [Service]. Store is needed.
type Options struct {
	Store *store.Store
	// Changed is called after keys were revoked; nil if nothing remembers keys.
	Changed func()
	Cost    Cost
	Now     func() time.Time
	Logger  *slog.Logger
}

// Service makes keys and logs users in. It is safe for concurrent use.
type Service struct {
	o Options
	// logins and renewals bound the passwords that are checked and those that are set: one does
	// not wait for the other.
	logins, renewals gate
}

// New returns a Service.
func New(o Options) *Service {
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Cost == (Cost{}) {
		o.Cost = usual
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &Service{o: o, logins: newGate(hashing, waiting), renewals: newGate(1, waiting)}
}

// KeyRequest describes a new key.
type KeyRequest struct {
	Name string
	// User is the e-mail address or the id of the user whose key it is, "" for the caller's own.
	User string
	// Role is the caller's if it is "", and member if the caller has none.
	Role identity.Role
	// ExpiresAt is when the key ends; zero is never.
	ExpiresAt time.Time
}

// CreateKey makes a key and returns it, once: the store has the hash only.
func (s *Service) CreateKey(ctx context.Context, r KeyRequest) (text string, k store.APIKey, err error) {
	by, err := identity.From(ctx)
	if err != nil {
		return "", store.APIKey{}, err
	}
	k = store.APIKey{Name: r.Name, UserID: by.UserID, Email: by.Email, Role: r.Role, ExpiresAt: r.ExpiresAt}
	if r.User != "" {
		if k.UserID, k.Email, err = person(r.User); err != nil {
			return "", store.APIKey{}, err
		}
	}
	if k.Role == "" {
		k.Role = identity.RoleMember
		if by.Role != "" && !by.Grants(k.Role) {
			k.Role = by.Role
		}
	}
	text = auth.NewKey()
	k.Prefix, k.Hash = auth.KeyPrefix(text), auth.HashKey(text)
	if err := s.o.Store.APIKeys().Create(ctx, &k); err != nil {
		return "", store.APIKey{}, err
	}
	return text, k, nil
}

// Keys lists keys.
func (s *Service) Keys(ctx context.Context, f store.KeyFilter) (page []store.APIKey, next string, err error) {
	if f.UserID != "" {
		if f.UserID, _, err = person(f.UserID); err != nil {
			return nil, "", err
		}
	}
	return s.o.Store.APIKeys().List(ctx, f)
}

// RevokeKey ends a key.
func (s *Service) RevokeKey(ctx context.Context, id string) (store.APIKey, error) {
	defer s.o.Changed()
	return s.o.Store.APIKeys().Revoke(ctx, id)
}

// Audit lists what was done in the tenant; the user of the filter may be an e-mail address.
func (s *Service) Audit(ctx context.Context, f store.AuditFilter) (page []store.AuditEntry, next string, err error) {
	if f.UserID != "" {
		if f.UserID, _, err = person(f.UserID); err != nil {
			return nil, "", err
		}
	}
	return s.o.Store.AuditLog(ctx, f)
}

// person returns the id and the e-mail address, which may be "", of a user.
func person(text string) (id, email string, err error) {
	// An address has letters with marks, which keyboards write in two ways.
	p, err := identity.Identity{UserID: norm.NFC.String(text)}.Normalize()
	var wrong *identity.InvalidError
	if errors.As(err, &wrong) {
		return "", "", fmt.Errorf("%w: the user %s", store.ErrInvalid, wrong.Problem)
	}
	return p.UserID, p.Email, err
}

// Keys finds the keys of a store for package auth.
type Keys struct{ Store *store.Store }

// usedEvery is how often the use of a key is written, by all processes together.
const usedEvery = 5 * time.Minute

// Key returns the key with a hash.
func (k Keys) Key(ctx context.Context, hash string) (auth.Key, bool, error) {
	x, found, err := k.Store.Access().Key(ctx, hash)
	return auth.Key{
		ID: x.ID, TenantID: x.TenantID, UserID: x.UserID, Email: x.Email, Role: x.Role, Hash: x.Hash,
		Expires: x.ExpiresAt, Revoked: !x.RevokedAt.IsZero(), Used: x.LastUsedAt,
	}, found, err
}

// Used records that a key was used.
func (k Keys) Used(ctx context.Context, x auth.Key) error {
	return k.Store.Access().KeyUsed(ctx, x.TenantID, x.ID, usedEvery)
}
