package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/p8-org/p8/store"
	p8migrate "github.com/p8-org/p8/store/internal/migrate"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the file up to date over a connection of its own. It flushes to the disk
// once, when it closes the connection (synchronous=NORMAL): a power failure before then can
// only undo whole migrations.
func migrate(ctx context.Context, path string, log *slog.Logger) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return migrateTo(ctx, path, files, log)
}

// migrateTo applies the missing migrations in files.
func migrateTo(ctx context.Context, path string, files fs.FS, log *slog.Logger) error {
	db, err := driver.Open(uri(path, "&_txlock=immediate&_timefmt=sqlite"+
		"&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"), registerWords)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := p8migrate.Up(ctx, p8migrate.SQLite, db, files, log); err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	return db.Close()
}

// current returns ErrOutdated unless the database has this program's schema. It does not
// write.
func current(ctx context.Context, c *conn) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	var version int64
	err = c.Query(ctx, `SELECT max(version_id) FROM goose_db_version`, func(r store.Row) error { return r.Scan(&version) })
	if errors.Is(err, sqlite3.ERROR) {
		return ErrOutdated // no such table: the first migration has not run
	}
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	pending, err := p8migrate.Pending(files, version)
	if err != nil {
		return fmt.Errorf("sqlite: %w", err)
	}
	if pending {
		return ErrOutdated
	}
	return nil
}
