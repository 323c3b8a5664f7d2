package wiring

import (
	"context"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/command"
	"github.com/p8-org/p8/store"
)

// WithStore calls fn with the store, opened for reading; nil if there is no database yet.
func WithStore(a *command.App, who command.Caller, fn func(context.Context, *store.Store) error) error {
	ctx, err := who.Context()
	if err != nil {
		return err
	}
	cfg, err := a.Stored()
	if err != nil {
		return err
	}
	s, err := readStore(ctx, cfg, a.QuietLogger(cfg))
	if err != nil {
		return err
	}
	if s != nil {
		defer s.Close()
	}
	return fn(ctx, s)
}

// WithCatalog calls fn with the catalog. It works while a server has the database.
func WithCatalog(a *command.App, who command.Caller, fn func(context.Context, *catalog.Catalog) error) error {
	ctx, err := who.Context()
	if err != nil {
		return err
	}
	cfg, err := a.Config()
	if err != nil {
		return err
	}
	var stored catalog.Store
	if !cfg.Database().None {
		s, err := readStore(ctx, cfg, a.QuietLogger(cfg))
		if err != nil {
			return err
		}
		if s != nil {
			defer s.Close()
			stored = readOnlyDocuments{s}
		}
	}
	docs, err := NewCatalog(cfg, stored, "", false, a.QuietLogger(cfg))
	if err != nil {
		return err
	}
	return fn(ctx, docs)
}
