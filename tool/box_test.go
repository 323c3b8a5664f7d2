package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

// shelf is a server, and resources, with fixed content.
type shelf struct {
	tools     []tool.Tool
	down      error
	asked     atomic.Int64
	resources map[string]string
}

func (s *shelf) Tools(ctx context.Context) ([]tool.Tool, error) {
	s.asked.Add(1)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s.tools, s.down
}

func (s *shelf) List(context.Context) ([]tool.ResourceInfo, error) {
	var out []tool.ResourceInfo
	for uri := range s.resources {
		out = append(out, tool.ResourceInfo{URI: uri, Name: "n"})
	}
	slices.SortFunc(out, func(a, b tool.ResourceInfo) int { return strings.Compare(a.URI, b.URI) })
	return out, s.down
}

func (s *shelf) Read(_ context.Context, uri string) ([]tool.Contents, error) {
	text, ok := s.resources[uri]
	if !ok {
		return nil, &tool.Error{Message: "there is no resource " + uri}
	}
	if strings.HasSuffix(uri, ".png") {
		return []tool.Contents{{URI: uri, MediaType: "image/png", Data: []byte(text)}}, nil
	}
	return []tool.Contents{{URI: uri, Text: text}}, nil
}

type shelves map[string]*shelf

func (s shelves) Names() []string {
	var names []string
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s shelves) Server(name string) tool.Server {
	if found, ok := s[name]; ok {
		return found
	}
	return nil
}

// named is a tool that returns its origin.
func named(t *testing.T, name, from string) tool.Tool {
	t.Helper()
	made, err := tool.New(name, "From "+from+".", func(context.Context, struct{}) (any, error) { return from, nil })
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func box(t *testing.T, servers shelves, local ...string) *tool.Box {
	t.Helper()
	var tools []tool.Tool
	for _, name := range local {
		tools = append(tools, named(t, name, "here"))
	}
	r, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	b := &tool.Box{Local: r, Logger: slog.New(slog.DiscardHandler)}
	if servers != nil {
		b.Servers = servers
	}
	return b
}

// resolved compiles a flat document with the lines and resolves it.
func resolved(t *testing.T, b *tool.Box, lines string) tool.Resolved {
	t.Helper()
	d, err := agent.Parse("x.yaml", []byte("name: x\ndescription: d\n"+lines))
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return b.Resolve(t.Context(), a)
}

func toolNames(tools []tool.Tool) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Spec().Name)
	}
	return strings.Join(names, " ")
}

func messages(missing []tool.Missing) string {
	var out []string
	for _, m := range missing {
		out = append(out, m.Message())
	}
	return strings.Join(out, "\n")
}

func TestBoxServers(t *testing.T) {
	crm := &shelf{tools: []tool.Tool{named(t, "query", "crm"), named(t, "search", "crm"), named(t, "never", "crm")}}
	wiki := &shelf{tools: []tool.Tool{named(t, "query", "wiki")}}
	down := &shelf{down: &tool.Error{Message: "the MCP server down is down"}}
	unused := &shelf{}
	b := box(t, shelves{"crm": crm, "wiki": wiki, "down": down, "unused": unused}, "search", "action")
	got := resolved(t, b, `tools:
  - {name: search, server: crm}
  - search
  - {name: query, server: crm}
  - {name: query, server: wiki}
  - {name: qurey, server: crm}
  - {name: never, server: wiki}
  - {name: a, server: down}
  - {name: b, server: down}
  - {name: c, server: down}
  - {name: query, server: cmr}
`)
	if names := toolNames(got.Tools); names != "crm_search search query wiki_query" {
		t.Errorf("tools %s", names)
	}
	want := `the tool qurey is not available here: the MCP server crm has no such tool; did you mean query?
the tool never is not available here: the MCP server wiki has no such tool; did you mean crm/never?
the tools a, b and c are not available here: the MCP server down is down
the tool query is not available here: there is no MCP server named cmr; did you mean crm?`
	if text := messages(got.Missing); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if unused.asked.Load() != 0 || down.asked.Load() != 1 || crm.asked.Load() != 1 {
		t.Error("a server was asked that the document does not name, or more than once")
	}
	res, err := got.Tools[3].Call(t.Context(), tool.Call{})
	if err != nil || res.Content != "wiki" {
		t.Errorf("wiki_query: %v %v", res, err)
	}
}

func TestBoxWithoutServers(t *testing.T) {
	got := resolved(t, box(t, nil, "search"), "tools:\n  - {name: query, server: my-data}\n")
	want := "the tool query is not available here: no MCP server is configured; set MCP_SERVER_MY_DATA to its address, or P8_MCP_CONFIG to a file with mcpServers"
	if text := messages(got.Missing); text != want {
		t.Errorf("got %s", text)
	}
}

