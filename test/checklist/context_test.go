package checklist

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/testkit/harness"
	"github.com/p8-org/p8/memory"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// TestAgenticChecklist is REMLight's list of ten items for its agentic module.
func TestAgenticChecklist(t *testing.T) {
	d := newDesk(t)
	tick(t, 10, []row{
		{name: "the agent context is a validated value with a JSON form", check: contextIsValidated},
		{name: "from a request, the user of a verified token comes first", check: verifiedUserComesFirst},
		{name: "the agent context has is_eval and client_id", check: contextHasEvalAndClient},
		{name: "session messages go through repositories", check: onlyTheStoreTouchesTheDatabase},
		{name: "every database operation minds that storage may be disabled", check: worksWithoutStorage},
		{name: "all modules use the one logger", check: onlySlog},
		{name: "the action tool emits typed events", check: func(t *testing.T) { actionEmitsEvents(t, d) }},
		{name: "ask_agent loads session history", check: func(t *testing.T) { childSeesHistory(t, d) }},
		{name: "child content deduplication works", check: func(t *testing.T) { childIsSaidOnce(t, d) }},
		{name: "tool messages are never compressed", check: toolMessagesStayWhole},
	})
}

func contextIsValidated(t *testing.T) {
	const whole = `{"user_id":"u-1","tenant_id":"acme","session_id":"s-1","default_model":"openai:gpt-4.1","agent_schema_uri":"general","is_eval":true,"client_id":"web"}`
	var id identity.Identity
	if err := json.Unmarshal([]byte(whole), &id); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(id)
	if err != nil || string(out) != whole {
		t.Errorf("the round trip gives %s (%v), want %s", out, err, whole)
	}
	for _, bad := range []string{`{"tenant_id":7}`, `{"user_id":"line\nbreak"}`, `{"session_id":"` + strings.Repeat("s", 129) + `"}`} {
		if err := json.Unmarshal([]byte(bad), new(identity.Identity)); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	var empty identity.Identity
	if err := json.Unmarshal([]byte(`{}`), &empty); err != nil || !empty.Anonymous() || empty.TenantID != "default" {
		t.Errorf("{} gives %+v (%v), want an anonymous caller of the default tenant", empty, err)
	}
}

func verifiedUserComesFirst(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("X-User-Id", "somebody-else")
	r.Header.Set("X-Tenant-Id", "somewhere-else")
	r.Header.Set("X-Session-Id", "s-1")
	r = r.WithContext(identity.With(t.Context(), identity.Identity{UserID: "verified", TenantID: "acme"}))
	id, err := identity.FromRequest(r, true)
	if err != nil || id.UserID != "verified" || id.TenantID != "acme" || id.SessionID != "s-1" {
		t.Errorf("got %+v, %v; want the verified user and tenant in session s-1", id, err)
	}
}

func contextHasEvalAndClient(t *testing.T) {
	id, err := identity.FromHeaders(http.Header{"X-Is-Eval": {"true"}, "X-Client-Id": {"mobile"}}, identity.Identity{})
	if err != nil || !id.IsEval || id.ClientID != "mobile" {
		t.Errorf("got %+v, %v", id, err)
	}
	if child := id.Child("other", ""); !child.IsEval || child.ClientID != "mobile" || child.AgentSchemaURI != "other" {
		t.Errorf("the child context is %+v", child)
	}
}

// onlyTheStoreTouchesTheDatabase: no package but store's own, and jobs with the
// tables of its queue, imports a database driver, and no store method works
// without an identity.
func onlyTheStoreTouchesTheDatabase(t *testing.T) {
	eachImport(t, func(file, imported string) {
		driver := imported == "database/sql" || strings.Contains(imported, "sqlite") && !strings.HasPrefix(imported, "github.com/p8-org/p8/") || strings.Contains(imported, "pgx")
		yard := strings.HasPrefix(file, "store/") || strings.HasPrefix(file, "internal/jobs/") || strings.HasPrefix(file, "test/") ||
			strings.HasPrefix(file, "internal/testkit/")
		if driver && !yard {
			t.Errorf("%s imports %s: go through package store", file, imported)
		}
	})
	sessions, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer sessions.Close()
	if _, err := sessions.Session(t.Context(), "s"); !errors.Is(err, identity.ErrMissing) {
		t.Errorf("the store answers a context without an identity with %v", err)
	}
}

// onlySlog: all logging uses log/slog.
func onlySlog(t *testing.T) {
	eachImport(t, func(file, imported string) {
		if imported == "log" || strings.Contains(imported, "zap") || strings.Contains(imported, "logrus") || strings.Contains(imported, "zerolog") {
			t.Errorf("%s imports %s, want log/slog", file, imported)
		}
	})
}

// eachImport calls f for every import of every non-test file of the module.
func eachImport(t *testing.T, f func(file, imported string)) {
	t.Helper()
	root, n := harness.Root(t), 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			n++
			f(filepath.ToSlash(rel), imported)
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d imports read: %v", n, err)
	}
}

