package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// models is every model there is: one.
type models struct{ llm.Model }

func (m models) Resolve(name string) (llm.Model, error) {
	if name == "nobody:knows" {
		return nil, &llm.Error{Kind: llm.NotFound, Model: name}
	}
	return m.Model, nil
}

// echo is a tool that repeats its text; "boom" fails.
type echo struct {
	tool.Base
	seen sync.Map // who called, by call id
}

func newEcho(t testing.TB) *echo {
	t.Helper()
	base, err := tool.NewBase(llm.ToolSpec{
		Name: "echo", Description: "Repeats the text.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &echo{Base: base}
}

func (e *echo) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	e.seen.Store(c.ID, who)
	switch string(c.Arguments) {
	case `{"text":"boom"}`:
		return tool.Result{}, &tool.Error{Message: "it blew up"}
	case `{"text":"name"}`:
		return tool.Result{Content: "named", Metadata: &event.MetadataData{
			SessionName: "A good name", Sources: []string{"doc-1"},
		}}, nil
	}
	return tool.Result{Content: string(c.Arguments)}, nil
}

func registry(t testing.TB, tools ...tool.Tool) *tool.Box {
	t.Helper()
	r, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return &tool.Box{Local: r}
}

// newService has the documents (the first is named for requests without an
// agent) and the echo tool.
func newService(t testing.TB, m llm.Model, o chat.Options, documents ...string) *chat.Service {
	t.Helper()
	files := fstest.MapFS{}
	for i, d := range documents {
		files[fmt.Sprintf("doc%d.yaml", i)] = &fstest.MapFile{Data: []byte(d)}
	}
	found, err := catalog.New(catalog.Options{Builtin: files})
	if err != nil {
		t.Fatal(err)
	}
	first, err := agent.Parse("doc0.yaml", []byte(documents[0]))
	if err != nil {
		t.Fatal(err)
	}
	if o.Tools == nil {
		o.Tools = registry(t, newEcho(t))
	}
	if o.Models == nil {
		o.Models = models{m}
	}
	o.Catalog = named{found, first.Key()}
	s, err := chat.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// named answers for general with another agent.
type named struct {
	*catalog.Catalog
	general string
}

func (n named) Agent(ctx context.Context, name string) (*agent.Agent, error) {
	if name == "general" {
		name = n.general
	}
	return n.Catalog.Agent(ctx, name)
}

func as(ctx context.Context, user, session string) context.Context {
	return identity.With(ctx, identity.Identity{UserID: user, SessionID: session})
}

// turn runs a turn to its end, reading every event.
func turn(t testing.TB, s *chat.Service, ctx context.Context, input string) []event.Event {
	t.Helper()
	started, err := s.Start(ctx, chat.Request{Input: input})
	if err != nil {
		t.Fatal(err)
	}
	return drain(t, started)
}

func drain(t testing.TB, turn *chat.Turn) []event.Event {
	t.Helper()
	var events []event.Event
	for e, err := range turn.Events(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// alone runs a test on a clock of its own.
func alone(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}
