// Package access has the commands that say who may use p8: API keys, local users, the audit log.
package access

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/peer"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/account"
	"github.com/p8-org/p8/store"
)

// place is where a command acts: on the database, or at the server that has it.
type place struct {
	Tenant string `help:"Tenant (default). A server that verifies callers knows theirs, so that this is for the database."`
	peer.Elsewhere
}

// caller acts for the tenant, as its operator: a server decides by the token instead.
func (p place) caller() command.Caller { return command.Caller{Tenant: p.Tenant} }

// change calls here with the database, which it makes if there is none, or there with the
// server that has it.
func (p place) change(a *command.App, there func(context.Context, *peer.Server) error, here func(context.Context, *account.Service) error) error {
	err := peer.Change(a, p.caller(), p.Elsewhere, p.signed(there), func(ctx context.Context, s *store.Store) error {
		return explain(here(ctx, account.New(account.Options{Store: s})))
	})
	if unsigned := new(peer.UnsignedError); errors.As(err, &unsigned) {
		return fmt.Errorf("%w; for the first key or user stop the server, or start it with P8_API_KEY", err)
	}
	return err
}

// signed refuses the tenant that a flag names at a server that knows the caller's by the token.
func (p place) signed(there func(context.Context, *peer.Server) error) func(context.Context, *peer.Server) error {
	return func(ctx context.Context, r *peer.Server) error {
		if p.Tenant != "" && r.Signed() {
			return command.Usage("--tenant is for the database, and a server has it, which goes by the tenant of the token: leave --tenant out, or stop the server")
		}
		return there(ctx, r)
	}
}

// read calls here with the database, unless there is none, or there with the server that is
// named.
func (p place) read(a *command.App, there func(context.Context, *peer.Server) error, here func(context.Context, *account.Service) error) error {
	return peer.Read(a, p.caller(), p.Elsewhere, func(ctx context.Context, s *store.Store, r *peer.Server) error {
		switch {
		case r != nil:
			return p.signed(there)(ctx, r)
		case s == nil:
			return nil
		}
		return explain(here(ctx, account.New(account.Options{Store: s})))
	})
}

// explain leaves out the kind of an error, which is for programs.
func explain(err error) error {
	for _, kind := range []error{store.ErrInvalid, store.ErrForbidden} {
		if errors.Is(err, kind) {
			return errors.New(strings.TrimPrefix(err.Error(), kind.Error()+": "))
		}
	}
	return err
}

// checkRole checks the flag of a role, which may be "".
func checkRole(role string) error {
	if role != "" && identity.Role(role).Rank() == 0 {
		return command.Usage("--role: %q is no role: give reader, member or admin", role)
	}
	return nil
}

// warnOff says that keys do not count yet. A server may have other settings.
func warnOff(a *command.App, r *peer.Server) {
	if cfg, err := a.Config(); err == nil && r == nil && !cfg.AuthKeys {
		a.Say("no server takes keys and logins yet: start it with P8_AUTH_KEYS=true")
	}
}

// missing is the error of a name that nothing has.
func missing(what, name, list string) error {
	return fmt.Errorf("there is no %s %q: `%s` shows those there are", what, name, list)
}
