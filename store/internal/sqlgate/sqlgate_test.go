package sqlgate

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var testTables = []Table{
	{"resources", []Column{
		{Name: "name", Type: Text}, {Name: "content", Type: Text}, {Name: "ordinal", Type: Integer}, {Name: "score", Type: Number},
		{Name: "tags", Type: JSON}, {Name: "metadata", Type: JSON}, {Name: "id", Type: Text}, {Name: "created_at", Type: Timestamp},
	}},
	{"messages", []Column{
		{Name: "id", Type: Text}, {Name: "content", Type: Text}, {Name: "latency_ms", Type: Integer}, {Name: "created_at", Type: Timestamp},
	}},
}

func lite() Lite {
	return Lite{Relation: func(t string) string { return "view of " + t }, Now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
}

// An error names the place of the mistake and what to write.
func TestMistakes(t *testing.T) {
	for _, test := range []struct {
		sql      string
		position int
		words    string
	}{
		{``, 1, "write SELECT"},
		{`INSERT INTO x VALUES (1)`, 1, "INSERT is not allowed: only reading is allowed"},
		{`frobnicate`, 1, "begins with SELECT or WITH"},
		{`SELECT 1; SELECT 2`, 11, "only one statement"},
		{`SELECT 'äö', $1`, 14, "dollar quotes and parameters"},
		{`SELECT E'x'`, 8, "write a plain text"},
		{`SELECT 'x`, 8, "no closing quote"},
		{`SELECT * FROM resorces`, 15, `did you mean "resources"?`},
		{`SELECT * FROM pg_catalog.pg_class`, 15, "schemas and catalogs cannot be named"},
		{`SELECT nam FROM resources`, 8, `did you mean "name"?`},
		{`SELECT "tea" FROM resources`, 8, "a text is in single quotes"},
		{`SELECT r.nam FROM resources r`, 8, "r has no column"},
		{`SELECT name AS n FROM resources WHERE n = 'x'`, 39, "write its expression again"},
		{`SELECT ctid FROM resources`, 8, "system column"},
		{`SELECT resources FROM resources`, 8, "whole row"},
		{`SELECT id FROM resources, messages`, 8, "write resources.id"},
		{`SELECT lenght(name) FROM resources`, 8, `did you mean "length"?`},
		{`SELECT left(name) FROM resources`, 8, "left() takes 2 arguments"},
		{`SELECT left(ordinal, 2) FROM resources`, 13, "(…)::text"},
		{`SELECT 1 WHERE 'a' = ordinal`, 22, "the query has no FROM"},
		{`SELECT 1 FROM resources WHERE name = ordinal`, 38, "compares text with an integer"},
		{`SELECT 1 FROM resources WHERE name`, 31, "a condition is true or false"},
		{`SELECT name->'x' FROM resources`, 8, "(…)::jsonb"},
		{`SELECT 1 FROM resources WHERE created_at > 'soon'`, 44, "no time"},
		{`SELECT created_at - '1 day' FROM resources`, 21, "INTERVAL"},
		{`SELECT now() - INTERVAL '1 fortnight'`, 25, "whole numbers and units"},
		{`SELECT 1 FROM resources LIMIT ordinal`, 31, "a whole number after LIMIT"},
		{`SELECT name FROM resources ORDER BY 2`, 37, "no column 2"},
		{`SELECT name FROM resources UNION SELECT name, id FROM resources`, 28, "1 and 2 columns"},
		{`SELECT row_number() FROM resources`, 8, "needs OVER"},
		{`SELECT lower(DISTINCT name) FROM resources`, 8, "is no aggregate"},
		{`SELECT unnest(tags) FROM resources`, 8, "write it in FROM"},
		{`SELECT * FROM now()`, 15, "not available in FROM"},
		{`SELECT * FROM (SELECT 1)`, 25, "needs an alias"},
		{`SELECT * FROM resources NATURAL JOIN messages`, 25, "ON or USING"},
		{`SELECT * FROM resources JOIN messages`, 38, "a join needs ON"},
		{`SELECT * FROM resources FOR UPDATE`, 25, "locking"},
		{`SELECT 1 AS x INTO y`, 15, "leave INTO out"},
		{`SELECT extract(century FROM now())`, 16, "fields are year"},
		{`SELECT tags[1] FROM resources`, 12, "array subscripts"},
		{`SELECT (1, 2) = (1, 2)`, 8, "column by column"},
		{`SELECT 1 < 2 < 3`, 14, "cannot be chained"},
		{`WITH x AS (DELETE FROM resources) SELECT 1`, 12, "only reading"},
		{`SELECT name FROM resources GROUP BY 'x'`, 37, "neither groups nor orders"},
		{`SELECT current_user`, 8, "not understood here"},
		{`SELECT current_setting('x')`, 8, "is not available"},
	} {
		_, err := Check(test.sql, testTables)
		e, ok := err.(*Error)
		if !ok || e.Position != test.position || !strings.Contains(e.Problem, test.words) {
			t.Errorf("%s\n\tgot  %+v\n\twant %d … %s", test.sql, err, test.position, test.words)
		}
	}
}

// Columns have PostgreSQL's names, and types.
func TestColumns(t *testing.T) {
	q, err := Check(`SELECT *, r.*, count(*) OVER (), sum(ordinal) OVER (), ordinal + 1.5, name || 'x', ordinal > 1 AS big, tags->>'a', tags->'a',
		'7'::int, NULL, 'text', CASE WHEN true THEN 1 END, (SELECT max(created_at) FROM messages), EXISTS (SELECT 1), coalesce(NULL, ordinal),
		created_at::date, created_at + INTERVAL '1 day', avg(score) OVER () FROM resources r`, testTables)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range q.Columns()[2*len(testTables[0].Columns):] {
		got = append(got, c.Name+" "+c.Type.String())
	}
	want := `count integer, sum whole number, ?column? number, ?column? text, big boolean, ?column? text, ?column? json, int4 integer, ` +
		`?column? text, ?column? text, case integer, max timestamp, exists boolean, coalesce integer, created_at date, ?column? timestamp, avg number`
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// The printed statement has no comment, every name quoted, every part in parentheses.
func TestPrinted(t *testing.T) {
	for _, test := range []struct{ sql, postgres, sqlite string }{
		{
			"SELECT name -- a comment\nFROM resources /* another */ WHERE ordinal = 1 + 2 * 3;",
			`SELECT "resources"."name" AS "name" FROM "resources" AS "resources" WHERE (("resources"."ordinal") = ((1) + ((2) * (3))))`,
			`SELECT "resources"."name" AS "name" FROM "temp"."view of resources" AS "resources" WHERE (("resources"."ordinal") = ((1) + ((2) * (3))))`,
		},
		{
			`WITH messages AS (SELECT 'it''s' AS x) SELECT * FROM messages`,
			`WITH "messages" AS (SELECT ('it''s')::text AS "x") SELECT "messages_2"."x" AS "x" FROM "messages" AS "messages_2"`,
			`WITH "messages" AS (SELECT ('it''s') AS "x") SELECT "messages_2"."x" AS "x" FROM "messages" AS "messages_2"`,
		},
		{
			`SELECT count(*) FROM messages WHERE created_at >= 'today' AND created_at < '2026-02-01T01:00:00+01:00'`,
			`SELECT (count(*)) AS "count" FROM "messages" AS "messages" WHERE ((("messages"."created_at") >= ('today'::timestamptz)) AND (("messages"."created_at") < ('2026-02-01 00:00:00.000000Z'::timestamptz)))`,
			`SELECT (count(*)) AS "count" FROM "temp"."view of messages" AS "messages" WHERE ((("messages"."created_at") >= ('2026-01-31 00:00:00.000000')) AND (("messages"."created_at") < ('2026-02-01 00:00:00.000000')))`,
		},
		{
			`SELECT name FROM resources ORDER BY name DESC`,
			`SELECT "resources"."name" AS "name" FROM "resources" AS "resources" ORDER BY ("resources"."name") COLLATE "C" DESC`,
			`SELECT "resources"."name" AS "name" FROM "temp"."view of resources" AS "resources" ORDER BY ("resources"."name") DESC NULLS FIRST`,
		},
	} {
		q, err := Check(test.sql, testTables)
		if err != nil {
			t.Fatalf("%s: %v", test.sql, err)
		}
		pg, err := q.Postgres()
		if err != nil || pg.SQL != test.postgres {
			t.Errorf("PostgreSQL (%v)\n\tgot  %s\n\twant %s", err, pg.SQL, test.postgres)
		}
		li, err := q.SQLite(lite())
		if err != nil || li.SQL != test.sqlite {
			t.Errorf("SQLite (%v)\n\tgot  %s\n\twant %s", err, li.SQL, test.sqlite)
		}
	}
}

// A position in the printed statement maps to the caller's text.
func TestPosition(t *testing.T) {
	q, err := Check(`SELECT 'ä', ordinal / 0 FROM resources`, testTables)
	if err != nil {
		t.Fatal(err)
	}
	s, err := q.Postgres()
	if err != nil {
		t.Fatal(err)
	}
	if at := s.Position(strings.Index(s.SQL, "(0)")); at != 23 {
		t.Errorf("the zero is at %d, want 23", at)
	}
}

// Short statements that would be large for a planner are refused.
func TestWeight(t *testing.T) {
	grow := "WITH q0 AS (SELECT 'x' AS s)"
	for i := range 20 {
		n := string(rune('a' + i))
		before := "q0"
		if i > 0 {
			before = "q" + string(rune('a'+i-1))
		}
		grow += ", q" + n + " AS (SELECT s||s||s AS s FROM " + before + ")"
	}
	for sql, ok := range map[string]bool{
		grow + " SELECT s FROM qt": false,
		"SELECT 1 FROM resources ORDER BY " + strings.Repeat("name,", 500) + "1":                                            true,
		"SELECT " + strings.Repeat("name||", 150) + "name AS x FROM resources ORDER BY " + strings.Repeat("x,", 1500) + "x": false,
	} {
		q, err := Check(sql, testTables)
		if err == nil {
			_, err = q.Postgres()
		}
		if (err == nil) != ok {
			t.Errorf("%.60s…: %v", sql, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{
		`SELECT json_schema->>'x', LEFT(name, 10) FROM resources WHERE name IN ('a') AND created_at > NOW() - INTERVAL '7 days' ORDER BY 1 LIMIT 5`,
		`WITH RECURSIVE r(n, s) AS (SELECT 1, 'a' UNION ALL SELECT n+1, s||'b' FROM r WHERE n < 3) SELECT * FROM r`,
		`SELECT t.x, count(*) FILTER (WHERE ordinal > 1) OVER (PARTITION BY name ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM resources, jsonb_array_elements_text(tags) AS t(x)`,
		`(SELECT name FROM resources) UNION ALL (SELECT content FROM messages) ORDER BY name`,
		`SELECT string_agg(DISTINCT name, ','), EXTRACT(EPOCH FROM now() - created_at), to_char(created_at, 'YYYY') FROM resources GROUP BY created_at`,
		`SELECT * FROM resources r LEFT JOIN messages m USING (id) WHERE 'a' = ANY(r.tags) OR r.metadata @> '{"a":1}' /* x */ -- y`,
		`SELECT 'a''b', "name", $1, E'x', $$y$$`,
		`SELECT 1 FROM resources WHERE ordinal > 1-` + strings.Repeat("(1*", 40) + "1" + strings.Repeat(")", 40),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Check(text, testTables)
		if err != nil {
			if e := err.(*Error); e.Problem == "" || e.Position < 0 || e.Position > utf8.RuneCountInString(text)+1 {
				t.Fatalf("a mistake at %d: %q", e.Position, e.Problem)
			}
			return
		}
		pg, err := q.Postgres()
		if err != nil {
			return
		}
		printed := []*Statement{pg}
		if li, err := q.SQLite(lite()); err == nil {
			printed = append(printed, li)
		}
		for _, s := range printed {
			tokens, err := scan(s.SQL)
			if err != nil {
				t.Fatalf("%s\n\tis printed as %s\n\twhich has no tokens: %s", text, s.SQL, err.problem)
			}
			for _, tok := range tokens {
				if tok.kind == symbol && tok.text == ";" {
					t.Fatalf("%s\n\tis printed as two: %s", text, s.SQL)
				}
			}
			if strings.Contains(s.SQL, "--") && !strings.Contains(text, "--") || !strings.HasPrefix(strings.TrimLeft(s.SQL, "("), "SELECT") && !strings.HasPrefix(s.SQL, "WITH") {
				t.Fatalf("%s\n\tis printed as %s", text, s.SQL)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		q, err := Check(`SELECT name, LEFT(content, 100) FROM resources WHERE ordinal > 3 AND created_at > NOW() - INTERVAL '7 days' ORDER BY created_at LIMIT 10`, testTables)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := q.Postgres(); err != nil {
			b.Fatal(err)
		}
	}
}
