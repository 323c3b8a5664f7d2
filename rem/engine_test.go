package rem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

var _ rem.Knowledge = (*store.Store)(nil)

// knowledge is a store with a few rows, a graph, and one message. It remembers
// what it was asked.
type knowledge struct {
	err   error
	asked string
	// found is what Search finds, selection what Select does.
	found     []store.Match
	selection store.Selection
	graph     map[string][]store.Node
	levels    [][]string
	inward    []string
	wait      bool
}

func (k *knowledge) Lookup(ctx context.Context, key string) ([]store.Match, error) {
	if k.wait {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	switch key {
	case "plan":
		return []store.Match{
			{Key: "plan", Type: "resource", Score: 1, Summary: "A plan.", Data: json.RawMessage(`{"content":"all"}`)},
			{Key: "plan", Type: "schema", Score: 1},
		}, nil
	case "session-odd-msg-9":
		return []store.Match{{Key: key, Type: "resource", Score: 1}}, nil
	case "gone":
		return nil, fmt.Errorf("key: %w", store.ErrNotFound)
	}
	return nil, k.err
}

func (k *knowledge) Fuzzy(_ context.Context, text string, threshold float64, limit int) ([]store.Match, error) {
	k.asked = fmt.Sprint(text, " ", threshold, " ", limit)
	if text == "none" {
		return nil, k.err
	}
	found := []store.Match{{Key: "plan", Type: "resource", ID: "p", Score: 0.6, Summary: "A plan."}}
	if text == "gone" || text == "sali" {
		// Beside the plan, which only has the word in its summary, a key that is close.
		found = append(found, store.Match{Key: text + "s", Type: "resource", Score: 0.5})
	}
	return found, k.err
}

func (k *knowledge) MessageBySeq(_ context.Context, sessionID string, seq int64) (store.Message, error) {
	if sessionID == "s-msg-1 x" && seq == 4 {
		return store.Message{ID: "m", SessionID: sessionID, Seq: seq, Type: store.MessageAssistant, Content: new("the whole text")}, nil
	}
	return store.Message{}, fmt.Errorf("message: %w", store.ErrNotFound)
}

func (k *knowledge) Message(_ context.Context, id string) (store.Message, error) {
	return store.Message{}, fmt.Errorf("message: %w", store.ErrNotFound)
}

func (k *knowledge) Nodes(_ context.Context, keys []string) ([]store.Node, error) {
	k.levels = append(k.levels, keys)
	var nodes []store.Node
	for _, key := range keys {
		nodes = append(nodes, k.graph[store.NormalizeKey(key)]...)
	}
	return nodes, k.err
}

// Inward finds the edges of the graph; of a resource, as the caller has it.
func (k *knowledge) Inward(_ context.Context, keys, relations []string, limit int) ([]store.Link, error) {
	k.inward = append(k.inward, fmt.Sprint(keys, relations, limit))
	var links []store.Link
	for key, nodes := range k.graph {
		for _, n := range nodes {
			for _, e := range n.Edges {
				target := store.NormalizeKey(e.Target)
				if slices.Contains(keys, target) && (len(relations) == 0 || slices.Contains(relations, e.Relation)) {
					links = append(links, store.Link{Target: target, Key: key, Type: n.Type, TenantID: n.TenantID, Own: n.Own, Relation: e.Relation, Weight: max(e.Weight, 0.01)})
				}
			}
		}
	}
	return links, k.err
}

func (k *knowledge) Load(_ context.Context, nodes ...store.Node) ([]json.RawMessage, error) {
	rows := make([]json.RawMessage, len(nodes))
	for i, n := range nodes {
		rows[i], _ = json.Marshal(map[string]string{"id": n.ID})
	}
	return rows, k.err
}

func (k *knowledge) Search(_ context.Context, queries ...store.SearchQuery) ([]store.Match, error) {
	k.asked = ""
	for _, q := range queries {
		b, _ := json.Marshal(q)
		k.asked += string(b)
	}
	return k.found, k.err
}

func (k *knowledge) Select(_ context.Context, sql string, b store.SelectBounds) (store.Selection, error) {
	k.asked = fmt.Sprint(sql, " ", b.Rows, " ", b.Explain)
	if i := strings.Index(sql, "nmae"); i >= 0 {
		return store.Selection{}, fmt.Errorf("select: %w", &store.SelectError{Position: len([]rune(sql[:i])) + 1, Problem: "there is no column nmae"})
	}
	if b.Explain {
		return store.Selection{Columns: []string{"plan"}, Rows: [][]any{{"SCAN moments"}}}, k.err
	}
	return k.selection, k.err
}

func (k *knowledge) Tables() []store.TableInfo {
	category := []store.ColumnInfo{{Name: "category", Type: "text"}}
	return []store.TableInfo{
		{Name: "resources", Type: "resource", EmbeddingField: "content", Columns: category},
		{Name: "moments", Type: "moment", EmbeddingField: "summary", Columns: category},
		{Name: "schemas", Type: "schema", EmbeddingField: "description"},
		{Name: "users", Type: "user"},
	}
}

// embedder is a model of two dimensions.
type embedder struct{ err error }

func (embedder) Name() string           { return "test:2" }
func (embedder) MinSimilarity() float64 { return 0.25 }
func (e embedder) EmbedQuery(context.Context, string) ([]float32, error) {
	return []float32{1, 0}, e.err
}

func engine(k *knowledge) *rem.Engine { return rem.New(rem.Options{Knowledge: k}) }

func TestLookup(t *testing.T) {
	got, err := engine(new(knowledge)).Execute(t.Context(), rem.Lookup{Keys: []string{"plan", "none", "session-odd-msg-9", "gone"}})
	want := rem.Result{
		QueryType: rem.LOOKUP, Keys: []string{"plan", "none", "session-odd-msg-9", "gone"}, Missing: []string{"none", "gone"}, Suggestions: []string{"gones"}, Count: 3,
		Results: []rem.Row{
			{Key: "plan", EntityType: "resource", Score: 1, Summary: "A plan.", Data: json.RawMessage(`{"content":"all"}`)},
			{Key: "plan", EntityType: "schema", Score: 1},
			{Key: "session-odd-msg-9", EntityType: "resource", Score: 1},
		},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	got, err = engine(new(knowledge)).Run(t.Context(), "LOOKUP pln, plam")
	if err != nil || !slices.Equal(got.Suggestions, []string{"plan"}) {
		t.Errorf("suggests %v, %v", got.Suggestions, err)
	}
}

func TestLookupMessage(t *testing.T) {
	got, err := engine(new(knowledge)).Run(t.Context(), "REM LOOKUP session-s-msg-1 x-msg-4")
	if err != nil || got.Count != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	var message store.Message
	if err := json.Unmarshal(got.Results[0].Data, &message); err != nil || *message.Content != "the whole text" {
		t.Errorf("%s, %v", got.Results[0].Data, err)
	}
	if got.Results[0].EntityType != rem.EntityMessage || got.Results[0].Key != "session-s-msg-1 x-msg-4" {
		t.Errorf("%+v", got.Results[0])
	}
}

func TestFuzzy(t *testing.T) {
	k := new(knowledge)
	got, err := engine(k).Execute(t.Context(), rem.Fuzzy{Text: "plann", Threshold: 0.4, Limit: 5000})
	want := rem.Result{QueryType: rem.FUZZY, Text: "plann", Count: 1,
		Results: []rem.Row{{Key: "plan", EntityType: "resource", Score: 0.6, Summary: "A plan."}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || k.asked != "plann 0.4 100" {
		t.Errorf("asked %q, %v\n%s", k.asked, err, diff)
	}
	got, err = engine(k).Run(t.Context(), "FUZZY plann LOAD")
	if err != nil || string(got.Results[0].Data) != `{"id":"p"}` || k.asked != "plann 0.3 10" {
		t.Errorf("asked %q, got %+v, %v", k.asked, got, err)
	}
}

func TestSearch(t *testing.T) {
	long, half := strings.Repeat("é", 1500), 0.5
	row := json.RawMessage(`{"id":"r","content":"` + long + `","tags":["a"],"parsed_content":"x"}`)
	words := "Ranked by words alone: "
	fused := "Found by meaning and by words: the scores are those of a rank fusion, which compare only with each other."
	for query, c := range map[string]struct {
		with  rem.Options
		want  store.SearchQuery
		notes []string
	}{
		"SEARCH api": {with: rem.Options{Embedder: embedder{}}, want: store.SearchQuery{Table: "resources", MinSimilarity: 0.25, Limit: 10}},
		`SEARCH api FROM moments FIELD summary WHERE "x = 1" CATEGORY c LIMIT 3 MIN_SIMILARITY 0`: {
			with: rem.Options{Embedder: embedder{}, MinSimilarity: &half},
			want: store.SearchQuery{Table: "moments", Field: "summary", Where: "x = 1", Category: "c", Limit: 3},
		},
		`SEARCH api CATEGORY c`: {
			with: rem.Options{Embedder: embedder{}, MinSimilarity: &half},
			want: store.SearchQuery{Table: "resources", Category: "c", MinSimilarity: 0.5, Limit: 10},
		},
		"SEARCH api HYBRID": {
			with: rem.Options{Embedder: embedder{}}, notes: []string{fused},
			want: store.SearchQuery{Table: "resources", MinSimilarity: 0.25, Limit: 10, Hybrid: true},
		},
		"SEARCH api IN resource": {
			with: rem.Options{Embedder: embedder{}, Hybrid: true}, notes: []string{fused},
			want: store.SearchQuery{Table: "resources", MinSimilarity: 0.25, Limit: 10, Hybrid: true},
		},
		"SEARCH api LOAD": {want: store.SearchQuery{Table: "resources", Limit: 10, Hybrid: true}, notes: []string{words + "no embedding model is configured."}},
		"SEARCH api IN schemas CATEGORY c": {
			with: rem.Options{Embedder: embedder{errors.New("503")}},
			want: store.SearchQuery{Table: "schemas", MinSimilarity: 0.25, Limit: 10, Hybrid: true},
			notes: []string{"The rows of schemas have no category, so CATEGORY left none out.",
				words + "the embedding model did not answer."},
		},
	} {
		k := &knowledge{found: []store.Match{{Key: "api", Type: "resource", Score: 0.9, Summary: "é", Data: row}}}
		c.with.Knowledge, c.with.Logger = k, slog.New(slog.DiscardHandler)
		got, err := rem.New(c.with).Run(t.Context(), query)
		c.want.Text = "api"
		if (c.with.Embedder == embedder{}) {
			c.want.Model, c.want.Vector = "test:2", []float32{1, 0}
		}
		want, _ := json.Marshal(c.want)
		if err != nil || k.asked != string(want) || !slices.Equal(got.Notes, c.notes) || got.Table != c.want.Table || got.Text != "api" {
			t.Errorf("%s: asked %s, want %s; notes %q, %v", query, k.asked, want, got.Notes, err)
			continue
		}
		data := `{"id":"r","content":"` + long[:2000] + `","tags":["a"],"trimmed":["content: the first 1000 of 1500 characters","parsed_content: left out","LOOKUP api or LOAD gives all of it"]}`
		if strings.Contains(query, "LOAD") {
			data = string(row)
		}
		if r := got.Results[0]; r.Score != 0.9 || r.Key != "api" || string(r.Data) != data {
			t.Errorf("%s: %s", query, r.Data)
		}
	}
}

func TestSearchTables(t *testing.T) {
	k := &knowledge{found: []store.Match{
		{Key: "a", Type: "resource", Table: "resources", Score: 1}, {Key: "b", Type: "moment", Table: "moments", Score: 0.5},
	}}
	e := rem.New(rem.Options{Knowledge: k, Embedder: embedder{}})
	got, err := e.Run(t.Context(), "SEARCH api FROM resources, moments, schemas CATEGORY c LIMIT 4")
	if err != nil {
		t.Fatal(err)
	}
	var want string
	for _, table := range []string{"resources", "moments", "schemas"} {
		q := store.SearchQuery{
			Table: table, Text: "api", Model: "test:2", Vector: []float32{1, 0}, MinSimilarity: 0.25, Category: "c", Limit: 4,
		}
		if table == "schemas" {
			q.Category = ""
		}
		b, _ := json.Marshal(q)
		want += string(b)
	}
	if k.asked != want {
		t.Errorf("asked %s\nwant  %s", k.asked, want)
	}
	b, _ := json.Marshal(got)
	for _, part := range []string{
		`"table":"resources, moments, schemas"`,
		`{"key":"a","entity_type":"resource","table":"resources","similarity_score":1}`,
		`{"key":"b","entity_type":"moment","table":"moments","similarity_score":0.5}`,
		`"The rows of schemas have no category, so CATEGORY left none out."`,
	} {
		if !strings.Contains(string(b), part) {
			t.Errorf("%s has no %s", b, part)
		}
	}
}

// TestBefore: every query updates what it reads first.
func TestBefore(t *testing.T) {
	calls := 0
	e := rem.New(rem.Options{Knowledge: new(knowledge), Before: func(context.Context) { calls++ }})
	for i, query := range []string{"LOOKUP a", "FUZZY a", "SEARCH a", "TRAVERSE a", "SELECT name FROM moments", "EXPLAIN LOOKUP a"} {
		if _, err := e.Run(t.Context(), query); err != nil || calls != i+1 {
			t.Errorf("%s: %d calls, %v", query, calls, err)
		}
	}
}

func TestSearchFails(t *testing.T) {
	for query, want := range map[string]string{
		"SEARCH api FROM users":                   "the rows of users have no vectors; SEARCH reads resources, moments and schemas, SQL reads every table (quote a text that ends with the name of a table); write SEARCH text",
		"SEARCH api FROM moments FIELD content":   "the field \"content\" of moments has no vectors; summary has; write SEARCH text",
		"SEARCH api FROM moments, users":          "the rows of users have no vectors; SEARCH reads",
		"EXPLAIN SEARCH api FROM users":           "the rows of users have no vectors",
		`EXPLAIN SEARCH api WHERE "nmae = 'x'"`:   "there is no column nmae",
		"SEARCH api FROM sessions TABLE nosuch x": "",
	} {
		_, err := engine(new(knowledge)).Run(t.Context(), query)
		var syntax *rem.SyntaxError
		if want == "" && err == nil {
			continue
		}
		if !errors.As(err, &syntax) || syntax.Column != 0 || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestSelect(t *testing.T) {
	k := &knowledge{selection: store.Selection{
		Columns: []string{"name", "n", "n", "at"}, Truncated: true,
		Rows: [][]any{{"<a>", int64(1), 2.5, nil}, {"b", true, json.RawMessage(`{"x":1}`), "2026-11-20T00:00:00Z"}},
	}}
	got, err := engine(k).Run(t.Context(), "SQL SELECT name FROM moments;")
	if err != nil || k.asked != "SELECT name FROM moments 1000 false" || got.Selection == nil {
		t.Fatalf("asked %q, %+v, %v", k.asked, got, err)
	}
	b, err := json.Marshal(got)
	want := `{"query_type":"SQL","raw_query":"SELECT name FROM moments","results":[{"name":"\u003ca\u003e","n":1,"n_2":2.5,"at":null},` +
		`{"name":"b","n":true,"n_2":{"x":1},"at":"2026-11-20T00:00:00Z"}],"count":2,"truncated":true,"notes":["There are more rows than these 2."]}`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v\nwant %s", b, err, want)
	}
}

func TestLimits(t *testing.T) {
	k := new(knowledge)
	for query, want := range map[string]string{
		"SQL SELECT 1":                                      "SELECT 1 20 false",
		"SQL SELECT a FROM t LIMIT 500":                     "SELECT a FROM t LIMIT 500 1000 false",
		"SQL SELECT ' LIMIT 5' FROM (SELECT 1 LIMIT 1) t":   "SELECT ' LIMIT 5' FROM (SELECT 1 LIMIT 1) t 20 false",
		"SQL SELECT a FROM t FETCH FIRST 5 ROWS ONLY":       "SELECT a FROM t FETCH FIRST 5 ROWS ONLY 1000 false",
		"SQL SELECT \"limit\" FROM t -- limit\n":            "SELECT \"limit\" FROM t -- limit 20 false",
		"SQL SELECT a /* limit */ FROM t WHERE t.limit = 1": "SELECT a /* limit */ FROM t WHERE t.limit = 1 20 false",
		"FUZZY a":         "a 0.3 20",
		"FUZZY a LIMIT 5": "a 0.3 5",
	} {
		if _, err := engine(k).RunLimited(t.Context(), query, 20); err != nil || k.asked != want {
			t.Errorf("%s: asked %q, %v; want %q", query, k.asked, err, want)
		}
	}
	for query, want := range map[string]string{"SEARCH a": `SEARCH "a" LIMIT 7`, "TRAVERSE a": "TRAVERSE a LIMIT 7", "TRAVERSE a LIMIT 8": "TRAVERSE a LIMIT 8", "LOOKUP a": "LOOKUP a"} {
		q, err := rem.Parse(query)
		if err != nil || rem.WithLimit(q, 7).String() != want {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, query := range []string{"LOOKUP x", "FUZZY x", "SEARCH x", "TRAVERSE x", "SQL SELECT 1", "EXPLAIN SQL SELECT 1", "FUZZY x LOAD"} {
		if _, err := engine(&knowledge{err: broken}).Run(t.Context(), query); !errors.Is(err, broken) {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, err := engine(new(knowledge)).Execute(t.Context(), nil); err == nil {
		t.Error("a nil query was executed")
	}
	for query, column := range map[string]int{
		"SQL SELECT nmae FROM moments":                    12,
		"  REM  SELECT 'é', nmae FROM moments":            20,
		"EXPLAIN SQL SELECT nmae FROM moments":            20,
		"TRAVERSE WITH SQL SELECT nmae FROM moments":      26,
		"SQL table=moments where=\"nmae = 'x'\" limit=20": 0,
	} {
		_, err := engine(new(knowledge)).Run(t.Context(), query)
		var syntax *rem.SyntaxError
		var wrong *store.SelectError
		if !errors.As(err, &syntax) || syntax.Column != column || syntax.Problem != "there is no column nmae" || !errors.As(err, &wrong) {
			t.Errorf("%s: %#v", query, err)
		}
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(&knowledge{wait: true})
		if _, err := e.Run(t.Context(), "LOOKUP x"); !errors.Is(err, rem.ErrTimeout) || !strings.Contains(err.Error(), "5s") {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Run(ctx, "LOOKUP x"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestEmptyResult(t *testing.T) {
	empty, err := engine(new(knowledge)).Execute(t.Context(), rem.Lookup{Keys: []string{"none"}})
	if b, _ := json.Marshal(empty); err != nil || string(b) != `{"query_type":"LOOKUP","keys":["none"],"missing":["none"],"results":[],"count":0}` {
		t.Errorf("%s, %v", b, err)
	}
}
