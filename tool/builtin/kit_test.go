package builtin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/database"
	"github.com/p8-org/p8/rem"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
	"github.com/p8-org/p8/tool"
	"github.com/p8-org/p8/tool/builtin"
)

// kit is a deployment with every part, and its log.
type kit struct {
	builtin.Options
	log *bytes.Buffer
}

// newKit has an empty store and one built-in agent.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{log: new(bytes.Buffer)}
	k.Logger = slog.New(slog.NewTextHandler(k.log, nil))
	documents := fstest.MapFS{"general.yaml": {Data: []byte(
		"type: object\nname: general\nversion: 1.0.0\nshort_description: For everything.\ndescription: You help.\n")}}
	names, err := catalog.Names(documents)
	must(t, err)
	path := filepath.Join(t.TempDir(), "p8.db")
	database.Copy(t, path)
	k.Store, err = sqlite.Open(t.Context(), sqlite.Options{Path: path, Logger: k.Logger, Reserved: names})
	must(t, err)
	opened := k.Store
	t.Cleanup(func() { must(t, opened.Close()) })
	k.Engine = rem.New(rem.Options{Knowledge: k.Store})
	k.Documents, err = catalog.New(catalog.Options{Store: k.Store, Builtin: documents})
	must(t, err)
	return k
}

// as is the context of a user, "" is anonymous.
func as(t *testing.T, user string) context.Context {
	return identity.With(t.Context(), identity.Identity{UserID: user, TenantID: "acme", SessionID: "s-1", Name: strings.ToUpper(user)})
}

func (k *kit) tool(t *testing.T, name string) tool.Tool {
	t.Helper()
	tools, err := builtin.Tools(k.Options)
	must(t, err)
	for _, x := range tools {
		if x.Spec().Name == name {
			return x
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

// use calls a tool as a run does. A successful answer must match the tool's output schema.
func (k *kit) use(t *testing.T, ctx context.Context, name, args string) (tool.Result, error) {
	t.Helper()
	return use(t, ctx, k.tool(t, name), args)
}

func use(t *testing.T, ctx context.Context, x tool.Tool, args string) (tool.Result, error) {
	t.Helper()
	if err := tool.Validate(t.Context(), x, json.RawMessage(args)); err != nil {
		return tool.Result{}, err
	}
	res, err := x.Call(ctx, tool.Call{ID: "c1", Name: x.Spec().Name, Arguments: json.RawMessage(args)})
	if err == nil {
		checkOutput(t, x, res)
	}
	return res, err
}

// checkOutput checks a result against the tool's output schema.
func checkOutput(t *testing.T, x tool.Tool, res tool.Result) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.AnnotationsOf(x).Output))
	must(t, err)
	c := jsonschema.NewCompiler()
	must(t, c.AddResource("output", doc))
	schema, err := c.Compile("output")
	must(t, err)
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(res.Content))
	must(t, err)
	if err := schema.Validate(value); err != nil {
		t.Errorf("the answer of %s is not what its schema says: %v\n%s", x.Spec().Name, err, res.Content)
	}
}

// ok decodes the answer of a call that must succeed.
func (k *kit) ok(t *testing.T, ctx context.Context, name, args string, into any) tool.Result {
	t.Helper()
	res, err := k.use(t, ctx, name, args)
	if err != nil || res.Failed {
		t.Fatalf("%s(%.200s): %v, %s", name, args, err, res.Content)
	}
	must(t, json.Unmarshal([]byte(res.Content), into))
	return res
}

