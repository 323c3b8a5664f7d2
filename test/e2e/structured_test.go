package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestStructuredAnswer checks both ways to bind an answer to a schema: the
// schema that reaches the model is the document's, whole, without the prompt in
// it; the client gets the JSON as text and never sees the output tool.
func TestStructuredAnswer(t *testing.T) {
	provider := harness.Aimock(t, "testdata/session.json")
	for _, mode := range []string{"native", "tool"} {
		t.Run(mode, func(t *testing.T) {
			server := harness.Serve(t, harness.Options{Env: append(provider.Env(),
				"P8_SCHEMA_DIR="+agents(t), "P8_STRUCTURED_MODE="+mode)})
			before := len(provider.Journal(t))
			status, body := harness.Curl(t, server.URL+"/v1/chat/completions",
				"-H", "Content-Type: application/json",
				"-d", `{"model":"registrar","stream":true,"messages":[{"role":"user","content":"Ada wrote the report."}]}`)
			if status != http.StatusOK {
				t.Fatalf("status %d: %s", status, body)
			}
			if strings.Contains(body, "final_result") {
				t.Errorf("the client sees the output tool:\n%s", body)
			}
			r := readStream(t, body)
			if want := `{"title":"The report","importance":3,"people":[{"name":"Ada","role":"author"}]}`; r.Text != want {
				t.Errorf("the answer is %s, want %s", r.Text, want)
			}

			exchanges := provider.Journal(t)[before:]
			if len(exchanges) != 1 {
				t.Fatalf("the model was asked %d times, want once", len(exchanges))
			}
			sent := exchanges[0].Body
			if strings.Contains(sent.Messages[0].Text(), "## Thinking Structure") {
				t.Error("a structured agent's prompt repeats its schema")
			}
			var schema json.RawMessage
			switch tools := exchanges[0].Tools(); mode {
			case "native":
				if sent.ResponseFormat == nil || !slices.Equal(tools, []string{"search"}) {
					t.Fatalf("response_format %v, tools %q", sent.ResponseFormat, tools)
				}
				schema = sent.ResponseFormat.JSONSchema.Schema
			case "tool":
				if sent.ResponseFormat != nil || !slices.Equal(tools, []string{"search", "final_result"}) {
					t.Fatalf("response_format %v, tools %q", sent.ResponseFormat, tools)
				}
				schema = sent.Tools[1].Function.Parameters
			}
			var root map[string]json.RawMessage
			if err := json.Unmarshal(schema, &root); err != nil {
				t.Fatal(err)
			}
			if _, ok := root["description"]; ok {
				t.Error("the root description, which is the prompt, is in the output schema")
			}
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, schema, "", "  "); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/registrar.schema.golden", pretty.String()+"\n")
		})
	}
}
