package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/ncruces/go-sqlite3/driver"
)

func files(texts ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i, text := range texts {
		fsys["0000"+string(rune('1'+i))+"_step.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + text)}
	}
	return fsys
}

// open opens a database, as the embedded engine does.
func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := driver.Open("file:" + path + "?_txlock=immediate&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func up(ctx context.Context, db *sql.DB, fsys fs.FS) error {
	return Up(ctx, SQLite, db, fsys, slog.New(slog.DiscardHandler))
}

func TestUp(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	a, b, broken := "CREATE TABLE a (x TEXT);", "CREATE TABLE b (x TEXT);", "CREATE TABLE c (x TEXT); CREATE TABEL d (x TEXT);"
	for _, step := range []struct {
		name  string
		files []string
		// wants are parts of the error; none means that there is none.
		wants []string
	}{
		{"first", []string{a}, nil},
		{"again", []string{a}, nil},
		{"second", []string{a, b}, nil},
		{"changed", []string{a, b + " "}, []string{"00002_step.sql", "was changed after it had been applied"}},
		{"database too new", []string{a}, []string{"schema version 2", "knows 1", "newer program"}},
		{"broken", []string{a, b, broken}, []string{"00003_step.sql failed"}},
		{"mended", []string{a, b, "CREATE TABLE c (x TEXT);"}, nil},
	} {
		err := up(t.Context(), db, files(step.files...))
		if (err == nil) != (step.wants == nil) {
			t.Errorf("%s: %v", step.name, err)
			continue
		}
		for _, want := range step.wants {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v does not say %q", step.name, err, want)
			}
		}
	}
	if n := count(t, db, `SELECT count(*) FROM sqlite_schema WHERE name IN ('a', 'b', 'c', 'd')`); n != 3 {
		t.Errorf("%d tables, want 3", n)
	}
}

// TestGooseDatabase: a database that goose migrated goes on, in goose's form.
func TestGooseDatabase(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	two := files("CREATE TABLE a (x TEXT);", "CREATE TABLE b (x TEXT);")
	for _, statement := range []string{
		`CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	)`,
		`INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1)`,
		`CREATE TABLE a (x TEXT)`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := up(t.Context(), db, two); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("an applied file without a hash: %v", err)
	}
	list, err := readFiles(two)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeHash(t.Context(), db, list[0]); err != nil {
		t.Fatal(err)
	}
	if err := up(t.Context(), db, two); err != nil {
		t.Fatal(err)
	}
	want := open(t, filepath.Join(t.TempDir(), "new.db"))
	if err := up(t.Context(), want, two); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`SELECT group_concat(version_id || ' ' || is_applied || ' ' || typeof(is_applied) || ' ' || (tstamp IS NOT NULL)) FROM (SELECT * FROM goose_db_version ORDER BY id)`,
		`SELECT group_concat(replace(sql, 'IF NOT EXISTS ', '')) FROM (SELECT * FROM sqlite_schema ORDER BY name)`,
	} {
		if got, want := text(t, db, query), text(t, want, query); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", query, got, want)
		}
	}
}

func TestUpAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	// SQLite waits for no lock while it turns a new file's journal into a log.
	if err := open(t, path).PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 9)
	for i := range texts {
		texts[i] = fmt.Sprintf("CREATE TABLE t%d (x TEXT); INSERT INTO t%d VALUES (1);", i, i)
	}
	var wait sync.WaitGroup
	for range 4 {
		db := open(t, path)
		wait.Go(func() {
			if err := up(t.Context(), db, files(texts...)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := count(t, open(t, path), `SELECT count(*) FROM goose_db_version`); n != len(texts)+1 {
		t.Errorf("%d versions, want %d", n, len(texts)+1)
	}
}

func TestRefusedFiles(t *testing.T) {
	three := files("CREATE TABLE a (x TEXT);", "CREATE TABLE b (x TEXT);", "CREATE TABLE c (x TEXT);")
	db := open(t, filepath.Join(t.TempDir(), "x.db"))
	left := maps.Clone(three)
	delete(left, "00002_step.sql")
	if err := up(t.Context(), db, left); err != nil {
		t.Fatal(err)
	}
	if err := up(t.Context(), db, three); err == nil || !strings.Contains(err.Error(), "00002_step.sql was never applied") {
		t.Errorf("a file that was left out: %v", err)
	}
	for name, want := range map[string]string{
		"step.sql":       "does not begin with a number",
		"0_step.sql":     "does not begin with a number",
		"-1_step.sql":    "does not begin with a number",
		"00003_more.sql": "not greater",
		"4_step.sql":     "",
		"00004.sql":      "does not begin with a number",
	} {
		more := maps.Clone(three)
		more[name] = &fstest.MapFile{Data: []byte("SELECT 1;")}
		err := up(t.Context(), open(t, filepath.Join(t.TempDir(), "x.db")), more)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestPending(t *testing.T) {
	two := files("CREATE TABLE a (x TEXT);", "CREATE TABLE b (x TEXT);")
	for version, want := range []bool{true, true, false} {
		if got, err := Pending(two, int64(version)); got != want || err != nil {
			t.Errorf("version %d: pending %v, %v", version, got, err)
		}
	}
	if _, err := Pending(two, 3); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("version 3: %v", err)
	}
}

func count(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func text(t *testing.T, db *sql.DB, query string) (s string) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}
