package conformance

import (
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/p8-org/p8/agents"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/internal/api"
	"github.com/p8-org/p8/internal/mcpserver"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// The suites: the released one, and the pre-release with 2026-07-28.
const (
	released = "@modelcontextprotocol/conformance/dist/index.js"
	next     = "conformance-next/dist/index.js"
)

// fixtures is p8's API with the suite's fixtures, on a free port of loopback.
func fixtures(t *testing.T) string {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	found, err := catalog.New(catalog.Options{Builtin: agents.Files(), Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	service, err := chat.New(chat.Options{
		Catalog: found, DefaultModel: "scripted:x", Logger: log,
		Models: llm.NewRegistry(llm.RegistryOptions{Providers: map[string]llm.Constructor{
			"scripted": func(string) (llm.Model, error) { return scripted.New(), nil },
		}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mcpserver.New(mcpserver.Options{
		ExposeAgents: []string{"*"}, Catalog: found, Chat: service, Extend: extend(t), Version: "1.0.0", Logger: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api.New(api.Options{
		Chat: service, Catalog: found, MCP: s.Handler(), TrustHeaders: true, Logger: log,
	}))
	t.Cleanup(func() { s.Close(); server.Close() })
	return server.URL + "/mcp"
}

// suite runs a suite against a server and shows its failures.
func suite(t *testing.T, program, url string, args ...string) {
	t.Helper()
	code, stdout, stderr := harness.NPM(t, program, append([]string{"server", "--url", url}, args...)...)
	if code != 0 {
		t.Fatalf("the suite ended with %d:\n%s%s", code, stdout, stderr)
	}
	if i := strings.LastIndex(stdout, "=== SUMMARY ==="); i >= 0 {
		t.Log(stdout[i:])
	}
}

func TestReleasedSuite(t *testing.T) { suite(t, released, fixtures(t), "--suite", "all") }

// The requirements of both revisions, as they were frozen; the suite itself
// does not count extensions, such as tasks.
func TestRequirements(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) { suite(t, next, fixtures(t), "--requirements", revision) })
	}
}

// general are the scenarios that fit any server.
var general = []string{
	"server-initialize", "logging-set-level", "ping", "completion-complete", "tools-list", "server-sse-multiple-streams",
	"resources-list", "resources-subscribe", "resources-unsubscribe", "prompts-list", "dns-rebinding-protection",
}

func TestTheBinary(t *testing.T) {
	server := harness.Serve(t, harness.Options{})
	for _, scenario := range general {
		t.Run(scenario, func(t *testing.T) {
			suite(t, released, server.URL+"/mcp", "--scenario", scenario)
		})
	}
}
