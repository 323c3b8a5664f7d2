package sqlgate

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/storetest"
	"github.com/p8-org/p8/store"
)

// storeTables are the tables that callers read.
func storeTables() (list []Table) {
	for _, t := range store.Tables() {
		table := Table{Name: t.Name}
		for _, c := range t.Columns {
			table.Columns = append(table.Columns, Column{Name: c.Name, Type: TypeOf(c.Type)})
		}
		list = append(list, table)
	}
	return list
}

// postgresOnly are statements that only PostgreSQL answers.
var postgresOnly = []string{
	`SELECT name FROM resources WHERE rating >= ALL (SELECT rating FROM resources WHERE rating IS NOT NULL) ORDER BY name`,
	`SELECT name FROM resources INTERSECT ALL SELECT name FROM files`,
	`SELECT DISTINCT ON (category) category, name FROM resources ORDER BY category, name`,
	`SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95, percentile_disc(0.5) WITHIN GROUP (ORDER BY model) AS d, mode() WITHIN GROUP (ORDER BY model) AS m FROM messages`,
	`SELECT stddev(latency_ms), variance(latency_ms), corr(input_tokens, latency_ms) FROM messages`,
	`SELECT regexp_replace(name, '[aeiou]', '-', 'g'), translate(name, 'ab', 'xy') FROM resources`,
	`SELECT age(created_at), make_date(2026, 1, 2) FROM resources`,
	`SELECT to_jsonb(name), jsonb_pretty(metadata), jsonb_strip_nulls(metadata), jsonb_extract_path_text(metadata, 'author', 'name') FROM resources`,
	`SELECT r.name, x.n FROM resources r, LATERAL (SELECT count(*) AS n FROM messages m WHERE m.agent_name = r.name) AS x`,
	`SELECT (ends_timestamp - starts_timestamp) * 2, ends_timestamp - starts_timestamp FROM moments`,
}

// TestAccepted: the SQL for each database of statements that people and models write.
func TestAccepted(t *testing.T) {
	var b strings.Builder
	for _, sql := range slices.Concat(storetest.SelectQueries(), storetest.Harmless, postgresOnly) {
		q, err := Check(sql, storeTables())
		if err != nil {
			if !slices.Contains(storetest.Harmless, sql) {
				t.Errorf("%s\n\t%v", sql, err)
			}
			continue
		}
		fmt.Fprintf(&b, "%s\n", sql)
		if text, err := q.Postgres(); err != nil {
			t.Errorf("%s\n\t%v", sql, err)
		} else {
			fmt.Fprintf(&b, "\tpostgres  %s\n", text.SQL)
		}
		text, err := q.SQLite(lite())
		switch {
		case err == nil:
			fmt.Fprintf(&b, "\tsqlite    %s\n", text.SQL)
		case slices.Contains(postgresOnly, sql):
			fmt.Fprintf(&b, "\tsqlite    refused: %v\n", err)
		default:
			t.Errorf("%s\n\tSQLite: %v", sql, err)
		}
		if slices.Contains(postgresOnly, sql) && err == nil {
			t.Errorf("%s\n\tis answered by SQLite, too: move it to storetest", sql)
		}
	}
	golden.Compare(t, "testdata/accepted.golden", b.String())
}

// mistakes are common mistakes, whose errors a model should understand.
var mistakes = []string{
	`SELECT name FROM resources WINDOW w AS (ORDER BY name)`,
	`SELECT name FROM resources FETCH FIRST 5 ROWS ONLY`,
	`SELECT name FROM resources WHERE name ISNULL`,
	`SELECT name FROM resources WHERE ordinal BETWEEN SYMMETRIC 3 AND 1`,
	`SELECT name FROM (resources JOIN files USING (uri))`,
	`SELECT rank() OVER w FROM resources`,
	`SELECT rank() FROM resources`,
	`SELECT percentile_cont(0.5) FROM messages`,
	`SELECT max(name) WITHIN GROUP (ORDER BY name) FROM resources`,
	`SELECT lower(*) FROM resources`,
	`SELECT lower(name) OVER () FROM resources`,
	`SELECT count() FROM resources`,
	`SELECT now(1)`,
	`SELECT date_trunc(name, created_at) FROM resources`,
	`SELECT ARRAY[name] FROM resources`,
	`SELECT ARRAY(SELECT 1)`,
	`SELECT ARRAY[]`,
	`SELECT resources.* || 'x' FROM resources`,
	`SELECT x.*.y FROM resources`,
	`SELECT name FROM resources WHERE name IN ()`,
	`SELECT name FROM resources WHERE name LIKE ANY (tags)`,
	`SELECT name FROM resources WHERE name LIKE 'a' ESCAPE 'ab'`,
	`SELECT name FROM resources WHERE (name = 'x') IS NOT`,
	`SELECT name FROM resources GROUP BY ROLLUP (name)`,
	`SELECT 'a' 'b'`,
	`SELECT "" FROM resources`,
	`SELECT a_name_that_is_longer_than_sixty_three_characters_is_cut_by_the_database FROM resources`,
	`SELECT 12345678901234567890123456789012345678901`,
	`SELECT 1::int[]`,
	`SELECT '1'::numeric(2000)`,
	`SELECT '1'::varchar(0)`,
	`SELECT 1::text(5)`,
	`SELECT 1::interval`,
	`SELECT ordinal::timestamp FROM resources`,
	`SELECT INTERVAL ''`,
	`SELECT INTERVAL '25:61'`,
	`SELECT INTERVAL '999999 years'`,
	`SELECT tags && 'x' FROM resources`,
	`SELECT tags ?| 'x' FROM resources`,
	`SELECT metadata -> true FROM resources`,
	`SELECT metadata || 'x' || name FROM resources`,
	`SELECT CASE WHEN true THEN 1 ELSE 'x'::text END`,
	`SELECT (SELECT id, name FROM files)`,
	`SELECT name FROM resources WHERE id IN (SELECT id, name FROM files)`,
	`SELECT name FROM resources WHERE ordinal < ANY (tags)`,
	`SELECT * FROM resources r, files r`,
	`SELECT * FROM files AS f(a, a)`,
	`SELECT * FROM files JOIN resources USING (bytes)`,
	`SELECT s.x FROM (SELECT 1 AS x, 2 AS x) AS s`,
	`WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a`,
	`WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r ORDER BY 1) SELECT * FROM r`,
	`WITH RECURSIVE r(n) AS (SELECT n FROM r) SELECT * FROM r`,
	`WITH RECURSIVE r(t) AS (SELECT tags FROM resources UNION ALL SELECT t FROM r) SELECT * FROM r`,
	`SELECT sum(ordinal) OVER (ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW) FROM resources`,
	`SELECT sum(ordinal) OVER (ROWS 1) FROM resources`,
	`SELECT extract(1 FROM created_at) FROM resources`,
	`SELECT * FROM jsonb_each(tags) WITH OFFSET`,
	`SELECT * FROM jsonb_each(DISTINCT tags)`,
}

// TestRefused: the position and the reason in the error.
func TestRefused(t *testing.T) {
	var b strings.Builder
	for _, sql := range slices.Concat(storetest.Refused, mistakes) {
		_, err := Check(sql, storeTables())
		var mistake *Error
		if !errors.As(err, &mistake) {
			t.Errorf("%s\n\tis not refused: %v", sql, err)
			continue
		}
		if len(sql) > 200 {
			sql = sql[:100] + "…"
		}
		fmt.Fprintf(&b, "%q\n\t%d: %s\n", sql, mistake.Position, mistake.Problem)
	}
	golden.Compare(t, "testdata/refused.golden", b.String())
}
