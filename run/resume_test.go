package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

// byStep plays the turn that the conversation has come to.
func byStep(turns ...scripted.Turn) func() *replayed {
	return func() *replayed { return &replayed{turns: turns} }
}

// replayed is a model that can be asked in the middle of a conversation.
type replayed struct {
	turns []scripted.Turn
	last  []llm.Message
}

func (m *replayed) Name() string                   { return "scripted:replayed" }
func (m *replayed) Capabilities() llm.Capabilities { return llm.Capabilities{NativeOutput: true} }

func (m *replayed) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	at := 0
	for _, msg := range req.Messages {
		if msg.Role == llm.Assistant {
			at++
		}
	}
	m.last = slices.Clone(req.Messages)
	return scripted.New(m.turns[at:]...).Stream(ctx, req)
}

// TestStructuredTakenUpAgain: answers that were sent back, an answer with a chained
// tool, what the user said in between: cut anywhere, and taken up again.
func TestStructuredTakenUpAgain(t *testing.T) {
	wrong, right := `{"city":"Oslo"}`, `{"city":"Oslo","degrees":1}`
	look := func(more ...llm.ToolCall) scripted.Turn {
		return scripted.Turn{Calls: append([]llm.ToolCall{{ID: "look", Name: "echo", Arguments: `{"text":"1"}`}}, more...), Usage: llm.Usage{Input: 5, Output: 2}}
	}
	final := func(id, args string) llm.ToolCall {
		return llm.ToolCall{ID: id, Name: llm.OutputTool, Arguments: args}
	}
	for _, tc := range []struct {
		name, mode string
		model      func() *replayed
	}{
		{"native", run.ModeNative, byStep(scripted.Text(wrong), look(), scripted.Text(right))},
		{"native, wrong again", run.ModeNative, byStep(look(), scripted.Text(wrong), scripted.Text(right))},
		{"tool", run.ModeTool, byStep(look(final("w", wrong)), scripted.Turn{Calls: []llm.ToolCall{final("r", right)}})},
		{"tool at once", run.ModeTool, byStep(look(final("r", right)))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var whole []string
			var conversation string
			for cut := 0; ; cut++ {
				if cut > 40 {
					t.Fatal("it does not end")
				}
				model, d := tc.model(), newDiary()
				saves := 0
				o := options(t, answerer+"chained_tool: save\n", nil, idempotent(t, echo(t, "echo")))
				o.Model, o.StructuredMode, o.Journal = model, tc.mode, d
				o.Chained = idempotent(t, save(t, func(context.Context, tool.Call) (tool.Result, error) {
					saves++
					return tool.Result{Content: `{"id":1}`}, nil
				}))
				lines, all := cutAfter(t, o, cut)
				if !all {
					more, ended := cutAfter(t, o, 0)
					if !ended {
						t.Fatal("it did not end the second time")
					}
					lines = append(lines, more...)
				}
				raw, err := json.Marshal(model.last)
				if err != nil {
					t.Fatal(err)
				}
				if cut == 0 {
					whole, conversation = lines, string(raw)
				}
				if got, want := calls(lines), calls(whole); !slices.Equal(got, want) {
					t.Errorf("cut after %d:\n%q\nwant\n%q", cut, got, want)
				}
				if len(model.last) > 0 && string(raw) != conversation && !strings.HasPrefix(conversation, string(raw[:len(raw)-1])) {
					t.Errorf("cut after %d: the model was asked\n%s\nwant\n%s", cut, raw, conversation)
				}
				if n := len(lines); lines[n-1] != whole[len(whole)-1] || lines[n-2] != whole[len(whole)-2] {
					t.Errorf("cut after %d: it ended with %q", cut, lines[n-2:])
				}
				if saves > 2 || cut == 0 && saves != 1 {
					t.Errorf("cut after %d: the chained tool was called %d times", cut, saves)
				}
				if cut > 0 && all {
					return
				}
			}
		})
	}
}

// cutAfter runs until a number of events, 0 for all, and writes them down without
// their numbers.
func cutAfter(t *testing.T, o run.Options, cut int) (lines []string, all bool) {
	t.Helper()
	for e, err := range run.Stream(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		o.Journal.(*diary).store(e)
		_, line, _ := strings.Cut(brief(e), " ")
		if d, ok := e.Data.(*event.DoneData); ok {
			line += " " + string(d.ChainedResult) + " " + d.TransferTo
		}
		lines = append(lines, line)
		if len(lines) == cut {
			o.Journal.(*diary).crash()
			return lines, false
		}
	}
	return lines, true
}

