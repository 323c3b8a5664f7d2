package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/cmd/p8/internal/wiring"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/ingest"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/store"
)

//go:generate go test -run TestAgentRun -update .

// agentRunHead begins examples/data/agent_run.yaml.
const agentRunHead = `# One turn of examples/agents/project-desk.yaml as it is stored: the user's
# message, a search, an agent that is asked and answers with data, the answer. The
# model was a script; go generate ./cmd/p8 makes the file anew.
`

// TestAgentRun captures the rows of a run that searches and asks a structured
// agent. go generate ./cmd/p8 rewrites the file.
func TestAgentRun(t *testing.T) {
	model := httptest.NewServer(&script{})
	t.Cleanup(model.Close)
	a, cfg := testApp(t, io.Discard, io.Discard, "OPENAI_BASE_URL="+model.URL, "OPENAI_API_KEY=sk-test",
		"P8_DEFAULT_MODEL=openai:gpt-4.1", "P8_SCHEMA_DIR="+filepath.Join("..", "..", "examples", "agents"), quickExit)
	ids := 0
	p := testParts(t, a, cfg, wiring.Options{
		Now: func() time.Time { return time.Date(2026, 11, 9, 10, 0, 0, 0, time.UTC) },
		NewID: func() string {
			ids++
			return fmt.Sprintf("00000000-0000-4000-8000-%012d", ids)
		},
	})
	ctx := identity.With(t.Context(), identity.Identity{
		UserID: identity.UserID("alice@example.com"), Email: "alice@example.com", Name: "Alice", SessionID: "project-alpha-risk",
	})
	if _, err := p.Ingest.Paths(ctx, ingest.PathsOptions{Paths: []string{filepath.Join("..", "..", "examples", "data", "projects")}}); err != nil {
		t.Fatal(err)
	}
	turn, err := p.Chat.Start(ctx, chat.Request{Agent: "project-desk", Input: "Will Project Alpha be late?"})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := turn.Wait(ctx); err != nil || res.Reason != event.ReasonStop {
		t.Fatalf("the run ended with %q (%v): %+v", res.Reason, err, res.Error)
	}
	rows, err := p.Store.Messages(ctx, turn.SessionID, store.MessageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i].LatencyMS = 0 // the one column that no clock of a test rules
	}
	raw, err := json.Marshal(map[string]any{"messages": rows})
	if err != nil {
		t.Fatal(err)
	}
	var fields yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(raw, &fields, yaml.UseOrderedMap()); err != nil {
		t.Fatal(err)
	}
	text, err := yaml.MarshalWithOptions(fields, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, filepath.Join("..", "..", "examples", "data", "agent_run.yaml"), agentRunHead+string(text))
}

// script is a model that plays one run.
type script struct{ step atomic.Int32 }

func (m *script) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	s := chunked{w}
	finish := "stop"
	n := int(m.step.Add(1))
	switch n {
	case 1:
		s.call("call_1", "search", `{"query":"SQL SELECT name, content FROM ontologies WHERE name = 'project-alpha'"}`)
		finish = "tool_calls"
	case 2:
		s.call("call_2", "ask_agent", `{"agent_name":"delay-assessor","input_text":"Project Alpha (project-alpha) moves billing to its own database by the end of January. Two rehearsals are done; the third waits until the lock of October is understood. How likely is it to be late?"}`)
		finish = "tool_calls"
	case 3:
		s.text(`{"project":"project-alpha","risk":"medium","reasons":["The third rehearsal has no date","The lock of October is not understood"],`)
		s.text(`"next_step":"Find out why the copy locked the invoices table"}`)
	default:
		s.text("It may be: the risk is medium. ")
		s.text("The third rehearsal waits until the lock of October is understood (project-alpha).")
	}
	s.chunk(`{}`, `"`+finish+`"`)
	fmt.Fprintf(w, `data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\ndata: [DONE]\n\n", 300*n, 20*n, 320*n)
}
