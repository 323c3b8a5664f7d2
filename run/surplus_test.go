package run_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// counted counts its calls.
func counted(t testing.TB, calls *atomic.Int64) tool.Tool {
	t.Helper()
	made, err := tool.New("count", "Counts.", func(context.Context, struct{}) (any, error) {
		calls.Add(1)
		return "counted", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// manyCalls is a turn of n calls.
func manyCalls(n int) scripted.Turn {
	turn := scripted.Turn{Calls: make([]llm.ToolCall, n)}
	for i := range turn.Calls {
		turn.Calls[i] = llm.ToolCall{ID: fmt.Sprintf("c%d", i), Name: "count", Arguments: "{}"}
	}
	return turn
}

// TestManyCallsInOneAnswer: of ten thousand calls 250 are made. The model reads of
// the others that they were not, and the answer is not read to its end.
func TestManyCallsInOneAnswer(t *testing.T) {
	var made atomic.Int64
	last := scripted.Text("fewer, then")
	last.Check = func(r *llm.Request) error {
		var results, refused int
		for _, m := range r.Messages {
			switch {
			case m.Role == llm.Assistant && len(m.ToolCalls) > 500:
				return fmt.Errorf("the model reads %d of its calls again", len(m.ToolCalls))
			case m.Role == llm.ToolRole && strings.Contains(m.Content, "at most 250 tool calls"):
				refused++
			case m.Role == llm.ToolRole:
				results++
			}
		}
		if results != 250 || refused != 250 {
			return fmt.Errorf("%d results, %d calls not made", results, refused)
		}
		return nil
	}
	m := scripted.New(manyCalls(10_000), last)
	events, warned := 0, 0
	for e, err := range run.Stream(t.Context(), options(t, talker, m, counted(t, &made))) {
		if err != nil {
			t.Fatal(err)
		}
		events++
		if w, ok := e.Data.(*event.WarningData); ok && w.Code == event.CodeToolCallsLeftOut {
			warned++
		}
	}
	m.AssertDone(t)
	if made.Load() != 250 || warned != 1 || events > 2000 {
		t.Errorf("%d calls made, %d warnings, %d events", made.Load(), warned, events)
	}
}

// TestCallLimits: the smaller of the document's limit and the operator's counts.
func TestCallLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits         string
		perStep, calls int // the operator's
		made           int64
		end            string
	}{
		"the document's, a step":       {"limits: {step_tool_calls_limit: 3}\n", 0, 0, 6, "stop "},
		"the operator's, a step":       {"limits: {step_tool_calls_limit: 1000}\n", 4, 0, 8, "stop "},
		"the document's, a run":        {"limits: {tool_calls_limit: 15}\n", 0, 0, 15, "length tool_calls_limit"},
		"the operator's, a run":        {"limits: {tool_calls_limit: 1000}\n", 0, 12, 12, "length tool_calls_limit"},
		"without any, all of two tens": {"", 0, 0, 20, "stop "},
	} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int64
			o := options(t, talker+c.limits, scripted.New(manyCalls(10), manyCalls(10), scripted.Text("done")), counted(t, &made))
			o.StepToolCalls, o.ToolCalls = c.perStep, c.calls
			got, err := collect(run.Stream(t.Context(), o))
			if err != nil || made.Load() != c.made || !strings.HasSuffix(strings.TrimSpace(got[len(got)-1]), strings.TrimSpace("done "+c.end)) {
				t.Errorf("%d calls made, %v, %s", made.Load(), err, got[len(got)-1])
			}
		})
	}
}

// TestNestedRunsShareCallLimits: what agents that are asked call counts for the one that
// asked, and each of their answers is bounded alike.
func TestNestedRunsShareCallLimits(t *testing.T) {
	var made atomic.Int64
	c := child(t, "child", scripted.New(manyCalls(10), scripted.Text("ok"), manyCalls(10), scripted.Text("ok")), counted(t, &made))
	m := scripted.New(scripted.Call("ask_child", "{}"), scripted.Call("ask_child", "{}"), scripted.Text("done"))
	o := options(t, talker, m, newDelegate(t, c))
	o.StepToolCalls, o.ToolCalls = 4, 7
	if _, err := collect(run.Stream(t.Context(), o)); err != nil {
		t.Fatal(err)
	}
	if made.Load() != 5 { // two calls of the parent, four and one of the child
		t.Errorf("%d calls made", made.Load())
	}
}

// TestHugeAnswersOfCalls: the stream of an answer is cut at twice the call limit.
func TestHugeAnswersOfCalls(t *testing.T) {
	for name, m := range map[string]endless{
		"calls":     {text: `{}`},
		"arguments": {text: strings.Repeat("x", 4096), same: true},
	} {
		t.Run(name, func(t *testing.T) {
			var made atomic.Int64
			o := options(t, talker, scripted.New(), counted(t, &made))
			sent := 0
			m.sent = &sent
			o.Model = m
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := collect(run.Stream(t.Context(), o))
			runtime.ReadMemStats(&after)
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; err != nil || sent > 2000 || took > 64 {
				t.Errorf("%d chunks were read, %d MB, %v", sent, took, err)
			}
		})
	}
}

// endless is a model that never stops to call, or to write the arguments of one call,
// until nobody listens; then it says that it is done.
type endless struct {
	text string
	same bool
	sent *int
}

func (endless) Name() string                   { return "endless:test" }
func (endless) Capabilities() llm.Capabilities { return llm.Capabilities{} }

func (m endless) Stream(_ context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if len(req.Messages) > 2 { // it was answered
			yield(llm.Chunk{Kind: llm.ChunkFinish, Finish: llm.FinishStop}, nil)
			return
		}
		for n := 0; n < 200_000; n++ {
			*m.sent++
			c := llm.Chunk{Kind: llm.ChunkToolCall, Call: n, ID: fmt.Sprint("c", n), Name: "count", Text: m.text}
			if m.same {
				c.Call = 0
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// TestCallsThatNobodyReads: where the model may not be asked again, only calls that
// signal something are made.
func TestCallsThatNobodyReads(t *testing.T) {
	var made, signalled atomic.Int64
	signal, err := tool.New("signal", "Signals.", func(context.Context, struct{}) (any, error) {
		signalled.Add(1)
		return "done", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if signal, err = tool.Annotate(signal, tool.Annotations{Signals: true}); err != nil {
		t.Fatal(err)
	}
	turn := manyCalls(2)
	turn.Calls = append(turn.Calls, llm.ToolCall{ID: "s", Name: "signal", Arguments: "{}"})
	m := scripted.New(manyCalls(1), turn)
	got := tell(t, t.Context(), options(t, talker+"limits: {request_limit: 2}\n", m, counted(t, &made), signal))
	if made.Load() != 1 || signalled.Load() != 1 || got.done.Limit != event.LimitRequests {
		t.Errorf("%d calls were made, %d signals; the run ended with %+v", made.Load(), signalled.Load(), got.done)
	}
	if why := got.ends["c1"].ErrorMessage; !strings.Contains(why, "request_limit") {
		t.Errorf("the call that was not made says %q", why)
	}
}
