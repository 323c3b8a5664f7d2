package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/sqlgate"
)

// ungated runs a text as if the gate had let it pass as it stands.
func ungated(ctx context.Context, e *engine, sql string) (store.Selection, error) {
	var columns []sqlgate.Column
	for range 60 {
		columns = append(columns, sqlgate.Column{Type: sqlgate.Any})
	}
	return e.selectAs(ctx, store.Scope{Tenant: "acme", User: "ann"}, &selection{
		text: &sqlgate.Statement{SQL: sql}, columns: columns,
		bounds: store.SelectBounds{Rows: 1000, Bytes: 1 << 20, Timeout: 100 * time.Millisecond},
	})
}

// The role, the policies and the transaction hold what the gate holds, should
// it ever fail.
func TestSelectWithoutGate(t *testing.T) {
	e := openEngine(t)
	storetest.FillForSelect(t, store.New(e))
	attacks := append(append([]string{}, storetest.Refused...), storetest.Harmless...)
	attacks = append(attacks,
		// Another identity, by a setting that is not signed, or signed for nobody.
		`WITH x AS MATERIALIZED (SELECT set_config('p8.caller', '["umbra","ann",99999999999]', true) AS c) SELECT r.* FROM x, LATERAL (SELECT * FROM resources WHERE length(x.c) > 0) r`,
		`WITH x AS MATERIALIZED (SELECT set_config('p8.caller', repeat('0', 64) || '["umbra","ann",99999999999]', true) AS c) SELECT r.content FROM x, LATERAL (SELECT * FROM resources WHERE length(x.c) > 0) r`,
		`WITH x AS MATERIALIZED (SELECT set_config('p8.caller', left(current_setting('p8.caller'), 64) || '["umbra","ann",99999999999]', true) AS c) SELECT r.content FROM x, LATERAL (SELECT * FROM resources WHERE length(x.c) > 0) r`,
		`WITH x AS MATERIALIZED (SELECT set_config('role', 'postgres', false)) SELECT content FROM resources, x`,
		`WITH x AS MATERIALIZED (SELECT set_config('role', 'none', true)) SELECT content FROM resources, x`,
		`WITH x AS MATERIALIZED (SELECT set_config('row_security', 'off', true)) SELECT content FROM resources, x`,
		`SELECT query_to_xml('SELECT set_config(''role'', ''none'', true); SELECT * FROM resources', true, true, '')`,
		`SELECT query_to_xml('RESET ROLE', true, true, ''), query_to_xml('SELECT content FROM resources', true, true, '')`,
		`SELECT content_summary FROM kv_store`,
		`SELECT encode(secret, 'hex') FROM reader_key`,
		`SELECT most_common_vals::text FROM pg_stats`,
		`SELECT query FROM pg_stat_activity`,
		`SELECT pg_logical_emit_message(false, 'x', 'y')`,
		`SELECT lo_create(0)`,
		`SELECT currval('x')`,
	)
	for _, sql := range attacks {
		if len(sql) > 300 {
			continue // those are for the gate: they fill the planner's memory
		}
		sel, err := ungated(t.Context(), e, sql)
		if shown := fmt.Sprintf("%s", sel.Rows); strings.Contains(shown, storetest.Secret) {
			t.Errorf("%.200s\n\tshows rows of others: %.300s", sql, shown)
		}
		if err != nil && strings.Contains(err.Error(), storetest.Secret) {
			t.Errorf("%.200s\n\tsays what others wrote: %v", sql, err)
		}
	}
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann"})
	sel, err := store.New(e).Select(ctx, "SELECT count(*) FROM resources", store.SelectBounds{})
	if err != nil || sel.Rows[0][0] != int64(5) {
		t.Errorf("afterwards there are %v resources, %v; want 5", sel.Rows, err)
	}
}

// The role has no right but reading the columns that are listed.
func TestReaderRights(t *testing.T) {
	e := openEngine(t)
	rows, err := e.readers.Query(t.Context(), `SELECT c.relname || '.' || a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p') AND a.attnum > 0 AND NOT a.attisdropped
		AND has_column_privilege('`+readerRole+`', c.oid, a.attnum, 'SELECT')`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		got[name] = true
	}
	for _, table := range store.Tables() {
		for _, c := range table.Columns {
			name := table.Name + "." + c.Name
			if !got[name] {
				t.Errorf("the reader cannot read %s", name)
			}
			delete(got, name)
		}
	}
	for name := range got {
		t.Errorf("the reader can read %s", name)
	}
	var writes int
	if err := e.readers.QueryRow(t.Context(), `SELECT count(*) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND relkind = 'r'
		AND has_table_privilege('`+readerRole+`', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')`).Scan(&writes); err != nil || writes != 0 {
		t.Errorf("the reader can write %d tables, %v", writes, err)
	}
}

