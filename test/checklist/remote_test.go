package checklist

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/internal/testkit/harness"
)

const remoteAgent = `type: object
name: remote
description: You use somebody else's tools.
tools:
  - name: echo
    mcp_server: everything
    description: Says it again
  - name: get-sum
    server: everything
  - name: trigger-long-running-operation
    server: everything
  - name: get-sun
    server: everything
  - name: echo
    server: everythin
`

// remoteMCP: the agent has the tools of a third-party server; missing tools are reported
// with a similar name. The server dies and restarts during the session.
func remoteMCP(t *testing.T) {
	everything := harness.StartEverything(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "remote.yaml"), []byte(remoteAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, "P8_SCHEMA_DIR="+folder, "MCP_SERVER_EVERYTHING="+everything.URL)
	const session = "remote"
	turn, asked := d.ask(t, harness.Ask{Agent: "remote", Session: session, Text: `call echo {"message":"Grüße"}` + "\n" +
		`call get-sum {"a":2,"b":40}` + "\n" + `call trigger-long-running-operation {"duration":0.3,"steps":3}`})
	if tools := asked[0].Tools(); !slices.Equal(tools, []string{"echo", "get-sum", "trigger-long-running-operation"}) {
		t.Errorf("the model is offered %q", tools)
	}
	contains(t, string(asked[0].Body.Tools[1].Function.Parameters), `"type":"number"`, `"required":["a","b"]`)
	all := rawFrames(turn)
	contains(t, all, "Grüße", "42", "did you mean get-sum?", "did you mean everything", `"type":"progress"`, `"tool_name":"trigger-long-running-operation"`)

	everything.Kill()
	turn, asked = d.ask(t, harness.Ask{Agent: "remote", Session: session, Text: `call echo {"message":"anybody?"}`})
	if all := rawFrames(turn); !strings.Contains(all, "the MCP server everything is down") || turn.Text == "" {
		t.Errorf("a server that is down is not told, or cost the answer %q: %s", turn.Text, all)
	}
	// The model is told as well, for it has the tools in mind: from the turn on after
	// the one that noticed, if that was the one above.
	told := func() bool {
		return slices.ContainsFunc(asked[0].Body.Messages, func(m harness.ProviderMessage) bool {
			return m.Role == "system" && strings.Contains(m.Text(), "the MCP server everything is down")
		})
	}
	if !told() {
		_, asked = d.ask(t, harness.Ask{Agent: "remote", Session: session, Text: "and now?"})
	}
	if !told() {
		t.Error("the model does not hear that the server is down")
	}
	everything.Start(t)
	// p8 leaves the server alone for a while, perhaps for longer than the start took.
	for end := time.Now().Add(20 * time.Second); ; {
		turn, _ = d.ask(t, harness.Ask{Agent: "remote", Session: session, Text: `call echo {"message":"back again"}`})
		if strings.Contains(rawFrames(turn), "Echo: back again") || time.Now().After(end) {
			break
		}
	}
	contains(t, rawFrames(turn), "Echo: back again")
}

// rawFrames are the frames of a turn as one text.
func rawFrames(turn harness.Turn) string {
	var b strings.Builder
	for _, raw := range turn.Raw {
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.String()
}
