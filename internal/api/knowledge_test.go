package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// knowing returns a server with the real store, engine and asker, without a language model;
// alice and bob each have a row of the same name.
func knowing(t *testing.T) *server {
	t.Helper()
	var set setup
	set.api.TrustHeaders = true
	set.knowledge = true
	s := newServer(t, set)
	for _, user := range []string{"alice", "bob"} {
		ctx := identity.With(context.Background(), identity.Identity{UserID: user, TenantID: "acme"})
		must(t, s.store.Ontologies().Put(ctx, &store.Ontology{Name: "Sarah Chen", Content: "Known to " + user + ".", Base: store.Base{
			GraphEdges: []store.Edge{{Target: "project-alpha", Relation: "manages", Weight: 1}},
		}}))
		must(t, s.store.Ontologies().Put(ctx, &store.Ontology{Name: "Project Alpha", Content: "A project of " + user + "."}))
	}
	return s
}

// engine returns the engine and the asker over a store.
func engine(t testing.TB, s *store.Store) (*rem.Engine, *ask.Asker) {
	t.Helper()
	e := rem.New(rem.Options{Knowledge: s})
	a, err := ask.New(ask.Options{Engine: e, Now: now})
	must(t, err)
	return e, a
}

// TestKnowledge: every route and mode over a real store shows the caller's rows.
func TestKnowledge(t *testing.T) {
	s := knowing(t)
	for _, c := range []struct{ path, body, want string }{
		{"/query/", `{"mode":"LOOKUP","key":"sarah-chen"}`, `"Known to %s."`},
		{"/query/", `{"mode":"LOOKUP","key":"sarah-chen, project-alpha"}`, `A project of %s.`},
		{"/query/", `{"mode":"FUZZY","query":"sara chen"}`, `Known to %s.`},
		{"/query/", `{"mode":"TRAVERSE","key":"sarah-chen","rel_type":"manages"}`, `A project of %s.`},
		{"/query/", `{"mode":"SEARCH","query":"known","table":"ontologies"}`, `Known to %s.`},
		{"/query/", `{"mode":"SQL","query":"SELECT content FROM ontologies WHERE name = 'Sarah Chen'"}`, `[{"content":"Known to %s."}]`},
		{"/query/", `{"query":"TRAVERSE WITH FUZZY sara chen"}`, `"query_type":"TRAVERSE"`},
		{"/query/raw", `{"query":"LOOKUP sarah-chen"}`, `"Known to %s."`},
		{"/query/raw", `{"query":"EXPLAIN LOOKUP sarah-chen"}`, `"plan":{`},
		{"/query/", `{"mode":"SQL","query":"EXPLAIN LOOKUP sarah-chen"}`, `[{`},
		{"/query/", `{"mode":"natural-language","query":"Who is Sarah Chen?"}`, `"Known to %s."`},
		{"/ask", `{"query":"What does Sarah Chen manage?"}`, `A project of %s.`},
		{"/query/", `{"mode":"staged-plan","plan":[{"stage":1,"query":"FUZZY sara chen LIMIT 1"},{"stage":2,"query":"SQL SELECT content FROM ontologies WHERE name = 'x' OR content LIKE '%known%'","depends_on":[1]}]}`, `"stage_results":[{`},
		{"/query/", `{"mode":"staged-plan","plan":[{"stage":1,"query":"FUZZY sara chen LIMIT 1"},{"stage":2,"query":"LOOKUP ${stage1.keys}"}]}`, `Known to %s.`},
	} {
		for _, user := range []string{"alice", "bob"} {
			other := map[string]string{"alice": "bob", "bob": "alice"}[user]
			w := s.do("POST", c.path, c.body, "X-User-Id: "+user, "X-Tenant-Id: acme")
			want := strings.ReplaceAll(c.want, "%s", user)
			if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, want) || strings.Contains(got, "to "+other) || strings.Contains(got, "of "+other) {
				t.Errorf("%s for %s: %d %s", c.body, user, w.Code, got)
			}
		}
		w := s.do("POST", c.path, c.body, "X-User-Id: alice", "X-Tenant-Id: other")
		if got := w.Body.String(); strings.Contains(got, "Known to") || strings.Contains(got, "project of") {
			t.Errorf("%s in another tenant: %d %s", c.body, w.Code, got)
		}
	}
}

