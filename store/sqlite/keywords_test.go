package sqlite

import (
	"database/sql"
	"io/fs"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/p8-org/p8/store"
	p8migrate "github.com/p8-org/p8/store/internal/migrate"
)

// TestOldTextsAreFound: the migration indexes the rows that are there.
func TestOldTextsAreFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p8.db")
	old := fstest.MapFS{}
	for _, name := range []string{"00001_init.sql", "00002_knowledge.sql"} {
		b, err := fs.ReadFile(migrations, "migrations/"+name)
		if err != nil {
			t.Fatal(err)
		}
		old[name] = &fstest.MapFile{Data: b}
	}
	db, err := driver.Open(uri(path, "&_txlock=immediate&_timefmt=sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if err := p8migrate.Up(t.Context(), p8migrate.SQLite, db, old, slog.Default()); err != nil {
		t.Fatal(err)
	}
	const now = "2026-01-01 00:00:00.000000"
	insert(t, db, `INSERT INTO resources (tenant_id, id, user_id, name, content, created_at, updated_at) VALUES
		('default', '00000000-0000-0000-0000-000000000001', 'u', 'mine', 'a zebra', '`+now+`', '`+now+`'),
		('default', '00000000-0000-0000-0000-000000000002', NULL, 'zebra shared', '', '`+now+`', '`+now+`'),
		('default', '00000000-0000-0000-0000-000000000003', 'v', 'not mine', 'zebra', '`+now+`', '`+now+`')`)
	insert(t, db, `INSERT INTO resources (tenant_id, id, name, content, created_at, updated_at, deleted_at) VALUES
		('default', '00000000-0000-0000-0000-000000000004', 'deleted', 'zebra', '`+now+`', '`+now+`', '`+now+`')`)
	insert(t, db, `INSERT INTO moments (tenant_id, id, user_id, name, summary, created_at, updated_at) VALUES
		('default', '00000000-0000-0000-0000-000000000005', 'u', 'trip', 'zebras in the park', '`+now+`', '`+now+`')`)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	find := func(table string, want ...string) {
		t.Helper()
		list, err := s.Search(caller(t.Context()), store.SearchQuery{Table: table, Text: "zebra", Hybrid: true})
		if err != nil || len(list) != len(want) {
			t.Fatalf("%s: %v, %v, want %v", table, list, err, want)
		}
		for i, m := range list {
			if m.Key != want[i] {
				t.Errorf("%s: %d is %s, want %s", table, i, m.Key, want[i])
			}
		}
	}
	find("resources", "zebra-shared", "mine")
	find("moments", "trip")
	// A row written later gets a number of its own.
	if err := s.Resources().Put(caller(t.Context()), &store.Resource{Name: "new", Content: "zebra zebra zebra"}); err != nil {
		t.Fatal(err)
	}
	find("resources", "new", "zebra-shared", "mine")
}

func insert(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// TestSearchAfterRestart: what was indexed is found by the next process.
func TestSearchAfterRestart(t *testing.T) {
	dir := t.TempDir()
	for run := range 2 {
		s, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			if err := s.Resources().Put(caller(t.Context()), &store.Resource{Name: "a", Content: "zebra"}); err != nil {
				t.Fatal(err)
			}
			tasks, err := s.Maintenance().EmbeddingTasks(t.Context(), 10)
			if err != nil || len(tasks) != 1 {
				t.Fatal(tasks, err)
			}
			if _, err := s.Maintenance().PutEmbeddings(t.Context(), "m", 2, store.Embedding{Task: tasks[0], Vector: []float32{3, 4}}); err != nil {
				t.Fatal(err)
			}
		}
		q := store.SearchQuery{Model: "m", Vector: []float32{3, 4}, Text: "zebra"}
		for _, q.Hybrid = range []bool{false, true} {
			list, err := s.Search(caller(t.Context()), q)
			if err != nil || len(list) != 1 {
				t.Errorf("run %d, hybrid %v: %v, %v", run, q.Hybrid, list, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
