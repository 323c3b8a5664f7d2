package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
)

// prune deletes the rows of files that are gone from the run's folders. Files that exist
// but were not part of the run (another pattern) stay.
func (r *run) prune(ctx context.Context, w *walker) error {
	who, err := identity.From(ctx)
	if err != nil {
		return err
	}
	owner := who.UserID
	if r.set.shared {
		owner = ""
	}
	var gone []store.File
	f := store.Filter{Limit: 1000}
	for {
		rows, next, err := r.Store.Files.Find(ctx, f)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.UserID == owner && row.TenantID == who.TenantID && w.lost(row.URI) {
				gone = append(gone, row)
			}
		}
		if f.After = next; next == "" {
			break
		}
	}
	for _, row := range gone {
		if !r.dry {
			if err := r.Store.Files.Delete(ctx, row.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		r.report.add(Result{Path: filePath(row.URI), Status: Pruned, Key: documentName(&row), FileID: row.ID}, 0)
	}
	return nil
}

// lost reports whether a file was in one of the folders and no longer exists.
func (w *walker) lost(uri string) bool {
	file := filePath(uri)
	if file == "" || w.seen[uri] {
		return false
	}
	for _, folder := range w.folders {
		if rel, err := filepath.Rel(folder, file); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			_, err := os.Lstat(file)
			return errors.Is(err, os.ErrNotExist)
		}
	}
	return false
}
