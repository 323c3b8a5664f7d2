package sqlite

import (
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

const ownerMigration = "00007_session_owner.sql"

// inFile gives a database file to fn.
func inFile(t testing.TB, path string, fn func(*sql.DB) error) {
	t.Helper()
	db, err := driver.Open(uri(path, ""), registerWords)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := fn(db); err != nil {
		t.Fatal(err)
	}
}

func migrationFiles(t testing.TB) fs.FS {
	t.Helper()
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// oldDatabase is a database of an earlier version in a file.
func oldDatabase(t testing.TB, path string) storetest.OldDatabase {
	log := slog.New(slog.DiscardHandler)
	return storetest.OldDatabase{
		Migrations: migrationFiles(t), Owner: ownerMigration,
		Migrate: func(files fs.FS) error { return migrateTo(t.Context(), path, files, log) },
		Exec: func(statement string) (err error) {
			inFile(t, path, func(db *sql.DB) error {
				_, err = db.Exec(statement)
				return nil
			})
			return err
		},
		Count: func(table string) (n int, err error) {
			inFile(t, path, func(db *sql.DB) error { return db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n) })
			return n, nil
		},
		Open: func() *store.Store {
			s, err := Open(t.Context(), Options{Path: path, Logger: log})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		},
	}
}

func TestToolCallMigration(t *testing.T) {
	storetest.ToolCallMigration(t, oldDatabase(t, filepath.Join(t.TempDir(), "p8.db")), "00013_parent_tool_call.sql")
}

func TestOldRows(t *testing.T) {
	storetest.OldRows(t, oldDatabase(t, filepath.Join(t.TempDir(), "p8.db")), "00015_shown.sql", "owner")
}

func TestSessionOwnerMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p8.db")
	storetest.SessionOwnerMigration(t, oldDatabase(t, path))
	inFile(t, path, func(db *sql.DB) error {
		var said string
		if err := db.QueryRow(`PRAGMA integrity_check`).Scan(&said); err != nil || said != "ok" {
			return fmt.Errorf("integrity: %s %w", said, err)
		}
		return nil
	})
}

// BenchmarkSessionOwnerMigration migrates many messages once: 100,000, and a million
// with P8_TEST_LONG=1.
func BenchmarkSessionOwnerMigration(b *testing.B) {
	sessions := harness.Count(b, 2000, 20_000)
	const each = 50
	content := strings.Repeat("A sentence of a conversation. ", 12)
	for b.Loop() {
		b.StopTimer()
		path := filepath.Join(b.TempDir(), "p8.db")
		log := slog.New(slog.DiscardHandler)
		if err := migrateTo(b.Context(), path, storetest.MigrationsBefore(b, migrationFiles(b), ownerMigration), log); err != nil {
			b.Fatal(err)
		}
		inFile(b, path, func(db *sql.DB) error {
			for _, insert := range []string{
				`PRAGMA synchronous = OFF`,
				`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1) INSERT INTO sessions (tenant_id, id, user_id, message_count, created_at, updated_at)
					SELECT 't', hex(i * 7919 % ?1) || '-9b9e-4a5b-8f00-0123456789ab', CASE WHEN i % 10 THEN 'edabafbb-61ad-51d6-9fd8-' || printf('%012d', i % 100) END,
					` + fmt.Sprint(each) + `, '2026-01-02 03:04:05.000006', '2026-01-02 03:04:05.000006' FROM n`,
				`INSERT INTO messages (tenant_id, session_id, seq, id, user_id, message_type, content, token_count, run_id, agent_name, created_at, updated_at)
					SELECT s.tenant_id, s.id, n.value, lower(hex(randomblob(18))), s.user_id, 'user', ` + "'" + content + "'" + `, 90, lower(hex(randomblob(18))), 'general',
					'2026-01-02 03:04:05.000006', '2026-01-02 03:04:05.000006' FROM sessions s, json_each('[` + strings.TrimSuffix(numbers(each), ",") + `]') n WHERE ?1 > 0`,
			} {
				args := []any{sessions}
				if strings.HasPrefix(insert, "PRAGMA") {
					args = nil
				}
				if _, err := db.Exec(insert, args...); err != nil {
					return err
				}
			}
			return nil
		})
		info, err := os.Stat(path)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB-before")
		b.StartTimer()
		began := time.Now()
		s, err := Open(b.Context(), Options{Path: path, Logger: log})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds()/float64(sessions*each)*1e6, "s/Mmessages")
		b.StopTimer()
		if info, err = os.Stat(path); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/(1<<20), "MiB-after")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func numbers(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "%d,", i)
	}
	return b.String()
}

func TestOldWords(t *testing.T) {
	storetest.OldWords(t, oldDatabase(t, filepath.Join(t.TempDir(), "p8.db")), "00014_message_words.sql")
}
