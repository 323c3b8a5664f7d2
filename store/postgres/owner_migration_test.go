package postgres

import (
	"io/fs"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
	p8migrate "github.com/p8-org/p8/store/internal/migrate"
)

// oldDatabase is an empty database without any migration.
func oldDatabase(t *testing.T) storetest.OldDatabase {
	url := emptyDatabase(t)
	c, err := connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disconnect(c) })
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	return storetest.OldDatabase{
		Migrations: files, Owner: "00015_session_owner.sql",
		Migrate: func(files fs.FS) error {
			db := stdlib.OpenDB(*c.Config())
			defer db.Close()
			return p8migrate.Up(t.Context(), p8migrate.Postgres, db, files, slog.New(slog.DiscardHandler))
		},
		Exec: func(sql string) error {
			_, err := c.Exec(t.Context(), sql)
			return err
		},
		Count: func(table string) (n int, err error) {
			err = c.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n)
			return n, err
		},
		Open: func() *store.Store {
			s, err := Open(t.Context(), quiet(url))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		},
	}
}

func TestSessionOwnerMigration(t *testing.T) { storetest.SessionOwnerMigration(t, oldDatabase(t)) }

func TestToolCallMigration(t *testing.T) {
	storetest.ToolCallMigration(t, oldDatabase(t), "00022_parent_tool_call.sql")
}

func TestOldRows(t *testing.T) { storetest.OldRows(t, oldDatabase(t), "00024_shown.sql", "user_id") }

func TestOldWords(t *testing.T) { storetest.OldWords(t, oldDatabase(t), "00023_message_words.sql") }
