package checklist

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestVerificationChecklist is p8's list of nine things to verify by hand.
func TestVerificationChecklist(t *testing.T) {
	d := newDesk(t, "P8_DEFAULT_TEMPERATURE=0.25")
	on := func(check func(*testing.T, *desk)) func(*testing.T) {
		return func(t *testing.T) { check(t, d) }
	}
	tick(t, 9, []row{
		{name: "agents load from the database, or the schema folder as fallback", check: on(agentsLoad)},
		{name: "a document's settings override the defaults", check: on(documentOverridesDefaults)},
		{name: "streaming children are non-blocking", check: childrenDoNotBlock},
		{name: "without structured output the properties are in the prompt as YAML", check: on(propertiesInPrompt)},
		{name: "tool calls and responses are rows of their own", check: on(toolRows)},
		{name: "latency and token counts are on the assistant rows", check: on(metricsOnRows)},
		{name: "only declared tools are sent to the model", check: on(onlyDeclaredTools)},
		{name: "structured output has its description stripped", check: on(descriptionStripped)},
		{name: "the agent's own tool descriptions are tool notes in the prompt", check: on(toolNotes)},
	})
}

func agentsLoad(t *testing.T, d *desk) {
	_, asked := d.ask(t, harness.Ask{Agent: "doubled", Text: "hello"})
	contains(t, prompt(t, asked), "You come from the folder.")

	d.post(t, `{"type":"object","name":"doubled","description":"You come from the database."}`)
	_, asked = d.ask(t, harness.Ask{Agent: "doubled", Text: "hello"})
	if got := prompt(t, asked); got != "You come from the database." {
		t.Errorf("the next run's prompt is %q, want the database's", got)
	}

	d.remove(t, "doubled")
	_, asked = d.ask(t, harness.Ask{Agent: "doubled", Text: "hello"})
	contains(t, prompt(t, asked), "You come from the folder.")

	// As the list does it.
	contains(t, d.line(t, `curl -sS -X POST "http://localhost:8000/chat/checklist-one" -H 'x-agent-schema-name: doubled' -H 'Content-Type: application/json' -d '{"messages":[{"id":"m1","role":"user","content":"hello"}]}'`),
		`"type":"RUN_STARTED"`, "hello", `"type":"RUN_FINISHED"`)
}

// post stores a document.
func (d *desk) post(t *testing.T, document string) {
	t.Helper()
	res, err := http.Post(d.URL+"/schemas/", "application/json", strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated {
		t.Fatalf("storing a document: status %d", res.StatusCode)
	}
}

// remove deletes a stored document.
func (d *desk) remove(t *testing.T, name string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, d.URL+"/schemas/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("deleting %s: status %d", name, res.StatusCode)
	}
}

func documentOverridesDefaults(t *testing.T, d *desk) {
	for _, tc := range []struct {
		agent       string
		temperature float64
		model       string
	}{
		{"plain", 0.25, "gpt-4.1"},
		{"frugal", 0, "gpt-4o-mini"},
	} {
		_, asked := d.ask(t, harness.Ask{Agent: tc.agent, Session: t.Name() + tc.agent, Text: "hello"})
		got := asked[0].Body
		if got.Temperature == nil || *got.Temperature != tc.temperature || got.Model != tc.model {
			t.Errorf("%s runs on %s at %v, want %s at %v", tc.agent, got.Model, got.Temperature, tc.model, tc.temperature)
		}
	}
	// One request is all that frugal may make: the answer to the tool's result is
	// a second one.
	turn, asked := d.ask(t, harness.Ask{Agent: "frugal", Session: t.Name() + "limit", Text: `call search {"query":"LOOKUP tools"}`})
	var done struct{ Reason, Limit string }
	turn.Frame(t, "done", &done)
	if len(asked) != 1 || done.Reason != "length" || done.Limit != "request_limit" {
		t.Errorf("a request limit of 1: %d requests, done %+v", len(asked), done)
	}

	var rows []struct {
		Schema struct {
			Temperature float64 `json:"temperature"`
		} `json:"json_schema"`
	}
	d.Get(t, "/schemas/?name=dreaming-agent", &rows)
	if len(rows) != 1 || rows[0].Schema.Temperature != 0.7 {
		t.Errorf("GET /schemas/?name=dreaming-agent: %+v, want temperature 0.7", rows)
	}
	configInSQL(t, d)
}