// A column that came with a newer schema is the reader's after the next start.
func TestReaderNewColumn(t *testing.T) {
	url := emptyDatabase(t)
	for range 2 {
		s, err := Open(t.Context(), quiet(url))
		if err != nil {
			t.Fatal(err)
		}
		ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann"})
		_, err = s.Select(ctx, "SELECT cost_usd FROM messages", store.SelectBounds{})
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		execute(t, url, `REVOKE SELECT (cost_usd) ON messages FROM `+readerRole)
	}
}

// A process starts without the role when it may not make it, and says so when
// it is asked.
func TestReaderMissing(t *testing.T) {
	e := openEngine(t)
	if _, err := e.writers.Exec(t.Context(), `REVOKE EXECUTE ON FUNCTION p8_caller() FROM `+readerRole); err != nil {
		t.Fatal(err)
	}
	ctx := identity.With(t.Context(), identity.Identity{TenantID: "acme", UserID: "ann"})
	var mistake *store.SelectError
	if _, err := store.New(e).Select(ctx, "SELECT name FROM resources", store.SelectBounds{}); !errors.As(err, &mistake) {
		t.Errorf("a reader without its rights gave %v", err)
	}
}

// What the gate prints is one SELECT of listed relations for the server's own
// parser, however the text was made.
func TestGateAgainstServer(t *testing.T) {
	e := openEngine(t)
	c, err := e.readers.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	seeds := append(storetest.SelectQueries(), storetest.Harmless...)
	seeds = append(seeds, storetest.Refused...)
	r := rand.New(rand.NewPCG(1, 2))
	passed := 0
	for n := 0; n < 30_000 && passed < 1500; n++ {
		sql := mutate(r, seeds)
		if n < len(seeds) {
			sql = seeds[n]
		}
		q, err := sqlgate.Check(sql, selectTables())
		if err != nil {
			continue
		}
		text, err := q.Postgres()
		if err != nil {
			continue
		}
		passed++
		_, err = c.Exec(t.Context(), declare+text.SQL)
		// 25P01: a cursor needs a transaction, which is said last of all.
		switch code(err) {
		case "42601", "26000", "34000", "42501", "25006", "3F000":
			t.Errorf("%s\n\tpassed as\n\t%s\n\twhich the server does not read: %v", sql, text.SQL, err)
		case "":
			t.Errorf("%s\n\twas run as something else: %v", sql, err)
		}
		plan, err := c.Query(t.Context(), explainJSON+text.SQL)
		if err != nil {
			continue // a mistake in its meaning, which the caller is told
		}
		var raw [][][]byte
		for plan.Next() {
			raw = append(raw, [][]byte{append([]byte{}, plan.RawValues()[0]...)})
		}
		if plan.Err() == nil {
			if err := checkPlan(raw); err != nil {
				t.Errorf("%s\n\treads what it may not: %v", sql, err)
			}
		}
	}
	if passed < 500 {
		t.Errorf("only %d mutants passed the gate", passed)
	}
}

// mutate joins pieces of queries.
func mutate(r *rand.Rand, seeds []string) string {
	pieces := strings.SplitAfter(seeds[r.IntN(len(seeds))], " ")
	for range 1 + r.IntN(2) {
		other := strings.SplitAfter(seeds[r.IntN(len(seeds))], " ")
		i, j := r.IntN(len(pieces)), r.IntN(len(other))
		switch r.IntN(4) {
		case 0:
			pieces[i] = other[j]
		case 1:
			pieces = append(pieces[:i:i], append([]string{other[j]}, pieces[i:]...)...)
		case 2:
			pieces = append(pieces[:i:i], pieces[i+1:]...)
		case 3:
			k := r.IntN(len(pieces))
			pieces[i], pieces[k] = pieces[k], pieces[i]
		}
		if len(pieces) == 0 {
			pieces = []string{"SELECT 1"}
		}
	}
	return strings.Join(pieces, "")
}

func BenchmarkSelect(b *testing.B) {
	e := openEngine(b)
	s := store.New(e)
	ctx := identity.With(b.Context(), identity.Identity{TenantID: "acme", UserID: "ann"})
	storetest.BenchmarkSelect(b, s, ctx)
}
