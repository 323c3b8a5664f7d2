package rem_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/rem"
)

// example is a line of testdata/queries.txt.
type example struct{ query, want string }

func examples(t testing.TB) (list []example) {
	t.Helper()
	file, err := os.ReadFile("testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if line = strings.TrimRight(line, "\n"); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		query, want, ok := strings.Cut(line, " => ")
		if !ok {
			want = query
		}
		list = append(list, example{query, want})
	}
	return list
}

func TestQueries(t *testing.T) {
	for _, e := range examples(t) {
		got, err := rem.Parse(e.query)
		if err != nil {
			t.Errorf("%s\n%v", e.query, err)
			continue
		}
		if got.String() != e.want {
			t.Errorf("%s\ngot  %s\nwant %s", e.query, got, e.want)
		}
		again, err := rem.Parse(got.String())
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: its canonical form gives %#v, %v\nwant %#v", e.query, again, err, got)
		}
	}
}

// words are what queries are likely to stumble over.
func words() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"in", "from", "WITH", "LOOKUP", "where", "TYPE", "LIMIT", "5", "limit=5", "LOAD", "HYBRID", "O'Brien", `"`, `'`, "'a'", `\`, ",",
			"[", "]", "[a", "b]", "users", "moments", "=", "where=\"", "DEPTH", "2", "CATEGORY", "ORDER", "BY", "key", "*", "(", ")", ";", "REM", "北京", "", "a  b", " x",
		}),
		rapid.StringMatching(`[a-z '",\[\]=\\]{1,8}`),
	)
}

func texts() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(words(), 1, 6).Draw(t, "words"), " ")
	}).Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
}

func queries(nested bool) *rapid.Generator[rem.Query] {
	distinct := func(most int) *rapid.Generator[[]string] {
		return rapid.SliceOfNDistinct(texts(), 1, most, rapid.ID[string])
	}
	return rapid.Custom(func(t *rapid.T) rem.Query {
		limit := rapid.IntRange(0, rem.MaxLimit).Draw(t, "limit")
		load := rapid.Bool().Draw(t, "load")
		switch rapid.IntRange(0, 4).Draw(t, "verb") {
		case 0:
			return rem.Lookup{Keys: distinct(4).Draw(t, "keys")}
		case 1:
			return rem.Fuzzy{Text: texts().Draw(t, "text"), Threshold: float64(rapid.IntRange(0, 100).Draw(t, "threshold")) / 100, Limit: limit, Load: load}
		case 2:
			q := rem.Search{Text: texts().Draw(t, "text"), Limit: limit, Load: load, Hybrid: rapid.Bool().Draw(t, "hybrid")}
			if rapid.Bool().Draw(t, "tables") {
				q.Tables = rapid.SliceOfNDistinct(rapid.SampledFrom(rem.Tables()), 1, 3, rapid.ID[string]).Draw(t, "table")
			}
			q.Field = rapid.SampledFrom([]string{"", "content", "body"}).Draw(t, "field")
			q.Where = rapid.SampledFrom([]string{"", "published", "a = 'x'", `"b" > 1 AND (c IN ('"', ''''))`, `c ~ '\d'`}).Draw(t, "where")
			if rapid.Bool().Draw(t, "category") {
				q.Category = texts().Draw(t, "category")
			}
			if rapid.Bool().Draw(t, "similar") {
				q.MinSimilarity = new(float64(rapid.IntRange(0, 100).Draw(t, "similarity")) / 100)
			}
			return q
		case 3:
			return rem.Select{Text: rapid.SampledFrom([]string{"SELECT 1", "SELECT name FROM t ORDER BY x LIMIT 5", "WITH a AS (SELECT ' \"') SELECT * FROM a", "SELECT 'x"}).Draw(t, "sql")}
		}
		q := rem.Traverse{Limit: limit, Load: load}
		if rapid.Bool().Draw(t, "typed") {
			q.Types = rapid.SliceOfNDistinct(texts().Filter(func(s string) bool { return s != "*" }), 1, 3, rapid.ID[string]).Draw(t, "types")
		}
		if q.Plan = rapid.Bool().Draw(t, "plan"); !q.Plan {
			q.Depth = rapid.IntRange(0, rem.MaxDepth).Draw(t, "depth")
		}
		if q.Order.Field = rapid.SampledFrom([]string{"", "key", "weight"}).Draw(t, "order"); q.Order.Field != "" {
			q.Order.Desc = rapid.Bool().Draw(t, "desc")
		}
		if nested && rapid.Bool().Draw(t, "with") {
			q.With = queries(false).Draw(t, "inner")
		} else {
			q.Keys = distinct(3).Draw(t, "keys")
		}
		return q
	})
}

// TestCanonicalForms writes any query and reads it back.
func TestCanonicalForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := queries(true).Draw(t, "query")
		if rapid.IntRange(0, 9).Draw(t, "explain") == 0 {
			q = rem.Explain{Query: q}
		}
		got, err := rem.Parse(q.String())
		if err != nil || !reflect.DeepEqual(got, q) {
			t.Fatalf("%s\ngot  %#v, %v\nwant %#v", q, got, err, q)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, e := range examples(f) {
		f.Add(e.query)
	}
	for _, seed := range []string{
		`LOOKUP "\"`, "FUZZY 'a 'b", "SEARCH x", "plain words", "LOOKUP ]", "LOOKUP ''", "FUZZY a limit nan", `TRAVERSE a WITH SQL SELECT "`,
		`SEARCH a where="`, "TRAVERSE [a,[b]] type=[x", "SQL table= where=''", "TRAVERSE WITH WITH a AS (SELECT 1) DEPTH 2",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := rem.Parse(text)
		if err != nil {
			var syntax *rem.SyntaxError
			if !errors.As(err, &syntax) || syntax.Column < 1 || syntax.Column > len(text)+1 || syntax.Form == "" {
				t.Errorf("Parse(%q): %#v", text, err)
			}
			return
		}
		plain := q.String()
		if len(plain) > rem.MaxQuery {
			return
		}
		again, err := rem.Parse(plain)
		if err != nil || !reflect.DeepEqual(again, q) {
			t.Errorf("Parse(%q) = %#v; its plain form %q gives %#v, %v", text, q, plain, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	for name, query := range map[string]string{
		"lookup":   "LOOKUP sarah-chen",
		"search":   `SEARCH sara chen's plan for the next quarter FROM moments WHERE "category = 'work'" LIMIT 5`,
		"traverse": `TRAVERSE [manages, reports-to] WITH FUZZY "Sally" LIMIT 3 DEPTH 2`,
		"sql":      "SQL SELECT name, created_at FROM resources WHERE category = 'docs' ORDER BY created_at DESC LIMIT 5",
		"clauses":  "SEARCH x " + strings.Repeat("limit 1 ", 1000),
		"lists":    "TRAVERSE x " + strings.Repeat("type=[a ", 1000) + "]",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rem.Parse(query); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
