package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/p8-org/p8/agent"
	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// idempotent is the tool, which says that it may be called twice.
func idempotent(t testing.TB, own tool.Tool) tool.Tool {
	t.Helper()
	made, err := tool.Annotate(own, tool.Annotations{Idempotent: true})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// payment is a tool whose process dies in the middle of its first calls.
type payment struct {
	tool.Tool
	annotations tool.Annotations
	approval    bool
	dies        int
	die         context.CancelFunc

	mu    sync.Mutex
	calls int
	keys  []string
}

func (p *payment) Annotations() tool.Annotations { return p.annotations }

func (p *payment) Approval(tool.Call) *tool.Question {
	if !p.approval {
		return nil
	}
	return &tool.Question{Message: "Pay?"}
}

func (p *payment) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	p.mu.Lock()
	p.keys = append(p.keys, tool.KeyFrom(ctx))
	p.calls++
	dies := p.calls <= p.dies
	p.mu.Unlock()
	if dies {
		p.die()
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	return tool.Result{Content: "paid"}, nil
}

// until runs until the process dies or the run ends, and gives what was told of it.
func until(t *testing.T, o run.Options, p *payment) (got told, died bool) {
	t.Helper()
	d := o.Journal.(*diary)
	got.ends = map[string]*event.ToolCallData{}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	p.die = func() { cancel(run.ErrInterrupted) }
	for e, err := range run.Stream(ctx, o) {
		if errors.Is(err, run.ErrInterrupted) {
			d.crash()
			return got, true
		}
		if err != nil {
			t.Fatal(err)
		}
		d.store(e)
		switch data := e.Data.(type) {
		case *event.ToolCallData:
			if data.Status == event.ToolCompleted || data.Status == event.ToolFailed {
				got.ends[data.ID] = data
			}
		case *event.ActionRequestData:
			got.requests = append(got.requests, data)
		case *event.DoneData:
			got.done = data
		}
	}
	return got, false
}

// TestInterruptedCalls: what becomes of a call that was under way when its process
// died, by what its tool says of itself and what its document says of it.
func TestInterruptedCalls(t *testing.T) {
	acts, reads, same := tool.Annotations{}, tool.Annotations{ReadOnly: true}, tool.Annotations{Idempotent: true}
	for _, tc := range []struct {
		name        string
		policy      string
		annotations tool.Annotations
		approval    bool
		answers     []string // to the questions, in their order
		dies        int
		calls       int    // that are made at last
		status      string // of the result: "", unknown or declined
	}{
		{name: "acts", annotations: acts, dies: 1, calls: 1, status: "unknown"},
		{name: "reads", annotations: reads, dies: 2, calls: 3},
		{name: "idempotent", annotations: same, dies: 2, calls: 3},
		{name: "destroys", annotations: tool.Annotations{Destructive: true}, dies: 1, calls: 1, status: "unknown"},
		{name: "unknown", policy: agent.InterruptedUnknown, annotations: same, dies: 1, calls: 1, status: "unknown"},
		{name: "repeat", policy: agent.InterruptedRepeat, annotations: acts, dies: 2, calls: 3},
		{name: "ask, yes", policy: agent.InterruptedAsk, dies: 1, answers: []string{tool.Accepted}, calls: 2},
		{name: "ask, no", policy: agent.InterruptedAsk, dies: 1, answers: []string{tool.Declined}, calls: 1, status: "unknown"},
		{name: "ask, nobody", policy: agent.InterruptedAsk, dies: 1, answers: []string{tool.Expired}, calls: 1, status: "unknown"},
		{name: "ask, yes, dies again, yes", policy: agent.InterruptedAsk, dies: 2, answers: []string{tool.Accepted, tool.Accepted}, calls: 3},
		{name: "ask, yes, dies again, no", policy: agent.InterruptedAsk, dies: 2, answers: []string{tool.Accepted, tool.Declined}, calls: 2, status: "unknown"},
		{name: "approved", approval: true, answers: []string{tool.Accepted}, dies: 1, calls: 1, status: "unknown"},
		{name: "approved, repeat", policy: agent.InterruptedRepeat, approval: true, answers: []string{tool.Accepted}, dies: 2, calls: 3},
		{name: "approved, ask, yes", policy: agent.InterruptedAsk, approval: true, answers: []string{tool.Accepted, tool.Accepted}, dies: 1, calls: 2},
		{name: "declined", approval: true, answers: []string{tool.Declined}, dies: 1, status: "declined"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &payment{Tool: echo(t, "pay"), annotations: tc.annotations, approval: tc.approval, dies: tc.dies}
			document := "name: a\ndescription: D.\ntools: [{name: pay}]\n"
			if tc.policy != "" {
				document = "name: a\ndescription: D.\ntools: [{name: pay, if_interrupted: " + tc.policy + "}]\n"
			}
			m := byStep(scripted.Turn{Calls: []llm.ToolCall{{ID: "c", Name: "pay", Arguments: `{"text":"x"}`}}}, scripted.Text("ok"))()
			o := options(t, document, nil, resolve(t, document, p)...)
			d := newDiary()
			o.Model, o.Journal, o.RunID = m, d, "r"
			answers := tc.answers
			var got told
			asked := map[string]bool{}
			for lives := 0; got.done == nil || got.done.Reason != event.ReasonStop; lives++ {
				if lives > 10 {
					t.Fatal("it does not end")
				}
				got, _ = until(t, o, p)
				if len(got.requests) == 0 {
					continue
				}
				q := got.requests[0]
				if asked[q.RequestID] || q.Kind != event.RequestApproval || q.ToolCallID != "c" || len(answers) == 0 {
					t.Fatalf("asked %+v", q)
				}
				if tc.policy == agent.InterruptedAsk && p.calls > 0 && !strings.Contains(q.Message, `pay (text: x), which may or may not have been done. Call it again?`) {
					t.Errorf("the question is %q", q.Message)
				}
				asked[q.RequestID] = true
				d.answers[q.RequestID], answers = tool.Answer{Action: answers[0], Reason: "so"}, answers[1:]
			}
			end := got.ends["c"]
			if p.calls != tc.calls || end == nil || len(answers) > 0 {
				t.Fatalf("%d calls were made, want %d; the end is %+v", p.calls, tc.calls, end)
			}
			var said struct{ Status, Error string }
			if tc.status == "" {
				if end.Status != event.ToolCompleted || end.Content != "paid" {
					t.Errorf("the end is %+v", end)
				}
			} else if err := json.Unmarshal([]byte(end.Content), &said); err != nil || said.Status != tc.status || end.Status != event.ToolFailed {
				t.Errorf("the end is %+v, %v", end, err)
			}
			if tc.status == "unknown" {
				if !strings.Contains(said.Error, "may or may not have been done") || strings.Contains(said.Error, "the user said: so") != (tc.policy == agent.InterruptedAsk) {
					t.Errorf("the model is told %q", said.Error)
				}
			}
			if last := m.last[len(m.last)-1]; last.ToolCallID != "c" || last.Content != end.Content {
				t.Errorf("the model reads %+v", last)
			}
			for _, key := range p.keys {
				if key == "" || key != p.keys[0] {
					t.Errorf("the calls have the keys %q", p.keys)
				}
			}
		})
	}
}