func worksWithoutStorage(t *testing.T) {
	for _, setting := range []string{"POSTGRES__ENABLED=false", "P8_DATABASE_URL=none"} {
		d := newDesk(t, setting)
		turn, asked := d.ask(t, harness.Ask{Agent: "plain", Text: "call search {\"query\":\"LOOKUP tools\"}"})
		if turn.Text != "The tools have answered." {
			t.Errorf("%s: the answer is %q", setting, turn.Text)
		}
		results := asked[1].Body.Messages
		contains(t, results[len(results)-1].Text(), "nothing is stored")
		if code := d.Stop(t); code != 0 {
			t.Errorf("%s: the server ended with %d", setting, code)
		}
		contains(t, d.Stdout(), "nothing is stored")
		if entries, err := filepath.Glob(filepath.Join(d.DataDir, "*")); err != nil || len(entries) > 0 {
			t.Errorf("%s: the data folder holds %q (%v)", setting, entries, err)
		}
	}
}

func actionEmitsEvents(t *testing.T, d *desk) {
	turn, _ := d.ask(t, harness.Ask{Agent: "plain", Text: `call action {"type":"observation","payload":{"confidence":0.85,"sources":["doc-1"],"risk_level":"low","risk_score":3,"session_name":"A good talk"}}` + "\n" +
		`call action {"type":"elicit","payload":{"question":"Which one?"}}` + "\n" +
		`call action {"type":"observation","payload":{"confidence":7}}`})
	var types []string
	var failed string
	for i, f := range turn.Frames {
		var action struct {
			Type    string          `json:"action_type"`
			Payload json.RawMessage `json:"payload"`
		}
		switch {
		case f.Type == "action":
			if err := json.Unmarshal(turn.Raw[i], &action); err != nil {
				t.Fatal(err)
			}
			types = append(types, action.Type)
		case f.Type == "tool_call" && f.Status == "failed":
			failed = string(turn.Raw[i])
		}
	}
	slices.Sort(types) // the calls of one step run at once
	if diff := cmp.Diff([]string{"elicit", "observation"}, types); diff != "" {
		t.Errorf("actions (-want +got):\n%s", diff)
	}
	contains(t, failed, "confidence")
	var meta struct {
		Confidence float64  `json:"confidence"`
		Sources    []string `json:"sources"`
		RiskLevel  string   `json:"risk_level"`
		Name       string   `json:"session_name"`
	}
	turn.Frame(t, "metadata", &meta)
	if meta.Confidence != 0.85 || len(meta.Sources) != 1 || meta.RiskLevel != "low" || meta.Name != "A good talk" {
		t.Errorf("the observation is not in the metadata: %+v", meta)
	}
}

func toolMessagesStayWhole(t *testing.T) {
	long := strings.Repeat("A long result of a tool. ", 100)
	said := strings.Repeat("A long answer. ", 100)
	question := "What is it?"
	rows := []store.Message{
		{Seq: 1, Type: store.MessageUser, Content: &question},
		{Seq: 2, Type: store.MessageToolCall, ToolCalls: json.RawMessage(`{"name":"search","id":"c1","arguments":{"query":"LOOKUP x"}}`)},
		{Seq: 3, Type: store.MessageToolResponse, Content: &long, ToolCalls: json.RawMessage(`{"name":"search","id":"c1"}`)},
		{Seq: 4, Type: store.MessageAssistant, Content: &said},
		{Seq: 5, Type: store.MessageUser, Content: &question},
	}
	for i := range rows {
		rows[i].SessionID = "s"
	}
	var result, answer string
	for _, m := range memory.History(rows, memory.Policy{ReplayTools: true, Hints: true, KeepLast: 1, Budget: 100_000}) {
		switch {
		case m.ToolCallID == "c1":
			result = m.Content
		case m.Role == "assistant" && m.Content != "":
			answer = m.Content
		}
	}
	if result != long {
		t.Errorf("the tool's result of %d characters came back with %d", len(long), len(result))
	}
	if len(answer) >= len(said) {
		t.Error("the long answer was not shortened: the test proves nothing")
	}
}
