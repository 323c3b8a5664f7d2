package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine records the queries that it runs; each finds the keys set for it.
type engine struct {
	index
	mu    sync.Mutex
	ran   []string
	finds map[string][]string
	fails map[string]error
}

func (e *engine) Execute(_ context.Context, q rem.Query) (rem.Result, error) {
	e.mu.Lock()
	e.ran = append(e.ran, q.String())
	e.mu.Unlock()
	res := rem.Result{QueryType: q.Verb(), Results: []rem.Row{}}
	for _, key := range e.finds[q.String()] {
		res.Results = append(res.Results, rem.Row{Key: key})
	}
	res.Count = len(res.Results)
	if t, ok := q.(rem.Traverse); ok && t.Plan {
		res.EdgeSummary = []rem.EdgeSummary{{Relation: "manages", Count: 1}}
	}
	return res, e.fails[q.String()]
}

// onlyModel is one model under every name but one.
type onlyModel struct {
	*scripted.Model
	mu    sync.Mutex
	asked []string
}

func (m *onlyModel) Resolve(name string) (llm.Model, error) {
	m.mu.Lock()
	m.asked = append(m.asked, name)
	m.mu.Unlock()
	if name == "opneai:gpt" {
		return nil, &llm.Error{Kind: llm.NotFound, Model: name}
	}
	return m.Model, nil
}

