package api_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/rem"
)

// knowledge records its queries and callers, and finds one row, or fails.
type knowledge struct {
	id    identity.Identity
	query string
	err   error
}

func (k *knowledge) Run(ctx context.Context, text string) (rem.Result, error) {
	q, err := rem.Parse(text)
	if err != nil {
		return rem.Result{}, err
	}
	k.id, _ = identity.From(ctx)
	k.query = q.String()
	return rem.Result{QueryType: q.Verb(), Results: []rem.Row{{Key: "sarah-chen", EntityType: "resource", Score: 1}}, Count: 1}, k.err
}

// asker records its questions and answers with one query, or fails.
type asker struct {
	id       identity.Identity
	question string
	req      ask.Request
	plan     ask.Plan
	err      error
}

func (a *asker) Ask(ctx context.Context, question string, req ask.Request) (ask.Answer, error) {
	a.id, _ = identity.From(ctx)
	a.question, a.req = question, req
	return ask.Answer{
		QueryType: rem.LOOKUP, Query: "LOOKUP sarah-chen", Confidence: 1, Executed: !req.PlanOnly, PlanOnly: req.PlanOnly, Model: "rules",
		Results: []rem.Row{{Key: "sarah-chen", EntityType: "resource", Score: 1}}, Count: 1,
	}, a.err
}

func (a *asker) Run(ctx context.Context, p ask.Plan) ([]ask.StageResult, error) {
	a.id, _ = identity.From(ctx)
	a.plan = p
	return []ask.StageResult{
		{Stage: 1, Name: "people", QueryType: rem.FUZZY, Query: `FUZZY "sara"`, Results: []json.RawMessage{json.RawMessage(`{"key":"sarah-chen"}`)}, Count: 1},
		{Stage: 2, QueryType: rem.LOOKUP, Query: "LOOKUP sarah-chen", Results: []json.RawMessage{json.RawMessage(`{"key":"sarah-chen","data":{}}`)}, Count: 1},
	}, a.err
}