func TestBoxChained(t *testing.T) {
	b := box(t, shelves{"crm": {tools: []tool.Tool{named(t, "save", "crm"), named(t, "keep", "crm")}},
		"down": {down: &tool.Error{Message: "the MCP server down is down"}}}, "save")
	const structured = "structured_output: true\nproperties: {a: {type: string}}\n"
	for lines, want := range map[string]string{
		"chained_tool: save\n":                                     "here",
		"chained_tool: crm/save\n":                                 "crm",
		"chained_tool: save\ntools: [{name: save, server: crm}]\n": "crm",
		"chained_tool: sav\n":                                      "the tool sav is not available here; did you mean save?",
		"chained_tool: crm/gone\n":                                 "the tool crm/gone is not available here",
		"chained_tool: no/save\n":                                  "the tool no/save is not available here: there is no MCP server named no",
		"chained_tool: down/save\n":                                "the tool down/save is not available here: the MCP server down is down",
	} {
		got := resolved(t, b, structured+lines)
		if got.Chained == nil {
			if m := got.ChainedMissing.Message(); want == "" || !strings.HasSuffix(m, want) {
				t.Errorf("%s: none: %s", lines, m)
			}
			continue
		}
		if res, err := got.Chained.Call(t.Context(), tool.Call{}); err != nil || res.Content != want {
			t.Errorf("%s: %v %v", lines, res, err)
		}
		if !strings.Contains(lines, "tools") && len(got.Tools) > 0 {
			t.Error("the chained tool is offered")
		}
	}
}

func TestBoxNames(t *testing.T) {
	crm := &shelf{tools: []tool.Tool{named(t, "query", "crm")}}
	b := box(t, shelves{"crm": crm, "down": {down: errors.New("x")}}, "search")
	gone, leave := context.WithCancel(t.Context())
	leave()
	b.Names(gone) // what a caller who has gone would hear is not kept for the others
	crm.asked.Store(0)
	for range 3 {
		if got := strings.Join(b.Names(t.Context()), " "); got != "search crm/ crm/query down/" {
			t.Error(got)
		}
	}
	if crm.asked.Load() != 1 {
		t.Error("the names were not kept")
	}
}

func TestBoxResources(t *testing.T) {
	here := &shelf{resources: map[string]string{
		"user://profile/ada%40x.org": "ada's", "notes://one": "1", "notes://two.png": "22", "rem://agents/a%2Fb": "ab",
	}}
	b := box(t, shelves{"wiki": here})
	b.Resources = here
	got := resolved(t, b, `tools:
  - {name: My Profile, uri: "user://profile/{user_id}", description: Who is asking.}
  - notes://one
resources:
  - {uri: "rem://agents/{name}"}
  - {uri_pattern: "notes://.*", name: notes, server: wiki}
  - {uri: "notes://nine", name: Notes}
  - {uri: "x://{+path}"}
  - {uri_pattern: "x(", name: broken}
`)
	if names := toolNames(got.Tools); names != "my_profile get_notes_one get_rem_agents_by_name notes local_notes" {
		t.Errorf("tools %s", names)
	}
	if text := messages(got.Missing); !strings.Contains(text, "the placeholder {+path}") || !strings.Contains(text, "is no regular expression") {
		t.Errorf("missing %s", text)
	}
	if spec := got.Tools[0].Spec(); spec.Description != "Who is asking." || string(spec.Parameters) != `{"additionalProperties":false,"properties":{},"type":"object"}` {
		t.Errorf("%s %s", spec.Description, spec.Parameters)
	}
	if spec := got.Tools[2].Spec(); string(spec.Parameters) != `{"additionalProperties":false,"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}` {
		t.Errorf("%s", spec.Parameters)
	}
	ada := identity.With(t.Context(), identity.Identity{UserID: "ada@x.org"})
	for _, c := range []struct {
		ctx        context.Context
		tool       int
		args, want string
	}{
		{ada, 0, `{}`, "ada's"},
		{t.Context(), 0, `{}`, "user_id is not available in this context"},
		{t.Context(), 0, `{"user_id":"ada@x.org"}`, "user_id is not available in this context"},
		{ada, 1, ``, "1"},
		{ada, 2, `{"name":"a/b"}`, "ab"},
		{ada, 2, `{"name":"a/c"}`, "there is no resource rem://agents/a%2Fc; did you mean rem://agents/a%2Fb?"},
		{ada, 3, `{"uri":"notes://one"}`, "1"},
		{ada, 3, `{"uri":"user://profile/ada%40x.org"}`, "the uri does not match ^(?:notes://.*)$; call without a uri to list what there is"},
		{ada, 3, `{"uri":"x\nnotes://one"}`, "the uri does not match ^(?:notes://.*)$; call without a uri to list what there is"},
		{ada, 3, `{}`, `{"resources":[{"uri":"notes://one","name":"n"},{"uri":"notes://two.png","name":"n"}]}`},
		{ada, 3, `{"uri":"notes://two.png"}`, "[image notes://two.png image/png, 2 bytes]"},
	} {
		res, err := got.Tools[c.tool].Call(c.ctx, tool.Call{Arguments: json.RawMessage(c.args)})
		var known *tool.Error
		if errors.As(err, &known) {
			res.Content = known.Message
		} else if err != nil {
			t.Error(err)
		}
		if res.Content != c.want {
			t.Errorf("%d %s: %s", c.tool, c.args, res.Content)
		}
		if strings.HasPrefix(c.want, "[image") && (len(res.Parts) != 1 || res.Parts[0].Kind != llm.Image) {
			t.Errorf("parts %v", res.Parts)
		}
	}
}

