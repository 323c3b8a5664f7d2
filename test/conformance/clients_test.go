package conformance

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// inspector is the Inspector's command line.
const inspector = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"

// The tools that p8 has everywhere.
var always = []string{
	"search", "action", "ask_rem", "save_moments", "get_moments", "web_search", "update_user_metadata",
	"get_user_profile", "register_metadata", "save_agent",
}

type object = map[string]any

// saw is the output of test/clients/mcp.mjs.
type saw struct {
	Server       struct{ Name string }
	Instructions string
	Capabilities map[string]json.RawMessage
	Tools        []struct {
		Name        string
		Description string
		Annotations map[string]any
	}
	Resources, Templates, Prompts []string
	Calls                         []struct {
		Text       string
		Structured map[string]any
		IsError    bool
	}
	Read     []string
	Complete [][]string
	Updated  string
}

// session is a client session over either transport.
func session(extra object) object {
	in := object{
		"calls": []object{
			{"name": "search", "arguments": object{"query": "LOOKUP write-an-agent"}},
			{"name": "search", "arguments": object{}},
			{"name": "action", "arguments": object{"type": "observation", "payload": object{"confidence": 0.5}}},
			// The SDK checks each answer by the schema that its tool declares.
			{"name": "ask_rem", "arguments": object{"question": "LOOKUP write-an-agent"}},
			{"name": "save_moments", "arguments": object{"moments": []object{{"name": "tea", "summary": "Tea is at four."}}}},
			{"name": "get_moments", "arguments": object{}},
			{"name": "update_user_metadata", "arguments": object{"metadata": object{"tea": "green"}}},
			{"name": "get_user_profile", "arguments": object{}},
			{"name": "register_metadata", "arguments": object{"confidence": 0.5}},
			{"name": "remind_me", "arguments": object{"name": "tea", "description": "Tea", "crontab": "0 16 * * *"}},
			{"name": "list_reminders", "arguments": object{}},
			{"name": "ask_agent", "arguments": object{"agent_name": "general", "input_text": "How do I write an agent?"}},
		},
		"read":      []string{"rem://agents"},
		"complete":  []object{{"uri": "rem://agents/{name}", "name": "name", "value": "gen"}},
		"subscribe": "rem://agents",
		"change":    object{"name": "save_agent", "arguments": object{"name": "poet", "description": "You answer in verse."}},
	}
	for key, value := range extra {
		in[key] = value
	}
	return in
}

// check compares the client's output with p8's promises.
func check(t *testing.T, got saw) {
	t.Helper()
	var names []string
	for _, tool := range got.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || tool.Annotations == nil {
			t.Errorf("%s: no description or annotations", tool.Name)
		}
	}
	for _, name := range always {
		if !slices.Contains(names, name) {
			t.Errorf("there is no tool %s: %q", name, names)
		}
	}
	if got.Server.Name != "p8" || !strings.Contains(got.Instructions, "`search`") {
		t.Errorf("%+v %q", got.Server, got.Instructions)
	}
	for _, capability := range []string{"tools", "resources", "prompts", "completions", "logging"} {
		if got.Capabilities[capability] == nil {
			t.Errorf("no capability %s", capability)
		}
	}
	for _, uri := range []string{"user://profile", "rem://agents", "rem://schema/entities", "rem://schema/query-types"} {
		if !slices.Contains(got.Resources, uri) {
			t.Errorf("no resource %s: %q", uri, got.Resources)
		}
	}
	for _, uri := range []string{"rem://agents/{name}", "rem://sessions/{id}", "files://{id}"} {
		if !slices.Contains(got.Templates, uri) {
			t.Errorf("no template %s: %q", uri, got.Templates)
		}
	}
	if !slices.Contains(got.Prompts, "create_agent") {
		t.Errorf("prompts: %q", got.Prompts)
	}
	search, wrong := got.Calls[0], got.Calls[1]
	if search.IsError || !strings.Contains(search.Text, "How do I write an agent?") || search.Structured["status"] != "success" {
		t.Errorf("search: %+v", search)
	}
	if !wrong.IsError || !strings.HasPrefix(wrong.Text, "the arguments do not fit the tool's schema") {
		t.Errorf("search without a query: %+v", wrong)
	}
	for i, call := range got.Calls[2:] {
		if call.IsError || call.Structured == nil {
			t.Errorf("call %d: %+v", i+2, call)
		}
	}
	if !strings.Contains(got.Read[0], "general") || !slices.Contains(got.Complete[0], "general") || got.Updated != "rem://agents" {
		t.Errorf("agents: %q, completed: %q, updated: %q", got.Read[0], got.Complete, got.Updated)
	}
}