// TestChecklistQueries: the queries of p8's checklist, as its curl lines send them.
func TestChecklistQueries(t *testing.T) {
	s := knowing(t)
	for _, body := range []string{
		`{"mode":"SQL","query":"SELECT message_type, tool_calls, LEFT(content,100) FROM messages WHERE message_type IN ('tool_call','tool_response') ORDER BY created_at LIMIT 10"}`,
		`{"mode":"SQL","query":"SELECT input_tokens, output_tokens, latency_ms, model FROM messages WHERE message_type='assistant' AND input_tokens > 0 LIMIT 5"}`,
		`{"mode":"SQL","query":"SELECT json_schema->>'temperature' AS temperature FROM schemas WHERE name='dreaming-agent'"}`,
	} {
		w := s.do("POST", "/query/", body)
		var rows []map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &rows); w.Code != 200 || err != nil {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
}

// TestWrongSQL: the position of a mistake refers to the client's text.
func TestWrongSQL(t *testing.T) {
	s := knowing(t)
	for body, column := range map[string]float64{
		`{"mode":"SQL","query":"SELECT nmae FROM schemas"}`:   8,
		`{"query":"SQL SELECT nmae FROM schemas"}`:            12,
		`{"query":"DELETE FROM schemas"}`:                     1,
		`{"mode":"SQL","query":"SELECT 1; DROP TABLE users"}`: 11,
	} {
		w := s.do("POST", "/query", body)
		var problem struct {
			Column float64 `json:"column"`
			Detail string  `json:"detail"`
		}
		must(t, json.Unmarshal(w.Body.Bytes(), &problem))
		if w.Code != 400 || problem.Column != column || problem.Detail == "" {
			t.Errorf("%s: %d %s, want column %v", body, w.Code, w.Body, column)
		}
	}
}

// TestUpload: only its owner finds an uploaded file.
func TestUpload(t *testing.T) {
	s := knowing(t)
	body, kind := form(part{"file", "tea-ceremony.md", "text/markdown", "# Tea ceremony\n\nWater first, then [Sarah](sarah-chen.md).\n"}, part{name: "category", value: "culture"})
	var got struct {
		File        store.File `json:"file"`
		ResourceIDs []string   `json:"resource_ids"`
		Chunks      int        `json:"chunk_count"`
		Status      string     `json:"status"`
		Key         string     `json:"key"`
	}
	for _, status := range []string{"written", "unchanged"} {
		w := s.do("POST", "/content/", body, kind, "X-User-Id: alice", "X-Tenant-Id: acme")
		must(t, json.Unmarshal(w.Body.Bytes(), &got))
		if w.Code != 201 || got.File.ID == "" || got.File.ParsedContent != "" || len(got.ResourceIDs) != 1 || got.Chunks != 1 || got.Key != "tea-ceremony" || got.Status != status {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	for user, found := range map[string]bool{"alice": true, "bob": false} {
		w := s.do("POST", "/query", `{"mode":"LOOKUP","key":"tea-ceremony"}`, "X-User-Id: "+user, "X-Tenant-Id: acme")
		if w.Code != 200 || strings.Contains(w.Body.String(), "Water first") != found {
			t.Errorf("for %s: %d %s", user, w.Code, w.Body)
		}
	}
	body, kind = form(part{"file", "photo.bin", "image/png", "\x89PNG\r\n\x1a\n\x00\x00"})
	if w := s.do("POST", "/content/", body, kind); w.Code != 415 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
