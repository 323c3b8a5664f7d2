package knowledge

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/corpus"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// TestQueries loads the same knowledge into both engines and queries it.
func TestQueries(t *testing.T) {
	n := size(t, "P8_TEST_ENTITIES", harness.Count(t, 1000, 10_000))
	both := places(t)
	for _, p := range both {
		p.load(t, n)
	}
	t.Run("alike", func(t *testing.T) { answerAlike(t, both, n) })
	for _, p := range both {
		t.Run("fuzzed, "+p.name, func(t *testing.T) { fuzzedQueries(t, p) })
	}
}

// answerAlike asks both engines every example query there is, in every way that a query can
// be asked; in the short form every query in one way, and a third of them in each other.
func answerAlike(t *testing.T, both []*place, n int) {
	queries := append(examples(t), about(n)...)
	var asked [2]*desk
	for i, p := range both {
		asked[i] = newDesk(t, p)
	}
	for k, way := range []struct {
		name string
		ask  func(*desk, *testing.T, []string) []answer
	}{
		{"POST /query/", (*desk).dialect},
		{"p8 query", (*desk).commandLine},
		{"POST /query/raw", (*desk).raw},
		{"the tool search", (*desk).tool},
	} {
		t.Run(way.name, func(t *testing.T) {
			queries := queries
			if k > 0 {
				queries = every(queries, k-1, harness.Count(t, 3, 1))
			}
			a, b := way.ask(asked[0], t, queries), way.ask(asked[1], t, queries)
			found, searches, agreed := 0, 0, 0
			for i, q := range queries {
				compare(t, q, a[i], b[i])
				if strings.HasPrefix(q, "SEARCH ") && len(a[i].results) >= 10 && len(b[i].results) >= 10 {
					searches, agreed = searches+1, agreed+10-missing(top(a[i].results), top(b[i].results))
				}
				if len(a[i].results) > 0 {
					found++
				}
			}
			t.Logf("%d queries, %d of them found something; %d a SEARCH of ten, which share %.2f on average",
				len(queries), found, searches, float64(agreed)/float64(max(1, searches)))
			if found < len(queries)/2 {
				t.Errorf("only %d of %d queries found anything: the comparison proves little", found, len(queries))
			}
		})
	}
	t.Run("the fields of POST /query/", func(t *testing.T) { sameFields(t, asked) })
}

// every returns the query at a place, and each step-th after it.
func every(queries []string, from, step int) (list []string) {
	for i := from % step; i < len(queries); i += step {
		list = append(list, queries[i])
	}
	return list
}