// asking is a payment that asks its user in each call.
type asking struct{ *payment }

func (a asking) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	if res, err := a.payment.Call(ctx, call); err != nil {
		return res, err
	}
	answer, err := tool.AskerFrom(ctx).Ask(ctx, tool.Question{Message: "From which account?"})
	return tool.Result{Content: answer.Action}, err
}

// TestInterruptedBeforeItsAnswer: a call whose question is open asks it again after
// an interruption; it cannot have come further than to its question.
func TestInterruptedBeforeItsAnswer(t *testing.T) {
	p := &payment{Tool: echo(t, "pay")}
	document := "name: a\ndescription: D.\ntools: [{name: pay}]\n"
	o := options(t, document, nil, resolve(t, document, asking{p})...)
	d := newDiary()
	o.Model = byStep(scripted.Turn{Calls: []llm.ToolCall{{ID: "c", Name: "pay", Arguments: `{"text":"x"}`}}}, scripted.Text("ok"))()
	o.Journal, o.RunID = d, "r"
	got, _ := until(t, o, p)
	if got.done == nil || got.done.Reason != event.ReasonPaused || len(got.requests) != 1 {
		t.Fatalf("%+v", got)
	}
	p.dies = p.calls + 1
	if _, died := until(t, o, p); !died {
		t.Fatal("the process did not die in the middle of the second call")
	}
	again, _ := until(t, o, p)
	if again.done == nil || again.done.Reason != event.ReasonPaused || len(again.ends) > 0 {
		t.Fatalf("the call has an open question, and the run ended with %+v, %+v", again.done, again.ends)
	}
	d.answers[got.requests[0].RequestID] = tool.Answer{Action: tool.Accepted}
	last, _ := until(t, o, p)
	if end := last.ends["c"]; end == nil || end.Content != tool.Accepted {
		t.Errorf("the end is %+v", end)
	}
}

