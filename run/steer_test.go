package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/llm"
	"github.com/p8-org/p8/llm/scripted"
	"github.com/p8-org/p8/run"
	"github.com/p8-org/p8/tool"
)

func TestSteer(t *testing.T) {
	said := func(text string) []llm.Message { return []llm.Message{{Role: llm.User, Content: text}} }
	model := byStep(
		scripted.Turn{Calls: []llm.ToolCall{{ID: "a", Name: "echo", Arguments: `{"text":"1"}`}}},
		scripted.Text("first"),
		scripted.Turn{Calls: []llm.ToolCall{{ID: "b", Name: "echo", Arguments: `{"text":"2"}`}}},
		scripted.Text("last"),
	)
	var whole string
	for _, cut := range []int{0, 8, 9} {
		m := model()
		asked, texts := 0, ""
		o := options(t, talker, nil, echo(t, "echo"))
		o.Model, o.Journal = m, newDiary()
		o.Steer = func(last bool) []llm.Message {
			switch asked++; {
			case asked == 2 && !last:
				return said("while it ran")
			case asked == 3 && last:
				return said("before it ended")
			}
			return nil
		}
		o.Answered = func(text string) { texts += text }
		lines, all := cutAfter(t, o, cut)
		if !all {
			texts = ""
			lines, _ = cutAfter(t, o, 0)
		}
		raw, err := json.Marshal(m.last)
		if err != nil {
			t.Fatal(err)
		}
		if cut == 0 {
			whole = string(raw)
		}
		if string(raw) != whole || texts != "last" || !strings.Contains(lines[len(lines)-1], "done stop") {
			t.Errorf("cut after %d: %s\nwant %s\n%q", cut, raw, whole, lines)
		}
	}
	var got []string
	var messages []llm.Message
	if err := json.Unmarshal([]byte(whole), &messages); err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		got = append(got, string(m.Role)+" "+m.Content)
	}
	want := []string{
		"system You talk.", "user hello", "assistant ", `tool {"said":"1"}`, "user while it ran",
		"assistant first", "user before it ended", "assistant ", `tool {"said":"2"}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestSteerAStructuredAnswer: an answer is not the last word before the user has had
// his.
func TestSteerAStructuredAnswer(t *testing.T) {
	answer := func(city string) string { return fmt.Sprintf(`{"city":%q,"degrees":1}`, city) }
	for _, mode := range []string{run.ModeNative, run.ModeTool} {
		turn := func(city string) scripted.Turn {
			if mode == run.ModeNative {
				return scripted.Text(answer(city))
			}
			return scripted.Call(llm.OutputTool, answer(city))
		}
		m := scripted.New(turn("Oslo"), turn("Rome"))
		o := options(t, answerer, m)
		o.StructuredMode = mode
		said := []llm.Message{{Role: llm.User, Content: "I meant Rome"}}
		o.Steer = func(last bool) (now []llm.Message) {
			if last {
				now, said = said, nil
			}
			return now
		}
		got := tell(t, t.Context(), o)
		if got.texts != answer("Rome") || string(got.done.Output) != answer("Rome") {
			t.Errorf("%s: %+v", mode, got)
		}
		if last := m.Requests()[1].Messages; last[len(last)-1].Content != "I meant Rome" {
			t.Errorf("%s: %+v", mode, last)
		}
	}
}

// TestChainedToolThatMustBeApproved: the answer stands while the user is asked, and
// is not shown twice.
func TestChainedToolThatMustBeApproved(t *testing.T) {
	right := `{"city":"Oslo","degrees":1}`
	for _, action := range []string{tool.Accepted, tool.Declined} {
		d := newDiary()
		o := options(t, answerer+"chained_tool: save\n", scripted.New(scripted.Text(right)))
		o.StructuredMode, o.Journal = run.ModeNative, d
		o.Chained = careful{save(t, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Content: `{"id":1}`}, nil })}
		got := tell(t, t.Context(), o)
		if got.done.Reason != event.ReasonPaused || got.texts != right || len(got.requests) != 1 {
			t.Fatalf("got %+v", got)
		}
		d.answers[got.requests[0].RequestID] = tool.Answer{Action: action}
		got = tell(t, t.Context(), o)
		said := strings.Contains(string(got.done.ChainedResult), `"id":1`)
		if got.done.Reason != event.ReasonStop || got.texts != "" || string(got.done.Output) != right || said != (action == tool.Accepted) {
			t.Errorf("%s: %+v, %s", action, got, got.done.ChainedResult)
		}
	}
}

// TestTransferAfterAPause: a hand-over waits until the step's other calls have ended.
func TestTransferAfterAPause(t *testing.T) {
	d := newDiary()
	m := scripted.New(scripted.Turn{Calls: []llm.ToolCall{
		{ID: "a", Name: "over", Arguments: `{"text":"x"}`}, {ID: "b", Name: "echo", Arguments: `{"text":"x"}`},
	}})
	o := options(t, talker, m, handOver{echo(t, "over")}, careful{echo(t, "echo")})
	o.Journal = d
	got := tell(t, t.Context(), o)
	if got.done.Reason != event.ReasonPaused || got.done.TransferTo != "" {
		t.Fatalf("got %+v", got.done)
	}
	d.answers[got.requests[0].RequestID] = tool.Answer{Action: tool.Declined}
	if got = tell(t, t.Context(), o); got.done.Reason != event.ReasonStop || got.done.TransferTo != "other" {
		t.Errorf("got %+v", got.done)
	}
}
