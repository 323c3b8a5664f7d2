package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// TestStopEndsWhatWaitsBelow: a child that waits for the user has ended; its call has
// not, until the run is stopped.
func TestStopEndsWhatWaitsBelow(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := child(t, "child", scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "below", Name: "echo", Arguments: `{"text":"x"}`}}}), careful{echo(t, "echo")})
	m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{
		{ID: "ask", Name: "ask_child", Arguments: "{}"}, {ID: "wait", Name: "echo", Arguments: `{"text":"wait"}`},
	}})
	o := options(t, talker, m, waits{newDelegate(t, c)}, echo(t, "echo"))
	o.Journal = newDiary()
	ends := map[string]string{}
	for e, err := range run.Stream(ctx, o) {
		if err != nil {
			break
		}
		switch d := e.Data.(type) {
		case *event.DoneData:
			cancel() // the child's
		case *event.ToolCallData:
			if d.Status == event.ToolFailed {
				ends[d.ID] = e.Agent + " " + e.RunID + " " + string(d.Arguments)
			}
		}
	}
	if len(ends) != 3 || ends["below"] != `talker/child run-child {"text":"x"}` {
		t.Errorf("ended: %q", ends)
	}
}

// waits is a delegate that waits with its child.
type waits struct{ delegate }

func (w waits) Stream(ctx context.Context, _ tool.Call, emit func(event.Event) bool) (res tool.Result, err error) {
	for e, failed := range run.Stream(ctx, w.options) {
		if failed != nil || !emit(e) {
			return res, failed
		}
		if d, ok := e.Data.(*event.DoneData); ok && d.Reason == event.ReasonPaused {
			err = tool.ErrPaused
		}
	}
	return res, err
}

// late is a tool that goes on talking when its time is up.
type late struct {
	tool.Base
	refused chan bool
}

func (late) Call(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }

func (l late) Stream(_ context.Context, call tool.Call, emit func(event.Event) bool) (tool.Result, error) {
	time.Sleep(10 * time.Second)
	l.refused <- !emit(event.New(&event.ProgressData{ToolCallID: call.ID}))
	return tool.Result{}, nil
}

// TestNothingFollowsTheEndOfACall: a call that was left behind is not heard any more.
func TestNothingFollowsTheEndOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := late{mustBase(t, "late"), make(chan bool, 1)}
		m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{{Name: "late"}, {Name: "echo", Arguments: `{"text":"wait"}`}}}, scripted.Text("ok"))
		o := options(t, talker, m, l, slow{echo(t, "echo"), 20 * time.Second})
		o.ToolTimeout = time.Second
		got, err := collect(run.Stream(t.Context(), o))
		if err != nil || strings.Contains(strings.Join(got, "\n"), "progress") || !<-l.refused {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestCancelEndsTrees: a run that is stopped anywhere ends every call that its
// reader has seen begin.
func TestCancelEndsTrees(t *testing.T) {
	a := compile(t, talker)
	rapid.Check(t, func(t *rapid.T) {
		f := newForest(a, drawTree(t, "r", 0, allKinds))
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		at, n := rapid.IntRange(1, 30).Draw(t, "at"), 0
		var open []string
		_, err := f.live(ctx, 4, 0, func(e event.Event) {
			if n++; n == at {
				cancel()
			}
			switch d := e.Data.(type) {
			case *event.ToolCallData:
				if d.Status == event.ToolStarted {
					open = append(open, d.ID)
				}
				if d.Status == event.ToolCompleted || d.Status == event.ToolFailed {
					open = slices.DeleteFunc(open, func(id string) bool { return id == d.ID })
				}
			}
		})
		if errors.Is(err, context.Canceled) && len(open) > 0 {
			t.Fatalf("%q did not end", open)
		}
	})
}