func TestAssemblyIsBounded(t *testing.T) {
	a := tool.Assembly{MaxText: 10, MaxData: 5}
	a.Text("12345678é")
	a.File("image/png", "", make([]byte, 6))
	a.Text("x")
	if res := a.Result(); len(res.Parts) != 0 || !strings.HasPrefix(res.Content, "12345678é\n\n[the rest was left out") {
		t.Errorf("%q %v", res.Content, res.Parts)
	}
	a = tool.Assembly{MaxData: 5}
	a.File("image/png", "", make([]byte, 6))
	a.File("audio/wav", "", make([]byte, event.MaxFileData+1))
	for range 30 {
		a.File("audio/wav", "bell", []byte("x"))
	}
	res := a.Result()
	if len(res.Files) != 20 || res.Files[0].Data != nil || res.Files[0].Size != 6 || res.Files[1].Data != nil || string(res.Files[19].Data) != "x" {
		t.Errorf("%d files, %v", len(res.Files), res.Files[0])
	}
}

// Whatever the model's arguments, a template expands to one URI of its own form.
func FuzzTemplate(f *testing.F) {
	f.Add("a/b?c#d%é")
	f.Fuzz(func(t *testing.T, value string) {
		here := &shelf{resources: map[string]string{}}
		b := box(t, nil)
		b.Resources = here
		got := resolved(t, b, "resources:\n  - {uri: \"x://a/{v}/b\"}\n")
		raw, err := json.Marshal(map[string]string{"v": value})
		if err != nil {
			return
		}
		_, err = got.Tools[0].Call(t.Context(), tool.Call{Arguments: raw})
		uri := strings.TrimPrefix(err.Error(), "there is no resource ")
		if uri != err.Error() && (strings.Count(uri, "/") != 4 || strings.ContainsAny(uri, "?# \n")) {
			t.Errorf("%q became %s", value, uri)
		}
	})
}

// TestAServerNamedREM: rem means this process unless a server has the name.
func TestAServerNamedREM(t *testing.T) {
	const lines = "tools: [{name: lookup, mcp_server: rem}, {name: search}, {name: page, uri: 'x://page', mcp_server: rem}]\nresources: [{uri_pattern: 'x://.*', mcp_server: rem, name: pages}]\n"
	server := &shelf{resources: map[string]string{"x://page": "there"}}
	server.tools = []tool.Tool{named(t, "lookup", "there")}
	for _, tc := range []struct {
		servers shelves
		from    string
		tools   string
	}{
		{shelves{}, "From here.", "lookup search page pages"},
		{shelves{"rem": server}, "From there.", "lookup search page pages"},
	} {
		b := box(t, tc.servers, "lookup", "search")
		b.Resources = &shelf{resources: map[string]string{"x://page": "here"}}
		got := resolved(t, b, lines)
		if toolNames(got.Tools) != tc.tools || len(got.Missing) > 0 {
			t.Fatalf("%s, without %s", toolNames(got.Tools), messages(got.Missing))
		}
		if d := got.Tools[0].Spec().Description; d != tc.from || got.Tools[1].Spec().Description != "From here." {
			t.Errorf("lookup is %q", d)
		}
		res, err := got.Tools[2].Call(identity.With(t.Context(), identity.Identity{}), tool.Call{Arguments: json.RawMessage(`{}`)})
		if want := strings.TrimSuffix(strings.TrimPrefix(tc.from, "From "), "."); err != nil || !strings.Contains(res.Content, `"`+want+`"`) && res.Content != want {
			t.Errorf("the page is %q from %s, %v", res.Content, want, err)
		}
	}
}