func propertiesInPrompt(t *testing.T, d *desk) {
	_, asked := d.ask(t, harness.Ask{Agent: "general", Text: "hello"})
	contains(t, prompt(t, asked), "\n\n## Thinking Structure\n\n", "\n\n```yaml\n", "user_intent: string",
		"\n```\n\nCRITICAL: Respond with conversational text only. Do NOT output field names, YAML, or JSON.")
	contains(t, d.line(t, `p8 schema show general --prompt`), "## Thinking Structure")
	_, asked = d.ask(t, harness.Ask{Agent: "archive", Session: t.Name() + " structured", Text: "hello"})
	if strings.Contains(prompt(t, asked), "## Thinking Structure") {
		t.Error("a structured agent has a thinking structure too")
	}
}

func toolRows(t *testing.T, d *desk) {
	turn, _ := d.ask(t, harness.Ask{Agent: "plain", Text: `call search {"query":"LOOKUP tools"}`})
	rows := d.Messages(t, t.Name())
	var types []string
	for _, r := range rows {
		types = append(types, r.Type)
	}
	if !slices.Equal(types, []string{"user", "tool_call", "tool_response", "assistant"}) {
		t.Fatalf("rows %q", types)
	}
	call, response := rows[1], rows[2]
	if call.Content != nil || call.ToolName != "search" || call.ToolCallID == "" || string(call.Arguments) != `{"query":"LOOKUP tools"}` {
		t.Errorf("the call's row is %+v", call)
	}
	if response.Content == nil || !json.Valid([]byte(*response.Content)) || response.ToolCallID != call.ToolCallID || response.ToolName != "search" {
		t.Errorf("the response's row is %+v", response)
	}
	if said := rows[3].Content; said == nil || *said != turn.Text {
		t.Errorf("the answer's row holds %v, the client read %q", said, turn.Text)
	}
	toolRowsInSQL(t, d)
}

func metricsOnRows(t *testing.T, d *desk) {
	d.ask(t, harness.Ask{Agent: "plain", Text: `call search {"query":"LOOKUP tools"}`})
	rows := d.Messages(t, t.Name())
	last := rows[len(rows)-1]
	if last.Input != 42 || last.Output != 24 || last.LatencyMS == 0 || last.Model != "openai:gpt-4.1" || last.AgentName != "plain" {
		t.Errorf("the assistant row has %d+%d tokens, %d ms, model %q, agent %q; want 42+24, both requests, and the rest set",
			last.Input, last.Output, last.LatencyMS, last.Model, last.AgentName)
	}
	metricsInSQL(t, d)
}

func onlyDeclaredTools(t *testing.T, d *desk) {
	turn, asked := d.ask(t, harness.Ask{Agent: "sample-agent", Text: "hello"})
	if got := asked[0].Tools(); !slices.Equal(got, []string{"search", "action", "ask_agent"}) {
		t.Errorf("the model is offered %q, want search, action and ask_agent", got)
	}
	if kinds := turn.Kinds(); slices.Contains(kinds, "warning") {
		t.Errorf("a declared tool is missing: %q", kinds)
	}
	_, asked = d.ask(t, harness.Ask{Agent: "doubled", Session: t.Name() + " none", Text: "hello"})
	if got := asked[0].Tools(); len(got) > 0 {
		t.Errorf("an agent without tools is offered %q", got)
	}
}

func descriptionStripped(t *testing.T, d *desk) {
	_, asked := d.ask(t, harness.Ask{Agent: "archive", Text: "hello"})
	format := asked[0].Body.ResponseFormat
	if format == nil {
		t.Fatal("the model is bound to no schema")
	}
	var schema struct {
		Description *string                    `json:"description"`
		Properties  map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(format.JSONSchema.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Description != nil {
		t.Errorf("the root description is sent: %q", *schema.Description)
	}
	contains(t, string(schema.Properties["title"]), "What the visitor said")
	contains(t, prompt(t, asked), "You file what the visitor says.")
}

func toolNotes(t *testing.T, d *desk) {
	_, asked := d.ask(t, harness.Ask{Agent: "frugal", Text: "hello"})
	contains(t, prompt(t, asked), "\n\n## Tool Notes\n- **search**: Only the page named tools")
	contains(t, d.line(t, `p8 schema show general --prompt`), "## Tool Notes")
	for _, tool := range asked[0].Body.Tools {
		if strings.Contains(tool.Function.Description, "Only the page named tools") {
			t.Errorf("the note changed the base description of %s", tool.Function.Name)
		}
	}
}