// fails checks the words of a failure.
func (k *kit) fails(t *testing.T, ctx context.Context, name, args, want string) {
	t.Helper()
	res, err := k.use(t, ctx, name, args)
	var known *tool.Error
	if !errors.As(err, &known) || !strings.Contains(known.Message, want) || strings.Contains(known.Message, webKey) {
		t.Errorf("%s(%.200s): %v, %s; want %s", name, args, err, res.Content, want)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// names returns the names of the tools that the options give.
func names(t *testing.T, o builtin.Options) string {
	t.Helper()
	tools, err := builtin.Tools(o)
	must(t, err)
	registry, err := tool.NewRegistry(tools...)
	must(t, err)
	return strings.Join(registry.Names(), " ")
}

func TestToolsAreThereWhenTheirPartsAre(t *testing.T) {
	k := newKit(t)
	k.Asker = new(oracle)
	const always = "action get_user_profile register_metadata search update_user_metadata web_search"
	for want, o := range map[string]builtin.Options{
		always: {},
		"action ask_rem get_user_profile register_metadata search update_user_metadata web_search": {Asker: k.Asker},
		"action get_moments get_user_profile register_metadata search update_user_metadata web_search": {
			Store: k.Store, Documents: k.Documents, ReadOnly: true},
		strings.Join(builtin.Names(), " "): k.Options,
	} {
		if got := names(t, o); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestToolsAreAnnotated: every tool has a title and an output schema, and no argument names
// the caller.
func TestToolsAreAnnotated(t *testing.T) {
	k := newKit(t)
	k.Asker = new(oracle)
	tools, err := builtin.Tools(k.Options)
	must(t, err)
	for _, x := range tools {
		a, spec := tool.AnnotationsOf(x), x.Spec()
		if a.Title == "" || len(a.Output) == 0 || spec.Description == "" {
			t.Errorf("%s: %+v", spec.Name, a)
		}
		if a.ReadOnly && a.Destructive {
			t.Errorf("%s changes nothing, and destroys", spec.Name)
		}
		if schema := string(spec.Parameters); strings.Contains(schema, "user_id") || strings.Contains(schema, "tenant_id") {
			t.Errorf("%s: %s", spec.Name, schema)
		}
	}
}

// oracle gives every question the same answer.
type oracle struct {
	answer builtin.Answer
	err    error
	asked  string
}

func (o *oracle) AskREM(_ context.Context, question string, planOnly bool) (builtin.Answer, error) {
	o.asked = question
	if planOnly {
		o.asked += " (plan)"
	}
	return o.answer, o.err
}

func TestAskREM(t *testing.T) {
	k := newKit(t)
	o := new(oracle)
	k.Asker = o
	row := rem.Row{Key: "sarah-chen", EntityType: store.TypeOntology, Score: 1, Summary: "Sarah"}
	o.answer = builtin.Answer{
		QueryType: rem.LOOKUP, Parameters: json.RawMessage(`{"entity_key":"sarah-chen"}`), Query: "LOOKUP sarah-chen", Confidence: 1,
		Executed: true, Results: []rem.Row{row}, Stages: []builtin.Stage{{Stage: 1, Query: "LOOKUP sarah-chen", Count: 1}},
	}
	res := k.ok(t, as(t, "ann"), "ask_rem", `{"question":"Who is Sarah?"}`, new(any))
	const want = `{"status":"success","query_type":"LOOKUP","parameters":{"entity_key":"sarah-chen"},"query":"LOOKUP sarah-chen","confidence":1,"executed":true,` +
		`"results":[{"key":"sarah-chen","entity_type":"ontology","similarity_score":1,"summary":"Sarah"}],"count":1,"stages":[{"stage":1,"query":"LOOKUP sarah-chen","count":1}]}`
	if res.Content != want || o.asked != "Who is Sarah?" {
		t.Errorf("%s asked %q", res.Content, o.asked)
	}
	o.answer = builtin.Answer{Query: "LOOKUP x", Confidence: 0.3, Reasoning: "Unclear.", Warning: "not run"}
	res = k.ok(t, as(t, "ann"), "ask_rem", `{"question":"hm","plan_only":true}`, new(any))
	if !strings.Contains(res.Content, `"parameters":{},`) || !strings.Contains(res.Content, `"results":[],"count":0`) || o.asked != "hm (plan)" {
		t.Errorf("%s asked %q", res.Content, o.asked)
	}
	o.answer = builtin.Answer{QueryType: rem.SQL, Executed: true, Confidence: 1}
	for range 1000 {
		o.answer.Results = append(o.answer.Results, rem.Row{Data: json.RawMessage(`{"n":"` + strings.Repeat("x", 100) + `"}`)})
	}
	var short struct {
		Count int
		Notes []string
	}
	k.ok(t, as(t, "ann"), "ask_rem", `{"question":"all"}`, &short)
	if short.Count >= 1000 || len(short.Notes) != 1 {
		t.Errorf("%+v", short)
	}
	o.err = &tool.Error{Message: "the question is empty: ask something"}
	k.fails(t, as(t, "ann"), "ask_rem", `{"question":""}`, "ask something")
}
