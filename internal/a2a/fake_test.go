package a2a_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/catalog"
	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/internal/a2a"
	"github.com/p8-org/p8/store"
)

var (
	_ a2a.Chat    = (*chat.Service)(nil)
	_ a2a.Catalog = (*catalog.Catalog)(nil)
)

// fakeRun is a run that the tests have written beforehand: what it says until it
// asks, and what it says then.
type fakeRun struct {
	run    store.Run
	events []event.Event
	// rest is said when every request is decided.
	rest []event.Event
	open []store.RunRequest
	// going: the run has more to say, which never comes.
	going bool
}

func (f *fakeRun) turn() *chat.Turn {
	t := chat.NewTurn(func(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			for _, e := range f.events {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
			if f.going {
				<-ctx.Done()
				yield(event.Event{}, ctx.Err())
			}
		}
	})
	t.RunID, t.SessionID, t.Agent = f.run.ID, f.run.SessionID, f.run.AgentName
	return t
}

func (f *fakeRun) add(events []event.Event) {
	for _, e := range events {
		e.Seq = int64(len(f.events) + 1)
		f.events = append(f.events, e)
	}
	f.run.LastSeq = int64(len(f.events))
	switch last, _ := f.events[len(f.events)-1].Data.(*event.DoneData); {
	case last == nil:
		f.run.Status = store.RunRunning
	case last.Reason == event.ReasonPaused:
		f.run.Status = store.RunWaiting
	case last.Reason == event.ReasonError:
		f.run.Status = store.RunFailed
	default:
		f.run.Status = store.RunCompleted
	}
}

// fakeChat has one run for each thing that may be said.
type fakeChat struct {
	scripts map[string]func() *fakeRun
	runs    map[string]*fakeRun
	started []chat.Request
	who     []identity.Identity
	decided []string
}

func (c *fakeChat) Start(ctx context.Context, req chat.Request) (*chat.Turn, error) {
	who, err := identity.From(ctx)
	if err != nil {
		return nil, err
	}
	switch who.SessionID {
	case "busy":
		return nil, chat.ErrBusy
	case "somebody-elses":
		return nil, store.ErrNotFound
	}
	c.started, c.who = append(c.started, req), append(c.who, who)
	script := c.scripts[req.Input]
	if script == nil {
		return nil, &chat.InputError{Field: "messages", Message: "that cannot be said"}
	}
	f := script()
	f.run.ID, f.run.SessionID, f.run.AgentName = fmt.Sprintf("run-%d", len(c.runs)+1), who.SessionID, req.Agent
	for i := range f.open {
		f.open[i].RunID = f.run.ID
	}
	events := f.events
	f.events = nil
	f.add(events)
	c.runs[f.run.ID] = f
	return f.turn(), nil
}

func (c *fakeChat) Open(_ context.Context, id string) (*chat.Turn, store.Run, error) {
	f := c.runs[id]
	if f == nil {
		return nil, store.Run{}, store.ErrNotFound
	}
	return f.turn(), f.run, nil
}

func (c *fakeChat) Stop(_ context.Context, id string) (store.Run, error) {
	f := c.runs[id]
	f.going, f.run.Status = false, store.RunCancelled
	return f.run, nil
}

func (c *fakeChat) Requests(_ context.Context, filter store.RequestFilter) ([]store.RunRequest, string, error) {
	return c.runs[filter.RunID].open, "", nil
}

func (c *fakeChat) Decide(_ context.Context, id string, d store.Decision) (store.RunRequest, *chat.Turn, error) {
	for _, f := range c.runs {
		for i, q := range f.open {
			if q.ID != id {
				continue
			}
			c.decided = append(c.decided, fmt.Sprintf("%s %s %s %q via %s", id, d.Status, d.Content, d.Comment, d.Via))
			f.open = append(f.open[:i:i], f.open[i+1:]...)
			if len(f.open) > 0 {
				return q, nil, nil
			}
			past := f.run.LastSeq
			f.add(f.rest)
			t := f.turn()
			t.Past = past
			return q, t, nil
		}
	}
	return store.RunRequest{}, nil, store.ErrDecided
}

// fakeCatalog has a few agents.
type fakeCatalog struct{ agents map[string]*agent.Agent }

func (c fakeCatalog) Agent(_ context.Context, name string) (*agent.Agent, error) {
	if a := c.agents[name]; a != nil {
		return a, nil
	}
	return nil, &catalog.NotFoundError{Name: name}
}

func (c fakeCatalog) List(context.Context, string) ([]catalog.Entry, error) {
	return []catalog.Entry{{Name: "general"}}, nil
}

