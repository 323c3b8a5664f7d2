package event_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/p8-org/p8/event"
)

// script makes the events of a run from lines: "boss text", "a> text" for a run below,
// "a.x> text" for one below that; "+a" and "-a" begin and end a run, "boss!" and "a!" are
// calls of a tool, "^ 3 a" is a restart that voids what a said after event 3, "." is the
// end.
func script(lines ...string) []event.Event {
	var out []event.Event
	path := func(run string) string { return strings.Trim("boss/"+strings.ReplaceAll(run, ".", "/"), "/") }
	add := func(run string, e event.Event) {
		e.Seq, e.RunID, e.Agent = int64(len(out)+1), "run-"+run, path(run)
		out = append(out, e)
	}
	for _, line := range lines {
		who, text, said := strings.Cut(line, "> ")
		switch {
		case said:
			add(strings.TrimSuffix(who, "boss"), event.NewText(text))
		case line == ".":
			add("", event.New(&event.DoneData{Reason: event.ReasonStop}))
		case line[0] == '+' || line[0] == '-':
			run, status := line[1:], event.ChildStarted
			if line[0] == '-' {
				status = event.ChildCompleted
			}
			up := ""
			if i := strings.LastIndexByte(run, '.'); i >= 0 {
				up = run[:i]
			}
			add(run, event.New(&event.ChildRunData{Status: status, ParentRunID: "run-" + up, ToolCallID: "ask " + run}))
		case strings.HasSuffix(line, "!"):
			add(strings.TrimSuffix(strings.TrimSuffix(line, "!"), "boss"), event.New(&event.ToolCallData{ID: "c", Status: event.ToolCompleted}))
		case line[0] == '^':
			d := &event.RestartData{LastSeq: int64(len(out))}
			var after int64
			var run string
			if _, err := fmt.Sscan(line[1:], &after, &run); err != nil {
				panic(err)
			}
			run = strings.TrimSuffix(run, "boss")
			d.Runs = []event.CutRun{{RunID: "run-" + run, Agent: path(run), After: after}}
			add("", event.New(d))
		}
	}
	return out
}

func TestVoices(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []event.Event
		// shown is what is said with each event.
		shown []string
		want  string
	}{
		{"one", script("boss> Hello ", "boss> world", "."), []string{"Hello ", "world", ""}, "Hello world"},
		{"around a call", script("boss> Let me look.", "boss!", "boss> It was Guido.", "."), []string{"Let me look.", "", "\n\nIt was Guido.", ""},
			"Let me look.\n\nIt was Guido."},
		{"breaks that are there", script("boss> Look:\n", "boss!", "boss> \nYes.", "boss!", "boss> \n", "boss!", "boss> No."),
			[]string{"Look:\n", "", "\nYes.", "", "\n\n", "", "No."}, "Look:\n\nYes.\n\nNo."},
		{"two side by side", script("+a", "+b", "a> 1", "b> 2", "a> 3", "b> 4", "-a", "b> 5", "-b", "boss> 6", "."),
			[]string{"", "", "1", "", "3", "", "\n\n24", "5", "", "\n\n6", ""}, "13\n\n245\n\n6"},
		{"the first to speak is first", script("+a", "+b", "b> 1", "a> 2", "-a", "b> 3", "-b"),
			[]string{"", "", "1", "", "", "3", "\n\n2"}, "13\n\n2"},
		{"what ended while it waited", script("+a", "+b", "+c", "a> 1", "b> 2", "-b", "c> 3", "-a", "c> 4", "-c"),
			[]string{"", "", "", "1", "", "", "", "\n\n2\n\n3", "4", ""}, "1\n\n2\n\n34"},
		{"runs below runs", script("+a", "+b", "a> 1", "+b.x", "+b.y", "b.x> 2", "b.y> 3", "b.x> 4", "-b.x", "-b.y", "b> 5", "-a", "-b"),
			[]string{"", "", "1", "", "", "", "", "", "", "", "", "\n\n24\n\n3\n\n5", ""}, "1\n\n24\n\n3\n\n5"},
		{"a run that waits with its calls", script("+a", "+b", "a> 1", "b> 2", "b!", "b> 3", "a!", "a> 4", "-a", "-b"),
			[]string{"", "", "1", "", "", "", "", "\n\n4", "\n\n2\n\n3", ""}, "1\n\n4\n\n2\n\n3"},
		{"a tool that speaks beside a run", script("boss> 1", "+a", "a> 2", "boss> 3", "a> 4", "-a", "boss> 5"),
			[]string{"1", "", "\n\n2", "", "4", "\n\n3", "5"}, "1\n\n24\n\n35"},
		{"nobody tells of the runs", script("a> 1", "b> 2", "a> 3", "boss> 4"), []string{"1", "\n\n2", "\n\n3", "\n\n4"}, "1\n\n2\n\n3\n\n4"},
		{"the end ends all", script("+a", "+b", "a> 1", "b> 2", "."), []string{"", "", "1", "", "\n\n2"}, "1\n\n2"},
		{"a run begins again", script("+a", "a> 1", "-a", "+b", "b> 2", "+a", "a> 3", "b> 4", "-b", "-a"),
			[]string{"", "1", "", "", "\n\n2", "", "", "4", "\n\n3", ""}, "1\n\n24\n\n3"},
		{"held text is void", script("+a", "+b", "a> 1", "b> 2", "^ 2 b", "+a", "+b", "b> two", "a> 3", "-a", "-b"),
			[]string{"", "", "1", "", "", "", "", "", "\n\n3", "\n\ntwo", ""}, "1\n\n3\n\ntwo"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var said event.Spoken
			var now, all strings.Builder
			var p event.Paragraphs
			voices := event.Voices{Say: func(e event.Event, begins bool) error {
				now.WriteString(p.Next(e.Text, begins))
				return nil
			}}
			var shown []string
			for i := range tc.events {
				now.Reset()
				if err := voices.Add(&tc.events[i]); err != nil {
					t.Fatal(err)
				}
				said.Add(&tc.events[i])
				shown = append(shown, now.String())
				all.WriteString(now.String())
			}
			if !slices.Equal(shown, tc.shown) {
				t.Errorf("it is said piece by piece as\n%q, want\n%q", shown, tc.shown)
			}
			if all.String() != tc.want || said.String() != tc.want {
				t.Errorf("%q is said, the text is %q, want %q", &all, &said, tc.want)
			}
		})
	}
}

