package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

// careful asks before it repeats.
const careful = `
name: careful
description: You are careful.
tools:
  - name: echo
    approval: always

`

func requests(t *testing.T, s *chat.Service, ctx context.Context) []store.RunRequest {
	t.Helper()
	page, _, err := s.Requests(ctx, store.RequestFilter{Status: store.RequestOpen})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestAnApprovalOutlivesTheService(t *testing.T) {
	for _, tc := range []struct {
		decision store.Decision
		seen     string // by the model
	}{
		{store.Decision{Status: store.RequestAccepted, Via: "cli"}, `{"text":"a"}`},
		{store.Decision{Status: store.RequestDeclined, Comment: "not today"}, "not today"},
	} {
		kept := newStore(t)
		ctx := as(t.Context(), "alice", "s1")
		first := newService(t, scripted.New(scripted.Turn{Calls: []llm.ToolCall{
			{Name: "echo", Arguments: `{"text":"a"}`},
		}}), chat.Options{Store: kept}, careful)
		events := turn(t, first, ctx, "Go")
		got := story(events)
		if got[len(got)-1] != "done paused" {
			t.Fatalf("%q", got)
		}
		asked := find[*event.ActionRequestData](t, events)
		if err := first.Close(t.Context()); err != nil {
			t.Fatal(err)
		}

		model := scripted.New(scripted.Text("Done."))
		second := newService(t, model, chat.Options{Store: kept}, careful)
		open := requests(t, second, as(t.Context(), "alice", ""))
		if len(open) != 1 || open[0].ID != asked.RequestID || open[0].ToolName != "echo" || open[0].ExpiresAt.IsZero() {
			t.Fatalf("%+v", open)
		}
		if _, _, err := second.Decide(as(t.Context(), "bob", ""), asked.RequestID, tc.decision); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("bob decided: %v", err)
		}
		r, again, err := second.Decide(as(t.Context(), "alice", ""), asked.RequestID, tc.decision)
		if err != nil || again == nil || r.DecidedBy != "alice" {
			t.Fatalf("%+v %v %v", r, again, err)
		}
		all := drain(t, again)
		if got := story(all); got[len(got)-1] != "done stop" || slices.Contains(got, "done paused") {
			t.Errorf("%q", got)
		}
		res, err := again.Wait(t.Context())
		if err != nil || res.Text != "Done." {
			t.Errorf("%+v %v", res, err)
		}
		last := model.Requests()[0].Messages
		if m := last[len(last)-1]; m.Role != llm.ToolRole || !strings.Contains(m.Content, tc.seen) {
			t.Errorf("%+v", m)
		}
		if _, _, err := second.Decide(as(t.Context(), "alice", ""), asked.RequestID, tc.decision); !errors.Is(err, store.ErrDecided) {
			t.Errorf("decided twice: %v", err)
		}
		want := []string{"1 user Go", "2 tool_call", "3 tool_response", "4 assistant Done."}
		for i, row := range transcript(t, kept, ctx, "s1") {
			if !strings.HasPrefix(row, want[i]) {
				t.Errorf("row %d is %q, want %q", i, row, want[i])
			}
		}
		// The same story from the log, by its numbers.
		for from := int64(0); from < all[len(all)-1].Seq; from++ {
			var rest []event.Event
			for e, err := range again.EventsAfter(t.Context(), from) {
				if err != nil {
					t.Fatal(err)
				}
				rest = append(rest, e)
			}
			i := slices.IndexFunc(all, func(e event.Event) bool { return e.Seq > from })
			if diff := cmp.Diff(story(all[i:]), story(rest)); diff != "" {
				t.Fatalf("after %d: %s", from, diff)
			}
		}
	}
}

