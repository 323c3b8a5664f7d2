package postgres

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestTablesAreClosed: every table has row level security, so that a grant by mistake opens
// none to callers.
func TestTablesAreClosed(t *testing.T) {
	rows, err := openEngine(t).readers.Query(t.Context(), `SELECT relname::text FROM pg_class
		WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relrowsecurity ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	open, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	ofMigrations := []string{"goose_db_version", "migration_hashes"} // they have nobody's rows
	if !slices.Equal(open, ofMigrations) {
		t.Errorf("%q, want %q", open, ofMigrations)
	}
}
