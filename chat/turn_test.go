package chat_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/p8-org/p8/chat"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/store"
)

const helper = `
type: object
name: helper
description: You help.
tools: [{name: echo}]
`

const structured = `
type: object
name: extractor
description: You extract.
structured_output: true
properties: {answer: {type: string}}
required: [answer]
`

// story is what happened, a line for each event.
func story(events []event.Event) []string {
	var out []string
	for _, e := range events {
		if e.Type == event.ModelCall {
			continue // see TestModelCalls
		}
		line := e.Type.String()
		if strings.Contains(e.Agent, "/") {
			line = e.Agent + ": " + line
		}
		switch d := e.Data.(type) {
		case nil:
			line += " " + e.Text
		case *event.ProgressData:
			line += fmt.Sprintf(" %d/%d %s", d.Step, d.TotalSteps, d.Label)
		case *event.ToolCallData:
			line += fmt.Sprintf(" %s %s", d.Name, d.Status)
		case *event.WarningData:
			line += " " + d.Code
		case *event.ErrorData:
			line += " " + d.Code
		case *event.DoneData:
			line = strings.TrimSpace(line + " " + d.Reason + " " + d.Limit)
		}
		out = append(out, line)
	}
	return out
}

func find[T event.Data](t *testing.T, events []event.Event) T {
	t.Helper()
	for _, e := range events {
		if d, ok := e.Data.(T); ok {
			return d
		}
	}
	t.Fatalf("there is no %T in %q", *new(T), story(events))
	return *new(T)
}

