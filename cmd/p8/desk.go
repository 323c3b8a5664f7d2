package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/p8-org/p8/store"
)

// read gives fn the server that is named, else the store, for reading; both nil
// when there is none yet.
func (a *app) read(who caller, at elsewhere, fn func(context.Context, *store.Store, *peer) error) error {
	ctx, err := who.context()
	if err != nil {
		return err
	}
	r, err := at.peer(ctx, a)
	switch {
	case err != nil:
		return err
	case r != nil:
		return fn(ctx, nil, r)
	}
	return a.withStore(who, func(ctx context.Context, s *store.Store) error { return fn(ctx, s, nil) })
}

// act has a run changed where it is: by there, when a server is named or has the
// data, else by here, which may go on with it.
func (a *app) act(who caller, at elsewhere, json bool, there func(context.Context, *peer) error, here func(*talk) error) error {
	return a.at(who, at, "runs", there, func(ctx context.Context, p *parts) error {
		if err := a.takeOver(ctx, p); err != nil {
			return err
		}
		t := &talk{app: a, parts: p, json: json, ctx: ctx}
		defer t.watchInterrupts()()
		return here(t)
	})
}

// takeOver marks what dead processes left behind as such, where this one alone has the
// data: whoever was at a run, or at a dream, is gone.
func (a *app) takeOver(ctx context.Context, p *parts) error {
	cfg, err := a.stored()
	if err != nil || cfg.Database().Postgres != "" {
		return err
	}
	m := p.store.Maintenance()
	if _, err := m.RecoverRuns(ctx, "cli", time.Now()); err != nil {
		return err
	}
	return m.FreeLeases(ctx)
}

// at does something where the data are: by there, when a server is named or has
// them, else by here. what is missing where nothing is stored yet.
func (a *app) at(who caller, at elsewhere, what string, there func(context.Context, *peer) error, here func(context.Context, *parts) error) error {
	ctx, err := who.context()
	if err != nil {
		return err
	}
	if r, err := at.peer(ctx, a); err != nil || r != nil {
		if err != nil {
			return err
		}
		return there(ctx, r)
	}
	cfg, err := a.stored()
	if err != nil {
		return err
	}
	if db := cfg.Database(); db.Postgres == "" {
		if _, err := os.Stat(db.Path); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("nothing is stored yet, so there are no %s: begin one with `p8 chat`", what)
		}
	}
	p, err := a.open(ctx, cfg, wireOptions{Log: a.quietLogger(cfg)})
	if err != nil {
		r, err := owner(ctx, cfg, err)
		if err != nil {
			return err
		}
		return there(ctx, r)
	}
	defer p.close()
	return here(ctx, p)
}
