package mcp

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// load reads a file's text and an environment.
func load(t *testing.T, src string, variables map[string]string, environ ...string) (map[string]*entry, error) {
	t.Helper()
	o := Options{
		Getenv:  func(name string) string { return variables[name] },
		Environ: environ, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if src != "" {
		dir := t.TempDir()
		t.Chdir(dir)
		o.ConfigFile = "mcp.json"
		if err := os.WriteFile(filepath.Join(dir, o.ConfigFile), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return readConfig(o)
}

func TestConfig(t *testing.T) {
	entries, err := load(t, `{
	// what desktop programs have
	"mcpServers": {
		"Files": {"command": "npx", "args": ["-y", "files", "${ROOT:-/srv}"], "env": {"KEY": "${KEY}", "N": 3}, "cwd": "/x", "autoApprove": []},
		"my_data": {"url": "https://example.com/mcp?x=1", "headers": {"Authorization": "Bearer ${env:KEY}"}, "type": "streamable-http"},
		"old": {"url": "http://localhost:1/sse", "transport": "sse"},
		"off": {"disabled": true, "command": "${NOT_SET}"},
		"crm": {"url": "http://file"} /* beaten by the environment */
	},
	"inputs": []
}`, map[string]string{"KEY": "k"}, "MCP_SERVER_CRM=http://env/mcp", "MCP_SERVER_MY_DATA_TOKEN=t", "MCP_SERVER_LOCAL=http://x", "MCP_SERVER_GONE_TOKEN=t", "OTHER=x")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 4 {
		t.Fatalf("%d servers", len(entries))
	}
	files := entries["files"]
	if files.kind != kindStdio || files.command != "npx" || !slices.Equal(files.args, []string{"-y", "files", "/srv"}) ||
		files.env["KEY"] != "k" || files.env["N"] != "3" || files.cwd != "/x" {
		t.Errorf("files: %+v", files)
	}
	data := entries["my-data"]
	if data.kind != kindStreamable || data.name != "my_data" || data.headers["Authorization"] != "Bearer t" || !data.token {
		t.Errorf("my_data: %+v", data)
	}
	if entries["old"].kind != kindSSE || entries["crm"].url.Host != "env" || !entries["crm"].inEnv {
		t.Errorf("old: %+v, crm: %+v", entries["old"], entries["crm"])
	}
	if variableName("my-data") != "MCP_SERVER_MY_DATA" {
		t.Error(variableName("my-data"))
	}
}

func TestConfigProblems(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"not JSON":   {"{\n  \"mcpServers\": {\n    nope", "mcp.json:3:5: the file is not valid JSON: invalid character 'n'"},
		"cut off":    {`{"mcpServers": {`, "mcp.json:1:17: the file is not valid JSON: the file ends too early"},
		"two":        {`{"mcpServers": {}} {}`, "there is something after the end"},
		"no servers": {`{"a": 1}`, "mcp.json:1:1: the file has no mcpServers"},
		"misspelt":   {`{"mcpServer": {}}`, `mcp.json:1:2: the key "mcpServer" is unknown: did you mean mcpServers?`},
		"a list":     {`{"mcpServers": []}`, "mcp.json:1:16: the servers must be an object"},
		"neither":    {`{"mcpServers": {"x": {}}}`, `mcp.json:1:22: the server "x" has neither command nor url`},
		"both":       {`{"mcpServers": {"x": {"command": "a", "url": "http://b"}}}`, "has command and url"},
		"key":        {"{\"mcpServers\": {\n \"x\": {\"comand\": \"a\"}}}", `mcp.json:2:8: the key "comand" is unknown: did you mean command?`},
		"type":       {`{"mcpServers": {"x": {"type": "carrier", "url": "http://b"}}}`, `the type "carrier" is unknown`},
		"mixed":      {`{"mcpServers": {"x": {"type": "sse", "command": "b"}}}`, "its type is stdio"},
		"variable":   {`{"mcpServers": {"x": {"command": "${NOPE}"}}}`, "mcp.json:1:34: command: the variable NOPE is not set: set it, or write ${NOPE:-default}"},
		"input":      {`{"mcpServers": {"x": {"command": "${input:key}"}}}`, "p8 cannot ask for ${input:key}"},
		"address":    {`{"mcpServers": {"x": {"url": "ftp://secret@b"}}}`, "begins with http:// or https://"},
		"double":     {`{"mcpServers": {"a-b": {"command": "x"}, "A_b": {"command": "x"}}}`, `the server "A_b" is the same as "a-b"`},
		"slash":      {`{"mcpServers": {"a/b": {"command": "x"}}}`, "no slash"},
		"oauth":      {`{"mcpServers": {"x": {"url": "http://b", "oauth": {"client_secret": "a", "grant": "client_credentials"}}}}`, "oauth needs client_id and client_secret"},
		"args":       {`{"mcpServers": {"x": {"command": "a", "args": "b"}}}`, "args must be a list of texts"},
		"env":        {`{"mcpServers": {"x": {"command": "a", "env": {"K": {}}}}}`, "K must be text"},
		"deep":       {`{"mcpServers": ` + strings.Repeat("[", 100), "levels deep"},
	} {
		_, err := load(t, c.src, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	_, err := load(t, `{"mcpServers": {"a": {}, "b": {"url": 1}, "c": {"disabled": "yes", "command": "x"}}}`, nil, "MCP_SERVER_X=nope")
	if err == nil || strings.Count(err.Error(), "\n") != 3 || !strings.Contains(err.Error(), "MCP_SERVER_X: the address") {
		t.Errorf("all at once: %v", err)
	}
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		`{"mcpServers":{"x":{"command":"a","args":["${A:-b}"],"env":{"K":"v"}}}}`, `{"servers":{"y":{"url":"https://h/p","type":"http","headers":{"A":"b"}}}}`,
		`{"mcpServers":{"x":{"url":"http://h","oauth":{"client_id":"a","client_secret":"b","scopes":["c"]}}}} // end`, `/*`, `{"a":"\ud83d`, `[[[[`, "",
	} {
		f.Add(seed)
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	f.Fuzz(func(t *testing.T, src string) {
		entries := map[string]*entry{}
		c := &configFile{name: "f", src: []byte(src), getenv: func(string) string { return "v" }, log: log}
		if errs := c.read(entries); len(errs) > 60 {
			t.Errorf("%d problems", len(errs))
		}
		for k, e := range entries {
			if k != key(k) || (e.command == "") == (e.url == nil) {
				t.Errorf("%q is %+v", k, e)
			}
		}
	})
}
