package main

import (
	"context"
	"fmt"
)

type migrateCmd struct{}

// Run brings the database up to date, as every other verb that writes does.
func (migrateCmd) Run(a *app) error {
	cfg, err := a.stored()
	if err != nil {
		return err
	}
	ctx, log := context.Background(), a.quietLogger(cfg)
	s, err := openStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer s.Close()
	q, err := openJobs(ctx, cfg, s, log)
	if err != nil {
		return err
	}
	defer q.Close(ctx)
	fmt.Fprintf(a.stdout, "%s is up to date\n", cfg.Database())
	return nil
}

type dbCmd struct {
	RebuildKeys rebuildKeysCmd `cmd:"" help:"Write the key index anew from the rows."`
}

type rebuildKeysCmd struct{}

// Run rebuilds what LOOKUP, FUZZY and TRAVERSE read, and nothing else.
func (rebuildKeysCmd) Run(a *app) error {
	cfg, err := a.stored()
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := connectStore(ctx, cfg, a.quietLogger(cfg))
	if err != nil {
		return err
	}
	defer s.Close()
	n, err := s.Maintenance().RebuildKeys(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "the key index has %s\n", count(int(n), "key"))
	return nil
}
