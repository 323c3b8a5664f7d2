package stream_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/p8-org/p8/event"
	"github.com/p8-org/p8/internal/testkit/screen"
	"github.com/p8-org/p8/stream"
)

// story is an interrupted run: the text before, the text after, and the valid text at the
// end.
type story struct {
	before, after []event.Event
	cut           *event.RestartData
	want          string
	// side: two children speak side by side; all protocols but OpenAI show them so.
	side bool
}

func (s *story) protocols() []stream.Protocol {
	all := []stream.Protocol{stream.ProtocolOpenAI, stream.ProtocolEvents, stream.ProtocolAGUI, stream.ProtocolAISDK}
	if s.side {
		all = all[:1]
	}
	return all
}

// restartSeq is the number of the restart in a story.
const restartSeq = 100

// events returns the story's events with their numbers.
func (s *story) events() []event.Event {
	all := slices.Clone(s.before)
	for i := range all {
		all[i].Seq = int64(i + 1)
	}
	s.cut.LastSeq = int64(len(all))
	restart := event.New(s.cut)
	restart.Seq = restartSeq
	all = append(all, restart)
	for i, e := range s.after {
		e.Seq = restartSeq + int64(i) + 1
		all = append(all, e)
	}
	for i := range all {
		if all[i].RunID == "" {
			all[i].RunID, all[i].Agent = "run1", "general"
		}
	}
	return all
}

// known marks the void events, for a reader that begins after the restart.
func (s *story) known() []event.Event {
	all := s.events()
	for i := range all {
		if s.cut.Takes(&all[i], restartSeq) {
			all[i].Void = restartSeq
		}
	}
	return all
}

func said(text string) event.Event { return event.NewText(text) }

func stage(name, id string, status event.ToolStatus) event.Event {
	return event.New(&event.ToolCallData{Name: name, ID: id, Status: status, Arguments: json.RawMessage(`{}`), Result: json.RawMessage(`"r"`), Content: "r"})
}

func written(id, piece string) event.Event {
	e := event.New(&event.ToolArgumentsData{ID: id})
	e.Text = piece
	return e
}

func below(e event.Event) event.Event {
	e.RunID, e.Agent = "run2", "general/worker"
	return e
}

// beside is an event of a second child.
func beside(e event.Event) event.Event {
	e.RunID, e.Agent = "run3", "general/helper"
	return e
}

