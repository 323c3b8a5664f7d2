// Package migrate brings a database up to date: numbered SQL files, applied
// once, in order, forward only, each in a transaction of its own.
//
// The versions are in the table goose_db_version, in the form of the library goose, which
// p8 used before: databases that goose migrated need no conversion, and older programs
// understand the table.
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
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"time"
)

// Up applies the files in fsys that db lacks.
func Up(ctx context.Context, table VersionTable, db *sql.DB, fsys fs.FS, log *slog.Logger) error {
	files, err := readFiles(fsys)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	applied, err := readVersions(ctx, db, table)
	if err != nil {
		return fmt.Errorf("read the applied migrations: %w", err)
	}
	hashes, err := readHashes(ctx, db)
	if err != nil {
		return fmt.Errorf("read the applied migrations: %w", err)
	}
	pending, err := compare(files, applied, hashes)
	if err != nil {
		return err
	}
	for _, f := range pending {
		// Recorded before it is applied, so that no crash can leave an applied
		// file without its hash.
		if err := writeHash(ctx, db, f); err != nil {
			return fmt.Errorf("record migration %s: %w", f.name, err)
		}
		start := time.Now()
		if err := apply(ctx, db, f); err != nil {
			return fmt.Errorf("migration %s failed: %w", f.name, err)
		}
		log.DebugContext(ctx, "migration applied", "file", f.name, "duration", time.Since(start))
	}
	return nil
}

// compare returns the files that are not applied. It is an error if an applied file was
// changed, if the database is newer than the files, or if an older file was left out.
func compare(files []file, applied map[int64]bool, hashes map[int64]string) (pending []file, err error) {
	var current int64
	for version := range applied {
		current = max(current, version)
	}
	for _, f := range files {
		switch {
		case applied[f.version] && hashes[f.version] != f.hash:
			return nil, fmt.Errorf("migration %s was changed after it had been applied (its hash was %.12s and is %.12s): "+
				"restore the file and put the change into a new one", f.name, hashes[f.version], f.hash)
		case applied[f.version]:
		case f.version < current:
			return nil, fmt.Errorf("migration %s was never applied, but the newer version %d was: "+
				"this database belongs to another program, or to a version of p8 that was never released", f.name, current)
		default:
			pending = append(pending, f)
		}
	}
	if known := newest(files); current > known {
		return nil, tooNew(current, known)
	}
	return pending, nil
}

// apply runs a file and records its version, unless another process did so meanwhile.
func apply(ctx context.Context, db *sql.DB, f file) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var done bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM goose_db_version WHERE version_id = $1)`, f.version).Scan(&done); err != nil || done {
		return err
	}
	if _, err := tx.ExecContext(ctx, f.text); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, TRUE)`, f.version); err != nil {
		return err
	}
	return tx.Commit()
}

// Pending reports whether a database of this version lacks some of the files. It writes
// nothing. A version newer than all files is an error.
func Pending(fsys fs.FS, version int64) (bool, error) {
	files, err := readFiles(fsys)
	if err != nil {
		return false, fmt.Errorf("read the migrations: %w", err)
	}
	known := newest(files)
	if version > known {
		return false, tooNew(version, known)
	}
	return version < known, nil
}

func tooNew(version, known int64) error {
	return fmt.Errorf("the database has schema version %d, this program knows %d: use a newer program", version, known)
}
