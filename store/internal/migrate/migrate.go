// Package migrate brings a database up to date: numbered SQL files, applied
// once, in order, forward only, by goose.
//
// The SHA-256 of every file is kept beside the version. A file that was changed
// after it had been applied is an error that names it: two databases with the
// same version must have the same schema.
//
// A landed migration never changes: migrations/SHA256SUMS of each engine lists
// the sums, a test checks them, and a new migration adds its line.
package migrate

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// Up applies the files in fsys that db lacks.
func Up(ctx context.Context, dialect database.Dialect, db *sql.DB, fsys fs.FS, log *slog.Logger) error {
	p, err := goose.NewProvider(dialect, db, fsys, goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	hashes, err := readHashes(ctx, db)
	if err != nil {
		return fmt.Errorf("read the applied migrations: %w", err)
	}
	status, err := p.Status(ctx)
	if err != nil {
		return fmt.Errorf("read the applied migrations: %w", err)
	}
	var known int64
	for _, m := range status {
		known = max(known, m.Source.Version)
		b, err := fs.ReadFile(fsys, m.Source.Path)
		if err != nil {
			return fmt.Errorf("read the migrations: %w", err)
		}
		sum := sha256.Sum256(b)
		hash := hex.EncodeToString(sum[:])
		old := hashes[m.Source.Version]
		switch {
		case old == hash:
		case m.State == goose.StatePending:
			// Recorded before it is applied, so that no crash can leave an applied
			// file without its hash.
			if err := writeHash(ctx, db, m.Source.Version, m.Source.Path, hash); err != nil {
				return fmt.Errorf("record migration %s: %w", m.Source.Path, err)
			}
		default:
			return fmt.Errorf("migration %s was changed after it had been applied (its hash was %.12s and is %.12s): "+
				"restore the file and put the change into a new one", m.Source.Path, old, hash)
		}
	}
	current, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the applied migrations: %w", err)
	}
	if current > known {
		return tooNew(current, known)
	}
	results, err := p.Up(ctx)
	for _, r := range results {
		log.DebugContext(ctx, "migration applied", "file", r.Source.Path, "duration", r.Duration)
	}
	if partial := (*goose.PartialError)(nil); errors.As(err, &partial) {
		return fmt.Errorf("migration %s failed: %w", partial.Failed.Source.Path, partial.Err)
	}
	return err
}

// Pending reports whether a database of this version lacks some of the files. It writes
// nothing. A version newer than all files is an error.
func Pending(fsys fs.FS, version int64) (bool, error) {
	files, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return false, fmt.Errorf("read the migrations: %w", err)
	}
	var known int64
	for _, name := range files {
		n, err := goose.NumericComponent(name)
		if err != nil {
			return false, fmt.Errorf("read the migrations: %w", err)
		}
		known = max(known, n)
	}
	if version > known {
		return false, tooNew(version, known)
	}
	return version < known, nil
}

func tooNew(version, known int64) error {
	return fmt.Errorf("the database has schema version %d, this program knows %d: use a newer program", version, known)
}

func readHashes(ctx context.Context, db *sql.DB) (map[int64]string, error) {
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migration_hashes
		(version BIGINT NOT NULL PRIMARY KEY, file TEXT NOT NULL, sha256 TEXT NOT NULL)`); err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, `SELECT version, sha256 FROM migration_hashes`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	hashes := make(map[int64]string)
	for rows.Next() {
		var version int64
		var hash string
		if err := rows.Scan(&version, &hash); err != nil {
			return nil, err
		}
		hashes[version] = hash
	}
	return hashes, rows.Err()
}

func writeHash(ctx context.Context, db *sql.DB, version int64, file, hash string) error {
	_, err := db.ExecContext(ctx, `INSERT INTO migration_hashes (version, file, sha256) VALUES ($1, $2, $3)
		ON CONFLICT (version) DO UPDATE SET file = excluded.file, sha256 = excluded.sha256`, version, file, hash)
	return err
}