func stories() map[string]*story {
	begin := event.New(&event.ProgressData{Step: 1, TotalSteps: 3, Label: "Processing request", SessionID: "s1"})
	goes := event.New(&event.ProgressData{Step: 1, TotalSteps: 3, Label: "Continuing"})
	done := []event.Event{event.New(&event.MetadataData{MessageID: "msg1"}), event.New(&event.UsageData{Requests: 1}), event.New(&event.DoneData{Reason: event.ReasonStop})}
	end := func(events ...event.Event) []event.Event {
		return append(append([]event.Event{goes}, events...), done...)
	}
	root := func(after int64) *event.RestartData {
		return &event.RestartData{Runs: []event.CutRun{{RunID: "run1", Agent: "general", After: after}}}
	}
	child := func(e *event.ChildRunData) event.Event {
		e.ParentRunID, e.ToolCallID = "run1", "c"
		return below(event.New(e))
	}
	other := func(status string) event.Event {
		return beside(event.New(&event.ChildRunData{Status: status, ParentRunID: "run1", ToolCallID: "d"}))
	}
	asked := []event.Event{
		begin, said("Wait. "), stage("ask_agent", "c", event.ToolStarted), stage("ask_agent", "c", event.ToolExecuting),
		child(&event.ChildRunData{Status: event.ChildStarted, Input: "Hi"}),
	}
	return map[string]*story{
		"the same again": {
			before: []event.Event{begin, said("I begin"), said(" with X")}, cut: root(0),
			after: end(said("I "), said("begin with X and"), said(" end.")), want: "I begin with X and end.",
		},
		"exactly the same": {
			before: []event.Event{begin, said("I begin"), said(" with X")}, cut: root(0),
			after: end(said("I begin"), said(" with X")), want: "I begin with X",
		},
		"another text": {
			before: []event.Event{begin, said("I begin"), said(" with X")}, cut: root(0),
			after: end(said("I "), said("begin anew."), said(" Bye.")), want: "I begin anew. Bye.",
		},
		"a shorter text": {
			before: []event.Event{begin, said("I begin"), said(" with X")}, cut: root(0), after: end(said("I begin")), want: "I begin",
		},
		"after a step": {
			before: []event.Event{begin, said("Look. "), stage("search", "a", event.ToolStarted), stage("search", "a", event.ToolExecuting), stage("search", "a", event.ToolCompleted), said("It is")},
			cut:    root(5), after: end(said("They are.")), want: "Look. \n\nThey are.",
		},
		"a call that only began": {
			before: []event.Event{begin, said("I look"), stage("search", "a", event.ToolStarted)}, cut: root(0),
			after: end(said("I see"), stage("search", "b", event.ToolStarted), stage("search", "b", event.ToolExecuting), stage("search", "b", event.ToolCompleted), said(" it.")), want: "I see\n\n it.",
		},
		"a call that was half written": {
			before: []event.Event{begin, said("I look"), stage("search", "a", event.ToolStarted), written("a", `{"q":`), written("a", `"x`)}, cut: root(0),
			after: end(said("I see"), stage("search", "b", event.ToolStarted), written("b", `{}`), stage("search", "b", event.ToolExecuting), stage("search", "b", event.ToolCompleted), said(" it.")), want: "I see\n\n it.",
		},
		"a child's call that was half written": {
			before: append(slices.Clone(asked), below(said("I work")), below(stage("search", "a", event.ToolStarted)), below(written("a", `{"q":`))),
			cut:    &event.RestartData{Runs: []event.CutRun{{RunID: "run2", Agent: "general/worker", After: 0}}},
			after: end(child(&event.ChildRunData{Status: event.ChildStarted, Input: "Hi"}), below(said("I worked.")),
				child(&event.ChildRunData{Status: event.ChildCompleted}), stage("ask_agent", "c", event.ToolCompleted), said(" Done.")),
			want: "Wait. \n\nI worked.\n\n Done.",
		},
		"thoughts": {
			before: []event.Event{begin, event.NewReasoning("Hm"), said("I think")}, cut: root(0),
			after: end(event.NewReasoning("Well"), said("I know.")), want: "I know.",
		},
		"nothing said": {before: []event.Event{begin}, cut: &event.RestartData{}, after: end(said("Hi.")), want: "Hi."},
		"a child": {
			before: append(slices.Clone(asked), below(said("I work"))),
			cut:    &event.RestartData{Runs: []event.CutRun{{RunID: "run2", Agent: "general/worker", After: 0}}},
			after: end(child(&event.ChildRunData{Status: event.ChildStarted, Input: "Hi"}), below(said("I worked.")),
				child(&event.ChildRunData{Status: event.ChildCompleted}), stage("ask_agent", "c", event.ToolCompleted), said(" Done.")),
			want: "Wait. \n\nI worked.\n\n Done.",
		},
		"two children": {
			before: append(slices.Clone(asked), other(event.ChildStarted), below(said("I work")), beside(said("I help")), below(said(" hard")),
				beside(stage("search", "a", event.ToolStarted)), beside(stage("search", "a", event.ToolExecuting)), beside(stage("search", "a", event.ToolCompleted)), beside(said("Loo"))),
			cut: &event.RestartData{Runs: []event.CutRun{{RunID: "run2", Agent: "general/worker", After: 0}, {RunID: "run3", Agent: "general/helper", After: 12}}},
			after: end(other(event.ChildStarted), beside(said("Look")), child(&event.ChildRunData{Status: event.ChildStarted, Input: "Hi"}), below(said("I wor")),
				beside(said(" here")), below(said("ked.")), child(&event.ChildRunData{Status: event.ChildCompleted}), beside(said(".")),
				other(event.ChildCompleted), stage("ask_agent", "c", event.ToolCompleted), said(" Done.")),
			want: "Wait. \n\nI worked.\n\nI help\n\nLook here.\n\n Done.", side: true,
		},
		"a child that had ended": { // and whose call has no result yet
			before: append(slices.Clone(asked), below(said("I work")), child(&event.ChildRunData{Status: event.ChildCompleted})),
			cut:    &event.RestartData{Runs: []event.CutRun{{RunID: "run2", Agent: "general/worker", After: 0}}},
			after: end(child(&event.ChildRunData{Status: event.ChildStarted, Input: "Hi"}), below(said("I worked.")),
				child(&event.ChildRunData{Status: event.ChildCompleted}), stage("ask_agent", "c", event.ToolCompleted), said(" Done.")),
			want: "Wait. \n\nI worked.\n\n Done.",
		},
		"a child, and then the root": {
			before: append(slices.Clone(asked), below(said("I work.")), child(&event.ChildRunData{Status: event.ChildCompleted}), stage("ask_agent", "c", event.ToolCompleted), said(" Do")),
			cut:    root(8), after: end(said(" Done.")), want: "Wait. \n\nI work.\n\n Done.",
		},
	}
}