// transcript is the rows of a session, a line for each.
func transcript(t *testing.T, m chat.Store, ctx context.Context, session string) []string {
	t.Helper()
	rows, err := m.Messages(ctx, session, store.MessageFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range rows {
		content := "NULL"
		if r.Content != nil {
			content = *r.Content
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s %s %s %s", r.Seq, r.Type, content, r.ToolCalls, r.Status, r.AgentPath)))
	}
	return out
}

func TestTextTurn(t *testing.T) {
	model := scripted.New(scripted.Turn{
		Reasoning: []string{"Hm."}, Text: []string{"Hel", "lo."}, Usage: llm.Usage{Input: 7, Output: 3},
	})
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	started, err := s.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	events := drain(t, started)
	want := []string{
		"progress 1/3 Processing request", "reasoning Hm.", "text Hel", "text lo.", "metadata", "usage", "done stop",
	}
	if diff := cmp.Diff(want, story(events)); diff != "" {
		t.Error(diff)
	}
	for i, e := range events {
		if e.Seq != int64(i+1) || e.RunID != started.RunID || e.Agent != "helper" {
			t.Errorf("event %d is %+v", i+1, e)
		}
	}
	first := find[*event.ProgressData](t, events)
	if first.SessionID != "s1" || first.InReplyTo != started.InReplyTo || first.Status != "in_progress" {
		t.Errorf("%+v", first)
	}
	meta := find[*event.MetadataData](t, events)
	if meta.LatencyMS < 1 {
		t.Error("no latency")
	}
	meta.LatencyMS = 0
	if diff := cmp.Diff(&event.MetadataData{
		MessageID: started.MessageID, InReplyTo: started.InReplyTo, SessionID: "s1", AgentSchema: "helper",
		RespondingAgent: "helper", ModelVersion: "scripted:test", TokenCount: 2,
	}, meta); diff != "" {
		t.Error(diff)
	}
	rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	if r := rows[1]; r.Type != store.MessageThink || *r.Content != "Hm." || r.RunID != started.RunID {
		t.Errorf("%+v", r)
	}
	rows = slices.Concat(rows[:1], rows[2:])
	if r := rows[0]; r.ID != started.InReplyTo || r.Type != store.MessageUser || *r.Content != "Hi" || r.RunID != started.RunID {
		t.Errorf("%+v", r)
	}
	if r := rows[1]; r.ID != started.MessageID || r.Type != store.MessageAssistant || *r.Content != "Hello." ||
		r.InputTokens != 7 || r.OutputTokens != 3 || r.Model != "scripted:test" || r.AgentName != "helper" ||
		r.RunID != started.RunID || r.LatencyMS < 1 || r.Status != store.StatusComplete {
		t.Errorf("%+v", r)
	}
	result, err := started.Wait(t.Context())
	if err != nil || result.Text != "Hello." || result.Reason != event.ReasonStop || result.Usage.InputTokens != 7 || result.Metadata != meta {
		t.Errorf("%+v %v", result, err)
	}
	model.AssertDone(t)
}

func TestToolTurn(t *testing.T) {
	model := scripted.New(
		scripted.Turn{Text: []string{"Let me see. "}, Calls: []llm.ToolCall{
			{ID: "a", Name: "echo", Arguments: `{"text":"hi"}`}, {ID: "b", Name: "echo", Arguments: `{"text":"boom"}`},
		}},
		scripted.Call("echo", `{"text":"name"}`),
		scripted.Text("Done."),
	)
	kept := newStore(t)
	tools := newEcho(t)
	s := newService(t, model, chat.Options{Store: kept, Tools: registry(t, tools)}, helper)
	ctx := as(t.Context(), "alice", "s1")
	events := turn(t, s, ctx, "Hi")
	// The calls of one step run at once; put their ends in one order.
	got := story(events)
	if i := indexOf(got, "tool_call echo failed"); got[i+1] == "tool_call echo completed" {
		got[i], got[i+1] = got[i+1], got[i]
	}
	want := []string{
		"progress 1/3 Processing request", "text Let me see. ",
		"tool_call echo started", "progress 2/3 Calling echo", "tool_call echo started", "progress 2/3 Calling echo",
		"tool_call echo executing", "tool_call echo executing", "tool_call echo completed", "tool_call echo failed",
		"progress 3/3 Generating response",
		"tool_call echo started", "progress 2/3 Calling echo", "tool_call echo executing", "tool_call echo completed",
		"progress 3/3 Generating response", "text Done.", "metadata", "usage", "done stop",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	rows := transcript(t, kept, ctx, "s1")
	for _, want := range []string{
		"1 user Hi",
		`2 tool_call NULL {"name":"echo","id":"a","arguments":{"text":"hi"}}`,
		`3 tool_call NULL {"name":"echo","id":"b","arguments":{"text":"boom"}}`,
		`tool_response {"text":"hi"} {"name":"echo","id":"a"}`,
		`tool_response {"error":"it blew up","status":"error"} {"name":"echo","id":"b"} error`,
		`6 tool_call NULL {"name":"echo","id":"call_3","arguments":{"text":"name"}}`,
		`7 tool_response named {"name":"echo","id":"call_3"}`,
		"8 assistant Let me see. \n\nDone.",
	} {
		if !strings.Contains(strings.Join(rows, "\n"), want) {
			t.Errorf("no row %q in\n%s", want, strings.Join(rows, "\n"))
		}
	}
	meta := find[*event.MetadataData](t, events)
	if meta.SessionName != "A good name" || !cmp.Equal(meta.Sources, []string{"doc-1"}) || meta.MessageID == "" {
		t.Errorf("%+v", meta)
	}
	if session, err := kept.Session(ctx, "s1"); err != nil || session.Name != "A good name" || session.AgentName != "helper" {
		t.Errorf("%+v %v", session, err)
	}
	// A tool learns who asks from its context.
	who, _ := tools.seen.Load("a")
	if got := fmt.Sprint(who); !strings.Contains(got, "alice") || !strings.Contains(got, "s1") || !strings.Contains(got, "helper") {
		t.Errorf("the tool was called as %s", got)
	}
	model.AssertDone(t)
}

func TestRowsAreStoredBeforeTheirIDsAreSeen(t *testing.T) {
	model := scripted.New(scripted.Call("echo", `{"text":"hi"}`), scripted.Text("Done."))
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	started, err := s.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for e := range started.Events(ctx) {
		var ids []string
		switch d := e.Data.(type) {
		case *event.ProgressData:
			ids = append(ids, d.InReplyTo)
		case *event.ToolCallData:
			ids = append(ids, d.MessageID)
		case *event.MetadataData:
			ids = append(ids, d.MessageID, d.InReplyTo)
		}
		rows, err := kept.Messages(ctx, "s1", store.MessageFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if id == "" {
				continue
			}
			seen++
			if !hasRow(rows, id) {
				t.Errorf("%s names the row %s, which is not stored", e.Type, id)
			}
		}
	}
	if seen != 5 {
		t.Errorf("%d ids were seen, want 5", seen)
	}
}

func hasRow(rows []store.Message, id string) bool {
	for _, r := range rows {
		if r.ID == id {
			return true
		}
	}
	return false
}

func TestModelFailures(t *testing.T) {
	unavailable := &llm.Error{Kind: llm.Unavailable, Model: "scripted:test", Err: errors.New("secret body")}
	for _, tc := range []struct {
		name string
		turn scripted.Turn
		want []string
		row  string
	}{
		{"at once", scripted.Fail(unavailable),
			[]string{"progress 1/3 Processing request", "error provider_unavailable", "done error"}, "2 assistant   error"},
		{"after some text", scripted.Turn{Text: []string{"Half a"}, Err: unavailable},
			[]string{"progress 1/3 Processing request", "text Half a", "metadata", "usage", "error provider_unavailable", "done error"},
			"2 assistant Half a  error"},
		{"an error of no kind", scripted.Fail(errors.New("/etc/secret")),
			[]string{"progress 1/3 Processing request", "error internal_error", "done error"}, "2 assistant   error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kept := newStore(t)
			s := newService(t, scripted.New(tc.turn, scripted.Text("Better.")), chat.Options{Store: kept}, helper)
			ctx := as(t.Context(), "alice", "s1")
			events := turn(t, s, ctx, "Hi")
			if diff := cmp.Diff(tc.want, story(events)); diff != "" {
				t.Error(diff)
			}
			if d := find[*event.ErrorData](t, events); strings.Contains(d.Message, "secret") {
				t.Errorf("%q", d.Message)
			}
			if rows := transcript(t, kept, ctx, "s1"); rows[1] != tc.row {
				t.Errorf("%q", rows[1])
			}
			if got := story(turn(t, s, ctx, "Again?")); got[len(got)-1] != "done stop" {
				t.Errorf("the session must go on: %q", got)
			}
		})
	}
}

func TestCancelKeepsWhatWasSaid(t *testing.T) {
	never := make(chan struct{})
	model := scripted.New(scripted.Turn{Text: []string{"Half", " never"}, Before: scripted.Until(1, never)})
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, helper)
	ctx := as(t.Context(), "alice", "s1")
	started, err := s.Start(ctx, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	var events []event.Event
	for e := range started.Events(ctx) {
		if events = append(events, e); e.Type == event.Text {
			started.Cancel()
		}
	}
	want := []string{"progress 1/3 Processing request", "text Half", "metadata", "usage", "done cancelled"}
	if diff := cmp.Diff(want, story(events)); diff != "" {
		t.Error(diff)
	}
	if rows := transcript(t, kept, ctx, "s1"); rows[1] != "2 assistant Half  cancelled" {
		t.Errorf("%q", rows[1])
	}
	if r, err := started.Wait(ctx); err != nil || r.Reason != event.ReasonCancelled || r.Error != nil || r.Text != "Half" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestAClientThatLeavesLosesNothing(t *testing.T) {
	gate := make(chan struct{})
	model := scripted.New(scripted.Turn{Text: []string{"One", " two"}, Before: scripted.Until(1, gate)})
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, helper)
	request, leave := context.WithCancel(as(t.Context(), "alice", "s1"))
	defer leave()
	started, err := s.Start(request, chat.Request{Input: "Hi"})
	if err != nil {
		t.Fatal(err)
	}
	var last error
	for e, err := range started.Events(request) {
		if last = err; err == nil && e.Type == event.Text {
			leave()
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the reader's error is %v", last)
	}
	if _, err := started.Wait(request); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left does not wait: %v", err)
	}
	close(gate)
	ctx := as(t.Context(), "alice", "s1")
	if r, err := started.Wait(ctx); err != nil || r.Text != "One two" {
		t.Errorf("%+v %v", r, err)
	}
	if rows := transcript(t, kept, ctx, "s1"); rows[1] != "2 assistant One two" {
		t.Errorf("%q", rows)
	}
	// A reader that comes late has it all; one that breaks off harms nobody.
	for range started.Events(ctx) {
		break
	}
	if got := story(drain(t, started)); len(got) != 6 || got[5] != "done stop" {
		t.Errorf("%q", got)
	}
}

func TestStructuredAnswer(t *testing.T) {
	model := scripted.New(scripted.Call("final_result", `{"answer":"42"}`))
	kept := newStore(t)
	s := newService(t, model, chat.Options{Store: kept}, structured)
	ctx := as(t.Context(), "alice", "s1")
	events := turn(t, s, ctx, "Hi")
	if d := find[*event.DoneData](t, events); string(d.Output) != `{"answer":"42"}` {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff([]string{"1 user Hi", `2 assistant {"answer":"42"}`}, transcript(t, kept, ctx, "s1")); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutAStore(t *testing.T) {
	model := scripted.New(scripted.Call("echo", `{"text":"hi"}`), scripted.Text("Done."))
	s := newService(t, model, chat.Options{}, helper)
	started, err := s.Start(as(t.Context(), "", ""), chat.Request{Input: "Hi", History: []llm.Message{
		{Role: llm.User, Content: "Before"}, {Role: llm.Assistant, Content: "Yes"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	events := drain(t, started)
	for _, e := range events {
		if d, ok := e.Data.(*event.ToolCallData); ok && d.MessageID != "" {
			t.Error("an id of a row that is not there")
		}
	}
	if m := find[*event.MetadataData](t, events); m.MessageID != "" || m.SessionID == "" {
		t.Errorf("%+v", m)
	}
	if got := model.Requests()[0].Messages; len(got) != 5 || got[2].Content != "Before" {
		t.Errorf("%+v", got)
	}
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return 0
}
