package postgres

import (
	"context"
	"crypto/rand"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// scopedTable is a table of the catalog that has the column tenant_id.
type scopedTable struct {
	name string
	// columns are the types of its columns; nullable says whether user_id may be NULL.
	columns  map[string]string
	nullable bool
}

func scopedTables(t testing.TB, e *engine) (list []scopedTable) {
	t.Helper()
	rows, err := e.writers.Query(t.Context(), `SELECT c.table_name::text, c.column_name::text, c.udt_name::text, c.is_nullable = 'YES' FROM information_schema.columns c
		JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND is_generated = 'NEVER' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	var name, column, kind string
	var nullable bool
	if _, err := pgx.ForEachRow(rows, []any{&name, &column, &kind, &nullable}, func() error {
		if len(list) == 0 || list[len(list)-1].name != name {
			list = append(list, scopedTable{name: name, columns: map[string]string{}})
		}
		x := &list[len(list)-1]
		x.columns[column] = kind
		x.nullable = x.nullable || column == "user_id" && nullable
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(x scopedTable) bool { return x.columns["tenant_id"] == "" })
	if len(list) < 20 {
		t.Fatalf("only %d tables have a tenant", len(list))
	}
	return list
}

// owner returns the column of the rows' owner, "" if there is none.
func (x scopedTable) owner() string {
	for _, column := range []string{"user_id", "owner"} {
		if x.columns[column] != "" {
			return column
		}
	}
	return ""
}

// label returns a text column without a meaning for the policies.
func (x scopedTable) label() string {
	for _, column := range slices.Sorted(maps.Keys(x.columns)) {
		if x.columns[column] == "text" && column != "tenant_id" && column != x.owner() {
			return column
		}
	}
	return ""
}

// insert returns a statement that inserts a row of a tenant and an owner, "" for a shared
// row; its texts say whose it is.
func (x scopedTable) insert(row string) string {
	tenant, owner, _ := strings.Cut(row, "/")
	var values []string
	columns := slices.Sorted(maps.Keys(x.columns))
	for _, column := range columns {
		value := map[string]string{
			"text": `'` + row + `'`, "int2": `1`, "int4": `1`, "int8": `1`, "float8": `1`, "numeric": `1`, "bool": `false`,
			"timestamptz": `now()`, "date": `now()`, "json": `'{}'`, "jsonb": `'[]'`, "bytea": `''`,
			"vector": `'[1,0]'`, "tsvector": `'x'`, "uuid": `gen_random_uuid()`,
		}[x.columns[column]]
		switch {
		case column == "tenant_id":
			value = `'` + tenant + `'`
		case column == x.owner() && x.nullable:
			value = `NULLIF('` + owner + `', '')`
		case column == x.owner():
			value = `'` + owner + `'`
		}
		values = append(values, value)
	}
	return `INSERT INTO ` + x.name + ` (` + strings.Join(columns, ", ") + `) VALUES (` + strings.Join(values, ", ") + `)`
}

// Statements that forget their conditions reach only what the caller may reach, whatever
// the table: the list is that of the catalog.
func TestStatementsWithoutScope(t *testing.T) {
	e, ctx, ann := openEngine(t), t.Context(), store.Scope{Tenant: "acme", User: "ann"}
	rows := []string{"acme/ann", "acme/bob", "acme/", "umbra/ann", "umbra/", "_/", "_/ann"}
	read := func(sql string) (list []string) {
		t.Helper()
		if err := e.Read(ctx, ann, func(c store.Conn) error {
			return c.Query(ctx, sql, func(r store.Row) error {
				list = append(list, "")
				return r.Scan(&list[len(list)-1])
			})
		}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		slices.Sort(list)
		return list
	}
	write := func(sql string) (n int64, err error) {
		err = e.Write(ctx, ann, func(c store.Conn) (err error) {
			n, err = c.Exec(ctx, sql)
			return err
		})
		return n, err
	}
	tables := scopedTables(t, e)
	var fill []string
	for _, x := range tables {
		for _, row := range rows {
			fill = append(fill, x.insert(row))
		}
	}
	execute(t, e.writers.Config().ConnString(), fill...)
	// What FUZZY and keyword searches read.
	for _, view := range []string{"caller_keys", "caller_words"} {
		if got, want := read(`SELECT tenant_id || '/' || owner FROM `+view), []string{"_/", "acme/", "acme/ann"}; !slices.Equal(got, want) {
			t.Errorf("%s shows %q, want %q", view, got, want)
		}
		if _, err := write(`DELETE FROM ` + view); err == nil {
			t.Errorf("%s can be written", view)
		}
	}
	for _, x := range tables {
		seen := []string{"acme/", "acme/ann"}
		switch {
		case x.owner() == "", slices.Contains(wholeTenant, x.name):
			seen = append(seen, "acme/bob")
		case x.owner() == "user_id" && !x.nullable:
			seen = seen[1:] // rows of no user do not exist
		}
		mine := int64(len(seen))
		if slices.Contains(systemRows, x.name) {
			seen = append([]string{"_/"}, seen...)
		}
		slices.Sort(seen)
		if got := read(`SELECT ` + x.label() + ` FROM ` + x.name); !slices.Equal(got, seen) {
			t.Errorf("%s shows %q, want %q", x.name, got, seen)
		}
		if n, err := write(`UPDATE ` + x.name + ` SET tenant_id = tenant_id`); n != mine || err != nil {
			t.Errorf("an UPDATE changes %d rows of %s, %v; want %d", n, x.name, err, mine)
		}
		refused := []string{`UPDATE ` + x.name + ` SET tenant_id = 'umbra'`, x.insert("umbra/carl"), x.insert("_/carl")}
		if x.owner() != "" && !slices.Contains(wholeTenant, x.name) {
			refused = append(refused, x.insert("acme/carl"))
		}
		for _, sql := range refused {
			if n, err := write(sql); err == nil {
				t.Errorf("%s: wrote %d rows", sql, n)
			}
		}
		if n, err := write(`DELETE FROM ` + x.name); n != mine || err != nil {
			t.Errorf("a DELETE removes %d rows of %s, %v; want %d", n, x.name, err, mine)
		}
		var left int
		if err := e.writers.QueryRow(ctx, `SELECT count(*) FROM `+x.name).Scan(&left); err != nil || left != len(rows)-int(mine) {
			t.Errorf("%s has %d rows left, %v", x.name, left, err)
		}
	}
	// A guest in a session reaches what belongs to the session, which is its host's.
	if err := e.Read(ctx, store.Scope{Tenant: "acme", User: "ann", Host: "bob"}, func(c store.Conn) error {
		return c.Query(ctx, `SELECT id FROM run_requests`, func(r store.Row) error {
			var id string
			if err := r.Scan(&id); err != nil || id != "acme/bob" {
				t.Errorf("a guest sees the request %q, %v", id, err)
			}
			return nil
		})
	}); err != nil {
		t.Error(err)
	}
	// The connections are the pool's own again.
	if err := e.ReadSystem(ctx, func(c store.Conn) error {
		return c.Query(ctx, `SELECT current_user, coalesce(current_setting('p8.tenant', true), '')`, func(r store.Row) error {
			var user, tenant string
			if err := r.Scan(&user, &tenant); err != nil || user == callerRole || tenant != "" {
				t.Errorf("p8 itself is %q of tenant %q, %v", user, tenant, err)
			}
			return nil
		})
	}); err != nil {
		t.Error(err)
	}
}

// The role owns nothing, is no member of a role, and reaches no table without a policy, also
// of those that a later migration adds.
func TestCallerRights(t *testing.T) {
	url := migrated.database(t)
	execute(t, url, `CREATE TABLE future (tenant_id TEXT NOT NULL, id TEXT NOT NULL, user_id TEXT)`,
		`CREATE TABLE plain (id TEXT NOT NULL)`)
	e := openAt(t, url)
	for _, x := range []struct{ what, sql string }{
		{"tables with a tenant, without a policy", `SELECT relname FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
			AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id')
			AND NOT (relrowsecurity AND EXISTS (SELECT FROM pg_policy WHERE polrelid = c.oid AND polroles @> ARRAY[to_regrole($1)::oid]))`},
		{"tables without a tenant, with a right", `SELECT relname FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
			AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id')
			AND has_table_privilege($1, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')`},
		{"tables to truncate", `SELECT relname FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace AND has_table_privilege($1, c.oid, 'TRUNCATE')`},
		{"things of the role", `SELECT relname FROM pg_class WHERE relowner = to_regrole($1)`},
		{"policies for everybody", `SELECT polname || ' of ' || polrelid::regclass FROM pg_policy WHERE polroles = ARRAY[0::oid] AND $1 <> ''`},
		{"rights of the role itself", `SELECT rolname FROM pg_roles r WHERE rolname = $1 AND (rolsuper OR rolbypassrls OR rolcanlogin OR EXISTS (SELECT FROM pg_auth_members WHERE member = r.oid))`},
	} {
		rows, err := e.writers.Query(t.Context(), x.sql, callerRole)
		if err != nil {
			t.Fatal(err)
		}
		if list, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(list) > 0 {
			t.Errorf("%s: %q, %v", x.what, list, err)
		}
	}
}

// Without the role, as on a server where p8 may make none, all works alike.
func TestWithoutCallerRole(t *testing.T) {
	e := openEngine(t)
	e.enter = enterPlain
	s, ctx := store.New(e), caller(context.WithoutCancel(t.Context()))
	if err := s.Resources().Put(ctx, &store.Resource{Name: "Cluster report", Content: "The quarterly report of the cluster."}); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Fuzzy(ctx, "cluster report", 0, 0); err != nil || len(found) != 1 {
		t.Errorf("FUZZY found %v, %v", found, err)
	}
	found, err := e.Keywords(ctx, store.Scope{Tenant: "default", User: "u"}, store.SearchQuery{Table: "resources", Limit: 5}, []store.Term{{Word: "quarterly"}}, nil)
	if err != nil || len(found) != 1 {
		t.Errorf("the keywords found %v, %v", found, err)
	}
	storetest.CallMemory(ctx, s, func(err error) {
		if err != nil {
			t.Error(err)
		}
	})
}

// A database from before the policies, or with others, gets them with the next start.
func TestPoliciesAnew(t *testing.T) {
	url := migrated.database(t)
	openAt(t, url).Close()
	execute(t, url, `DROP POLICY store ON messages`, `COMMENT ON POLICY store_read ON kv_store IS 'older'`,
		`REVOKE UPDATE ON runs FROM `+callerRole, `ALTER TABLE moments DISABLE ROW LEVEL SECURITY`, `ALTER POLICY caller ON files TO PUBLIC`)
	c, err := connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(c)
	if missing, err := callers.lacks(t.Context(), c); len(missing) != 5 || err != nil {
		t.Errorf("the role lacks %d things, %v", len(missing), err)
	}
	openAt(t, url)
	if missing, err := callers.lacks(t.Context(), c); len(missing) != 0 || err != nil {
		t.Errorf("the role lacks %q after a start, %v", missing, err)
	}
}

// On a server where p8 may neither make nor use the role, Doctor says what does not work and
// what an administrator runs, and a start goes on.
func TestCallerRoleRefused(t *testing.T) {
	address, name := migrated.database(t), "p8_test_"+strings.ToLower(rand.Text())
	execute(t, address, `CREATE ROLE `+name+` LOGIN PASSWORD 'x'`)
	t.Cleanup(func() { execute(t, serverOf(t), `DROP ROLE `+name) })
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(name, "x")
	c, err := connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer disconnect(c)
	none := callers
	none.name = name + "_none"
	for want, r := range map[string]role{"as a superuser: GRANT " + callerRole + " TO ": callers, "as a superuser: CREATE ROLE " + none.name: none} {
		f, err := r.prepare(t.Context(), c)
		if err != nil || f.OK || !strings.Contains(f.Detail, "row-level security is not enforced") || !strings.HasPrefix(f.Mend, want) {
			t.Errorf("%s: %+v, %v", r.name, f, err)
		}
	}
}