// load stores n synthetic rows, ingests the example corpus and p8's documentation, and
// has a conversation. Two places may differ only in times and random values, which are
// set last.
func (p *place) load(t *testing.T, n int) {
	t.Helper()
	s := p.open(t)
	batch := make([]*store.Resource, 0, 500)
	for row := range corpus.Resources(n) {
		if batch = append(batch, row); len(batch) == cap(batch) || row.Ordinal == n-1 {
			if err := s.Resources().Put(as(t, "", ""), batch...); err != nil {
				t.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	embedAll(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	root := harness.Root(t)
	p.run(t, "upsert", filepath.Join(root, "examples", "data"), filepath.Join(root, "docs"))
	d := newDesk(t, p)
	for _, text := range []string{"hello", `call search {"query":"TRAVERSE sarah-chen TYPE manages"}`, `call search {"query":"LOOKUP nobody-here"}`} {
		d.Chat(t, harness.Ask{Agent: "general", Session: "attention", Text: text})
	}
	if code := d.Stop(t); code != 0 {
		t.Fatalf("the server ended with %d", code)
	}
	p.execute(t, p.settle()...)
}

// settle are the statements that set the times, and the ids of messages, by the
// order of the rows.
func (p *place) settle() []string {
	at, id, binary := `'2026-01-01 00:00:00.' || printf('%06d', o.n)`, `printf('00000000-0000-7000-8000-%012d', o.n)`, ``
	if p.url != "" {
		at, id, binary = `timestamptz '2026-01-01 00:00:00Z' + o.n * interval '1 microsecond'`,
			`'00000000-0000-7000-8000-' || lpad(o.n::text, 12, '0')`, ` COLLATE "C"`
	}
	var list []string
	for _, table := range []string{"schemas", "resources", "ontologies", "moments", "files", "users", "sessions", "messages"} {
		key, more := "id"+binary, ""
		if table == "messages" {
			key = "session_id" + binary + ", seq"
			more = ", id = " + id + ", run_id = NULL, latency_ms = 40"
		}
		list = append(list, fmt.Sprintf(`UPDATE %[1]s SET created_at = %[2]s, updated_at = %[2]s%[3]s FROM
			(SELECT tenant_id, id, row_number() OVER (ORDER BY tenant_id%[4]s, %[5]s) AS n FROM %[1]s) o
			WHERE o.tenant_id = %[1]s.tenant_id AND o.id = %[1]s.id`, table, at, more, binary, key))
	}
	return list
}

// examples are the example queries of the dialect and of this test.
func examples(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, file := range []string{filepath.Join(harness.Root(t), "rem", "testdata", "queries.txt"), filepath.Join("testdata", "queries.txt")} {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			query, _, _ := strings.Cut(lines.Text(), " => ")
			if query != "" && !strings.HasPrefix(query, "#") && !slices.Contains(list, query) {
				list = append(list, query)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// about are queries about the synthetic rows.
func about(n int) []string {
	list := []string{
		`SELECT category, count(*), min(ordinal), max(ordinal) FROM resources WHERE category LIKE 'topic-%' GROUP BY category ORDER BY category`,
		`SELECT name, ordinal FROM resources WHERE category = 'topic-7' ORDER BY name LIMIT 50`,
		`SELECT name FROM resources ORDER BY name DESC LIMIT 100`,
	}
	for k := range 12 {
		i := k * (n - 1) / 11
		name, text := []rune(corpus.Name(i)), strings.Fields(corpus.Text(i))
		misspelt := string(name[:3]) + string(name[4:])
		list = append(list,
			"LOOKUP "+corpus.Name(i),
			"FUZZY "+string(name),
			"FUZZY "+misspelt,
			"FUZZY "+text[0]+" "+text[1],
			"SEARCH "+strings.Join(text[:8], " "),
			"SEARCH "+strings.Join(text[5:9], " ")+fmt.Sprintf(" CATEGORY topic-%d", corpus.Topic(i)),
			"TRAVERSE "+corpus.Key(i)+" DEPTH 3 LIMIT 60",
			"TRAVERSE "+corpus.Key(i)+" TYPE manages, mentions DEPTH 2",
			"TRAVERSE "+corpus.Key(i)+" DIRECTION in DEPTH 2 LIMIT 60",
			"TRAVERSE "+corpus.Key(i)+" TYPE manages DIRECTION both DEPTH 3",
		)
	}
	return list
}

// answer is what came back for one query: the whole of it, its results, or what
// was wrong.
type answer struct {
	whole   map[string]any
	results []any
	problem string
}

// answerOf reads an answer; of a tool's, what says it is one is left out.
func answerOf(t *testing.T, body []byte) answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal(body, &a.whole); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	a.results, _ = a.whole["results"].([]any)
	return a
}

var (
	hasOrder = regexp.MustCompile(`(?i)\border by\b`)
	readsLog = regexp.MustCompile(`(?i)\bfrom (messages|sessions)\b`)
)

// compare checks the engines against the promises of each verb.
func compare(t *testing.T, query string, a, b answer) {
	t.Helper()
	if a.problem != "" || b.problem != "" {
		if a.problem != b.problem {
			t.Errorf("%s\n embedded:   %s\n PostgreSQL: %s", query, a.problem, b.problem)
		}
		return
	}
	q, err := rem.Parse(query)
	if err != nil {
		t.Errorf("%s: %v, and yet both engines answered", query, err)
		return
	}
	switch q := q.(type) {
	case rem.Explain: // each engine has its own plan
	case rem.Search:
		if x, y := top(a.results), top(b.results); missing(x, y) > max(len(x), len(y))/10 {
			t.Errorf("%s: %d of the first 10 results are one engine's alone\n embedded:   %v\n PostgreSQL: %v", query, missing(x, y), x, y)
		}
	case rem.Fuzzy:
		if !slices.Equal(keys(a.results), keys(b.results)) {
			t.Errorf("%s:\n embedded:   %v\n PostgreSQL: %v", query, keys(a.results), keys(b.results))
			return
		}
		for i := range a.results {
			x, y := field(a.results[i], "similarity_score"), field(b.results[i], "similarity_score")
			if math.Abs(x.(float64)-y.(float64)) > 0.001 {
				t.Errorf("%s: result %d has the score %v embedded, %v on PostgreSQL", query, i+1, x, y)
			}
		}
	case rem.Select:
		if !hasOrder.MatchString(q.Text) {
			if a.whole["truncated"] == true && b.whole["truncated"] == true && len(a.results) == len(b.results) {
				return // any of the rows
			}
			sortRows(a.results)
			sortRows(b.results)
		}
		same(t, query, a.whole, b.whole)
	case rem.Traverse:
		if _, ok := q.With.(rem.Search); ok {
			return // begins where a SEARCH leads
		}
		same(t, query, a.whole, b.whole)
	default:
		same(t, query, a.whole, b.whole)
	}
}

func same(t *testing.T, query string, a, b map[string]any) {
	t.Helper()
	if !reflect.DeepEqual(a, b) {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		t.Errorf("%s\n embedded:   %s\n PostgreSQL: %s", query, differing(x, y), differing(y, x))
	}
}

// differing is a text from a little before the place where it differs.
func differing(s, from []byte) string {
	i := 0
	for i < len(s) && i < len(from) && s[i] == from[i] {
		i++
	}
	return fmt.Sprintf("(from byte %d) %s", max(0, i-80), s[max(0, i-80):min(len(s), i+200)])
}

// sortRows gives rows without an order one.
func sortRows(rows []any) {
	slices.SortFunc(rows, func(a, b any) int {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return strings.Compare(string(x), string(y))
	})
}

func field(row any, name string) any { return row.(map[string]any)[name] }

func keys(rows []any) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = fmt.Sprint(field(row, "entity_type"), " ", field(row, "key"))
	}
	return list
}

// top are the keys of the first ten results.
func top(rows []any) []string { return keys(rows[:min(10, len(rows))]) }

// missing is how many of the longer list the other one lacks.
func missing(x, y []string) int {
	if len(x) < len(y) {
		x, y = y, x
	}
	n := 0
	for _, k := range x {
		if !slices.Contains(y, k) {
			n++
		}
	}
	return n
}
