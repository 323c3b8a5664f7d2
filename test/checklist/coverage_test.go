package checklist

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/harness"
)

// TestAgentConstructionCoverage is the table of REMLight's first walkthrough.
func TestAgentConstructionCoverage(t *testing.T) {
	folder := t.TempDir()
	d := newDesk(t, "P8_SCHEMA_DIR="+folder)
	copyAgents(t, folder)
	tick(t, 7, []row{
		{name: "tool signatures", check: func(t *testing.T) { toolSignatures(t, d) }},
		{name: "remote MCP", check: remoteMCP},
		{name: "system prompt", check: func(t *testing.T) { nestedPrompt(t, d) }},
		{name: "unstructured mode", check: func(t *testing.T) { propertiesGuide(t, d) }},
		{name: "description cleaning", check: func(t *testing.T) { descriptionStripped(t, d) }},
		{name: "schema loading", check: func(t *testing.T) { schemaLoading(t, d, folder) }},
		{name: "agent cache", check: agentCache},
	})
}

// TestRequestFlowCoverage is the table of REMLight's second walkthrough.
func TestRequestFlowCoverage(t *testing.T) {
	d := newDesk(t, "P8_ALWAYS_INCLUDE_LAST_MESSAGES=2")
	tick(t, 4, []row{
		{name: "headers to context", check: func(t *testing.T) { headersToContext(t, d) }},
		{name: "session loading", check: func(t *testing.T) { sessionLoading(t, d) }},
		{name: "stored rows to the model's messages", check: func(t *testing.T) { rowsToMessages(t, d) }},
		{name: "streaming", check: func(t *testing.T) { streaming(t, d) }},
	})
}

// TestStructuredOutputCoverage is REMLight's third walkthrough: its table of
// events, and its table of what a delegated agent's answer becomes.
func TestStructuredOutputCoverage(t *testing.T) {
	d := newDesk(t)
	turn, _ := d.ask(t, harness.Ask{Agent: "plain", Text: `call search {"query":"LOOKUP tools"}` + "\n" +
		`call action {"type":"observation","payload":{"confidence":0.9,"sources":["tools"]}}`})
	children := delegation(t, d, "children")
	tick(t, 8, []row{
		{name: "tool call events: started, executing, completed", check: func(t *testing.T) { toolCallEvents(t, turn) }},
		{name: "action events", check: func(t *testing.T) {
			var action struct {
				Type    string         `json:"action_type"`
				Payload map[string]any `json:"payload"`
			}
			turn.Frame(t, "action", &action)
			if action.Type != "observation" || action.Payload["confidence"] != 0.9 {
				t.Errorf("%+v", action)
			}
		}},
		{name: "metadata events", check: func(t *testing.T) {
			var meta struct {
				Confidence float64  `json:"confidence"`
				Sources    []string `json:"sources"`
			}
			turn.Frame(t, "metadata", &meta)
			if meta.Confidence != 0.9 || !slices.Equal(meta.Sources, []string{"tools"}) {
				t.Errorf("%+v", meta)
			}
		}},
		{name: "content chunks", check: func(t *testing.T) {
			if turn.Text != "The tools have answered." {
				t.Errorf("the chunks say %q", turn.Text)
			}
		}},
		{name: "a child's output: text or an object", check: func(t *testing.T) { childOutput(t, children) }},
		{name: "a child's events: child_content or tool_call", check: func(t *testing.T) { childEvents(t, children) }},
		{name: "a child's rows: part of the answer, or a tool row", check: func(t *testing.T) { childRows(t, d, children, "children") }},
		{name: "a child in the front end: text or a card", check: func(t *testing.T) { childInTheFrontEnd(t, d) }},
	})
}

func copyAgents(t *testing.T, folder string) {
	t.Helper()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "agents"))); err != nil {
		t.Fatal(err)
	}
}

func toolSignatures(t *testing.T, d *desk) {
	_, asked := d.ask(t, harness.Ask{Agent: "plain", Text: "hello"})
	type property struct {
		Type    string `json:"type"`
		Default any    `json:"default"`
	}
	type signature struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	want := map[string]signature{
		"search": {map[string]property{"query": {"string", nil}, "limit": {"integer", 20.0}}, []string{"query"}},
		"action": {map[string]property{"type": {"string", nil}, "payload": {"object", nil}}, []string{"type"}},
	}
	got := map[string]signature{}
	for _, tool := range asked[0].Body.Tools {
		var s signature
		if err := json.Unmarshal(tool.Function.Parameters, &s); err != nil {
			t.Fatal(err)
		}
		got[tool.Function.Name] = s
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("signatures (-want +got):\n%s", diff)
	}
}

