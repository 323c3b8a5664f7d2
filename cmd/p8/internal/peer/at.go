package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/store"
)

// Read calls fn with the server that the flags name, or else with the store, opened for
// reading. Both are nil if nothing is stored yet.
func Read(a *command.App, who command.Caller, at Elsewhere, fn func(context.Context, *store.Store, *Server) error) error {
	ctx, err := who.Context()
	if err != nil {
		return err
	}
	r, err := at.Open(ctx, a)
	switch {
	case err != nil:
		return err
	case r != nil:
		return fn(ctx, nil, r)
	}
	return wiring.WithStore(a, who, func(ctx context.Context, s *store.Store) error { return fn(ctx, s, nil) })
}

// Change calls there with the server that the flags name or that has the embedded database, or
// else here with the store, which it makes if there is none.
func Change(a *command.App, who command.Caller, at Elsewhere, there func(context.Context, *Server) error, here func(context.Context, *store.Store) error) error {
	ctx, err := who.Context()
	if err != nil {
		return err
	}
	if r, err := at.Open(ctx, a); err != nil || r != nil {
		if err != nil {
			return err
		}
		return there(ctx, r)
	}
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	s, err := wiring.ConnectStore(ctx, cfg, a.QuietLogger(cfg))
	if err != nil {
		r, err := owner(ctx, cfg, err)
		if err != nil {
			return err
		}
		return there(ctx, r)
	}
	defer s.Close()
	return here(ctx, s)
}

// TakeOver marks the runs of dead processes as interrupted and frees their leases. It
// does nothing on PostgreSQL, where other processes may be alive.
func TakeOver(a *command.App, ctx context.Context, p *wiring.Parts) error {
	cfg, err := a.Stored()
	if err != nil || cfg.Database().Postgres != "" {
		return err
	}
	m := p.Store.Maintenance()
	if _, err := m.RecoverRuns(ctx, "cli", time.Now()); err != nil {
		return err
	}
	return m.FreeLeases(ctx)
}

// ErrNothingStored is in the error of At if there is no database yet.
var ErrNothingStored = errors.New("nothing is stored yet")

// At runs a command where its data is. If the flags name a server, or a server has the
// embedded database, At calls there, else here. what names the data in the error that
// wraps ErrNothingStored.
func At(a *command.App, who command.Caller, at Elsewhere, what string, there func(context.Context, *Server) error, here func(context.Context, *wiring.Parts) error) error {
	ctx, err := who.Context()
	if err != nil {
		return err
	}
	if r, err := at.Open(ctx, a); err != nil || r != nil {
		if err != nil {
			return err
		}
		return there(ctx, r)
	}
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	if db := cfg.Database(); db.Postgres == "" {
		if _, err := os.Stat(db.Path); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w, so there are no %s: begin one with `p8 chat`", ErrNothingStored, what)
		}
	}
	p, err := wiring.Open(ctx, cfg, wiring.Options{Log: a.QuietLogger(cfg)})
	if err != nil {
		r, err := owner(ctx, cfg, err)
		if err != nil {
			return err
		}
		return there(ctx, r)
	}
	defer p.Close()
	return here(ctx, p)
}
