package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/p8-org/p8/internal/testkit/golden"
)

// tested runs p8 test in this process.
func tested(t *testing.T, environ []string, args ...string) (code int, output string) {
	t.Helper()
	var out bytes.Buffer
	environ = append([]string{"HOME=" + t.TempDir(), "OLLAMA_HOST=127.0.0.1:1"}, environ...)
	code = run(append([]string{"test"}, args...), os.Stdin, &out, &out, environ)
	return code, out.String()
}

// TestCases runs the cases of the examples and of p8's own agents. With -update, changed
// requests and events become those of the recordings.
func TestCases(t *testing.T) {
	args := []string{"../../examples/agents", "../../agents"}
	if golden.Update() {
		args = append(args, "--accept-drift", "--update")
	}
	if code, out := tested(t, nil, args...); code != 0 || !strings.Contains(out, "7 cases: 7 passed") {
		t.Errorf("exit code %d:\n%s\ngo test ./cmd/p8 -run TestCases -update takes the changes", code, out)
	}
}

// errands is a provider: the boss asks two children at once, which use a tool of an MCP
// server, and then mails, which needs an approval.
func errands(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	last := req.Messages[len(req.Messages)-1]
	w.Header().Set("Content-Type", "text/event-stream")
	s := chunked{w}
	call := func(i int, name, arguments string) {
		b, _ := json.Marshal(arguments)
		s.chunk(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"call_%s_%d","type":"function","function":{"name":%q,"arguments":%s}}]}`, i, name, i, name, b), "null")
	}
	boss := strings.HasPrefix(req.Messages[0].Content, "You run errands")
	switch {
	case !boss && last.Role == "user":
		call(0, "get_weather", fmt.Sprintf(`{"city":%q}`, last.Content))
		s.finish("tool_calls")
	case !boss:
		s.text("It is " + last.Content)
		s.finish("stop")
	case last.Role == "user":
		call(0, "ask_agent", `{"agent_name":"child","input_text":"Oslo"}`)
		call(1, "ask_agent", `{"agent_name":"child","input_text":"Bergen"}`)
		s.finish("tool_calls")
	case strings.Contains(last.Content, "sent"):
		s.text("The mail is sent.")
		s.finish("stop")
	default:
		call(0, "send_mail", `{"city":"Oslo"}`)
		s.finish("tool_calls")
	}
}

// TestCasesWithServers: parallel children, tools of an MCP server and an approval are
// recorded, and played when neither the provider nor the server is there.
func TestCasesWithServers(t *testing.T) {
	type in struct {
		City string `json:"city"`
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "weather"}, nil)
	reply := func(text func(in) string) sdk.ToolHandlerFor[in, any] {
		return func(_ context.Context, _ *sdk.CallToolRequest, x in) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text(x)}}}, nil, nil
		}
	}
	sdk.AddTool(server, &sdk.Tool{Name: "get_weather"}, reply(func(x in) string { return "dry in " + x.City }))
	sdk.AddTool(server, &sdk.Tool{Name: "send_mail"}, reply(func(in) string { return "sent with the key ghp_" + strings.Repeat("a1", 20) }))
	sdk.AddTool(server, &sdk.Tool{Name: "unused"}, reply(func(in) string { return "" }))
	remote := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer remote.Close()
	provider := httptest.NewServer(http.HandlerFunc(errands))
	defer provider.Close()

	dir := t.TempDir()
	for name, text := range map[string]string{
		"boss.yaml": `type: object
name: boss
description: You run errands.
tools:
  - ask_agent
  - {name: send_mail, mcp_server: weather, approval: always}
agents: [child]
`,
		"child.yaml": `type: object
name: child
description: You know the weather.
tools: [{name: get_weather, mcp_server: weather}]
`,
		"boss.test.yaml": `cases:
  - name: mails when it may
    golden: true
    turns:
      - say: Mail me the weather.
        events: [{type: action_request, kind: approval, tool_name: send_mail}, {type: done, reason: paused}]
        expect: {type: tool_called, tool: get_weather, times: 2}
      - approve: true
        expect: {type: contains, value: The mail is sent.}
    expect: {type: tool_order, tools: [ask_agent, send_mail]}
    limits: {requests: 7, tool_calls: 5}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	live := []string{"OPENAI_BASE_URL=" + provider.URL, "OPENAI_API_KEY=sk-test", "P8_DEFAULT_MODEL=openai:gpt-4.1", "MCP_SERVER_WEATHER=" + remote.URL}
	if code, out := tested(t, live, "--record", dir); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out)
	}
	cassette, err := os.ReadFile(filepath.Join(dir, "recordings/boss/mails-when-it-may.cassette.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	mustContain(t, string(cassette), "name: get_weather", "dry in Bergen", "sent with the key [secret]")
	if strings.Contains(string(cassette), "unused") || strings.Contains(string(cassette), "ghp_") {
		t.Errorf("too much is kept:\n%s", cassette)
	}
	provider.Close()
	remote.Close()
	for range 3 {
		if code, out := tested(t, nil, dir, "-v"); code != 0 || !strings.Contains(out, "2 turns, 7 requests") {
			t.Fatalf("exit code %d:\n%s", code, out)
		}
	}
	if code, out := tested(t, live, "--record", dir); code != 1 || !strings.Contains(out, "the run failed: the model openai:gpt-4.1 is unavailable") {
		t.Errorf("without a provider: exit code %d:\n%s", code, out)
	}
}