// viewer reads streams; last is the number of the last event that it has.
type viewer struct {
	screen.Screen
	last int64
}

// frame adds the data of one frame.
func (s *viewer) frame(t *testing.T, p stream.Protocol, data string) {
	t.Helper()
	if err := s.Frame(string(p), data); err != nil {
		t.Error(err)
	}
	if p == stream.ProtocolOpenAI {
		s.last = s.Seq
	}
}

// text is the text on the screen.
func (s *viewer) text(p stream.Protocol) string { return s.Text(string(p)) }

// read encodes the events for a reader, and shows the first frames, all if frames is
// negative. It reports whether there were more.
func (s *viewer) read(t *testing.T, p stream.Protocol, r stream.Reader, events []event.Event, frames int) (more bool) {
	t.Helper()
	var out bytes.Buffer
	r.IDs = true
	e := stream.New(p, &out, stream.Options{Reader: r,
		OpenAI: stream.OpenAIOptions{ID: "c", Model: "m", Format: stream.Polyglot},
		AGUI:   stream.AGUIOptions{ThreadID: "t", RunID: "run1", MessageID: "msg1", Now: func() time.Time { return created }},
		AISDK:  stream.AISDKOptions{MessageID: "msg1"},
	})
	for _, ev := range events {
		if err := e.Write(ev); err != nil {
			t.Fatal(err)
		}
	}
	var pending []string // of an event whose number has not come
	for block := range strings.SplitSeq(out.String(), "\n\n") {
		if frames == 0 {
			return true
		}
		for line := range strings.Lines(block + "\n") {
			line = strings.TrimSuffix(line, "\n")
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				for _, data := range pending {
					s.frame(t, p, data)
				}
				pending = nil
				_, _ = fmt.Sscan(id, &s.last)
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if p == stream.ProtocolOpenAI {
					s.frame(t, p, data)
				} else {
					pending = append(pending, data)
				}
			}
		}
		frames--
	}
	for _, data := range pending {
		s.frame(t, p, data)
	}
	return false
}