func nestedPrompt(t *testing.T, d *desk) {
	_, asked := d.ask(t, harness.Ask{Agent: "nested", Text: "hello", Headers: map[string]string{"X-User-Name": "John Doe", "X-User-Email": "john@example.com"}})
	got := regexp.MustCompile(`(?m)^(Date|Time): .*$`).ReplaceAllString(prompt(t, asked), "$1: …")
	want := strings.Join([]string{
		"## User Context\nDate: …\nTime: …\nUser: John Doe",
		"You answer from the shelves.\nName the shelf.",
		"Be brief.",
		"## Internal Thinking Structure (DO NOT output these labels)",
		"Use this structure to organize your thinking, but ONLY output the answer content:",
		"**OUTPUT (what the user sees):** What the visitor reads",
		"**INTERNAL (for your tracking only - do NOT include in output):**",
		"Schema (use these EXACT field names):\n```yaml\n" +
			"confidence: number\n  # How sure you are\nsources: [string]\n  # Keys of the shelves\n```",
		"CRITICAL: Your response must be ONLY the conversational answer text.\n" +
			"Do NOT output field names like 'answer:' or JSON - just the response itself.",
	}, "\n\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the prompt (-want +got):\n%s", diff)
	}
}

func propertiesGuide(t *testing.T, d *desk) {
	_, asked := d.ask(t, harness.Ask{Agent: "deep", Text: "hello"})
	if asked[0].Body.ResponseFormat != nil {
		t.Error("an unstructured agent is bound to a schema")
	}
	// Nested objects, lists of objects, enums and required fields are all shown.
	contains(t, prompt(t, asked), "mood: string (one of: calm, busy) (required)", "place:\n", "  shelf: integer",
		"finds: [object]\n", "title: string (required)\n")
}

