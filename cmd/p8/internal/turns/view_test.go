package turns

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/p8-org/p8/cmd/p8/internal/term"
	"github.com/p8-org/p8/cmd/p8/internal/term/termtest"
	"github.com/p8-org/p8/event"
)

// from is an event of an agent.
func from(agent, run string, e event.Event) event.Event {
	e.Agent, e.RunID = agent, run
	return e
}

func toolEvent(name, id string, status event.ToolStatus) event.Event {
	d := &event.ToolCallData{Name: name, ID: id, Status: status, Arguments: json.RawMessage(`{"query":"LOOKUP x"}`)}
	if status == event.ToolFailed {
		d.ErrorMessage = "no such\x1b[2J key"
	}
	return event.New(d)
}

// shownBy shows events on a screen; the time between two is a second and a bit.
func shownBy(t *testing.T, columns, rows int, asks bool, events ...event.Event) (s *termtest.Screen, during string) {
	t.Helper()
	s = termtest.New(columns, rows)
	synctest.Test(t, func(t *testing.T) {
		v := newView(&Screen{Canvas: term.NewCanvas(s, s.Size), Asks: asks}, "general", "openai:x")
		for i, e := range events {
			if i == len(events)-1 {
				during = s.String()
			}
			if err := v.Print(e); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second + 10*time.Millisecond)
		}
		v.close()
	})
	if u := s.Unknown(); len(u) > 0 {
		t.Errorf("%q", u)
	}
	return s, during
}

var stopped = event.New(&event.DoneData{Reason: event.ReasonStop})

func TestView(t *testing.T) {
	s, during := shownBy(t, 60, 40, true,
		event.New(&event.ProgressData{Step: 1}),
		event.NewReasoning("hm"),
		event.NewText("# Look\n\nLet me **lo"),
		event.NewText("ok** at `it`.\n"),
		toolEvent("search", "1", event.ToolStarted),
		toolEvent("search", "1", event.ToolExecuting),
		toolEvent("search", "2", event.ToolExecuting),
		toolEvent("search", "1", event.ToolCompleted),
		toolEvent("search", "2", event.ToolFailed),
		event.New(&event.WarningData{Message: "the tool x is not here"}),
		event.NewText("- 日本語\n- two"),
		event.New(&event.UsageData{InputTokens: 1200, OutputTokens: 34, CostUSD: 0.0123}),
		event.New(&event.MetadataData{RespondingAgent: "other", ModelVersion: "openai:y"}),
		stopped)
	want := `∴ thought for 1.0s: hm

# Look

Let me look at ` + "`it`" + `.

✓ search LOOKUP x · 2.0s
✗ search: no such [2J key
! the tool x is not here

• 日本語
• two
`
	if got := s.String(); got != want+"\nother · openai:y · 1,234 tokens · $0.0123 · 13s\n" {
		t.Errorf("the screen shows\n%s", got)
	}
	if during != want+"\ngeneral answers · openai:x · 13s · Ctrl-C stops\n" {
		t.Errorf("meanwhile it showed\n%s", during)
	}
}

// Outside of an interactive chat, no line about the answer is shown.
func TestViewOnce(t *testing.T) {
	s, _ := shownBy(t, 60, 20, false, event.NewText("Hello."), stopped)
	if got := s.String(); got != "Hello.\n" {
		t.Errorf("the screen shows\n%s", got)
	}
	// An empty answer is reported once, by the event of its run.
	s, _ = shownBy(t, 60, 20, false, event.New(&event.WarningData{Code: event.CodeEmptyAnswer, Message: "the model said nothing"}), stopped)
	if got := s.String(); got != "! the model said nothing\n" {
		t.Errorf("the screen shows\n%s", got)
	}
}

