package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/golden"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// told is what a run said about calls and questions, and how it ended.
type told struct {
	ends     map[string]*event.ToolCallData
	shown    []*event.ToolCallData
	requests []*event.ActionRequestData
	texts    string
	done     *event.DoneData
	last     event.Type
	before   event.Type
}

func tell(t testing.TB, ctx context.Context, o run.Options) told {
	t.Helper()
	got := told{ends: map[string]*event.ToolCallData{}}
	d, _ := o.Journal.(*diary)
	for e, err := range run.Stream(ctx, o) {
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			d.store(e)
		}
		got.before, got.last = got.last, e.Type
		switch d := e.Data.(type) {
		case nil:
			if e.Type == event.Text {
				got.texts += e.Text
			}
		case *event.ToolCallData:
			switch d.Status {
			case event.ToolExecuting:
				got.shown = append(got.shown, d)
			case event.ToolCompleted, event.ToolFailed:
				got.ends[d.ID] = d
			}
		case *event.ActionRequestData:
			got.requests = append(got.requests, d)
		case *event.DoneData:
			got.done = d
		}
	}
	return got
}

// careful is echo, approved first; it is free where nothing is said.
type careful struct{ tool.Tool }

func (c careful) Approval(call tool.Call) *tool.Question {
	if string(call.Arguments) == "{}" {
		return nil
	}
	return &tool.Question{Message: "May echo say it?", Expires: time.Hour}
}

// clients is a tool of the client.
type clients struct{ tool.Tool }

func (clients) RunsAtClient() {}

func TestApproval(t *testing.T) {
	for _, tc := range []struct {
		answer tool.Answer
		want   string
		status event.ToolStatus
	}{
		{tool.Answer{Action: tool.Accepted}, `{"said":"x"}`, event.ToolCompleted},
		{tool.Answer{Action: tool.Declined, Reason: "not today"}, `{"error":"the user declined this call: not today","status":"declined"}`, event.ToolFailed},
		{tool.Answer{Action: tool.Cancelled}, `{"error":"the user was asked to approve this call and did not decide","status":"cancelled"}`, event.ToolFailed},
		{tool.Answer{Action: tool.Expired}, `{"error":"the user was asked to approve this call and did not answer in time","status":"expired"}`, event.ToolFailed},
		{tool.Answer{Action: "?"}, `{"error":"the user was asked to approve this call and did not decide","status":"cancelled"}`, event.ToolFailed},
	} {
		t.Run(tc.answer.Action, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{
					{ID: "a", Name: "echo", Arguments: `{"text":"x"}`}, {ID: "b", Name: "echo", Arguments: "{}"},
				}}, scripted.Text("ok"))
				o := options(t, talker, m, careful{echo(t, "echo")})
				d := newDiary()
				o.Journal = d
				got := tell(t, t.Context(), o)
				if got.done.Reason != event.ReasonPaused || got.before != event.Usage || got.last != event.Done || got.ends["b"] == nil || got.ends["a"] != nil {
					t.Fatalf("the run did not wait: %+v", got)
				}
				q := got.requests[0]
				if q.Kind != event.RequestApproval || q.ToolCallID != "a" || q.ToolName != "echo" || string(q.Arguments) != `{"text":"x"}` ||
					q.Message != "May echo say it?" || !q.ExpiresAt.Equal(time.Now().Add(time.Hour)) {
					t.Errorf("the question is %+v", q)
				}
				if got = tell(t, t.Context(), o); got.done.Reason != event.ReasonPaused || len(got.requests)+len(got.shown)+len(got.ends) > 0 {
					t.Errorf("it did not wait on: %+v", got)
				}
				d.answers[q.RequestID] = tc.answer
				got = tell(t, t.Context(), o)
				if end := got.ends["a"]; got.done.Reason != event.ReasonStop || end == nil || end.Content != tc.want || end.Status != tc.status || len(got.ends) != 1 {
					t.Errorf("got %+v, %+v", got, end)
				}
				m.AssertDone(t)
				if said := m.Requests()[1].Messages; said[3].Content != tc.want || said[4].ToolCallID != "b" {
					t.Errorf("the model reads %+v", said)
				}
			})
		})
	}
}

func TestApprovalWithoutAJournal(t *testing.T) {
	m := scripted.New(scripted.Call("echo", `{"text":"x"}`), scripted.Text("ok"))
	got := tell(t, t.Context(), options(t, talker, m, careful{echo(t, "echo")}))
	if end := got.ends["call_1"]; end == nil || !strings.Contains(end.ErrorMessage, "nobody can be asked here") {
		t.Errorf("got %+v", end)
	}
}

// TestNobodysYesHoldsForAnotherCall: an answer belongs to what was shown.
func TestNobodysYesHoldsForAnotherCall(t *testing.T) {
	seen := map[string]bool{}
	for _, args := range []string{`{"text":"a"}`, `{"text":"b"}`} {
		o := options(t, talker, scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "a", Name: "echo", Arguments: args}}}), careful{echo(t, "echo")})
		o.Journal = newDiary()
		seen[tell(t, t.Context(), o).requests[0].RequestID] = true
	}
	if len(seen) != 2 {
		t.Error("two calls share a question")
	}
}

