package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	p8migrate "github.com/p8-org/p8/store/internal/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

// The oldest versions that work: hnsw.iterative_scan came with pgvector 0.8.
const (
	minServer = 150000
	minVector = "0.8.0"
)

// The keys of the advisory locks (per database): "p8" and the locked thing.
const (
	lockClass   = 0x7038
	lockMigrate = 1
	lockIndexes = 2
)

// Migrate creates missing extensions and applies missing migrations. Concurrent processes
// wait for each other until ctx ends. The error of a missing version, extension or
// privilege, or of a database newer than the program, names the remedy.
func Migrate(ctx context.Context, url string, log *slog.Logger) error {
	c, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer disconnect(c)
	unlock, err := lock(ctx, c, lockMigrate)
	if err != nil {
		return err
	}
	defer unlock()
	for _, f := range requirements(ctx, c, true) {
		if !f.OK {
			return fmt.Errorf("postgres: %s: %s: %s", f.Name, f.Detail, f.Mend)
		}
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	db := stdlib.OpenDB(*c.Config())
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := p8migrate.Up(ctx, p8migrate.Postgres, db, files, log); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	return nil
}

// connect opens one connection outside of the pools.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, urlError()
	}
	settings(&config.Config)
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, connectError(err)
	}
	return c, nil
}

// disconnect closes the connection, even if the context has ended.
func disconnect(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	c.Close(ctx)
}

// lock takes an advisory lock, which ends with the connection. It polls instead of waiting
// in the database: a waiting statement holds a snapshot, and CREATE INDEX CONCURRENTLY
// waits for every snapshot.
func lock(ctx context.Context, c *pgx.Conn, key int32) (unlock func(), err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var got bool
		if err := c.QueryRow(ctx, `SELECT pg_try_advisory_lock($1, $2)`, int32(lockClass), key).Scan(&got); err != nil {
			return nil, fmt.Errorf("postgres: take the lock of the migration: %w", translate(ctx, err))
		}
		if got {
			return func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
				defer cancel()
				_, _ = c.Exec(ctx, `SELECT pg_advisory_unlock($1, $2)`, int32(lockClass), key)
			}, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("postgres: wait for another process that migrates: %w", ctx.Err())
		}
	}
}

// schemaVersion returns the newest applied migration, 0 for an empty database.
func schemaVersion(ctx context.Context, c *pgx.Conn) (version int64, err error) {
	err = c.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&version)
	if code(err) == codeUndefinedTable {
		return 0, nil
	}
	return version, err
}

// behind reports whether the database lacks migrations; a newer database is an error.
func behind(ctx context.Context, c *pgx.Conn) (version int64, pending bool, err error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return 0, false, err
	}
	if version, err = schemaVersion(ctx, c); err != nil {
		return 0, false, errors.New("its version cannot be read: " + message(err))
	}
	pending, err = p8migrate.Pending(files, version)
	return version, pending, err
}
