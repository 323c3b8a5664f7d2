package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// chained has the fields of a turn about its chained tool.
type chained struct {
	Reason string          `json:"reason"`
	Output json.RawMessage `json:"output"`
	Tool   string          `json:"chained_tool"`
	Result struct {
		Status string `json:"status"`
		Count  int    `json:"count"`
		Error  string `json:"error"`
	} `json:"chained_tool_result"`
}

// TestChainedTool runs the invoice example: the answer of a structured agent is
// stored by save_moments, without another turn of the model, and both are in the
// session.
func TestChainedTool(t *testing.T) {
	provider := harness.Aimock(t, "testdata/chained.json")
	examples, err := filepath.Abs("../../examples/agents")
	if err != nil {
		t.Fatal(err)
	}
	server := harness.Serve(t, harness.Options{Env: append(provider.Env(), "P8_SCHEMA_DIR="+examples)})
	turn := server.Chat(t, harness.Ask{Agent: "invoice-agent", Session: "invoices", Text: "Invoices of Nordwind"})
	var done chained
	turn.Frame(t, "done", &done)
	if done.Reason != "stop" || done.Tool != "save_moments" || done.Result.Status != "success" || done.Result.Count != 2 {
		t.Errorf("done is %+v", done)
	}
	if !strings.Contains(turn.Text, "invoice-2026-117") || !json.Valid([]byte(turn.Text)) {
		t.Errorf("the answer is %q", turn.Text)
	}
	if n := len(provider.Journal(t)); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	if tools := provider.Journal(t)[0].Tools(); len(tools) != 1 || tools[0] != "search" {
		t.Errorf("the model was offered %q; the chained tool is not for it", tools)
	}

	rows := server.Messages(t, "invoices")
	var kinds []string
	for _, row := range rows {
		kinds = append(kinds, row.Type)
	}
	if got := strings.Join(kinds, " "); got != "user tool_call tool_response assistant" {
		t.Fatalf("the rows are %s", got)
	}
	call, response := rows[1], rows[2]
	if call.ToolName != "save_moments" || call.ToolCallID == "" || call.ToolCallID != response.ToolCallID || string(call.Arguments) == "" ||
		response.Content == nil || !strings.Contains(*response.Content, `"count":2`) {
		t.Errorf("the call is %+v, the response %+v", call, response)
	}

	code, out, stderr := query(t, server, "SQL SELECT name, moment_type FROM moments ORDER BY name")
	if code != 200 || !strings.Contains(out, "invoice-2026-117") || !strings.Contains(out, "invoice-2026-118") {
		t.Errorf("the moments are %s %s", out, stderr)
	}
}

// query asks a server in the REM dialect.
func query(t *testing.T, s *harness.Server, text string) (status int, body, _ string) {
	t.Helper()
	in, err := json.Marshal(map[string]string{"query": text, "mode": "rem-dialect"})
	if err != nil {
		t.Fatal(err)
	}
	status, body = harness.Curl(t, s.URL+"/query", "-H", "Content-Type: application/json", "-d", string(in))
	return status, body, ""
}

// TestChainedToolNeverCostsTheAnswer: the tool is missing, or refuses.
func TestChainedToolNeverCostsTheAnswer(t *testing.T) {
	provider := harness.Aimock(t, "testdata/chained.json")
	server := harness.Serve(t, harness.Options{Env: append(provider.Env(), "P8_SCHEMA_DIR="+agents(t))})

	turn := server.Chat(t, harness.Ask{Agent: "invoice-typo", Session: "typo", Text: "Invoices of Nordwind"})
	var warning struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	turn.Frame(t, "warning", &warning)
	if warning.Code != "chained_tool_unavailable" || !strings.Contains(warning.Message, "save_moment") || !strings.Contains(turn.Text, "invoice-2026-117") {
		t.Errorf("the warning is %+v, the answer %q", warning, turn.Text)
	}

	turn = server.Chat(t, harness.Ask{Agent: "invoice-refused", Session: "refused", Text: "Invoices to refuse"})
	var done chained
	turn.Frame(t, "done", &done)
	if done.Reason != "stop" || done.Result.Status != "error" || done.Result.Error == "" || !strings.Contains(turn.Text, "2026-117") {
		t.Errorf("done is %+v, the answer %q", done, turn.Text)
	}
	server.Stop(t) // then the log is complete
	if log := server.Stderr(); !strings.Contains(log, "tool=save_moment ") {
		t.Errorf("the log does not name the missing tool:\n%s", log)
	}
}