// TestSpokenIsCut: text that a restart voids leaves no gap.
func TestSpokenIsCut(t *testing.T) {
	for _, tc := range []struct {
		events []event.Event
		want   string
	}{
		{script("boss> Hel", "^ 0 boss", "boss> Hello"), "Hello"},
		{script("boss> Look.", "boss!", "boss> It", "^ 2 boss", "boss> It was."), "Look.\n\nIt was."},
		{script("+a", "+b", "a> 1", "b> 2", "^ 1 a"), "2"},
	} {
		var said event.Spoken
		for i := range tc.events {
			said.Add(&tc.events[i])
		}
		if got := said.String(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestVoicesOfAnyRun: whatever runs say side by side, each is whole, and what is said
// piece by piece is the same as the text as a whole, whether held text is in memory or
// read again.
func TestVoicesOfAnyRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := script(dialogue(t)...)
		var said event.Spoken
		direct, again := listen(t, events, false), listen(t, events, true)
		for i := range events {
			said.Add(&events[i])
		}
		if want := said.String(); direct != want || again != want {
			short := func(s string) string { return strings.ReplaceAll(s, strings.Repeat("_", padding), "") }
			t.Fatalf("%q is said, %q when it is read again; want %q", short(direct), short(again), short(want))
		}
	})
}

// padding makes a few texts longer than what is held back in memory.
const padding = 16 << 10

// dialogue draws what a boss and three agents say, two of which ask one more.
func dialogue(t *rapid.T) []string {
	size := rapid.SampledFrom([]int{0, padding}).Draw(t, "size")
	open := map[string]bool{}
	ever := map[string]bool{}
	var out []string
	for n := range rapid.IntRange(0, 60).Draw(t, "events") {
		run := rapid.SampledFrom([]string{"a", "b", "c", "a.x", "b.x"}).Draw(t, "run")
		up, _, below := strings.Cut(run, ".")
		switch {
		case !open[run] && !ever[run] && (!below || open[up]):
			open[run], ever[run] = true, true
			out = append(out, "+"+run)
		case !open[run]:
		case rapid.IntRange(0, 9).Draw(t, "end") == 0 && !open[run+".x"]:
			delete(open, run)
			out = append(out, "-"+run)
		case rapid.IntRange(0, 9).Draw(t, "call") == 0:
			out = append(out, run+"!")
		default:
			out = append(out, run+"> "+fmt.Sprintf("%s%d ", run, n)+strings.Repeat("_", size))
		}
	}
	return append(out, ".")
}

func listen(t *rapid.T, events []event.Event, again bool) string {
	var text strings.Builder
	var p event.Paragraphs
	voices := event.Voices{Say: func(e event.Event, begins bool) error {
		text.WriteString(p.Next(e.Text, begins))
		return nil
	}}
	if again {
		voices.Again = func(after int64) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				for _, e := range events[after:] {
					if !yield(e, nil) {
						return
					}
				}
			}
		}
	}
	for i := range events {
		if err := voices.Add(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}