func TestClientTools(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Run(fmt.Sprint("journal ", kept), func(t *testing.T) {
			m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{
				{ID: "a", Name: "echo", Arguments: `{"text":"x"}`}, {ID: "b", Name: "echo", Arguments: `{"txt":1}`},
			}}, scripted.Text("ok"))
			o := options(t, talker, m, clients{echo(t, "echo")})
			d := newDiary()
			if kept {
				o.Journal = d
			}
			got := tell(t, t.Context(), o)
			if got.done.Reason != event.ReasonToolCalls || !got.shown[0].Client || got.shown[1].Client || len(got.ends) != 1 || got.ends["b"] == nil {
				t.Fatalf("got %+v", got)
			}
			if !kept {
				return
			}
			d.results["/a"] = tool.Result{Content: "the client's"}
			got = tell(t, t.Context(), o)
			if got.done.Reason != event.ReasonStop || got.ends["a"].Content != "the client's" || len(got.shown) != 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestBothKindsWait: where the user is asked too, the run is paused.
func TestBothKindsWait(t *testing.T) {
	m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{
		{ID: "a", Name: "echo", Arguments: `{"text":"x"}`}, {ID: "b", Name: "mine", Arguments: `{"text":"y"}`},
	}})
	o := options(t, talker, m, careful{echo(t, "echo")}, clients{echo(t, "mine")})
	o.Journal = newDiary()
	got := tell(t, t.Context(), o)
	if got.done.Reason != event.ReasonPaused || len(got.shown) != 2 || !got.shown[1].Client {
		t.Errorf("got %+v", got)
	}
}

// TestOutOfReach: a call that must ask the user fails if the run cannot pause.
func TestOutOfReach(t *testing.T) {
	ask, err := tool.New("ask", "Asks.", func(ctx context.Context, _ struct{}) (any, error) {
		if tool.AskerFrom(ctx) != nil {
			t.Error("there is somebody to ask")
		}
		return nil, tool.ErrPaused
	})
	if err != nil {
		t.Fatal(err)
	}
	m := scripted.New(scripted.Call("ask", "{}"), scripted.Text("ok"))
	got := tell(t, tool.WithAsker(t.Context(), nobody{}), options(t, talker, m, ask))
	if end := got.ends["call_1"]; end == nil || !strings.Contains(end.ErrorMessage, "nobody can be asked") {
		t.Errorf("got %+v", end)
	}
}

type nobody struct{}

func (nobody) Ask(context.Context, tool.Question) (tool.Answer, error) {
	return tool.Answer{}, tool.ErrPaused
}

const form = `{"type":"object","properties":{
	"name":{"type":"string","title":"Your name","description":"As in your passport","maxLength":40,"default":"Ada"},
	"colour":{"type":"string","enum":["red","blue"],"enumNames":["Red","Blue"]},
	"size":{"oneOf":[{"const":"s","title":"Small"},{"const":"l"}]},
	"tags":{"type":"array","items":{"enum":["a","b"]}},
	"many":{"type":"array","items":{"type":"string"}},
	"sure":{"type":"boolean","title":"Are you sure?"},
	"age":{"type":["integer","null"],"default":7},
	"anything":true
},"required":["name","colour"]}`

func TestElicitation(t *testing.T) {
	calls := 0
	ask, err := tool.New("ask", "Asks.", func(ctx context.Context, _ struct{}) (any, error) {
		calls++
		var got []string
		for _, q := range []tool.Question{{Message: "Who are you?", Schema: json.RawMessage(form)}, {Message: "And?", Schema: json.RawMessage(`{}`), Card: json.RawMessage(`{"id":"own"}`)}} {
			a, err := tool.AskerFrom(ctx).Ask(ctx, q)
			if err != nil {
				return nil, err
			}
			got = append(got, a.Action+string(a.Content))
		}
		return got, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m := scripted.New(scripted.Call("ask", "{}"), scripted.Text("ok"))
	o := options(t, talker, m, ask)
	d := newDiary()
	o.Journal = d
	for round, card := range []bool{true, false} {
		got := tell(t, t.Context(), o)
		if got.done.Reason != event.ReasonPaused || len(got.requests) != 1 || got.requests[0].Kind != event.RequestElicitation || !got.requests[0].ExpiresAt.IsZero() {
			t.Fatalf("round %d: %+v", round, got)
		}
		q := got.requests[0]
		if card {
			shown := strings.ReplaceAll(string(q.Card), q.RequestID, "REQUEST")
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, []byte(shown), "", "  "); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "testdata/card.golden", pretty.String()+"\n")
		} else if string(q.Card) != `{"id":"own"}` {
			t.Errorf("the card is %s", q.Card)
		}
		d.answers[q.RequestID] = tool.Answer{Action: tool.Accepted, Content: json.RawMessage(fmt.Sprintf(`{"n":%d}`, round))}
	}
	got := tell(t, t.Context(), o)
	if end := got.ends["call_1"]; end == nil || end.Content != `["accept{\"n\":0}","accept{\"n\":1}"]` || calls != 3 {
		t.Errorf("after %d calls: %+v", calls, end)
	}
}

// TestWaitingForNothing: a call that waits without a question would wait for ever.
func TestWaitingForNothing(t *testing.T) {
	wait, err := tool.New("wait", "Waits.", func(context.Context, struct{}) (any, error) { return nil, tool.ErrPaused })
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, talker, scripted.New(scripted.Call("wait", "{}"), scripted.Text("ok")), wait)
	o.Journal = newDiary()
	got := tell(t, t.Context(), o)
	if end := got.ends["call_1"]; got.done.Reason != event.ReasonStop || end == nil || end.Status != event.ToolFailed {
		t.Errorf("got %+v, %+v", got, end)
	}
}
