package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// shelf is a store with a few documents.
type shelf struct {
	docs  map[string]string
	err   error
	asked string
}

func (s *shelf) Lookup(_ context.Context, key string) ([]store.Match, error) {
	content, ok := s.docs[key]
	if !ok {
		return nil, s.err
	}
	data, err := json.Marshal(map[string]any{"name": key, "content": content, "tags": []string{"t"}})
	return []store.Match{{Key: key, Type: "resource", Score: 1, Summary: "About " + key, Data: data}}, err
}

func (s *shelf) Fuzzy(_ context.Context, text string, threshold float64, limit int) ([]store.Match, error) {
	s.asked = fmt.Sprint(text, " ", threshold, " ", limit)
	if text == "zzz" {
		return nil, s.err
	}
	return []store.Match{{Key: "plan", Type: "resource", Score: 0.5, Summary: "A <plan>"}}, s.err
}

func (s *shelf) MessageBySeq(_ context.Context, sessionID string, seq int64) (store.Message, error) {
	if seq != 4 {
		return store.Message{}, store.ErrNotFound
	}
	return store.Message{ID: "m4", SessionID: sessionID, Seq: seq, Type: "assistant", Content: new(s.docs["long"])}, nil
}

func (s *shelf) Message(context.Context, string) (store.Message, error) {
	return store.Message{}, store.ErrNotFound
}

// Nodes returns the edges of a map to the plan.
func (s *shelf) Nodes(_ context.Context, keys []string) ([]store.Node, error) {
	var nodes []store.Node
	for _, key := range keys {
		switch key {
		case "map":
			nodes = append(nodes, store.Node{Key: key, Type: "resource", ID: "m", Edges: []store.Edge{{Target: "Plan", Relation: "shows", Weight: 0.5}}})
		case "plan":
			nodes = append(nodes, store.Node{Key: key, Type: "resource", ID: "p", Summary: "A <plan>"})
		}
	}
	return nodes, s.err
}

func (s *shelf) Inward(context.Context, []string, []string, int) ([]store.Link, error) {
	return nil, s.err
}

func (s *shelf) Load(_ context.Context, nodes ...store.Node) ([]json.RawMessage, error) {
	return make([]json.RawMessage, len(nodes)), s.err
}

func (s *shelf) Search(_ context.Context, queries ...store.SearchQuery) ([]store.Match, error) {
	q := queries[0]
	s.asked = fmt.Sprint(q.Text, " ", q.Table, " ", q.Hybrid, " ", q.Limit)
	return []store.Match{{Key: "map", Type: "resource", Score: 0.25, Data: json.RawMessage(`{"content":"Go there."}`)}}, s.err
}

func (s *shelf) Select(_ context.Context, sql string, b store.SelectBounds) (store.Selection, error) {
	s.asked = fmt.Sprint(sql, " ", b.Rows)
	if i := strings.Index(sql, "nmae"); i >= 0 {
		return store.Selection{}, &store.SelectError{Position: i + 1, Problem: "there is no column nmae"}
	}
	found := store.Selection{Columns: []string{"n", "text"}}
	for i := range b.Rows {
		found.Rows = append(found.Rows, []any{int64(i), s.docs["row"]})
	}
	return found, s.err
}

func (s *shelf) Tables() []store.TableInfo {
	return []store.TableInfo{{Name: "resources", Type: "resource", EmbeddingField: "content"}}
}

// engine is nil for no store.
func engine(k rem.Knowledge) *rem.Engine {
	if k == nil {
		return nil
	}
	return rem.New(rem.Options{Knowledge: k})
}

func search(t *testing.T, k rem.Knowledge, args string) (tool.Result, error) {
	t.Helper()
	s, err := builtin.NewSearch(engine(k))
	if err != nil {
		t.Fatal(err)
	}
	return s.Call(t.Context(), tool.Call{Name: "search", Arguments: json.RawMessage(args)})
}