func compile(t testing.TB, text string) *agent.Agent {
	t.Helper()
	doc, err := agent.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a, err := agent.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newServer(t testing.TB, o a2a.Options) (*a2a.Server, *fakeChat) {
	t.Helper()
	c := &fakeChat{scripts: scripts(), runs: map[string]*fakeRun{}}
	general := compile(t, "type: object\nname: general\nversion: 2.1.0\ndescription: You help.\nshort_description: Answers anything.\n")
	triage := compile(t, "type: object\nname: triage\nshort_description: Sorts tickets.\ndescription: You sort.\nstructured_output: true\nproperties:\n  label: {type: string}\n")
	o.Chat, o.Catalog = c, fakeCatalog{map[string]*agent.Agent{
		"general": general, "helper": general, "triage": triage,
		"secret":    compile(t, "type: object\nname: secret\ndescription: You hide.\n"),
		"simulator": compile(t, "type: object\nname: simulator\ndescription: Plays scripted events.\n"),
	}}
	if o.Agents == nil {
		o.Agents = []string{"general", "triage", "simulator"}
	}
	o.BaseURL, o.Version = "https://p8.example/", "9.9.9"
	o.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	n := 0
	o.NewID = func() string { n++; return fmt.Sprintf("session-%d", n) }
	s, err := a2a.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func at(agent string, e event.Event) event.Event {
	e.Agent = agent
	return e
}

func say(text string) event.Event { return at("general", event.NewText(text)) }

func done(reason string) event.Event {
	return at("general", event.New(&event.DoneData{Reason: reason}))
}

// scripts are what the fake runs say.
func scripts() map[string]func() *fakeRun {
	said := func(events ...event.Event) func() *fakeRun {
		return func() *fakeRun { return &fakeRun{events: events} }
	}
	call := func(agent string, status event.ToolStatus) event.Event {
		return at(agent, event.New(&event.ToolCallData{Name: "search", ID: "call_1", Status: status, Arguments: json.RawMessage(`{"query":"x"}`)}))
	}
	child := func(e event.Event) event.Event { e.RunID = "run-child"; return at("general/researcher", e) }
	asks := func(open ...store.RunRequest) func() *fakeRun {
		return func() *fakeRun {
			var events []event.Event
			events = append(events, say("Let me see. "))
			for _, q := range open {
				events = append(events, at("general", event.New(&event.ActionRequestData{RequestID: q.ID, Kind: q.Kind, Message: q.Message, Card: json.RawMessage(`{}`)})))
			}
			return &fakeRun{
				events: append(events, done(event.ReasonPaused)), open: append([]store.RunRequest(nil), open...),
				rest: []event.Event{say("Done."), done(event.ReasonStop)},
			}
		}
	}
	approval := store.RunRequest{ID: "req-1", Kind: event.RequestApproval, Message: "May I call delete?", AgentPath: "general", ToolName: "delete", Arguments: json.RawMessage(`{"id":7}`)}
	second := approval
	second.ID, second.Message = "req-2", "May I call it again?"
	name := store.RunRequest{ID: "req-3", Kind: event.RequestElicitation, Message: "What is your name?", AgentPath: "general", Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)}
	date := name
	date.ID, date.Schema = "req-4", json.RawMessage(`{"type":"object","properties":{"day":{"type":"integer"},"month":{"type":"integer"}}}`)
	signIn := store.RunRequest{ID: "req-5", Kind: event.RequestElicitation, Message: "docs asks: Sign in.\nhttps://docs.example/in", AgentPath: "general"}
	return map[string]func() *fakeRun{
		"hello": said(say("Hello "), say("there."), done(event.ReasonStop)),
		"tools": said(call("general", event.ToolStarted), call("general", event.ToolExecuting), call("general", event.ToolCompleted), say("Found."),
			at("general", event.New(&event.UsageData{InputTokens: 3})), done(event.ReasonStop)),
		"delegate": said(
			child(event.New(&event.ChildRunData{Status: event.ChildStarted, ToolCallID: "call_1", Input: "look"})), child(call("general/researcher", event.ToolExecuting)),
			child(event.NewText("The child says so. ")), child(event.New(&event.UsageData{})), child(event.New(&event.DoneData{Reason: event.ReasonStop})),
			child(event.New(&event.ChildRunData{Status: event.ChildCompleted, ToolCallID: "call_1"})), say("So it is."), done(event.ReasonStop)),
		"sort": said(say(`{"label":"bug"}`), at("triage", event.New(&event.DoneData{Reason: event.ReasonStop, Output: json.RawMessage(`{"label":"bug"}`)}))),
		"fail": said(say("I beg"), at("general", event.New(&event.ErrorData{Code: "timeout", Message: "the model took too long; try again"})), done(event.ReasonError)),
		"long": said(say("And so on"), at("general", event.New(&event.DoneData{Reason: event.ReasonLength, Limit: event.LimitRequests}))),
		"wait": func() *fakeRun { return &fakeRun{events: []event.Event{say("One moment"), say(". ")}, going: true} },
		"ask":  asks(approval), "ask twice": asks(approval, second), "name": asks(name), "date": asks(date), "sign in": asks(signIn),
	}
}
