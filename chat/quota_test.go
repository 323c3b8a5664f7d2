package chat_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/identity"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// A run that uses up the day's tokens ends after its step: with its text, a reason and the usage
// of its children. What it was refused for is counted and stored nowhere.
func TestQuotaEndsARun(t *testing.T) {
	look := scripted.Turn{Text: []string{"Let me see."}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"x"}`}}, Usage: llm.Usage{Input: 600, Output: 10}}
	kept := newStore(t)
	var ended []event.UsageData
	runs, left := 0, 1000
	s := newService(t, scripted.New(look, look, look), chat.Options{Store: kept, Admit: func(context.Context, bool) (chat.Account, error) {
		if left <= 0 {
			return chat.Account{}, errors.New("all is used")
		}
		runs++
		return chat.Account{
			Allowed: store.RunsAllowed{User: 5},
			Meter: func() func(event.UsageData) string {
				return func(u event.UsageData) string {
					if u.InputTokens >= left {
						return event.LimitTokensQuota
					}
					return ""
				}
			},
			End: func(u event.UsageData) { ended, left = append(ended, u), left-u.InputTokens },
		}, nil
	}}, helper)
	ctx := as(t.Context(), "alice", "s1")
	events := turn(t, s, ctx, "Go")
	if err := s.Close(t.Context()); err != nil { // the account closes after the last event
		t.Fatal(err)
	}
	done, _ := events[len(events)-1].Data.(*event.DoneData)
	row := answer(t, kept, ctx, "s1")
	if done == nil || done.Reason != event.ReasonLength || done.Limit != event.LimitTokensQuota || !strings.Contains(*row.Content, "(tokens_quota); the next day begins at 00:00 UTC.]") {
		t.Errorf("%+v, %q", done, *row.Content)
	}
	if runs != 1 || len(ended) != 1 || ended[0].InputTokens != 1200 {
		t.Errorf("%d runs, ended with %+v", runs, ended)
	}
	s = newService(t, scripted.New(look), chat.Options{Store: kept, Admit: func(context.Context, bool) (chat.Account, error) {
		return chat.Account{}, errors.New("all is used")
	}}, helper)
	if _, err := s.Start(as(t.Context(), "alice", "s2"), chat.Request{Input: "Go"}); err == nil || s.Running() != 0 {
		t.Errorf("%v, %d running", err, s.Running())
	}
	if n := s.Stats(); n.Runs != 0 || n.MaxRuns != 1000 || n.Waiting != 0 || n.Unstored != 0 || n.Memory != 0 || n.MaxMemory != 64<<20 {
		t.Errorf("idle: %+v", n)
	}
	if _, err := kept.Session(ctx, "s2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a refused turn is stored: %v", err)
	}
}

// A run that waits for a client's tool takes a place when the results come. Without one it waits
// on, and the same results are good later.
func TestQuotaOfRunsThatGoOn(t *testing.T) {
	kept := newStore(t)
	full := errors.New("as many runs as allowed")
	s := newService(t, scripted.New(scripted.Call("ring", `{}`), scripted.Text("It rang.")), chat.Options{Store: kept, Admit: func(context.Context, bool) (chat.Account, error) {
		return chat.Account{Allowed: store.RunsAllowed{User: 1}, Refused: func(*store.TooManyRunsError) error { return full }}, nil
	}}, helper)
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{ring}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, first)
	other := store.Run{ID: "00000000-0000-4000-8000-000000000001", Process: "p"}
	if err := kept.BeginRun(ctx, store.RunStart{Run: other, Session: store.Session{ID: "s2"}, Messages: []*store.Message{{Type: store.MessageUser, Content: &other.Process}}}); err != nil {
		t.Fatal(err)
	}
	results := chat.Request{ClientTools: []llm.ToolSpec{ring}, Results: []chat.ToolResult{{ToolCallID: "call_1", Content: "ding"}}}
	if _, err := s.Start(ctx, results); !errors.Is(err, full) {
		t.Fatalf("without a place: %v", err)
	}
	if r, err := kept.Run(ctx, first.RunID); err != nil || r.Status != store.RunWaiting || s.Running() != 0 {
		t.Fatalf("%s %v, %d running", r.Status, err, s.Running())
	}
	if _, err := kept.WriteRun(ctx, store.RunWrite{RunID: other.ID, Process: "p", Status: store.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	second, err := s.Start(ctx, results)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := second.Wait(t.Context()); err != nil || res.Text != "It rang." {
		t.Errorf("%+v %v", res, err)
	}
}

// The key that began a run pays for what the run consumes when it goes on.
func TestKeyOfARunThatGoesOn(t *testing.T) {
	kept := newStore(t)
	kept.Meter()
	answer := scripted.Text("It rang.")
	answer.Usage = llm.Usage{Input: 600, Output: 10}
	s := newService(t, scripted.New(scripted.Call("ring", `{}`), answer), chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	with := func(key string) context.Context {
		id, err := identity.From(ctx)
		if err != nil {
			t.Fatal(err)
		}
		id.KeyID = key
		return identity.With(ctx, id)
	}
	first, err := s.Start(with("k1"), chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{ring}})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, first)
	second, err := s.Start(ctx, chat.Request{ClientTools: []llm.ToolSpec{ring}, Results: []chat.ToolResult{{ToolCallID: "call_1", Content: "ding"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := kept.Quotas().Standing(with("k1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		if x.Kind == store.QuotaKey && x.Tokens >= 610 {
			return
		}
	}
	t.Errorf("the key paid for nothing: %+v", list)
}