// TestRestart: a reader that stays through an interruption, comes later, or leaves and
// comes back at any frame has the valid text on the screen.
func TestRestart(t *testing.T) {
	for name, s := range stories() {
		for _, p := range s.protocols() {
			t.Run(name+"/"+string(p), func(t *testing.T) {
				check := func(how string, c *viewer) {
					t.Helper()
					if got := c.text(p); got != s.want {
						t.Errorf("%s: the screen has %q, want %q", how, got, s.want)
					}
				}
				var live, late viewer
				live.read(t, p, stream.Reader{}, s.events(), -1)
				check("read on", &live)
				late.read(t, p, stream.Reader{}, s.known(), -1)
				check("read later", &late)
				first := s.events()
				for _, begin := range []struct {
					how    string
					events []event.Event
				}{{"left before", first[:len(s.before)]}, {"read on and left", first}, {"read later and left", s.known()}} {
					for n := 1; ; n++ {
						var c viewer
						more := c.read(t, p, stream.Reader{}, begin.events, n)
						if c.last == 0 && p == stream.ProtocolOpenAI {
							c = viewer{} // nothing to come back with: it begins anew
						}
						c.read(t, p, stream.Reader{Seen: c.last}, s.known(), -1)
						check(fmt.Sprint(begin.how, " after ", n, " frames"), &c)
						if !more {
							break
						}
					}
				}
			})
		}
	}
}

// TestRestartOfLostEvents: a client may have text that was lost with the process.
func TestRestartOfLostEvents(t *testing.T) {
	for _, tc := range []struct {
		name, story string
		silent      bool // nothing of the step's text was stored
		lost        event.Event
	}{
		{"behind a text", "another text", false, said(" and Y")},
		{"alone", "nothing said", false, said("Y")},
		{"of a child", "a child", false, below(said(" hard"))},
		{"of a silent child", "a child", true, below(said("I work"))},
	} {
		for _, p := range []stream.Protocol{stream.ProtocolOpenAI, stream.ProtocolAGUI, stream.ProtocolEvents} {
			t.Run(tc.name+"/"+string(p), func(t *testing.T) {
				s := stories()[tc.story]
				if tc.silent {
					s.before, s.cut.Runs = s.before[:len(s.before)-1], nil
				}
				shown := s.events()[:len(s.before)]
				if tc.lost.RunID == "" {
					tc.lost.RunID, tc.lost.Agent = "run1", "general"
				}
				tc.lost.Seq = int64(len(shown) + 1)
				var c viewer
				c.read(t, p, stream.Reader{}, append(slices.Clone(shown), tc.lost), -1)
				c.read(t, p, stream.Reader{Seen: c.last}, s.known(), -1)
				if got := c.text(p); got != s.want {
					t.Errorf("%q, want %q", got, s.want)
				}
			})
		}
	}
}

// TestRestartForPlainClients: a client that knows nothing of p8 gets a note before a text
// that differs.
func TestRestartForPlainClients(t *testing.T) {
	const note = "\n\n[The answer was interrupted and begins again.]\n\n"
	for name, want := range map[string]string{
		"the same again": "I begin with X and end.", "exactly the same": "I begin with X",
		"another text": "I begin with X" + note + "I begin anew. Bye.", "a shorter text": "I begin with X" + note + "I begin",
		"nothing said": "Hi.", "a child": "Wait. \n\nI worked.\n\n Done.",
	} {
		s := stories()[name]
		var out bytes.Buffer
		e := stream.New(stream.ProtocolOpenAI, &out, stream.Options{OpenAI: stream.OpenAIOptions{ID: "c", Model: "m", Format: stream.None}})
		for _, ev := range s.events() {
			if err := e.Write(ev); err != nil {
				t.Fatal(err)
			}
		}
		var c viewer
		for line := range strings.Lines(out.String()) {
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				c.frame(t, stream.ProtocolOpenAI, data)
			}
		}
		if c.text(stream.ProtocolOpenAI) != want {
			t.Errorf("%s: %q, want %q", name, c.text(stream.ProtocolOpenAI), want)
		}
	}
}

// TestRestartOfAWhole: an unstreamed response has the valid text.
func TestRestartOfAWhole(t *testing.T) {
	for name, s := range stories() {
		for how, events := range map[string][]event.Event{"read on": s.events(), "read later": s.known()} {
			var c stream.Completion
			for _, e := range events {
				c.Add(e)
			}
			if c.Text() != s.want {
				t.Errorf("%s, %s: %q, want %q", name, how, c.Text(), s.want)
			}
		}
	}
}