func schemaLoading(t *testing.T, d *desk, folder string) {
	for _, name := range []string{"nested", "NestedAgent", "lib.agents.NestedAgent", "lib-agents-nested-agent"} {
		_, asked := d.ask(t, harness.Ask{Agent: name, Session: "loading " + name, Text: "hello"})
		contains(t, prompt(t, asked), "You answer from the shelves.")
	}
	// The next run uses a changed file.
	document := "type: object\nname: changing\ndescription: Version %d.\n"
	for version := range 3 {
		if err := os.WriteFile(filepath.Join(folder, "changing.yaml"), fmt.Appendf(nil, document, version), 0o600); err != nil {
			t.Fatal(err)
		}
		_, asked := d.ask(t, harness.Ask{Agent: "changing", Text: "hello"})
		if got, want := prompt(t, asked), fmt.Sprintf("Version %d.", version); got != want {
			t.Errorf("the prompt is %q, want %q", got, want)
		}
	}
	// An unknown name is an error with near names, and a path is no name.
	for name, want := range map[string]string{"nestd": "nested", "../agents/nested": ""} {
		res, err := http.Post(d.URL+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"`+name+`","messages":[{"role":"user","content":"hello"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode/100 != 4 || !strings.Contains(string(body), want) {
			t.Errorf("%q: status %d, %v: %s", name, res.StatusCode, err, body)
		}
	}
}

func agentCache(t *testing.T) {
	folder := t.TempDir()
	copyAgents(t, folder)
	c, err := catalog.New(catalog.Options{Dir: folder, CacheSize: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	find := func(user, name string) any {
		t.Helper()
		a, err := c.Agent(identity.With(t.Context(), identity.Identity{UserID: user}), name)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := find("alice", "plain")
	if find("bob", "plain") != first {
		t.Error("another user does not share the compiled agent, which holds nothing of a user")
	}
	if s := c.Stats(); s.Hits != 1 || s.Misses != 1 || s.Size != 1 {
		t.Errorf("after two look-ups of one document: %+v", s)
	}
	find("alice", "nested")
	find("alice", "deep") // the third of two: plain leaves
	if s := c.Stats(); s.Size != 2 || s.Capacity != 2 {
		t.Errorf("a cache of two holds %+v", s)
	}
	if find("alice", "plain") == first {
		t.Error("the agent that was used longest ago is still kept")
	}
	// Other content is another agent.
	second := find("alice", "plain")
	text := "type: object\nname: plain\ndescription: Something else.\n"
	if err := os.WriteFile(filepath.Join(folder, "plain.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if find("alice", "plain") == second {
		t.Error("a changed document still gives the old agent")
	}
}

func headersToContext(t *testing.T, d *desk) {
	headers := map[string]string{
		"X-User-Id": "user-7", "X-Tenant-Id": "acme", "X-User-Email": "alice@example.com", "X-User-Name": "Alice",
		"X-Agent-Schema": "plain", "X-Model-Name": "openai:gpt-4o", "X-Is-Eval": "true", "X-Client-Id": "web",
	}
	_, asked := d.ask(t, harness.Ask{Session: "s-1", Text: "hello", Headers: headers})
	if got := asked[0].Body.Model; got != "gpt-4o" {
		t.Errorf("X-Model-Name: the model is %q", got)
	}
	if got := prompt(t, asked); got != "You do what you are told." {
		t.Errorf("X-Agent-Schema: the prompt is %q", got)
	}
	contains(t, asked[0].Body.Messages[1].Text(), "[Context]\nDate: ", "\nUser ID: user-7\nUser email: alice@example.com\n", "Alice", "\nSession: s-1\nAgent: plain")
	// The session belongs to that tenant and user alone.
	for _, tc := range []struct {
		user, tenant string
		status       int
	}{{"user-7", "acme", 200}, {"user-8", "acme", 404}, {"user-7", "other", 404}, {"", "acme", 404}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/sessions/s-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-User-Id", tc.user)
		req.Header.Set("X-Tenant-Id", tc.tenant)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tc.status {
			t.Errorf("user %q of tenant %q reads the session with status %d, want %d", tc.user, tc.tenant, res.StatusCode, tc.status)
		}
	}
}

func sessionLoading(t *testing.T, d *desk) {
	long := strings.Repeat("All of this must come back. ", 30) + "The end."
	said := "You said: " + long
	d.ask(t, harness.Ask{Agent: "nested", Text: long})
	d.ask(t, harness.Ask{Agent: "nested", Text: "second"})
	_, asked := d.ask(t, harness.Ask{Agent: "nested", Text: "third"})
	var roles []string
	var shortened string
	for _, m := range asked[0].Body.Messages[1:] {
		roles = append(roles, m.Role)
		if m.Role == "assistant" && shortened == "" {
			shortened = m.Text()
		}
	}
	if want := []string{"user", "assistant", "user", "assistant", "user"}; !slices.Equal(roles, want) {
		t.Fatalf("the model is sent %q, want %q", roles, want)
	}
	if got := asked[0].Body.Messages[1].Text(); got != long {
		t.Errorf("the user's long message came back as %q", got)
	}
	hint := regexp.MustCompile(`\n\n\.\.\. \[Message truncated - REM LOOKUP (session-.+-msg-\d+) to recover full content\] \.\.\.\n\n`)
	found := hint.FindStringSubmatch(shortened)
	if found == nil {
		t.Fatalf("the old long answer came back as %q", shortened)
	}
	if want := said[:200] + found[0] + said[len(said)-200:]; shortened != want {
		t.Errorf("the old long answer came back as %q, want %q", shortened, want)
	}
	// The key in the hint leads to the whole text.
	query, err := json.Marshal(map[string]string{"query": "LOOKUP " + found[1]})
	if err != nil {
		t.Fatal(err)
	}
	_, asked = d.ask(t, harness.Ask{Agent: "nested", Text: "call search " + string(query)})
	messages := asked[1].Body.Messages
	contains(t, messages[len(messages)-1].Text(), said)
}

func rowsToMessages(t *testing.T, d *desk) {
	for agent, replayed := range map[string]bool{"nested": true, "plain": false} {
		session := t.Name() + agent
		d.ask(t, harness.Ask{Agent: agent, Session: session, Text: `call search {"query":"LOOKUP tools"}`})
		_, asked := d.ask(t, harness.Ask{Agent: agent, Session: session, Text: "hello"})
		calls, results := map[string]bool{}, 0
		for _, m := range asked[0].Body.Messages {
			for _, call := range m.ToolCalls {
				calls[call.ID] = call.Function.Arguments == `{"query":"LOOKUP tools"}`
			}
			if m.Role == "tool" {
				results++
				if !calls[m.ToolCallID] {
					t.Errorf("%s: the result of %q stands without its call", agent, m.ToolCallID)
				}
			}
		}
		if want := map[bool]int{true: 1, false: 0}[replayed]; len(calls) != want || results != want {
			t.Errorf("%s: %d calls and %d results are sent again, want %d of each", agent, len(calls), results, want)
		}
	}
}

func streaming(t *testing.T, d *desk) {
	turn, _ := d.ask(t, harness.Ask{Agent: "plain", Text: `call search {"query":"LOOKUP tools"}`})
	want := []string{
		"progress", "tool_call started", "progress", "tool_call executing", "tool_call completed",
		"progress", "text", "metadata", "usage", "done",
	}
	if diff := cmp.Diff(want, turn.Kinds()); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
	// The user's row is stored before the stream, the answer's before its end.
	rows := d.Messages(t, t.Name())
	var progress struct {
		InReplyTo string `json:"in_reply_to"`
		SessionID string `json:"session_id"`
	}
	turn.Frame(t, "progress", &progress)
	var meta struct {
		MessageID string `json:"message_id"`
	}
	turn.Frame(t, "metadata", &meta)
	if progress.InReplyTo != rows[0].ID || progress.SessionID != t.Name() || meta.MessageID != rows[len(rows)-1].ID {
		t.Errorf("the frames name %+v and %+v, the rows are %s … %s", progress, meta, rows[0].ID, rows[len(rows)-1].ID)
	}
}

func toolCallEvents(t *testing.T, turn harness.Turn) {
	stages := map[string][]string{}
	for _, f := range turn.Frames {
		if f.Type != "tool_call" {
			continue
		}
		stages[f.ToolName] = append(stages[f.ToolName], f.Status)
		if f.ToolCallID == "" {
			t.Errorf("a %s frame of %s has no tool_id", f.Status, f.ToolName)
		}
		if f.Status == "executing" && len(f.Arguments) == 0 || f.Status == "completed" && len(f.Result) == 0 {
			t.Errorf("the %s frame of %s lacks its arguments or result", f.Status, f.ToolName)
		}
	}
	whole := []string{"started", "executing", "completed"}
	if diff := cmp.Diff(map[string][]string{"search": whole, "action": whole}, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}
