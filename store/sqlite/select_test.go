package sqlite

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/internal/sqlgate"
)

func selectEngine(t testing.TB) *engine {
	t.Helper()
	e, err := open(t.Context(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// The authorizer, the views and the read-only connection hold what the gate
// holds, should it ever fail.
func TestSelectWithoutGate(t *testing.T) {
	e := selectEngine(t)
	storetest.FillForSelect(t, store.New(e))
	attacks := append(append([]string{}, storetest.Refused...), storetest.Harmless...)
	attacks = append(attacks,
		`SELECT * FROM main.resources`,
		`SELECT count(*) FROM main.kv_store`,
		`SELECT count(*) FROM kv_store`,
		`WITH resources AS (SELECT * FROM main.resources) SELECT * FROM resources`,
		`SELECT * FROM (SELECT * FROM main.messages) AS messages`,
		`SELECT p8_tenant(), p8_user()`,
		`SELECT p8_owner()`,
		`SELECT name FROM sqlite_temp_master`,
		`SELECT sql FROM temp.sqlite_master`,
		`CREATE TEMP VIEW x AS SELECT * FROM main.resources`,
		`PRAGMA query_only = OFF`,
		`PRAGMA trusted_schema = ON`,
		`SAVEPOINT x`,
		`VACUUM INTO '/tmp/stolen.db'`,
		`REINDEX`,
		`ANALYZE`,
		`SELECT glob('*', 'x'), like('%', 'x')`,
	)
	for _, sql := range attacks {
		if len(sql) > 300 {
			continue // those are for the gate: they fill the planner's memory
		}
		s, err := e.takeSelector(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if broken := attack(t, s, sql); broken {
			s.close()
			s = nil
		}
		e.selectors <- s
	}
}

// attack runs a text without the gate. Running out of memory is a panic of the
// driver, which breaks the connection.
func attack(t *testing.T, s *selector, sql string) (broken bool) {
	defer func() { broken = recover() != nil }()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	s.tenant, s.user, s.ctx = "acme", "ann", ctx
	s.db.SetInterrupt(ctx)
	stmt, _, err := s.db.Prepare(sql)
	if err != nil || stmt == nil {
		return false
	}
	defer stmt.Close()
	for stmt.Step() {
		for i := range stmt.ColumnCount() {
			if strings.Contains(stmt.ColumnText(i), storetest.Secret) {
				t.Errorf("%.200s\n\tshows rows of others", sql)
			}
		}
	}
	for _, table := range []string{"resources", "messages", "kv_store"} {
		if strings.Contains(sql, "main."+table) {
			t.Errorf("%s was compiled", sql)
		}
	}
	return false
}

// A statement whose conditions are harmless uses the indexes of its tables; any
// other reads the caller's rows first.
func TestSelectBarrier(t *testing.T) {
	e := selectEngine(t)
	for _, test := range []struct {
		sql     string
		barrier bool
	}{
		{`SELECT content FROM resources WHERE name = 'x'`, false},
		{`SELECT lower(name) FROM resources WHERE rating > 3 AND created_at > now() - INTERVAL '1 day' ORDER BY upper(name)`, false},
		{`SELECT r.name FROM resources r JOIN files f ON f.uri = r.uri WHERE f.name IN ('a', 'b') OR r.rating IS NULL`, false},
		{`SELECT content FROM resources WHERE content LIKE '%x%'`, true},
		{`SELECT content FROM resources WHERE name = 'x' AND rating / 0 = 1`, true},
		{`SELECT content FROM resources WHERE name::int = 1`, true},
		{`SELECT * FROM (SELECT lower(name) AS n FROM resources) t WHERE n = 'x'`, true},
		{`SELECT name FROM resources WHERE EXISTS (SELECT 1 FROM files WHERE length(name) = 1)`, true},
		{`SELECT r.name FROM resources r JOIN files f ON length(f.uri) = r.rating`, true},
		{`SELECT metadata->>'x' FROM resources WHERE metadata->>'x' = 'y'`, true},
	} {
		sel, err := e.Select(t.Context(), store.Scope{Tenant: "acme", User: "ann"}, test.sql,
			store.SelectBounds{Explain: true, Rows: 100, Bytes: 1 << 20, Timeout: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		plan := fmt.Sprint(sel.Rows)
		got := strings.Contains(plan, "CO-ROUTINE") || strings.Contains(plan, "MATERIALIZE")
		if got != test.barrier {
			t.Errorf("%s\n\tbarrier %v, want %v: %s", test.sql, got, test.barrier, plan)
		}
		if strings.Contains(plan, "p8_") || strings.Contains(plan, "vb_") {
			t.Errorf("the plan shows inner names: %s", plan)
		}
		if !strings.Contains(plan, "INDEX") && !strings.Contains(plan, "PRIMARY KEY") {
			t.Errorf("%s\n\treads whole tables: %s", test.sql, plan)
		}
	}
}

// What only PostgreSQL does is refused by its name.
func TestSelectPostgresOnly(t *testing.T) {
	e := selectEngine(t)
	for sql, want := range map[string]string{
		`SELECT DISTINCT ON (category) name FROM resources`:                         "DISTINCT ON",
		`SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY rating) FROM resources`: "percentile_cont()",
		`SELECT stddev(rating) FROM resources`:                                      "stddev()",
		`SELECT name FROM resources, LATERAL (SELECT 1 AS x) t`:                     "LATERAL",
		`SELECT now() - created_at FROM resources`:                                  "interval",
		`SELECT now() AT TIME ZONE 'Europe/Berlin'`:                                 "AT TIME ZONE",
		`SELECT metadata || '{}' FROM resources`:                                    "|| of JSON",
		`SELECT to_char(rating, '999') FROM resources`:                              "to_char()",
		`SELECT name FROM files INTERSECT ALL SELECT name FROM files`:               "INTERSECT ALL",
		`SELECT regexp_replace(name, 'a', 'b') FROM resources`:                      "regexp_replace()",
		`SELECT age(created_at) FROM resources`:                                     "age()",
		`SELECT 1 > ALL (SELECT rating FROM resources)`:                             "ALL (SELECT",
	} {
		_, err := e.Select(t.Context(), store.Scope{Tenant: "acme"}, sql, store.SelectBounds{Rows: 1, Bytes: 100, Timeout: time.Second})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "PostgreSQL only") {
			t.Errorf("%s: %v, want a refusal of %s", sql, err, want)
		}
		if q, err := sqlgate.Check(sql, selectTables()); err != nil {
			t.Errorf("%s: %v", sql, err)
		} else if _, err := q.Postgres(); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestLikeEnds(t *testing.T) {
	for _, test := range []struct {
		text, pattern string
		want          bool
	}{
		{"", "", true}, {"", "%", true}, {"a", "", false}, {"abc", "a%c", true}, {"abc", "_b_", true}, {"äbc", "_bc", true},
		{"100%", `100\%`, true}, {"1000", `100\%`, false}, {"abab", "%ab", true}, {"aab", "%_b", true}, {"a_b", `a\_b`, true}, {"axb", `a\_b`, false},
		{strings.Repeat("a", 100_000), strings.Repeat("%a", 200) + "%b", false},
	} {
		got, err := like(t.Context(), test.text, test.pattern, []rune{'\\'})
		if err != nil || got != test.want {
			t.Errorf("%.20q LIKE %.20q: %v %v, want %v", test.text, test.pattern, got, err, test.want)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	s := store.New(selectEngine(b))
	storetest.BenchmarkSelect(b, s, identity.With(b.Context(), identity.Identity{TenantID: "acme", UserID: "ann"}))
}
