package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/ask"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

// TestQueryFailures: errors of the engine and the asker as a client reads them.
func TestQueryFailures(t *testing.T) {
	syntax := &rem.SyntaxError{Column: 12, Problem: "the text is empty"}
	for name, c := range map[string]struct {
		err    error
		status int
		want   string
		column float64
	}{
		"syntax":   {syntax, 400, "the text is empty", 12},
		"too slow": {fmt.Errorf("%w: it may take 5s; ask for less", rem.ErrTimeout), 400, "it may take 5s", 0},
		"input":    {&ask.InputError{Field: "plan", Message: "the plan is empty"}, 400, "the plan is empty", 0},
		"stage":    {&ask.StageError{Stage: 2, Err: syntax}, 400, "stage 2: column 12: the text is empty", 12},
		"no model": {&llm.Error{Kind: llm.NotFound, Model: "opneai:gpt"}, 404, "there is no model opneai:gpt", 0},
		"provider": {&llm.Error{Kind: llm.Unavailable, Model: "openai:gpt", Status: 500, Err: errors.New("sk-secret")}, 503, "is unavailable", 0},
		"crowded":  {&store.BusyError{RetryAfter: 2 * time.Second}, 503, "other queries are running; try again in 2s", 0},
		"crowded by its own": {&store.BusyError{Own: true, Waited: time.Second, RetryAfter: 1500 * time.Millisecond}, 429,
			"the query was not run, as your tenant's other queries are still running (it waited 1s)", 0},
		"a bug":    {errors.New("/secret/path"), 500, "its log says what", 0},
		"the disk": {&store.Failure{}, 500, "its log says what", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, k, a := queryServer(t, nil)
			k.err, a.err = c.err, c.err
			busy := new(store.BusyError)
			for path, body := range map[string]string{
				"/query": `{"query":"LOOKUP x"}`, "/query/raw": `{"query":"LOOKUP x"}`, "/ask": `{"query":"x"}`,
				"/api/v1/query": `{"mode":"staged-plan","plan":[{"query":"LOOKUP x"}]}`,
			} {
				w := s.do("POST", path, body)
				var problem map[string]any
				must(t, json.Unmarshal(w.Body.Bytes(), &problem))
				detail, _ := problem["detail"].(string)
				column, _ := problem["column"].(float64)
				if retry := w.Header().Get("Retry-After"); errors.As(c.err, &busy) && retry != "2" {
					t.Errorf("%s: Retry-After is %q", path, retry)
				}
				if w.Code != c.status || !strings.Contains(detail, c.want) || column != c.column || strings.Contains(w.Body.String(), "secret") {
					t.Errorf("%s: %d %s", path, w.Code, w.Body)
				}
			}
		})
	}
}

// TestQueryIdentity: a body never sets the caller.
func TestQueryIdentity(t *testing.T) {
	for _, trust := range []bool{true, false} {
		s, k, a := queryServer(t, func(o *api.Options) { o.TrustHeaders = trust })
		want := identity.Identity{TenantID: identity.DefaultTenant}
		if trust {
			want.UserID, want.TenantID = "alice", "acme"
		}
		for path, body := range map[string]string{
			"/query":        `{"mode":"LOOKUP","key":"x","user_id":"mallory","tenant_id":"other"}`,
			"/query/raw":    `{"query":"LOOKUP x","user_id":"mallory","tenant_id":"other"}`,
			"/ask":          `{"query":"x","user_id":"mallory","tenant_id":"other"}`,
			"/api/v1/query": `{"mode":"staged-plan","plan":[{"query":"LOOKUP x"}],"user_id":7}`,
		} {
			k.id, a.id = identity.Identity{}, identity.Identity{}
			w := s.do("POST", path, body, "X-User-Id: alice", "X-Tenant-Id: acme")
			got := k.id
			if a.id.TenantID != "" {
				got = a.id
			}
			if w.Code != 200 || got.UserID != want.UserID || got.TenantID != want.TenantID {
				t.Errorf("%s: %d, %+v, want %+v", path, w.Code, got, want)
			}
		}
	}
}

// TestQuestion: the fields of the body reach the asker.
func TestQuestion(t *testing.T) {
	s, _, a := queryServer(t, nil)
	s.do("POST", "/ask", `{"query":"Who?","question":"What?","model":"openai:o3","plan_only":true}`)
	if a.question != "Who?" || a.req != (ask.Request{Model: "openai:o3", PlanOnly: true}) {
		t.Errorf("%q %+v", a.question, a.req)
	}
	s.do("POST", "/query", `{"mode":"STAGED-PLAN","resume_from_stage":2,"model":"m","plan_only":true,
		"plan":[{"stage":1,"intent":"people","name":"people"},{"stage":2,"query":"LOOKUP ${people.key}","depends_on":[1,"people"]}],
		"previous_results":[{"stage":1,"name":"people","query_executed":"FUZZY x","results":[{"key":"a"}],"count":1}]}`)
	want := ask.Plan{
		Stages: []ask.Stage{
			{Stage: 1, Intent: "people", Name: "people"},
			{Stage: 2, Query: "LOOKUP ${people.key}", DependsOn: []ask.Ref{"1", "people"}},
		},
		Previous:   []ask.StageResult{{Stage: 1, Name: "people", Query: "FUZZY x", Results: []json.RawMessage{json.RawMessage(`{"key":"a"}`)}, Count: 1}},
		ResumeFrom: 2, PlanOnly: true, Model: "m",
	}
	if diff := cmp.Diff(want, a.plan); diff != "" {
		t.Error(diff)
	}
}

// FuzzQueryBody: no body makes the server fail, and every query that runs survives a round
// trip.
func FuzzQueryBody(f *testing.F) {
	for _, s := range []string{
		`{"mode":"LOOKUP","key":"a"}`, `{"mode":"SEARCH","query":"\" FROM users","table":"x"}`, `{"mode":"TRAVERSE","key":"a\" TYPE b","rel_type":"c"}`,
		`{"mode":"staged-plan","plan":[{"depends_on":["a"]}]}`, `{"query":"SQL SELECT 1","limit":1e3}`, `{"mode":"FUZZY","query":"\\"}`,
	} {
		f.Add(s)
	}
	k := new(knowledge)
	h := api.New(api.Options{Chat: new(spy), Catalog: broken{}, Knowledge: k, Asker: new(asker), Logger: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, body string) {
		k.query = ""
		w := (&server{Handler: h}).do("POST", "/query", body, "Content-Type: application/json")
		if w.Code != http.StatusOK && (w.Code < 400 || w.Code >= 500) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if k.query == "" {
			return
		}
		if back, err := rem.Parse(k.query); err != nil || back.String() != k.query {
			t.Errorf("%s reads back as %v, %v", k.query, back, err)
		}
	})
}