// queryServer returns a server whose knowledge and asker are recorded.
func queryServer(t testing.TB, change func(*api.Options)) (*server, *knowledge, *asker) {
	t.Helper()
	k, a := new(knowledge), new(asker)
	o := api.Options{Chat: new(spy), Catalog: broken{}, Knowledge: k, Asker: a, TrustHeaders: true, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	return &server{Handler: api.New(o)}, k, a
}

// TestModes: the query that each of p8's modes becomes.
func TestModes(t *testing.T) {
	s, k, _ := queryServer(t, nil)
	for body, want := range map[string]string{
		`{"mode":"LOOKUP","key":"sarah-chen"}`:                                                                              `LOOKUP sarah-chen`,
		`{"mode":"lookup","key":"sarah-chen, Mike Ross"}`:                                                                   `LOOKUP sarah-chen, "Mike Ross"`,
		`{"mode":"Fuzzy","query":"sara in type limit 3"}`:                                                                   `FUZZY "sara in type limit 3"`,
		`{"mode":"FUZZY","query":"say \"hi\" \\","threshold":0.5,"limit":7}`:                                                `FUZZY "say \"hi\" \\" THRESHOLD 0.5 LIMIT 7`,
		`{"mode":"SEARCH","query":"x","table":"resources, moments"}`:                                                        `SEARCH x FROM resources, moments`,
		`{"mode":"SEARCH","query":"people from berlin"}`:                                                                    `SEARCH "people from berlin"`,
		`{"mode":"SEARCH","query":"x","table":"moments","field":"summary","category":"a b","limit":5,"min_similarity":0.2}`: `SEARCH x FROM moments FIELD summary CATEGORY "a b" MIN_SIMILARITY 0.2 LIMIT 5`,
		`{"mode":"TRAVERSE","key":"sarah-chen"}`:                                                                            `TRAVERSE sarah-chen`,
		`{"mode":"TRAVERSE","key":"Sarah Chen","rel_type":"manages, works_on","max_depth":0,"limit":3}`:                     `TRAVERSE "Sarah Chen" TYPE manages,works_on DEPTH 0 LIMIT 3`,
		`{"mode":"SQL","query":"SELECT name FROM schemas LIMIT 1"}`:                                                         `SQL SELECT name FROM schemas LIMIT 1`,
		`{"mode":"SQL","query":"LOOKUP sarah-chen"}`:                                                                        `LOOKUP sarah-chen`,
		`{"query":"REM LOOKUP sarah-chen"}`:                                                                                 `LOOKUP sarah-chen`,
		`{"mode":"rem-dialect","query":"EXPLAIN LOOKUP sarah-chen"}`:                                                        `EXPLAIN LOOKUP sarah-chen`,
	} {
		canonical, err := rem.Parse(want)
		must(t, err)
		w := s.do("POST", "/query/", body)
		if w.Code != http.StatusOK || k.query != canonical.String() {
			t.Errorf("%s:\n got %d %s %s\nwant %s", body, w.Code, k.query, w.Body, canonical)
		}
	}
}

// TestQueryAnswers pins the answers of every mode and mistake.
func TestQueryAnswers(t *testing.T) {
	const user = "X-User-Id: alice"
	for _, c := range []restCase{
		{name: "lookup", path: "/query/", body: `{"mode":"LOOKUP","key":"sarah-chen"}`},
		{name: "dialect", path: "/api/v1/query", body: `{"query":"LOOKUP sarah-chen"}`},
		{name: "natural", path: "/v1/query/", body: `{"mode":"natural-language","query":"Who is Sarah Chen?","model":"openai:gpt-4.1"}`},
		{name: "natural-plan-only", path: "/query", body: `{"mode":"natural-language","query":"Who is Sarah Chen?","plan_only":true}`},
		{name: "staged", path: "/query", body: `{"mode":"staged-plan","plan":[{"stage":1,"name":"people","query":"FUZZY sara"},{"stage":2,"query":"LOOKUP ${people.keys}"}]}`},
		{name: "raw", path: "/query/raw", body: `{"query":"LOOKUP sarah-chen"}`},
		{name: "ask", path: "/ask", body: `{"question":"Who is Sarah Chen?"}`},

		{name: "mode-unknown", path: "/query", body: `{"mode":"TIMELINE","query":"x"}`},
		{name: "lookup-no-key", path: "/query", body: `{"mode":"LOOKUP","query":"sarah-chen"}`},
		{name: "lookup-empty-keys", path: "/query", body: `{"mode":"LOOKUP","key":","}`},
		{name: "traverse-no-key", path: "/query", body: `{"mode":"TRAVERSE"}`},
		{name: "fuzzy-no-query", path: "/query", body: `{"mode":"FUZZY","key":"x"}`},
		{name: "search-no-query", path: "/query", body: `{"mode":"SEARCH","table":"resources"}`},
		{name: "search-table", path: "/query", body: `{"mode":"SEARCH","query":"x","table":"resources LIMIT 100"}`},
		{name: "sql-no-query", path: "/query", body: `{"mode":"SQL"}`},
		{name: "limit-negative", path: "/query", body: `{"mode":"FUZZY","query":"x","limit":-1}`},
		{name: "limit-huge", path: "/query", body: `{"mode":"FUZZY","query":"x","limit":100000}`},
		{name: "limit-type", path: "/query", body: `{"mode":"FUZZY","query":"x","limit":"5"}`},
		{name: "rel-type", path: "/query", body: `{"mode":"TRAVERSE","key":"x","rel_type":"a b"}`},
		{name: "query-missing", path: "/query", body: `{}`},
		{name: "query-column", path: "/query", body: `{"query":"LOOKUP sarah-chen, \"mike"}`},
		{name: "query-empty", path: "/query", body: ` `},
		{name: "query-type", path: "/query", body: `{"query":1}`},
		{name: "query-json", path: "/query", body: `{"query":`},
		{name: "query-media-type", path: "/query", body: `query=x`, headers: []string{"Content-Type: application/x-www-form-urlencoded"}},
		{name: "query-get", method: "GET", path: "/query"},
		{name: "raw-missing", path: "/query/raw", body: `{"query":" "}`},
		{name: "raw-column", path: "/query/raw", body: `{"query":"FUZZY x LIMIT 0"}`},
		{name: "stage-dependency", path: "/query", body: `{"mode":"staged-plan","plan":[{"stage":1,"query":"LOOKUP a","depends_on":[true]}]}`},

		{name: "query-none", path: "/query", body: `{"query":"LOOKUP x"}`, noStore: true},
		{name: "raw-none", path: "/query/raw", body: `{"query":"LOOKUP x"}`, noStore: true},
		{name: "ask-none", path: "/ask", body: `{"query":"x"}`, noStore: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, k, a := queryServer(t, func(o *api.Options) {
				if c.noStore {
					o.Knowledge, o.Asker = nil, nil
				}
			})
			if c.method == "" {
				c.method = "POST"
			}
			w := s.do(c.method, c.path, c.body, append(c.headers, user, "X-Request-Id: of the client")...)
			goldenResponse(t, "query", c.name, w)
			if k.query != "" && k.id.UserID != "alice" || a.question != "" && a.id.UserID != "alice" {
				t.Errorf("it was asked for %+v, %+v", k.id, a.id)
			}
		})
	}
}
