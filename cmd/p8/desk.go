package main

import (
	"context"
	"errors"
	"os"
	"time"

	"p8/store"
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
			return errors.New("nothing is stored yet, so there are no runs: begin one with `p8 chat`")
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
	if cfg.Database().Postgres == "" {
		// This process alone has the data: whoever was at a run is gone.
		if _, err := p.store.Maintenance().RecoverRuns(ctx, "cli", time.Now()); err != nil {
			return err
		}
	}
	t := &talk{app: a, parts: p, json: json, ctx: ctx}
	defer t.watchInterrupts()()
	return here(t)
}