// calls are the lines of calls that were made.
func calls(lines []string) (all []string) {
	for _, l := range lines {
		if strings.Contains(l, "tool_call") && !strings.Contains(l, " started") {
			all = append(all, l)
		}
	}
	return all
}

// TestEntriesSurvive: what the journal keeps comes back as it was.
func TestEntriesSurvive(t *testing.T) {
	confidence := 0.5
	e := run.Entry{
		Thread: "a/b", ToolCallID: "c", Shown: "s", Usage: &event.UsageData{InputTokens: 1, CostUSD: 0.25},
		Message: &llm.Message{
			Role: llm.Assistant, Content: "x", Parts: []llm.Part{{Kind: llm.Image, MediaType: "image/png", Data: []byte{0, 255}}},
			Reasoning: []llm.Reasoning{{Provider: "p", ID: "i", Text: "t", Signature: "s", Redacted: true}},
			ToolCalls: []llm.ToolCall{{ID: "i", Name: "n", Arguments: "{", Signature: "s"}},
		},
		Result: &tool.Result{
			Content: "{}", Parts: []llm.Part{{Kind: llm.Document, URL: "https://example.com", Name: "n", Detail: "low"}}, Failed: true,
			Action:   &event.ActionData{ActionType: "observation", Payload: json.RawMessage(`{"a":1}`)},
			Metadata: &event.MetadataData{Confidence: &confidence, Flags: []string{"f"}}, TransferTo: "other",
		},
	}
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back run.Entry
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(e, back) {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestTransfer(t *testing.T) {
	over, err := tool.New("over", "Hands over.", func(context.Context, struct{}) (any, error) { return nil, nil })
	if err != nil {
		t.Fatal(err)
	}
	m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{{ID: "a", Name: "over"}, {ID: "b", Name: "echo", Arguments: `{"text":"x"}`}}})
	got := tell(t, t.Context(), options(t, talker, m, handOver{over}, echo(t, "echo")))
	if got.done.Reason != event.ReasonStop || got.done.TransferTo != "other" || len(got.ends) != 2 {
		t.Errorf("got %+v, %+v", got, got.done)
	}
}

type handOver struct{ tool.Tool }

func (handOver) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Content: "{}", TransferTo: "other"}, nil
}

// TestJournalThatFails: a run whose record cannot be kept does not go on.
func TestJournalThatFails(t *testing.T) {
	full := errors.New("the disk is full")
	m := scripted.New(scripted.Call("echo", `{"text":"x"}`))
	o := options(t, talker, m, echo(t, "echo"))
	o.Journal = failing{newDiary(), full}
	if _, err := collect(run.Stream(t.Context(), o)); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}

type failing struct {
	*diary
	err error
}

func (f failing) Record(context.Context, run.Entry) error { return f.err }

// TestTriesAreCounted: a run that is taken up again has no more tries for its answer
// than it had left.
func TestTriesAreCounted(t *testing.T) {
	wrong := func(n int) scripted.Turn {
		return scripted.Turn{Calls: []llm.ToolCall{
			{ID: fmt.Sprint("look", n), Name: "echo", Arguments: `{"text":"1"}`}, {ID: fmt.Sprint("w", n), Name: llm.OutputTool, Arguments: `{}`},
		}}
	}
	for _, cut := range []int{0, 3, 6, 9} {
		o := options(t, answerer, nil, idempotent(t, echo(t, "echo")))
		o.Model, o.StructuredMode, o.Journal = byStep(wrong(1), wrong(2), wrong(3), wrong(4))(), run.ModeTool, newDiary()
		if cut > 0 {
			if _, all := cutAfter(t, o, cut); all {
				t.Fatal("it was not cut")
			}
		}
		var asked int
		var wrongs *run.OutputError
		for e, err := range run.Stream(t.Context(), o) {
			if u, ok := e.Data.(*event.UsageData); ok {
				asked = u.Requests
			}
			errors.As(err, &wrongs)
		}
		if wrongs == nil || asked != 3 {
			t.Errorf("cut after %d: the model was asked %d times, %v", cut, asked, wrongs)
		}
	}
}
