package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/sqlgate"
)

// selector is a connection for the SELECTs of callers. It has TEMP views of the tables,
// with random names. A view reads the caller from functions that only views may call, and
// the authorizer admits reads of a table only from its view.
type selector struct {
	db     *sqlite3.Conn
	prefix string
	// ctx, tenant and user are those of the running SELECT.
	ctx          context.Context
	tenant, user string
	query        *sqlgate.Query
}

// maxValue bounds a text in SQLite, in bytes: a little more than the store
// keeps in a column.
const maxValue = 40 << 20

// maxMemory bounds the memory of a SELECT, in bytes.
const maxMemory = 128 << 20

func openSelector(ctx context.Context, path string) (_ *selector, err error) {
	db, err := sqlite3.OpenContext(sqlite3.WithMaxMemory(ctx, maxMemory), uri(path, "&mode=ro"))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			db.Close()
		}
	}()
	s := &selector{db: db, prefix: "v" + strings.ToLower(rand.Text())}
	for option, on := range map[sqlite3.DBConfig]bool{
		sqlite3.DBCONFIG_DEFENSIVE: true, sqlite3.DBCONFIG_ENABLE_QPSG: true,
		sqlite3.DBCONFIG_DQS_DML: false, sqlite3.DBCONFIG_DQS_DDL: false, sqlite3.DBCONFIG_TRUSTED_SCHEMA: false,
		sqlite3.DBCONFIG_ENABLE_TRIGGER: false, sqlite3.DBCONFIG_ENABLE_LOAD_EXTENSION: false,
	} {
		if _, err := db.Config(option, on); err != nil {
			return nil, err
		}
	}
	if err := db.Exec(`PRAGMA busy_timeout = 10000; PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON`); err != nil {
		return nil, err
	}
	if err := s.functions(); err != nil {
		return nil, err
	}
	for _, t := range store.Tables() {
		if err := db.Exec(s.createViews(t)); err != nil {
			return nil, fmt.Errorf("sqlite: the view of %s: %w", t.Name, err)
		}
	}
	if err := db.Exec(`PRAGMA query_only = ON`); err != nil {
		return nil, err
	}
	for limit, n := range map[sqlite3.LimitCategory]int{
		sqlite3.LIMIT_LENGTH: maxValue, sqlite3.LIMIT_SQL_LENGTH: 2 * sqlgate.MaxPrinted, sqlite3.LIMIT_ATTACHED: 0,
		sqlite3.LIMIT_EXPR_DEPTH: 800, sqlite3.LIMIT_COMPOUND_SELECT: 100, sqlite3.LIMIT_VDBE_OP: 100_000,
		sqlite3.LIMIT_VARIABLE_NUMBER: 0, sqlite3.LIMIT_TRIGGER_DEPTH: 0, sqlite3.LIMIT_WORKER_THREADS: 0,
	} {
		db.Limit(limit, n)
	}
	return s, db.SetAuthorizer(s.authorizer())
}

func (s *selector) close() {
	if s != nil {
		s.db.Close()
	}
}

// view returns the name of a table's view; plain views may be merged with the
// query around them.
func (s *selector) view(table string, plain bool) string {
	if plain {
		return s.prefix + "_" + table
	}
	return s.prefix + "b_" + table
}

// hide replaces the names of views in a text by those of their tables.
func (s *selector) hide(text string) string {
	return strings.NewReplacer(s.prefix+"b_", "", s.prefix+"_", "", "temp.", "").Replace(text)
}

// createViews returns the views of a table. The view for any statement has a LIMIT, which
// keeps SQLite from merging it with the query around it. So the caller's conditions never
// run on rows of others, and neither an error nor the time reveals such a row.
func (s *selector) createViews(t store.TableInfo) string {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, `"`+c.Name+`"`)
	}
	visible := `deleted_at IS NULL AND tenant_id = p8_tenant() AND user_id IS p8_user()`
	switch {
	case t.Type == store.TypeSession, t.Type == store.TypeMessage:
		// Their keys contain owner, from which user_id is derived.
		visible = `deleted_at IS NULL AND tenant_id = p8_tenant() AND owner = p8_owner()`
	case !t.Private:
		visible = `deleted_at IS NULL AND (tenant_id = p8_tenant() AND user_id = p8_user()
			OR tenant_id = p8_tenant() AND user_id IS NULL
			OR tenant_id = '` + identity.SystemTenant + `' AND user_id IS NULL)`
	}
	if t.Name == store.ManualTable {
		visible = `deleted_at IS NULL AND tenant_id = '` + identity.ManualTenant + `' AND user_id IS NULL`
	}
	body := ` AS SELECT ` + strings.Join(columns, ", ") + ` FROM main."` + t.Stored() + `" WHERE ` + visible
	return `CREATE TEMP VIEW "` + s.view(t.Name, true) + `"` + body + `;
		CREATE TEMP VIEW "` + s.view(t.Name, false) + `"` + body + ` LIMIT -1`
}

// authorizer lets statements read the views, and the views read their tables.
func (s *selector) authorizer() func(sqlite3.AuthorizerActionCode, string, string, string, string) sqlite3.AuthorizerReturnCode {
	views, tables := make(map[string]bool), make(map[string]string)
	for _, t := range store.Tables() {
		for _, plain := range []bool{true, false} {
			views[s.view(t.Name, plain)] = true
			tables[s.view(t.Name, plain)] = t.Stored()
		}
	}
	functions := sqlgate.SQLiteFunctions()
	return func(action sqlite3.AuthorizerActionCode, third, fourth, schema, inner string) sqlite3.AuthorizerReturnCode {
		allow := false
		switch action {
		case sqlite3.AUTH_SELECT, sqlite3.AUTH_RECURSIVE:
			allow = true
		case sqlite3.AUTH_FUNCTION:
			allow = functions[strings.ToLower(fourth)] || views[inner] && (fourth == "p8_tenant" || fourth == "p8_user" || fourth == "p8_owner")
		case sqlite3.AUTH_READ:
			switch schema {
			case "main":
				allow = views[inner] && tables[inner] == third || third == "json_each"
			case "temp":
				allow = views[third]
			default:
				// SQLite gives no schema for a WITH query of which no column is read.
				allow = schema == "" && (third == "json_each" || fourth == "" && s.query != nil && s.query.IsCTE(third))
			}
		}
		if allow {
			return sqlite3.AUTH_OK
		}
		return sqlite3.AUTH_DENY
	}
}