func TestTypeScriptOverHTTP(t *testing.T) {
	server := harness.Serve(t, harness.Options{})
	var got saw
	harness.Node(t, "mcp.mjs", session(object{
		"url": server.URL + "/mcp", "headers": object{"X-User-Email": "ann@example.com"},
	}), &got)
	check(t, got)
	if !strings.Contains(server.Stdout(), server.URL+"/mcp") {
		t.Errorf("the greeting does not name /mcp:\n%s", server.Stdout())
	}
	if code := server.Stop(t); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}

func TestTypeScriptOverStdio(t *testing.T) {
	var got saw
	harness.Node(t, "mcp.mjs", session(object{
		"command": harness.Binary(t), "args": []string{"mcp", "--user", "ann@example.com"},
		"env": object{"P8_DATA_DIR": t.TempDir()},
	}), &got)
	check(t, got)
}

// The document that one client saved is the agent of its user alone.
func TestAgentsOfTwoUsers(t *testing.T) {
	server := harness.Serve(t, harness.Options{Env: []string{"P8_MCP_AGENTS=*"}})
	tools := func(user string) (names []string) {
		var got saw
		harness.Node(t, "mcp.mjs", object{"url": server.URL + "/api/v1/mcp/", "headers": object{"X-User-Id": user}}, &got)
		for _, tool := range got.Tools {
			names = append(names, tool.Name)
		}
		return names
	}
	var ann saw
	harness.Node(t, "mcp.mjs", session(object{"url": server.URL + "/v1/mcp", "headers": object{"X-User-Id": "ann"}}), &ann)
	if names := tools("ann"); !slices.Contains(names, "poet") || !slices.Contains(names, "general") {
		t.Errorf("ann's tools: %q", names)
	}
	if names := tools("bob"); slices.Contains(names, "poet") || !slices.Contains(names, "general") {
		t.Errorf("bob's tools: %q", names)
	}
	var asked saw
	harness.Node(t, "mcp.mjs", object{
		"url": server.URL + "/mcp", "headers": object{"X-User-Id": "ann"},
		"calls": []object{{"name": "general", "arguments": object{"input": "How do I write an agent?", "session_id": "tea"}}},
	}, &asked)
	if c := asked.Calls[0]; c.IsError || c.Text == "" {
		t.Errorf("%+v", c)
	}
}

func TestInspector(t *testing.T) {
	server := harness.Serve(t, harness.Options{Env: []string{"P8_MCP_AGENTS=*"}})
	run := func(want int, args ...string) string {
		t.Helper()
		all := append([]string{"--cli", server.URL + "/mcp", "--transport", "http", "--header", "X-User-Id: ann"}, args...)
		code, stdout, stderr := harness.NPM(t, inspector, all...)
		if code != want {
			t.Errorf("%q ended with %d, want %d:\n%s%s", args, code, want, stdout, stderr)
		}
		if want == 0 && stderr != "" {
			t.Errorf("%q warns:\n%s", args, stderr)
		}
		return stdout
	}
	if out := run(0, "--method", "tools/list", "--strict"); !strings.Contains(out, `"search"`) {
		t.Error(out)
	}
	if out := run(0, "--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=LOOKUP write-an-agent"); !strings.Contains(out, "structuredContent") {
		t.Error(out)
	}
	run(5, "--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=LOOKUP")
	if out := run(0, "--method", "resources/read", "--uri", "rem://agents"); !strings.Contains(out, "general") {
		t.Error(out)
	}
	run(0, "--method", "resources/list")
	run(0, "--method", "resources/templates/list")
	if out := run(0, "--method", "prompts/get", "--prompt-name", "create_agent", "--prompt-args", "purpose=reads mail"); !strings.Contains(out, "Purpose: reads mail") {
		t.Error(out)
	}
}
