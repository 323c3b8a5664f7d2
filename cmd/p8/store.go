package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
	"github.com/p8-org/p8/store/sqlite"
)

// openStore opens the store and keeps p8's documentation and the list of its
// tables in it up to date.
func openStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (*store.Store, error) {
	s, err := connectStore(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(seedDocs(ctx, s), s.Maintenance().PutRegistry(ctx)); err != nil {
		// p8 works without its documentation.
		log.Warn("the user documentation could not be stored", "error", err)
	}
	return s, nil
}

func connectStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (*store.Store, error) {
	db := cfg.Database()
	reserved, err := catalog.Names(agents.Files())
	if err != nil {
		return nil, err
	}
	if db.Postgres != "" {
		s, err := postgres.Open(ctx, postgres.Options{URL: db.Postgres, MaxConns: cfg.DatabaseMaxConns, Logger: log, Reserved: reserved})
		if err != nil {
			return nil, fmt.Errorf("%w: `p8 doctor` looks at everything that p8 needs of the database", err)
		}
		return s, nil
	}
	if err := tightenDataDir(cfg); err != nil {
		log.Warn("the data folder can be read by other users of this machine", "error", err)
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: db.Path, Logger: log, Reserved: reserved})
	switch {
	case errors.Is(err, sqlite.ErrInUse):
		return nil, &inUse{filepath.Dir(db.Path)}
	case err != nil:
		return nil, unusable(db.Path, err)
	}
	return s, nil
}

// inUse says that another process has the data.
type inUse struct{ dir string }

// Error is for the verbs that cannot do without the data.
func (e *inUse) Error() string {
	return fmt.Sprintf("another p8 uses %s: talk to that server, stop it, or choose another folder with P8_DATA_DIR", e.dir)
}

// readStore opens the store for reading, also while another process has it;
// nil when there is none yet.
func readStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (*store.Store, error) {
	db := cfg.Database()
	if db.Postgres != "" {
		return connectStore(ctx, cfg, log)
	}
	reserved, err := catalog.Names(agents.Files())
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: db.Path, ReadOnly: true, Reserved: reserved})
	switch {
	case errors.Is(err, sqlite.ErrMissing):
		return nil, nil
	case errors.Is(err, sqlite.ErrOutdated):
		return nil, fmt.Errorf("the database %s is not up to date (of an older p8, or still being made): run `p8 migrate`, which mends that", db.Path)
	case err != nil:
		return nil, unusable(db.Path, err)
	}
	return s, nil
}

// warnReserved tells of shared documents that older programs let people write in the
// place of built-in ones; they are ignored.
func warnReserved(ctx context.Context, s *store.Store, log *slog.Logger) {
	list, err := s.Maintenance().ReservedSchemas(ctx)
	if err != nil {
		log.Warn("the shared documents could not be checked for reserved names", "error", err)
	}
	for _, d := range list {
		log.Warn("a stored document is ignored: its name belongs to a built-in one; `p8 doctor` says what to do", "tenant", d.TenantID, "name", d.Name, "id", d.ID)
	}
}

// unusable is an error about the database, for the person who can mend it.
func unusable(path string, err error) error {
	return fmt.Errorf("the database %s cannot be opened (%w): mend that, choose another folder with P8_DATA_DIR, or set P8_DATABASE_URL=none to store nothing", path, err)
}

// stored are the settings of a verb that cannot do without a database.
func (a *app) stored() (*config.Config, error) {
	cfg, err := a.config()
	if err == nil && cfg.Database().None {
		err = errors.New("nothing is stored, as P8_DATABASE_URL is none: unset it")
	}
	return cfg, err
}

// withStore gives the store to fn for reading; nil when there is none yet.
func (a *app) withStore(who caller, fn func(context.Context, *store.Store) error) error {
	ctx, err := who.context()
	if err != nil {
		return err
	}
	cfg, err := a.stored()
	if err != nil {
		return err
	}
	s, err := readStore(ctx, cfg, a.quietLogger(cfg))
	if err != nil {
		return err
	}
	if s != nil {
		defer s.Close()
	}
	return fn(ctx, s)
}

// readOnlyDocuments leaves the mirrors as they are.
type readOnlyDocuments struct{ *store.Store }

// PutSchema leaves the mirror to those who write.
func (readOnlyDocuments) PutSchema(context.Context, *store.Schema) error { return nil }

// DeleteSchema leaves the mirror to those who write.
func (readOnlyDocuments) DeleteSchema(context.Context, string) error { return nil }
