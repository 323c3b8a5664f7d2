package wiring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/cmd/p8/internal/datadir"
	"github.com/p8-org/p8/cmd/p8/internal/show"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/config"
	"github.com/p8-org/p8/internal/seal"
	"github.com/p8-org/p8/internal/version"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/postgres"
	"github.com/p8-org/p8/store/sqlite"
)

// OpenStore opens the store and updates p8's manual and the list of tables in it.
func OpenStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (*store.Store, error) {
	s, err := ConnectStore(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(seedDocs(ctx, s, cfg.Manual), s.Maintenance().PutRegistry(ctx)); err != nil {
		// p8 works without its documentation in the store.
		log.Warn("the user documentation could not be stored", "error", err)
	}
	if n, err := s.Maintenance().IndexEdges(ctx); err != nil {
		log.Warn("edges of an older p8 could not be indexed: TRAVERSE does not follow them inwards yet", "error", err)
	} else if n > 0 {
		log.Info("edges of an older p8 were indexed", "rows", n)
	}
	if n, err := s.Maintenance().TimeMoments(ctx); err != nil {
		log.Warn("moments of an older p8 have no starts_timestamp yet: SQL does not order them by time", "error", err)
	} else if n > 0 {
		log.Info("moments of an older p8 got their starts_timestamp", "rows", n)
	}
	return s, nil
}

// ConnectStore opens the store without updating its documentation.
func ConnectStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (*store.Store, error) {
	db := cfg.Database()
	reserved, err := catalog.Names(agents.Files())
	if err != nil {
		return nil, err
	}
	if db.Postgres != "" {
		s, err := postgres.Open(ctx, postgres.Options{URL: db.Postgres, MaxConns: cfg.DatabaseMaxConns, Logger: log, Reserved: reserved, Encryption: Encryption(cfg), Replaces: version.CheckRows})
		if errors.Is(err, store.ErrSealed) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%w: `p8 doctor` looks at everything that p8 needs of the database", err)
		}
		return s, nil
	}
	if err := datadir.Tighten(cfg); err != nil {
		log.Warn("the data folder can be read by other users of this machine", "error", err)
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: db.Path, Logger: log, Reserved: reserved, Encryption: Encryption(cfg), Replaces: version.CheckRows})
	switch {
	case errors.Is(err, sqlite.ErrInUse):
		return nil, &InUse{filepath.Dir(db.Path)}
	case err != nil:
		return nil, unusable(db.Path, err)
	}
	return s, nil
}

// Encryption returns what encrypts the texts of tenants. Without P8_SECRET_KEY nothing is: a
// key file beside the data would protect nothing.
func Encryption(cfg *config.Config) store.Encryption {
	if cfg.SecretKey == "" {
		return store.Encryption{}
	}
	ring := seal.New(seal.Options{Keys: cfg.SecretKey, Purpose: "p8 data keys"})
	return store.Encryption{Master: seal.Master{Ring: ring}, Tenants: cfg.Encrypts}
}

// InUse is the error of an embedded database that another process has.
type InUse struct{ dir string }

// Error is for commands that need the database for themselves.
func (e *InUse) Error() string {
	return fmt.Sprintf("another p8 uses %s: talk to that server, stop it, or choose another folder with P8_DATA_DIR", e.dir)
}

// readStore opens the store for reading, even while another process has it. It returns
// nil if there is no database yet.
func readStore(ctx context.Context, cfg *config.Config, log *slog.Logger) (*store.Store, error) {
	db := cfg.Database()
	if db.Postgres != "" {
		return ConnectStore(ctx, cfg, log)
	}
	reserved, err := catalog.Names(agents.Files())
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, sqlite.Options{Path: db.Path, ReadOnly: true, Reserved: reserved, Encryption: Encryption(cfg)})
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

// WarnReserved logs the shared documents that have the name of a built-in one, which
// older versions allowed. They are ignored.
func WarnReserved(ctx context.Context, s *store.Store, log *slog.Logger) {
	list, err := s.Maintenance().ReservedSchemas(ctx)
	if err != nil {
		log.Warn("the shared documents could not be checked for reserved names", "error", err)
	}
	for _, d := range list {
		log.Warn("a stored document is ignored: its name belongs to a built-in one; `p8 doctor` says what to do", "tenant", d.TenantID, "name", d.Name, "id", d.ID)
	}
}

// Unreachable reports that a server takes nothing but keys and logins, and that the default tenant
// has neither a key nor a user.
func Unreachable(ctx context.Context, cfg *config.Config, s *store.Store) (bool, error) {
	if !cfg.AuthKeys || cfg.AuthAnonymous || cfg.APIKey != "" || cfg.AuthSecret != "" || len(cfg.AuthKeySets) > 0 {
		return false, nil
	}
	ctx = identity.With(ctx, identity.Identity{TenantID: identity.DefaultTenant})
	keys, _, err := s.APIKeys().List(ctx, store.KeyFilter{Limit: 1})
	if err != nil || len(keys) > 0 {
		return false, err
	}
	users, _, err := s.Accounts().List(ctx, 1, "")
	return err == nil && len(users) == 0, err
}

// unusable returns the error of a database that cannot be opened: why, and what to do.
func unusable(path string, err error) error {
	const mend = "choose another folder with --data-dir or P8_DATA_DIR, or set P8_DATABASE_URL=none to store nothing"
	if errors.Is(err, store.ErrSealed) {
		return err
	}
	var failed *fs.PathError
	if errors.As(err, &failed) && failed.Op == "mkdir" {
		reason := show.Reason(err)
		if errors.Is(err, fs.ErrNotExist) {
			reason = "a folder cannot be made there"
		}
		return fmt.Errorf("the data folder %s cannot be made, %s: %s", filepath.Dir(path), reason, mend)
	}
	return fmt.Errorf("the database %s cannot be opened, %s: %s", path, Reason(err), mend)
}

// Reason says in plain words why a database cannot be opened.
func Reason(err error) string {
	var system syscall.Errno
	if errors.As(err, &system) {
		return show.Reason(err)
	}
	return cmp.Or(sqlite.Reason(err), strings.TrimPrefix(err.Error(), "sqlite: "))
}

// readOnlyDocuments is a store whose mirrors of documents are not updated.
type readOnlyDocuments struct{ catalog.Store }

// PutSchema does nothing.
func (readOnlyDocuments) PutSchema(context.Context, *store.Schema) error { return nil }

// DeleteSchema does nothing.
func (readOnlyDocuments) DeleteSchema(context.Context, string) error { return nil }

// NewCatalog returns the catalog of the documents in the store, which may be nil, in the
// program and in the schema folder. document is the path of one more, or ""; keep is
// catalog.Options.KeepValid.
func NewCatalog(cfg *config.Config, s catalog.Store, document string, keep bool, log *slog.Logger) (*catalog.Catalog, error) {
	return catalog.New(catalog.Options{
		KeepValid: keep,
		Builtin:   agents.Files(), Dir: cfg.SchemaDir, Document: document, Store: s, Shared: cfg.Database().Postgres != "", CacheSize: cfg.CacheSize, Logger: log,
	})
}
