package conformance

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// judge runs the suite's scenarios for clients against p8's own commands, which
// testdata/client.sh calls.
func judge(t *testing.T, args ...string) {
	t.Helper()
	command := "env P8=" + harness.Binary(t) + " " + filepath.Join(harness.Root(t), "test/conformance/testdata/client.sh")
	code, stdout, stderr := harness.NPM(t, next, append([]string{"client", "--command", command}, args...)...)
	if code != 0 {
		t.Fatalf("the suite ended with %d:\n%s%s", code, stdout, stderr)
	}
	if i := strings.LastIndex(stdout, "=== SUITE SUMMARY ==="); i >= 0 {
		t.Log(stdout[i:])
	}
}

// What the current revision requires of a client, with all of its ways to sign in.
func TestClient(t *testing.T) {
	judge(t, "--requirements", "2026-07-28", "--expected-failures", filepath.Join(harness.Root(t), "test/conformance/testdata/client-baseline.yml"))
}

// What only older revisions have.
func TestClientOfOlderServers(t *testing.T) {
	for _, scenario := range []string{
		"elicitation-sep1034-client-defaults", "sse-retry",
		"auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback",
	} {
		t.Run(scenario, func(t *testing.T) { judge(t, "--scenario", scenario) })
	}
}