func TestAMessageInsteadOfAnAnswer(t *testing.T) {
	kept := newStore(t)
	ctx := as(t.Context(), "alice", "s1")
	s := newService(t, scripted.New(
		scripted.Turn{Text: []string{"Let me see."}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"a"}`}}},
		scripted.Text("As you like."),
	), chat.Options{Store: kept}, careful)
	events := turn(t, s, ctx, "Go")
	asked := find[*event.ActionRequestData](t, events)
	turn(t, s, ctx, "Never mind")
	want := []string{
		"1 user Go", `2 tool_call NULL {"name":"echo","id":"call_1","arguments":{"text":"a"}}`,
		`3 tool_response {"status":"cancelled","error":"the run was stopped before this call had a result"} {"name":"echo","id":"call_1"} error`,
		"4 assistant Let me see.  cancelled", "5 user Never mind", "6 assistant As you like.",
	}
	if diff := cmp.Diff(want, transcript(t, kept, ctx, "s1")); diff != "" {
		t.Error(diff)
	}
	r, err := s.Request(ctx, asked.RequestID)
	if err != nil || r.Status != store.RequestCancelled {
		t.Errorf("%+v %v", r, err)
	}
}

func TestSteer(t *testing.T) {
	gate := make(chan struct{})
	model := scripted.New(
		scripted.Turn{Text: []string{"One"}, Calls: []llm.ToolCall{{Name: "echo", Arguments: `{"text":"a"}`}}, Before: scripted.Until(0, gate)},
		scripted.Text("Two."),
	)
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	first, err := s.Start(ctx, chat.Request{Input: "Go"})
	if err != nil {
		t.Fatal(err)
	}
	joined, err := s.Start(ctx, chat.Request{Input: "In French, please", Busy: chat.BusySteer})
	if err != nil || joined.RunID != first.RunID {
		t.Fatalf("%+v %v", joined, err)
	}
	close(gate)
	drain(t, joined)
	if _, err := first.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, req := range model.Requests() {
		found = found || slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return m.Content == "In French, please" })
	}
	if !found {
		t.Error("the model was not told")
	}
	if rows := transcript(t, kept, ctx, "s1"); !slices.ContainsFunc(rows, func(r string) bool { return strings.Contains(r, "user In French, please") }) {
		t.Errorf("%q", rows)
	}
}

func TestQueueAndInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never, gate := make(chan struct{}), make(chan struct{})
		model := scripted.New(
			scripted.Turn{Text: []string{"Half", " never"}, Before: scripted.Until(1, never)},
			scripted.Turn{Text: []string{"Second"}, Before: scripted.Until(0, gate)},
			scripted.Text("Third"),
		)
		kept := newStore(t)
		s := newService(t, model, chat.Options{Store: kept}, helper)
		ctx := as(t.Context(), "alice", "s1")
		first, err := s.Start(ctx, chat.Request{Input: "1"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		second, err := s.Start(ctx, chat.Request{Input: "2", Busy: chat.BusyInterrupt})
		if err != nil {
			t.Fatal(err)
		}
		if got := story(drain(t, first)); got[len(got)-1] != "done cancelled" {
			t.Errorf("%q", got)
		}
		queued := make(chan *chat.Turn)
		go func() {
			third, err := s.Start(ctx, chat.Request{Input: "3", Busy: chat.BusyQueue})
			if err != nil {
				t.Error(err)
			}
			queued <- third
		}()
		gone, leave := context.WithCancel(ctx)
		go func() {
			time.Sleep(time.Second)
			leave()
		}()
		if _, err := s.Start(gone, chat.Request{Input: "4", Busy: chat.BusyQueue}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		close(gate)
		drain(t, second)
		drain(t, <-queued)
		want := []string{"1 user 1", "2 assistant Half  cancelled", "3 user 2", "4 assistant Second", "5 user 3", "6 assistant Third"}
		if diff := cmp.Diff(want, transcript(t, kept, ctx, "s1")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTheSameKeyIsTheSameRun(t *testing.T) {
	kept := newStore(t)
	model := scripted.New(scripted.Text("Once."), scripted.Text("Again."))
	s := newService(t, model, chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	req := chat.Request{Input: "Hi", Key: "k1", KeyHash: "h1"}
	first, err := s.Start(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	want := story(drain(t, first))
	again, err := s.Start(ctx, req)
	if err != nil || again.RunID != first.RunID {
		t.Fatalf("%v %v", again, err)
	}
	if diff := cmp.Diff(want, story(drain(t, again))); diff != "" {
		t.Error(diff)
	}
	req.KeyHash = "h2"
	if _, err := s.Start(ctx, req); !errors.Is(err, chat.ErrKeyReused) {
		t.Errorf("%v", err)
	}
	if other, err := s.Start(as(t.Context(), "bob", "s2"), req); err != nil || other.RunID == first.RunID {
		t.Errorf("bob's key is his own: %v", err)
	} else {
		drain(t, other)
	}
}

// TestTheSameKeyAtOnce: whoever comes while the first is being stored waits for it.
func TestTheSameKeyAtOnce(t *testing.T) {
	kept := &unhurried{Store: newStore(t), begin: make(chan struct{})}
	s := newService(t, scripted.New(scripted.Text("Once.")), chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	req := chat.Request{Input: "Hi", Key: "k1", KeyHash: "h1"}
	ids := make(chan string, 8)
	var all sync.WaitGroup
	for range cap(ids) {
		all.Go(func() {
			started, err := s.Start(ctx, req)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := started.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			ids <- started.RunID
		})
	}
	close(kept.begin)
	all.Wait()
	close(ids)
	first := <-ids
	for id := range ids {
		if id != first {
			t.Error("two runs of one key")
		}
	}
}

// unhurried is a store that takes its time to begin a run.
type unhurried struct {
	*store.Store
	begin chan struct{}
}

func (b *unhurried) BeginRun(ctx context.Context, r store.RunStart) error {
	<-b.begin
	return b.Store.BeginRun(ctx, r)
}

func TestRegenerate(t *testing.T) {
	kept := newStore(t)
	model := scripted.New(scripted.Text("One."), scripted.Text("Better."))
	s := newService(t, model, chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	turn(t, s, ctx, "Hi")
	again, err := s.Start(ctx, chat.Request{Regenerate: true})
	if err != nil {
		t.Fatal(err)
	}
	drain(t, again)
	if diff := cmp.Diff([]string{"1 user Hi", "3 assistant Better."}, transcript(t, kept, ctx, "s1")); diff != "" {
		t.Error(diff)
	}
	last := model.Requests()[1].Messages
	if m := last[len(last)-1]; m.Content != "Hi" {
		t.Errorf("%+v", last)
	}
}

func TestClientTools(t *testing.T) {
	spec := llm.ToolSpec{Name: "ring", Description: "Rings.", Parameters: json.RawMessage(`{"type":"object"}`)}
	for _, named := range []bool{true, false} {
		kept := newStore(t)
		model := scripted.New(scripted.Call("ring", `{}`), scripted.Text("It rang."))
		s := newService(t, model, chat.Options{Store: kept}, helper)
		ctx := as(t.Context(), "alice", "")
		if named {
			ctx = as(t.Context(), "alice", "s1")
		}
		first, err := s.Start(ctx, chat.Request{Input: "Ring", ClientTools: []llm.ToolSpec{spec}})
		if err != nil {
			t.Fatal(err)
		}
		events := drain(t, first)
		if got := story(events); got[len(got)-1] != "done tool_calls" {
			t.Fatalf("%q", got)
		}
		call := find[*event.ToolCallData](t, events)
		req := chat.Request{ClientTools: []llm.ToolSpec{spec}, Results: []chat.ToolResult{{ToolCallID: call.ID, Content: "ding"}}}
		if !named {
			req.History = []llm.Message{
				{Role: llm.User, Content: "Ring"},
				{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: call.ID, Name: "ring", Arguments: "{}"}}},
				{Role: llm.ToolRole, ToolCallID: call.ID, Name: "ring", Content: "ding"},
			}
		}
		if named {
			wrong := req
			wrong.Results = []chat.ToolResult{{ToolCallID: "nobody", Content: "ding"}}
			var refused *chat.InputError
			if _, err := s.Start(ctx, wrong); !errors.As(err, &refused) || refused.Field != "messages" {
				t.Fatalf("a result that nobody waits for: %v", err)
			}
		}
		second, err := s.Start(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		if named != (second.RunID == first.RunID) {
			t.Error("a named session goes on with its run, another begins one")
		}
		if res, err := second.Wait(t.Context()); err != nil || res.Text != "It rang." {
			t.Errorf("%+v %v", res, err)
		}
		last := model.Requests()[1].Messages
		if m := last[len(last)-1]; m.Role != llm.ToolRole || m.Content != "ding" {
			t.Errorf("named %v: %+v", named, m)
		}
		if !named {
			continue
		}
		// The same once more, with the transcript that some clients send each time.
		req.History = []llm.Message{{Role: llm.User, Content: "Ring"}}
		var refused *chat.InputError
		if _, err := s.Start(ctx, req); !errors.As(err, &refused) || refused.Field != "messages" {
			t.Errorf("results that were given already begin another turn: %v", err)
		}
	}
}

func TestStopAndDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		kept := newStore(t)
		s := newService(t, scripted.New(scripted.Turn{Text: []string{"Half", " never"}, Before: scripted.Until(1, never)}), chat.Options{Store: kept}, helper)
		ctx := as(t.Context(), "alice", "s1")
		started, err := s.Start(ctx, chat.Request{Input: "Hi"})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		active, err := s.Active(ctx, "s1")
		if err != nil || active == nil || active.RunID != started.RunID {
			t.Fatalf("%v %v", active, err)
		}
		if other, err := s.Active(as(t.Context(), "bob", ""), "s1"); other != nil {
			t.Errorf("bob sees it: %v", err)
		}
		if err := s.Delete(ctx, started.RunID); !errors.Is(err, chat.ErrRunning) {
			t.Errorf("%v", err)
		}
		r, err := s.Stop(ctx, started.RunID)
		if err != nil || r.Status != store.RunCancelled {
			t.Errorf("%+v %v", r, err)
		}
		if active, err := s.Active(ctx, "s1"); active != nil || err != nil {
			t.Errorf("%v %v", active, err)
		}
		if err := s.Delete(ctx, started.RunID); err != nil {
			t.Error(err)
		}
		if _, _, err := s.Open(ctx, started.RunID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
}

func TestRequestsThatDoNotFit(t *testing.T) {
	s := newService(t, scripted.New(), chat.Options{Store: newStore(t)}, helper)
	ctx := as(t.Context(), "alice", "s1")
	for field, req := range map[string]chat.Request{
		"if_busy":    {Input: "x", Busy: "wait"},
		"answers":    {Input: "x", Answers: []chat.RequestAnswer{{RequestID: "r"}}},
		"regenerate": {Input: "x", Regenerate: true},
		"messages":   {Results: []chat.ToolResult{{ToolCallID: "c"}}},
	} {
		_, err := s.Start(ctx, req)
		var wrong *chat.InputError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
