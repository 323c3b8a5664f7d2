package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestClients lets the public clients of every protocol play their scenarios
// against one server: texts, tools in parallel, agents that ask agents, approvals
// and questions, tools of the client, stops, lost connections, failures. What a
// client made of it is a golden file, and so is what the model was sent. At the end it
// prints the table of clients, versions and features: go test -v -run TestClients.
func TestClients(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("testdata", "clients", "agents"))
	if err != nil {
		t.Fatal(err)
	}
	provider := harness.Aimock(t, "testdata/clients.json")
	server := harness.Serve(t, harness.Options{Env: append(provider.Env(), "P8_SCHEMA_DIR="+dir, "P8_A2A_AGENTS=*", "P8_A2A_PRIVATE_WEBHOOKS=true")})
	input := map[string]string{"url": server.URL, "client": "@ag-ui/client"}
	var table clientTable
	defer func() { t.Log(table.text.String()) }()
	for _, name := range []string{"openai", "responses", "agui", "agui-0.0.59", "copilotkit", "aisdk", "a2a", "openai-go", "a2a-go"} {
		t.Run(name, func(t *testing.T) {
			before := len(provider.Journal(t))
			var report json.RawMessage
			script, old, _ := strings.Cut(name, "-0.") // a script may play with an older client, too
			if input["client"] = "@ag-ui/client"; old != "" {
				input["client"] = "ag-ui-client-0." + old
			}
			if strings.HasSuffix(name, "-go") {
				harness.GoClient(t, name, input, &report)
				var pretty bytes.Buffer
				if err := json.Indent(&pretty, report, "", "  "); err != nil {
					t.Fatal(err)
				}
				report = pretty.Bytes()
			} else {
				harness.Node(t, script+".mjs", input, &report)
			}
			table.add(t, name, report)
			golden.Compare(t, "testdata/clients/"+name+".golden", string(report)+"\n")
			golden.Compare(t, "testdata/clients/"+script+".sent.golden", sent(provider.Journal(t)[before:]))
			for what, found := range leaks(string(report), server.DataDir) {
				t.Errorf("%s is shown: %q", what, found)
			}
		})
	}
}

// sent prints the requests that the model got: each kind once, with how often,
// ordered by agent. What several clients say alike is one kind.
func sent(exchanges []harness.Exchange) string {
	times := map[string]int{}
	for _, x := range exchanges {
		times[conversation(x)]++
	}
	var b strings.Builder
	for _, text := range slices.Sorted(maps.Keys(times)) {
		head, rest, _ := strings.Cut(text, "\n")
		fmt.Fprintf(&b, "== %s, %d times\n%s\n", head, times[text], rest)
	}
	return settled(timeless(b.String()))
}

// conversation is a request: who is asked, with which tools, what was said.
func conversation(x harness.Exchange) string {
	var b strings.Builder
	agent, said := "nobody", x.Body.Messages
	for len(said) > 0 && said[0].Role == "system" {
		if _, after, found := strings.Cut(said[0].Text(), "You are the "); found {
			agent, _, _ = strings.Cut(after, " ")
		}
		said = said[1:]
	}
	fmt.Fprintf(&b, "%s, tools %q", agent, x.Tools())
	if x.Body.ResponseFormat != nil {
		fmt.Fprintf(&b, ", %s %s", x.Body.ResponseFormat.Type, x.Body.ResponseFormat.JSONSchema.Name)
	}
	if x.Body.ToolChoice != nil {
		fmt.Fprintf(&b, ", tool_choice %s", x.Body.ToolChoice)
	}
	b.WriteString("\n")
	b.WriteString(outline(said, func(m harness.ProviderMessage) string { return m.Text() }))
	return b.String()
}
