package mcpserver_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
	"github.com/p8-org/p8/tool"
)

const greeter = `
type: object
name: greeter
short_description: Greets people.
description: You greet people by their name.
tools: [who]
`

const reader = `
type: object
name: who
short_description: Reads bills.
description: You read bills.
structured_output: true
properties:
  total: {type: number, description: The sum}
required: [total]
`

// team has two agents on a scripted model; one has the name of a tool.
func team(t *testing.T, turns ...scripted.Turn) (mcpserver.Options, *store.Store) {
	t.Helper()
	return teamOf(t, fstest.MapFS{"greeter.yaml": {Data: []byte(greeter)}, "who.yaml": {Data: []byte(reader)}}, turns...)
}

func teamOf(t *testing.T, documents fstest.MapFS, turns ...scripted.Turn) (mcpserver.Options, *store.Store) {
	t.Helper()
	agents, err := catalog.New(catalog.Options{Logger: quiet, Builtin: documents})
	if err != nil {
		t.Fatal(err)
	}
	model := scripted.New(turns...)
	who := who{spec(t, "who")}
	tools, err := tool.NewRegistry(who)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := sqlite.Open(t.Context(), sqlite.Options{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	service, err := chat.New(chat.Options{
		Catalog: agents, Store: kept, DefaultModel: "scripted:x", Logger: quiet, Tools: &tool.Box{Local: tools},
		Models: llm.NewRegistry(llm.RegistryOptions{Providers: map[string]llm.Constructor{
			"scripted": func(string) (llm.Model, error) { return model, nil },
		}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return mcpserver.Options{Tools: []tool.Tool{who}, ExposeAgents: []string{"*"}, Catalog: agents, Chat: service}, kept
}

func TestAgentsAsTools(t *testing.T) {
	o, kept := team(t,
		scripted.Call("who", `{}`), scripted.Text("Hello, ", "Ada!"),
		scripted.Text("Ada."),
		scripted.Text(`{"total": 12.5}`),
	)
	o.PageSize = 2
	steps := make(chan string, 10)
	c := connectAs(t, newServer(t, o), identity.Identity{UserID: "ada"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			steps <- r.Params.Message
		},
	}, sessions)

	var names []string
	for tool, err := range c.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
		if structured := tool.OutputSchema != nil; structured != (tool.Name != "greeter") {
			t.Errorf("%s: output schema %v", tool.Name, tool.OutputSchema)
		}
	}
	if got := strings.Join(names, " "); got != "who greeter agent_who" {
		t.Errorf("tools: %s", got)
	}

	params := &sdk.CallToolParams{Name: "greeter", Arguments: map[string]any{"input": "I am Ada.", "session_id": "tea"}}
	params.SetMeta(map[string]any{"p8/session_metadata": map[string]any{"plan": "paid", "session_name": "Tea time", "session_type": "support"}})
	params.SetProgressToken("p")
	res, err := c.CallTool(t.Context(), params)
	if err != nil || res.IsError || text(res) != "Hello, Ada!" || res.Meta["p8/session_id"] != "tea" {
		t.Fatalf("%+v %v", res, err)
	}
	if step := <-steps; step != "who" {
		t.Error(step)
	}
	if res := call(t, c, "greeter", map[string]any{"input": "Who am I?", "session_id": "tea"}); text(res) != "Ada." {
		t.Errorf("%q", text(res))
	}
	if s, err := kept.Session(identity.With(t.Context(), identity.Identity{UserID: "ada"}), "tea"); err != nil ||
		s.Name != "Tea time" || s.Mode != "support" || string(s.Metadata) != `{"plan":"paid"}` {
		t.Errorf("%+v %s, %v", s, s.Metadata, err)
	}
	rows, err := kept.Messages(identity.With(t.Context(), identity.Identity{UserID: "ada"}), "tea", store.MessageFilter{})
	if err != nil || len(rows) != 6 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	res = call(t, c, "agent_who", map[string]any{"input": "A bill."})
	if got, _ := res.StructuredContent.(map[string]any); res.IsError || got["total"] != 12.5 {
		t.Errorf("%+v", res)
	}
}

func TestAgentsThatFail(t *testing.T) {
	o, _ := team(t, scripted.Fail(&llm.Error{Kind: llm.RateLimit}))
	c := connect(t, newServer(t, o), identity.Identity{UserID: "ada"}, nil)
	if res := call(t, c, "greeter", map[string]any{"input": "Hello"}); !res.IsError || text(res) == "" {
		t.Errorf("%+v", res)
	}
	for want, args := range map[string]map[string]any{
		"missing property 'input'": {},
		"minLength":                {"input": ""},
		"session_id":               {"input": "x", "session_id": strings.Repeat("x", 200)},
	} {
		if res := call(t, c, "greeter", args); !res.IsError || !strings.Contains(text(res), want) {
			t.Errorf("%v: %q", args, text(res))
		}
	}
	if res := call(t, c, "greeter", map[string]any{"input": "x", "session_id": "a\x01"}); !res.IsError || !strings.Contains(text(res), "printable") {
		t.Errorf("%q", text(res))
	}
}

func TestOnlyNamedAgentsAreExposed(t *testing.T) {
	o, _ := team(t)
	o.ExposeAgents = []string{"greeter"}
	c := connect(t, newServer(t, o), identity.Identity{}, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 2 {
		t.Fatalf("%v %v", list, err)
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "agent_who", Arguments: map[string]any{"input": "x"}}); err == nil {
		t.Error("an agent that is not exposed was called")
	}
}

func TestToolsChanged(t *testing.T) {
	o, _ := team(t)
	o.Touches = map[string][]string{"who": {"rem://agents"}}
	changed := make(chan bool, 1)
	s := newServer(t, o)
	c := connectAs(t, s, identity.Identity{}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- true },
	}, sessions)
	if !c.InitializeResult().Capabilities.Tools.ListChanged {
		t.Error("no listChanged")
	}
	s.Changed(t.Context(), "rem://agents/greeter")
	<-changed
	call(t, c, "who", nil) // its success changes the agents
	<-changed
}
