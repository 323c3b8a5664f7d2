package postgres

import (
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3/database"

	"github.com/p8-org/p8/internal/testkit/storetest"
	p8migrate "github.com/p8-org/p8/store/internal/migrate"
)

const ownerMigration = "00015_session_owner.sql"

// migrationsBefore are those with a lower number.
func migrationsBefore(t *testing.T, name string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(migrations, "migrations", func(path string, d fs.DirEntry, err error) error {
		base := filepath.Base(path)
		if err != nil || d.IsDir() || base >= name {
			return err
		}
		text, err := migrations.ReadFile(path)
		files[base] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A database of the version before keeps every row.
func TestSessionOwnerMigration(t *testing.T) {
	url := emptyDatabase(t)
	c, err := connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(c)
	db := stdlib.OpenDB(*c.Config())
	err = p8migrate.Up(t.Context(), database.DialectPostgres, db, migrationsBefore(t, ownerMigration), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	execute(t, url, storetest.OldSessions()...)
	s, err := Open(t.Context(), quiet(url))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	counts := make(map[string]int)
	for table := range storetest.OldSessionRows() {
		var n int
		if err := c.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		counts[table] = n
	}
	if !maps.Equal(counts, storetest.OldSessionRows()) {
		t.Errorf("%v rows after the migration, want %v", counts, storetest.OldSessionRows())
	}
	storetest.CheckOldSessions(t, s)
}