func TestSearch(t *testing.T) {
	s := &shelf{docs: map[string]string{"plan": "Do it.", "map": "Go there."}}
	const planRow = `{"key":"plan","entity_type":"resource","similarity_score":1,"summary":"About plan","data":{"content":"Do it.","name":"plan","tags":["t"]}}`
	const mapRow = `{"key":"map","entity_type":"resource","similarity_score":1,"summary":"About map","data":{"content":"Go there.","name":"map","tags":["t"]}}`
	const meant = `{"key":"map","entity_type":"resource","similarity_score":0.25,"data":{"content":"Go there."}}`
	const near = `{"key":"plan","entity_type":"resource","similarity_score":0.5,"summary":"A <plan>"}`
	for args, want := range map[string]string{
		`{"query":"LOOKUP plan"}`:                          `{"status":"success","query_type":"LOOKUP","key":"plan","found":true,"results":[` + planRow + `],"count":1}`,
		`{"query":"lookup [plan, map, plam]"}`:             `{"status":"success","query_type":"LOOKUP","key":["plan","map","plam"],"found":true,"results":[` + planRow + `,` + mapRow + `],"count":2,"missing":["plam"],"suggestions":["plan"]}`,
		`{"query":"LOOKUP plam"}`:                          `{"status":"success","query_type":"LOOKUP","key":"plam","found":false,"results":[],"count":0,"suggestions":["plan"]}`,
		`{"query":"LOOKUP zzz"}`:                           `{"status":"success","query_type":"LOOKUP","key":"zzz","found":false,"results":[],"count":0}`,
		`{"query":"FUZZY plam"}`:                           `{"status":"success","query_type":"FUZZY","text":"plam","results":[` + near + `],"count":1}`,
		`{"query":"what is the plan?"}`:                    `{"status":"success","query_type":"FUZZY","text":"what is the plan?","results":[` + near + `],"count":1}`,
		`{"query":"SEARCH the plan IN resources LIMIT 3"}`: `{"status":"success","query_type":"SEARCH","search_text":"the plan","table":"resources","results":[` + meant + `],"count":1,"notes":["Ranked by words alone: no embedding model is configured."]}`,
		`{"query":"zzz"}`:                                  `{"status":"success","query_type":"SEARCH","search_text":"zzz","table":"resources","results":[` + meant + `],"count":1,"notes":["Ranked by words alone: no embedding model is configured."]}`,
		`{"query":"TRAVERSE map"}`: `{"status":"success","query_type":"TRAVERSE","entity_key":"map","depth":1,"results":[{"key":"map","entity_type":"resource","depth":0,"weight":1,"path":["map"]},` +
			`{"key":"plan","entity_type":"resource","depth":1,"relation":"shows","weight":0.5,"path":["map","plan"],"summary":"A <plan>"}],"count":2}`,
		`{"query":"TRAVERSE map DEPTH 0"}`: `{"status":"success","query_type":"TRAVERSE","entity_key":"map","depth":0,"results":[{"key":"map","entity_type":"resource","depth":0,"weight":1,"path":["map"]}],` +
			`"count":1,"edge_summary":[{"relation":"shows","count":1,"targets":["plan"]}]}`,
		`{"query":"TRAVERSE plam"}`:      `{"status":"success","query_type":"TRAVERSE","depth":1,"results":[],"count":0,"missing":["plam"],"suggestions":["plan"]}`,
		`{"query":"SELECT 1","limit":2}`: `{"status":"success","query_type":"SQL","raw_query":"SELECT 1","results":[{"n":0,"text":""},{"n":1,"text":""}],"count":2}`,
		`{"query":"EXPLAIN LOOKUP plan"}`: `{"status":"success","query_type":"EXPLAIN","results":[],"count":0,"plan":{"query":"LOOKUP plan","query_type":"LOOKUP","steps":[{"operation":"read the rows of 1 key",` +
			`"index":"primary key of kv_store (tenant_id, owner, entity_key, entity_type)","bound":"1 key, 20 at most; the own row, the tenant's shared and p8's of each kind"}],"timeout":"5s"}}`,
		`{"query":"FUZZY zzz"}`: `{"status":"success","query_type":"FUZZY","text":"zzz","results":[],"count":0}`,
	} {
		got, err := search(t, s, args)
		if err != nil || got.Failed || got.Content != want {
			t.Errorf("%s: %+v, %v\nwant %s", args, got, err, want)
		}
	}
}