// Agents that run at once have panes of their own; a pane moves above, whole, when its
// agent has ended.
func TestViewPanes(t *testing.T) {
	a, b := "general/research", "general/writer"
	child := func(agent, run, status string) event.Event {
		return from(agent, run, event.New(&event.ChildRunData{Status: status, Input: "Look it\nup", ErrorMessage: "it broke"}))
	}
	ask := event.New(&event.ToolCallData{Name: "ask_agent", ID: "1", Status: event.ToolExecuting})
	answered := event.New(&event.ToolCallData{Name: "ask_agent", ID: "1", Status: event.ToolCompleted})
	s, during := shownBy(t, 60, 40, true,
		event.NewText("I ask."), ask,
		child(a, "r1", event.ChildStarted), child(b, "r2", event.ChildStarted),
		from(a, "r1", event.NewText("one ")), from(b, "r2", event.NewText("two ")),
		from(a, "r1", toolEvent("search", "s", event.ToolExecuting)), from(b, "r2", event.NewText("three")),
		from(a, "r1", toolEvent("search", "s", event.ToolCompleted)),
		child(b, "r2", event.ChildFailed), from(a, "r1", event.NewText("four")),
		child(a, "r1", event.ChildCompleted), answered, event.NewText("Done."), stopped)
	want := `I ask.

╭ writer · Look it up
│ two three
╰ failed: it broke

╭ research · Look it up
│ one
│
│ ✓ search LOOKUP x · 2.0s
│
│ four
╰ 9.1s

Done.

general · openai:x · 14s
`
	if got := s.String(); got != want {
		t.Errorf("the screen shows\n%swant\n%s", got, want)
	}
	if !strings.Contains(during, "general answers") {
		t.Errorf("meanwhile it showed\n%s", during)
	}
	_, during = shownBy(t, 60, 40, true,
		child(a, "r1", event.ChildStarted), child(b, "r2", event.ChildStarted),
		from(a, "r1", event.NewText("one ")), from(b, "r2", event.NewText("two ")), stopped)
	if want := "╭ research · Look it up\n│ one\n╰ 4s\n\n╭ writer · Look it up\n│ two\n╰ 2s\n\ngeneral asked 2 agents"; !strings.HasPrefix(during, want) {
		t.Errorf("while they are asked it shows\n%swant\n%s", during, want)
	}
}

// An answer that is longer than the screen is shown whole, once.
func TestViewLongAnswer(t *testing.T) {
	var events []event.Event
	want := ""
	for i := range 60 {
		line := "line" + strings.Repeat("x", i%9)
		events = append(events, event.NewText("- "+line+"\n"))
		want += "• " + line + "\n"
	}
	s, _ := shownBy(t, 40, 10, false, append(events, stopped)...)
	if got := s.String(); got != want {
		t.Errorf("the screen shows\n%s", got)
	}
}

// Reasoning is one line while it arrives and one when it has ended; actions are cards.
func TestViewCards(t *testing.T) {
	_, during := shownBy(t, 40, 20, true,
		event.NewReasoning("The user asks\nfor something that is longer than a line. "),
		event.New(&event.ProgressData{Step: 1}))
	if !strings.Contains(during, "∴ …that is longer than a line.\n") {
		t.Errorf("while it thinks the screen shows\n%s", during)
	}
	s, _ := shownBy(t, 40, 30, true,
		event.NewReasoning("First this,\n\nthen that, and at last something else."),
		event.NewText("An answer."),
		event.New(&event.ActionData{ActionType: "observation", Payload: json.RawMessage(`{"confidence":0.9,"why":"a\u001b[2J very long text that does not fit","sources":["a","b"]}`)}),
		event.New(&event.ActionData{ActionType: "note", Payload: json.RawMessage(`"all is well"`)}),
		event.New(&event.ActionRequestData{Message: "Was it helpful?", Card: json.RawMessage(`{"actions":[{"title":"Yes"},{"title":"No"}]}`)}),
		stopped)
	want := `∴ thought for 1.0s: First this, then t…

An answer.

╭ observation
│ confidence  0.9
│ why         a [2J very long text tha…
│ sources     ["a","b"]
╰

╭ note
│ all is well
╰

? Was it helpful?
  [Yes] [No]

general · openai:x · 5.0s
`
	if got := s.String(); got != want {
		t.Errorf("the screen shows\n%s", got)
	}
}