// resolve gives the tools the policies of a document.
func resolve(t *testing.T, document string, tools ...tool.Tool) []tool.Tool {
	t.Helper()
	registry, err := tool.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return (&tool.Box{Local: registry}).Resolve(t.Context(), compile(t, document)).Tools
}

// TestKeys: no two calls have one key, wherever they are in the tree.
func TestKeys(t *testing.T) {
	p := &payment{Tool: echo(t, "pay")}
	var turns []scripted.Turn
	for range 3 {
		var calls []llm.ToolCall
		for i := range 3 {
			calls = append(calls, llm.ToolCall{ID: fmt.Sprintf("c%d", i), Name: "pay", Arguments: `{"text":"x"}`})
		}
		turns = append(turns, scripted.Turn{Calls: calls})
	}
	seen := map[string]bool{}
	for _, id := range []string{"r1", "r2"} {
		o := options(t, talker, scripted.New(append(turns, scripted.Text("ok"))...), p)
		o.Journal, o.RunID, o.Parallel = newDiary(), id, 1
		tell(t, t.Context(), o)
	}
	for _, key := range p.keys {
		if seen[key] || key == "" {
			t.Errorf("two calls have the key %q", key)
		}
		seen[key] = true
	}
	if len(seen) != 18 {
		t.Errorf("%d calls have %d keys", len(p.keys), len(seen))
	}
	o := options(t, talker, scripted.New(scripted.Call("pay", `{"text":"x"}`), scripted.Text("ok")), p)
	tell(t, t.Context(), o)
	if last := p.keys[len(p.keys)-1]; last != "" {
		t.Errorf("a call of a run that is not kept has the key %q", last)
	}
}

// full is a journal that stores nothing any more after some commits.
type full struct {
	*diary
	room int
}

var errFull = errors.New("the disk is full")

func (f *full) Commit(ctx context.Context, entries ...run.Entry) error {
	if f.room--; f.room < 0 {
		return errFull
	}
	return f.diary.Commit(ctx, entries...)
}

// TestNothingIsDoneUnrecorded: a call that acts is not made when its row cannot be
// stored, and the run ends; one that only reads needs no record.
func TestNothingIsDoneUnrecorded(t *testing.T) {
	for _, tc := range []struct {
		name  string
		calls string // of one step: p pays, l looks
		room  int
		made  int
		fails bool
	}{
		{"reads", "l", 0, 1, false},
		{"reads twice", "ll", 0, 2, false},
		{"acts", "p", 0, 0, true},
		{"acts beside one that reads", "pl", 0, 0, true},
		{"reads beside one that acts", "lp", 0, 0, true},
		{"room for one", "p", 1, 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pay, look := &payment{Tool: echo(t, "pay")}, &payment{Tool: echo(t, "look"), annotations: tool.Annotations{ReadOnly: true}}
			var calls []llm.ToolCall
			for i, c := range tc.calls {
				name := map[rune]string{'p': "pay", 'l': "look"}[c]
				calls = append(calls, llm.ToolCall{ID: fmt.Sprint("c", i), Name: name, Arguments: `{"text":"x"}`})
			}
			o := options(t, talker, scripted.New(scripted.Turn{Calls: calls}, scripted.Text("ok")), pay, look)
			d := newDiary()
			o.Journal = &full{d, tc.room}
			_, err := collect(run.Stream(t.Context(), o))
			if errors.Is(err, errFull) != tc.fails || err != nil && !tc.fails {
				t.Errorf("the run ended with %v", err)
			}
			if made := pay.calls + look.calls; made != tc.made {
				t.Errorf("%d calls were made, want %d", made, tc.made)
			}
		})
	}
}
