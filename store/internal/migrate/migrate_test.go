package migrate

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/pressly/goose/v3/database"
)

func files(texts ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i, text := range texts {
		fsys["0000"+string(rune('1'+i))+"_step.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + text)}
	}
	return fsys
}

func TestUp(t *testing.T) {
	db, err := driver.Open("file:" + filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	up := func(texts ...string) error {
		return Up(t.Context(), database.DialectSQLite3, db, files(texts...), slog.New(slog.DiscardHandler))
	}
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
		err := up(step.files...)
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