func TestSearchLimits(t *testing.T) {
	s := new(shelf)
	for args, want := range map[string]string{
		`{"query":"FUZZY a"}`:                                 "a 0.3 20",
		`{"query":"FUZZY a","limit":5}`:                       "a 0.3 5",
		`{"query":"FUZZY a THRESHOLD 0.6 LIMIT 7","limit":5}`: "a 0.6 7",
		`{"query":"plain  words","limit":5000}`:               "plain words 0.2 100",
		`{"query":"zzz"}`:                                     "zzz resources true 20",
		`{"query":"SEARCH a"}`:                                "a resources true 20",
		`{"query":"SEARCH a LIMIT 10"}`:                       "a resources true 10",
		`{"query":"SQL SELECT 1"}`:                            "SELECT 1 20",
		`{"query":"SQL SELECT 1 LIMIT 50"}`:                   "SELECT 1 LIMIT 50 1000",
		`{"query":"SQL resources LIMIT 50"}`:                  "SELECT * FROM resources LIMIT 50 1000",
		`{"query":"` + strings.Repeat("é", 600) + `"}`:        strings.Repeat("é", 512) + " 0.2 20",
	} {
		if _, err := search(t, s, args); err != nil || s.asked != want {
			t.Errorf("%.60s: asked %.60q, %v; want %.60q", args, s.asked, err, want)
		}
	}
	tl, err := builtin.NewSearch(engine(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"query":"a","limit":0}`, `{"query":"a","limit":101}`, `{}`, `{"query":"a","user_id":"u"}`} {
		if err := tool.Validate(t.Context(), tl, json.RawMessage(args)); err == nil {
			t.Errorf("%s is valid", args)
		}
	}
}

func TestSearchFails(t *testing.T) {
	for query, want := range map[string]string{
		"SEARCH x table=y":                   `column 16: there is no table "y"; the tables are resources; write SEARCH text`,
		"SEARCH x field=y":                   `the field "y" of resources has no vectors; content has; write SEARCH text`,
		"TRAVERSE":                           "column 9: TRAVERSE needs a key; write TRAVERSE key",
		"SQL DELETE FROM resources":          `column 5: SQL takes one SELECT or WITH query, or the name of a table; "DELETE" is neither`,
		"REM SQL SELECT nmae FROM resources": "column 16: there is no column nmae",
		"LOOKUP":                             "column 7: LOOKUP needs a key; write LOOKUP key",
		"":                                   "column 1: the query is empty",
	} {
		args, _ := json.Marshal(map[string]string{"query": query})
		got, err := search(t, new(shelf), string(args))
		var answer struct{ Status, Error, Query string }
		if e := json.Unmarshal([]byte(got.Content), &answer); e != nil || err != nil || !got.Failed ||
			answer.Status != "error" || !strings.HasPrefix(answer.Error, want) || answer.Query != query {
			t.Errorf("%q: %+v, %v, %v", query, got, err, e)
		}
	}
	got, err := search(t, nil, `{"query":"LOOKUP x"}`)
	if err != nil || !got.Failed || !strings.Contains(got.Content, "nothing is stored in this configuration") {
		t.Errorf("without a store: %+v, %v", got, err)
	}
	broken := errors.New("disk on fire")
	for _, query := range []string{"LOOKUP x", "FUZZY x", "SEARCH x", "TRAVERSE x", "SQL SELECT 1", "plain words"} {
		if _, err := search(t, &shelf{err: broken}, `{"query":"`+query+`"}`); !errors.Is(err, broken) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestSearchGivesWholeMessages(t *testing.T) {
	long := strings.Repeat("all of it. ", 10000)
	got, err := search(t, &shelf{docs: map[string]string{"long": long}}, `{"query":"REM LOOKUP session-s1-msg-4"}`)
	var answer struct {
		Found   bool
		Results []struct {
			EntityType string `json:"entity_type"`
			Data       store.Message
		}
	}
	if e := json.Unmarshal([]byte(got.Content), &answer); e != nil || err != nil || !answer.Found {
		t.Fatalf("%.200s, %v, %v", got.Content, err, e)
	}
	if row := answer.Results[0]; row.EntityType != "message" || *row.Data.Content != long {
		t.Errorf("got %.200s", got.Content)
	}
}

func TestSearchIsBounded(t *testing.T) {
	docs := map[string]string{"huge": strings.Repeat("é\n", 1<<20), "row": strings.Repeat("row\n", 3000)}
	var keys []string
	for i := range 20 {
		keys = append(keys, fmt.Sprint("k", i))
		docs[keys[i]] = strings.Repeat("word ", 4000)
	}
	for query, c := range map[string]struct {
		most int
		note string
	}{
		"LOOKUP huge":                        {300 << 10, "characters\",\"the row is longer than a result can be\"]"},
		"LOOKUP " + strings.Join(keys, ", "): {17_000, "of 20000 characters\",\"LOOKUP k0 alone gives all of it\"]"},
		"SQL SELECT 1 LIMIT 5":               {17_000, "of 12000 characters\",\"SELECT fewer columns or rows, or LEFT(column, 500)\"]"},
		"SQL SELECT 1 LIMIT 1000":            {17_000, "of 1000 rows are left out: together they are longer than a result can be"},
	} {
		got, err := search(t, &shelf{docs: docs}, `{"query":"`+query+`"}`)
		if err != nil || len(got.Content) > c.most || !json.Valid([]byte(got.Content)) || !strings.Contains(got.Content, c.note) {
			t.Errorf("%s: %d bytes, %v, %.300s", query, len(got.Content), err, got.Content)
		}
		if len(got.Content) < c.most/2 {
			t.Errorf("%s: only %d bytes of %d", query, len(got.Content), c.most)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	s, err := builtin.NewSearch(engine(&shelf{docs: map[string]string{"plan": strings.Repeat("Do it. ", 100)}}))
	if err != nil {
		b.Fatal(err)
	}
	call := tool.Call{Arguments: json.RawMessage(`{"query":"LOOKUP plan"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Call(b.Context(), call); err != nil {
			b.Fatal(err)
		}
	}
}