// setup returns an Asker on a scripted model.
func setup(t *testing.T, e *engine, turns ...scripted.Turn) (*Asker, *onlyModel) {
	t.Helper()
	documents, err := catalog.New(catalog.Options{Builtin: agents.Files()})
	if err != nil {
		t.Fatal(err)
	}
	m := &onlyModel{Model: scripted.NewWith(scripted.Options{Capabilities: llm.Capabilities{NativeOutput: true}}, turns...)}
	a, err := New(Options{
		Engine: e, Catalog: documents, Models: m, DefaultModel: "scripted:default",
		Now: func() time.Time { return time.Date(2026, 11, 20, 15, 30, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, m
}

func caller(t *testing.T) context.Context {
	return identity.With(t.Context(), identity.Identity{UserID: "alice", TenantID: "acme"})
}

// TestAnswers: the answers made of a model's proposals. The type and the parameters are
// those of the parsed query, whatever the model claims.
func TestAnswers(t *testing.T) {
	two, one := 2, 1
	for name, c := range map[string]struct {
		says string
		req  Request
		want Answer
		ran  []string
	}{
		"a key": {
			says: `{"query_type":"LOOKUP","query":"LOOKUP sarah-chen","confidence":1}`,
			want: Answer{QueryType: rem.LOOKUP, Parameters: Parameters{EntityKey: Keys{"sarah-chen"}}, Query: "LOOKUP sarah-chen", Confidence: 1, Executed: true},
			ran:  []string{"LOOKUP sarah-chen"},
		},
		"a type and parameters that are not the query's": {
			says: `{"query_type":"SQL","parameters":{"entity_key":"mike"},"query":"traverse sarah-chen type manages depth 2","confidence":0.9,"reasoning":"I think so."}`,
			want: Answer{QueryType: rem.TRAVERSE, Parameters: Parameters{EntityKey: Keys{"sarah-chen"}, EdgeTypes: []string{"manages"}, MaxDepth: &two, Limit: 20},
				Query: "TRAVERSE sarah-chen TYPE manages DEPTH 2", Confidence: 0.9, Executed: true},
			ran: []string{"TRAVERSE sarah-chen TYPE manages DEPTH 2"},
		},
		"a field that need not be said": {
			says: `{"query_type":"SEARCH","query":"SEARCH database FROM resources LIMIT 10","confidence":0.95}`,
			want: Answer{QueryType: rem.SEARCH, Parameters: Parameters{QueryText: "database", TableName: "resources", FieldName: "content", Limit: 10},
				Query: `SEARCH "database" FROM resources LIMIT 10`, Confidence: 0.95, Executed: true},
			ran: []string{`SEARCH "database" FROM resources LIMIT 10`},
		},
		"plan only": {
			says: `{"query_type":"LOOKUP","query":"LOOKUP sarah-chen","confidence":1}`, req: Request{PlanOnly: true},
			want: Answer{QueryType: rem.LOOKUP, Parameters: Parameters{EntityKey: Keys{"sarah-chen"}}, Query: "LOOKUP sarah-chen", Confidence: 1, PlanOnly: true},
		},
		"too unsure": {
			says: `{"query_type":"TRAVERSE","query":"TRAVERSE x","confidence":0.69,"reasoning":"Nobody said who."}`,
			want: Answer{QueryType: rem.TRAVERSE, Parameters: Parameters{EntityKey: Keys{"x"}, MaxDepth: &one, Limit: 20}, Query: "TRAVERSE x", Confidence: 0.69,
				Reasoning: "Nobody said who.", Warning: notRun},
		},
		"sure enough": {
			says: `{"query_type":"LOOKUP","query":"LOOKUP a, \"b, c\"","confidence":0.7,"reasoning":"Left out."}`,
			want: Answer{QueryType: rem.LOOKUP, Parameters: Parameters{EntityKey: Keys{"a", "b, c"}}, Query: `LOOKUP a, "b, c"`, Confidence: 0.7, Executed: true},
			ran:  []string{`LOOKUP a, "b, c"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &engine{}
			a, m := setup(t, e, scripted.Text(c.says))
			got, err := a.Ask(caller(t), "Who?", c.req)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Results, c.want.Model = []rem.Row{}, "scripted:test"
			got.Found = nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.ran, e.ran); diff != "" {
				t.Error(diff)
			}
			m.AssertDone(t)
		})
	}
}

// TestCorrection: an invalid query is sent back once, with the error.
func TestCorrection(t *testing.T) {
	const wrong = `{"query_type":"FUZZY","query":"FUZZY x LIMIT 0","confidence":0.9}`
	const right = `{"query_type":"FUZZY","query":"FUZZY x LIMIT 5","confidence":0.9}`
	t.Run("mended", func(t *testing.T) {
		e := &engine{}
		a, m := setup(t, e, scripted.Text(wrong), scripted.Text(right))
		got, err := a.Ask(caller(t), "Who?", Request{})
		if err != nil || !got.Executed || got.Query != `FUZZY "x" LIMIT 5` {
			t.Errorf("%+v, %v", got, err)
		}
		sent := m.Requests()[1].Messages
		last := sent[len(sent)-1].Content
		if len(sent) != 5 || !strings.Contains(sent[3].Content, "LIMIT 0") || !strings.Contains(last, "column 15: LIMIT is 0") {
			t.Errorf("sent back: %+v", sent)
		}
	})
	t.Run("not mended", func(t *testing.T) {
		e := &engine{}
		a, m := setup(t, e, scripted.Text(wrong), scripted.Text(wrong))
		got, err := a.Ask(caller(t), "Who?", Request{})
		if err != nil || got.Executed || got.Confidence >= MinConfidence || !strings.Contains(got.Reasoning, "LIMIT is 0") || got.Warning == "" || len(e.ran) > 0 {
			t.Errorf("%+v, %v; ran %v", got, err, e.ran)
		}
		m.AssertDone(t)
	})
	t.Run("no answer at all", func(t *testing.T) {
		a, _ := setup(t, &engine{}, scripted.Text("no"), scripted.Text("never"), scripted.Text("nothing"))
		got, err := a.Ask(caller(t), "Who?", Request{})
		if err != nil || got.Executed || got.Confidence != 0 || got.Reasoning == "" || got.Query != "" {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestRefused: a query that the database refuses is a warning; a failing database is an
// error.
func TestRefused(t *testing.T) {
	const says = `{"query_type":"SQL","query":"SQL SELECT nmae FROM moments","confidence":0.9}`
	const query = "SQL SELECT nmae FROM moments"
	e := &engine{fails: map[string]error{query: &rem.SyntaxError{Column: 12, Problem: "there is no column nmae"}}}
	a, _ := setup(t, e, scripted.Text(says), scripted.Text(says))
	got, err := a.Ask(caller(t), "Who?", Request{})
	if err != nil || got.Executed || !strings.Contains(got.Warning, "there is no column nmae") {
		t.Errorf("%+v, %v", got, err)
	}
	e = &engine{fails: map[string]error{query: fmt.Errorf("%w: the condition leaves too many rows", store.ErrInvalid)}}
	a, _ = setup(t, e, scripted.Text(says))
	if got, err = a.Ask(caller(t), "Who?", Request{}); err != nil || got.Executed || !strings.Contains(got.Warning, "too many rows") {
		t.Errorf("%+v, %v", got, err)
	}
	broken := errors.New("broken")
	e = &engine{fails: map[string]error{query: broken}}
	a, _ = setup(t, e, scripted.Text(says))
	if _, err := a.Ask(caller(t), "Who?", Request{}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestAWrittenQueryIsNotGuessed: no model is asked what a query means.
func TestAWrittenQueryIsNotGuessed(t *testing.T) {
	for _, question := range []string{"LOOKUP a", "please run LOOKUP a", " REM LOOKUP a"} {
		a, _ := setup(t, &engine{})
		got, err := a.Ask(caller(t), question, Request{})
		if err != nil || !got.Executed || got.Model != rulesName || got.QueryType != rem.LOOKUP || got.Confidence != 1 {
			t.Errorf("%s: %+v, %v", question, got, err)
		}
	}
	// What cannot be read may be plain words.
	a, _ := setup(t, &engine{}, scripted.Text(`{"query_type":"LOOKUP","query":"LOOKUP b","confidence":1}`))
	if got, err := a.Ask(caller(t), `SEARCH "b`, Request{}); err != nil || got.Query != "LOOKUP b" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestModelOf: the request's model wins over the asker's, which wins over the default;
// without one the rules answer.
func TestModelOf(t *testing.T) {
	const says = `{"query_type":"LOOKUP","query":"LOOKUP a","confidence":1}`
	for _, c := range []struct{ request, options, fallback, want string }{
		{"openai:o3", "openai:mini", "openai:gpt", "openai:o3"},
		{"", "openai:mini", "openai:gpt", "openai:mini"},
		{"", "", "openai:gpt", "openai:gpt"},
		{"", "", "offline:search", ""},
		{"", "", "", ""},
		{"offline", "", "openai:gpt", ""},
		{"rules", "openai:mini", "openai:gpt", ""},
	} {
		a, m := setup(t, &engine{}, scripted.Text(says))
		a.o.Model, a.o.DefaultModel = c.options, c.fallback
		got, err := a.Ask(caller(t), "the a", Request{Model: c.request})
		if err != nil || (got.Query == "LOOKUP a") != (c.want != "") || strings.Join(m.asked, " ") != c.want || (got.Model == rulesName) != (c.want == "") {
			t.Errorf("%+v: asked for %v; %+v, %v", c, m.asked, got, err)
		}
	}
	a, _ := setup(t, &engine{})
	if _, err := a.Ask(caller(t), "x", Request{Model: "opneai:gpt"}); !errors.As(err, new(*llm.Error)) {
		t.Errorf("got %v", err)
	}
	a, _ = setup(t, &engine{}, scripted.Fail(&llm.Error{Kind: llm.Unavailable}))
	if _, err := a.Ask(caller(t), "x", Request{}); !errors.As(err, new(*llm.Error)) {
		t.Errorf("got %v", err)
	}
}

// byName are models by their names.
type byName map[string]llm.Model

func (m byName) Resolve(name string) (llm.Model, error) {
	if model := m[name]; model != nil {
		return model, nil
	}
	return nil, &llm.Error{Kind: llm.NotFound, Model: name}
}

// TestFallback: a model that is down is replaced, and the answer names the model that wrote
// it.
func TestFallback(t *testing.T) {
	a, _ := setup(t, &engine{})
	a.o.Models = byName{
		"scripted:default": scripted.NewWith(scripted.Options{Name: "scripted:default"}, scripted.Fail(&llm.Error{Kind: llm.Unavailable})),
		"scripted:other":   scripted.NewWith(scripted.Options{Name: "scripted:other"}, scripted.Text(`{"query_type":"LOOKUP","query":"LOOKUP a","confidence":1}`)),
	}
	a.o.Fallback = []string{"nobody:knows", "scripted:default", "scripted:other"}
	got, err := a.Ask(caller(t), "x", Request{})
	if err != nil || got.Query != "LOOKUP a" || got.Model != "scripted:other" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestPrompt: the prompt has the date, the grammar and this store's tables.
func TestPrompt(t *testing.T) {
	a, m := setup(t, &engine{}, scripted.Text(`{"query_type":"LOOKUP","query":"LOOKUP a","confidence":1}`))
	if _, err := a.Ask(caller(t), " Who is Sarah? ", Request{}); err != nil {
		t.Fatal(err)
	}
	req := m.Requests()[0]
	if len(req.Messages) != 3 || req.Messages[2].Content != "Who is Sarah?" || req.Output == nil {
		t.Fatalf("%+v", req)
	}
	for _, want := range []string{"Today is Friday, 2026-11-20, 15:30 UTC.", strings.TrimSpace(rem.Grammar()), "- moments: What happened. SEARCH reads its summary.\n  name, summary, starts_timestamp timestamp"} {
		if !strings.Contains(req.Messages[1].Content, want) {
			t.Errorf("%q is not in\n%s", want, req.Messages[1].Content)
		}
	}
}

// TestParallel: a question waits while the maximum of models is busy, and only as long as
// its context lasts.
func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		says := scripted.Text(`{"query_type":"LOOKUP","query":"LOOKUP a","confidence":1}`)
		slow := says
		slow.Before = scripted.Until(0, release)
		a, m := setup(t, &engine{}, slow, says)
		a.slots = make(chan struct{}, 1)
		done := make(chan error)
		ask := func(ctx context.Context) {
			_, err := a.Ask(ctx, "Who?", Request{})
			done <- err
		}
		go ask(caller(t))
		synctest.Wait()
		impatient, cancel := context.WithTimeout(caller(t), time.Second)
		defer cancel()
		go ask(impatient)
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		go ask(caller(t))
		synctest.Wait()
		if n := len(m.Requests()); n != 1 {
			t.Errorf("%d models at work, want 1", n)
		}
		close(release)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Error(err)
		}
	})
}

func TestBadQuestions(t *testing.T) {
	a, _ := setup(t, &engine{})
	for _, q := range []string{"", " \n", strings.Repeat("x", MaxQuestion+1), "a\xff"} {
		if _, err := a.Ask(caller(t), q, Request{}); !errors.As(err, new(*InputError)) {
			t.Errorf("%.20q: %v", q, err)
		}
	}
}
