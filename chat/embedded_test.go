package chat_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
	"github.com/p8-org/p8/store/sqlite"
)

// TestOnTheEmbeddedEngine is a session of two turns in a real database, with
// the documents mirrored.
func TestOnTheEmbeddedEngine(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	agents, err := catalog.New(catalog.Options{
		Builtin: fstest.MapFS{"general.yaml": {Data: []byte(strings.Replace(flatAgent, "general", "helper", 1))}, "n.yaml": {Data: []byte(nestedAgent)}},
		Store:   db,
	})
	if err != nil {
		t.Fatal(err)
	}
	model := scripted.New(
		scripted.Call("echo", `{"text":"name"}`), scripted.Text("One."), scripted.Text("Two."),
	)
	s, err := chat.New(chat.Options{Catalog: agents, Models: models{model}, Tools: registry(t, newEcho(t)), Store: db})
	if err != nil {
		t.Fatal(err)
	}
	ctx := identity.With(t.Context(), identity.Identity{
		UserID: "alice", Name: "Alice", SessionID: "Tee & Kuchen", AgentSchemaURI: "research-agent",
	})
	if err := agents.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	for _, input := range []string{"First?", "Second?"} {
		started, err := s.Start(ctx, chat.Request{Input: input, SessionMetadata: map[string]any{"plan": "free"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := story(drain(t, started)); got[len(got)-1] != "done stop" || strings.Contains(strings.Join(got, "\n"), "warning") {
			t.Errorf("%q", got)
		}
		if _, err := db.Message(ctx, started.MessageID); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{
		"1 user First?", `2 tool_call NULL {"name":"echo","id":"call_1","arguments":{"text":"name"}}`,
		`3 tool_response named {"name":"echo","id":"call_1"}`, "4 assistant One.", "5 user Second?", "6 assistant Two.",
	}, transcript(t, db, ctx, "Tee & Kuchen")); diff != "" {
		t.Error(diff)
	}
	second := model.Requests()[2].Messages
	if len(second) != 6 || second[2].ToolCalls[0].ID != "call_1" || !strings.HasPrefix(second[0].Content, "## User Context") ||
		!strings.Contains(second[0].Content, "User: Alice") {
		t.Errorf("%+v", second)
	}
	session, err := db.Session(ctx, "Tee & Kuchen")
	if err != nil || session.Name != "A good name" || session.AgentName != "research-agent" || string(session.Metadata) != `{"plan":"free"}` {
		t.Errorf("%+v %v", session, err)
	}
	mirror, err := db.Schema(ctx, "research-agent")
	if err != nil || mirror.Origin != catalog.Builtin || mirror.TenantID != identity.SystemTenant {
		t.Errorf("%+v %v", mirror, err)
	}
	// What a person writes under the name counts from the next turn on.
	if err := db.PutSchema(ctx, &store.Schema{Name: "research-agent", Source: strings.Replace(nestedAgent, "a research", "a new", 1), Shared: true}); err != nil {
		t.Fatal(err)
	}
	if a, err := agents.Agent(ctx, "research-agent"); err != nil || !strings.Contains(a.Prompt, "a new assistant") {
		t.Errorf("%v", err)
	}
	stranger := as(t.Context(), "bob", "Tee & Kuchen")
	if started, err := s.Start(stranger, chat.Request{Input: "Hi", Agent: "helper"}); err != nil {
		t.Errorf("a session id of another user: %v", err)
	} else {
		drain(t, started)
	}
	if sess, err := db.Session(stranger, "Tee & Kuchen"); err != nil || sess.UserID != "bob" || sess.Messages != 2 {
		t.Errorf("the stranger's session: %+v, %v", sess, err)
	}
}

// TestRunsThatNobodyWentOnWith keep what they said, in their sessions.
func TestRunsThatNobodyWentOnWith(t *testing.T) {
	db, err := sqlite.Open(t.Context(), sqlite.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	never := make(chan struct{})
	s := newService(t, scripted.New(scripted.Turn{Text: []string{"Half", " never"}, Before: scripted.Until(1, never)}), chat.Options{Store: db}, helper)
	ctx := as(t.Context(), "alice", "s1")
	started, err := s.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	for e := range started.Events(ctx) {
		if e.Text != "" {
			break
		}
	}
	now, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(now); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	later := newService(t, scripted.New(), chat.Options{Store: db}, helper)
	if err := later.EndLeft(t.Context(), db.Maintenance(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 user Hi", "2 assistant Half  interrupted"}, transcript(t, db, ctx, "s1")); diff != "" {
		t.Error(diff)
	}
	if n, err := db.Maintenance().LeftRuns(t.Context(), time.Now().Add(time.Hour)); len(n) > 0 || err != nil {
		t.Errorf("%v %v", n, err)
	}
}

// TestManyRunsThatNobodyWentOnWith: all of them end, however many the store lists at once.
func TestManyRunsThatNobodyWentOnWith(t *testing.T) {
	db := newStore(t)
	ctx := as(t.Context(), "alice", "s1")
	if err := db.PutSession(ctx, store.Session{ID: "s1"}); err != nil {
		t.Fatal(err)
	}
	for range 101 {
		r := store.Run{ID: uuid.NewString(), MessageID: uuid.NewString(), InReplyTo: uuid.NewString(), Process: "another"}
		if err := db.BeginRun(ctx, store.RunStart{Session: store.Session{ID: "s1"}, Run: r}); err != nil {
			t.Fatal(err)
		}
		w := store.RunWrite{RunID: r.ID, Process: "another", Status: store.RunWaiting, Reason: event.ReasonToolCalls}
		if _, err := db.WriteRun(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	s := newService(t, scripted.New(), chat.Options{Store: db}, helper)
	soon := time.Now().Add(time.Hour)
	if err := s.EndLeft(t.Context(), db.Maintenance(), soon); err != nil {
		t.Fatal(err)
	}
	if left, err := db.Maintenance().LeftRuns(t.Context(), soon); len(left) > 0 || err != nil {
		t.Errorf("%d runs are left: %v", len(left), err)
	}
}
