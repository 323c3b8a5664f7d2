package probe

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/ncruces/go-sqlite3/driver"
)

// kept are the tables with rows of callers. Everybody's canary is in each, so the surfaces
// that read it read others' rows, too, unless something keeps them apart.
var kept = []string{
	"sessions", "messages", "schemas", "schema_timemachine", "resources", "ontologies", "files", "moments", "users", "feedback",
	"runs", "run_events", "run_journal", "run_requests", "run_hooks", "kv_store", "api_keys", "accounts", "audit_log", "quotas",
	"experiments", "evaluations", "evaluation_results",
}

// other are the tables without a text of a caller, and why.
var other = map[string]string{
	"embeddings": "vectors: SEARCH reads them", "embedding_queue": "ids of rows that wait for a vector",
	"keyword_scopes": "counts", "keyword_rows": "ids", "keywords": "an index of words: SEARCH reads it",
	"kv_edges": "keys: TRAVERSE DIRECTION in reads them", "kv_edges_waiting": "keys",
	"login_tries": "hashes of addresses", "leases": "names of locks", "processes": "servers", "reader_key": "the key of row-level security",
	"erasures": "users who are deleted", "data_keys": "sealed keys", "goose_db_version": "migrations", "migration_hashes": "migrations",
	"quota_usage": "ids and counts", "retentions": "kinds and times", "session_branches": "numbers of messages", "session_shares": "ids, and hashes of links",
}

// tables checks that each table of the database is known, and has a canary of everybody if it
// keeps rows of callers.
func (w *world) tables(t *testing.T) {
	t.Helper()
	driver, list, text := "sqlite3", `SELECT name FROM sqlite_schema WHERE type = 'table'`, ""
	address := "file:" + w.database + "?mode=ro"
	if w.engine == "postgres" {
		driver, address, text = "pgx", w.database, "::text"
		list = `SELECT tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`
	}
	db, err := sql.Open(driver, address)
	ok(t, err)
	defer db.Close()
	var names []string
	rows, err := db.QueryContext(t.Context(), list)
	ok(t, err)
	for rows.Next() {
		var name string
		ok(t, rows.Scan(&name))
		names = append(names, name)
	}
	ok(t, rows.Err())
	for _, name := range names {
		system := strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "river_") || strings.HasPrefix(name, "keywords_")
		switch {
		case slices.Contains(kept, name):
			for _, p := range w.people {
				if n := w.words(t, db, name, text, p); n == 0 && (p.user != "" || name != "users" && name != "accounts") {
					t.Errorf("%s: the table %s has no canary of %s, so the probe cannot see whether its rows stay apart: plant one in plant_test.go", w.engine, name, p)
				}
			}
		case other[name] == "" && !system:
			t.Errorf("%s: nobody says whether the table %s has rows of callers: plant a canary in it and add it to kept, or say in other why not", w.engine, name)
		}
	}
}

// words counts the rows of a table with a word of a person of that tenant.
func (w *world) words(t *testing.T, db *sql.DB, table, text string, p *person) (n int) {
	t.Helper()
	var columns []string
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" LIMIT 0")
	ok(t, err)
	columns, err = rows.Columns()
	ok(t, err)
	ok(t, rows.Err())
	ok(t, rows.Close())
	for i, c := range columns {
		columns[i] = fmt.Sprintf("coalesce(%q%s, '')", c, text)
	}
	where := "(" + strings.Join(columns, " || ' ' || ") + ")"
	ok(t, db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT count(*) FROM %s WHERE tenant_id = '%s' AND (%s LIKE '%%%s%%' OR %s LIKE '%%%s%%')",
		table, p.tenant, where, p.own, where, p.shared)).Scan(&n))
	return n
}
